//! Values that must not be seen.

use std::fmt;
use std::sync::Arc;

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

    /// The text with every secret in it as `***`.
    pub fn scrub(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| {
            text.replace(secret.reveal(), "***")
        })
    }
}

impl<'a> Extend<&'a Secret> for Secrets {
    fn extend<T: IntoIterator<Item = &'a Secret>>(&mut self, secrets: T) {
        secrets.into_iter().for_each(|secret| self.add(secret));
    }
}
