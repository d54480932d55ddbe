//! Values that must not be seen.

use std::fmt;
use std::sync::Arc;

use serde_json::Value as Json;

/// A text that shows itself as `***`.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Arc<str>);

impl Secret {
    /// Hides a text.
    pub fn new(text: impl Into<Arc<str>>) -> Self {
        Self(text.into())
    }

    /// The text, for whoever it is meant for.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("***")
    }
}

/// What a backend knows and must not tell, also not in a message that comes from outside.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Secrets(Vec<Secret>);

/// Shorter texts occur in messages by chance.
const SHORTEST: usize = 4;

impl Secrets {
    /// Adds one. Very short ones are left out: hiding them would hide ordinary words.
    pub fn add(&mut self, secret: &Secret) {
        if secret.reveal().len() >= SHORTEST && !self.0.contains(secret) {
            self.0.push(secret.clone());
            // The longest first, so that a secret within another leaves nothing of it.
            self.0.sort_by_key(|s| std::cmp::Reverse(s.reveal().len()));
        }
    }

    /// Adds those of another.
    pub fn add_all(&mut self, others: &Secrets) {
        others.0.iter().for_each(|secret| self.add(secret));
    }

    /// The text with every secret in it as `***`.
    pub fn scrub(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| {
            text.replace(secret.reveal(), "***")
        })
    }

    /// A result with every secret in its texts as `***`.
    ///
    /// An address without a user, a query or a fragment is none here: it says where a service is, and results link to it.
    pub fn scrub_result(&self, result: Json) -> Json {
        let kept = self.0.iter().filter(|s| !is_plain_address(s.reveal()));
        let hidden = Secrets(kept.cloned().collect());
        match hidden.0.is_empty() {
            true => result,
            false => hidden.scrub_tree(result),
        }
    }

    /// As deep as what was read as JSON may be, which its reader bounds.
    fn scrub_tree(&self, tree: Json) -> Json {
        match tree {
            Json::String(text) => Json::String(self.scrub(&text)),
            Json::Array(items) => items.into_iter().map(|one| self.scrub_tree(one)).collect(),
            Json::Object(entries) => {
                let entries = entries.into_iter();
                let scrubbed =
                    entries.map(|(key, value)| (self.scrub(&key), self.scrub_tree(value)));
                Json::Object(scrubbed.collect())
            }
            other => other,
        }
    }
}

fn is_plain_address(text: &str) -> bool {
    let rest = ["https://", "http://"]
        .iter()
        .find_map(|scheme| text.strip_prefix(scheme));
    rest.is_some_and(|rest| !rest.contains(['@', '?', '#']))
}

impl<'a> Extend<&'a Secret> for Secrets {
    fn extend<T: IntoIterator<Item = &'a Secret>>(&mut self, secrets: T) {
        secrets.into_iter().for_each(|secret| self.add(secret));
    }
}
