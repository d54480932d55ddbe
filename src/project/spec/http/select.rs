//! The part of a reply that is the result: `$.hits`, `$.data[0].rows`, `$["odd key"]`.

use std::fmt;

use serde_json::Value as Json;

use crate::project::yaml::Step;

/// The way from a reply to its result.
#[derive(Clone, PartialEq)]
pub struct Selector {
    text: String,
    steps: Vec<Step>,
}

impl Selector {
    /// Parses one.
    ///
    /// # Errors
    /// What was expected, in words.
    pub fn parse(text: &str) -> Result<Selector, String> {
        let form = "a path such as `$.hits`, `$.rows[0]` or `$[\"a key\"]`";
        let wrong = || format!("`{text}` is no {}", form.trim_start_matches("a "));
        let mut rest = text.strip_prefix('$').ok_or_else(wrong)?;
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let (step, after) = step(rest).ok_or_else(wrong)?;
            steps.push(step);
            rest = after;
        }
        let text = text.to_owned();
        Ok(Selector { text, steps })
    }

    /// The part; `None` where the reply has none.
    pub fn of<'a>(&self, reply: &'a Json) -> Option<&'a Json> {
        self.steps.iter().try_fold(reply, |at, step| match step {
            Step::Key(key) => at.get(key),
            Step::Index(index) => at.get(index),
        })
    }
}

fn step(text: &str) -> Option<(Step, &str)> {
    if let Some(rest) = text.strip_prefix('.') {
        let end = rest.find(['.', '[']).unwrap_or(rest.len());
        let (key, rest) = rest.split_at_checked(end)?;
        return (!key.is_empty()).then(|| (Step::Key(key.to_owned()), rest));
    }
    let inner = text.strip_prefix('[')?;
    for quote in ['"', '\''] {
        if let Some(inner) = inner.strip_prefix(quote) {
            let (key, rest) = inner.split_once(quote)?;
            return Some((Step::Key(key.to_owned()), rest.strip_prefix(']')?));
        }
    }
    let (index, rest) = inner.split_once(']')?;
    Some((Step::Index(index.parse().ok()?), rest))
}

impl fmt::Debug for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Display for Selector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
