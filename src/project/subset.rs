//! Comparing what is with the parts of it that somebody named.

use std::fmt;

use serde_json::Value as Json;

use super::yaml::{Path, Step, show_path};

/// A named part that is not as expected.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The way to it, from the whole.
    pub path: Path,
    /// What was expected there.
    pub expected: Json,
    /// What is there; `None` where nothing is.
    pub actual: Option<Json>,
}

/// Every named part that is not as expected, in order.
///
/// Of a map only the named entries count, of a list all elements. `1` and `1.0` are equal.
pub fn subset_diff(expected: &Json, actual: &Json) -> Vec<Difference> {
    let mut found = Vec::new();
    compare(expected, Some(actual), &mut Path::new(), &mut found);
    found
}

/// Whether all named parts are as expected.
pub fn is_subset(expected: &Json, actual: &Json) -> bool {
    subset_diff(expected, actual).is_empty()
}

fn compare(expected: &Json, actual: Option<&Json>, at: &mut Path, found: &mut Vec<Difference>) {
    match (expected, actual) {
        (Json::Object(named), Some(Json::Object(entries))) => {
            for (key, expected) in named {
                at.push(Step::Key(key.clone()));
                compare(expected, entries.get(key), at, found);
                at.pop();
            }
        }
        (Json::Array(wanted), Some(Json::Array(items))) if wanted.len() == items.len() => {
            for (i, (expected, actual)) in wanted.iter().zip(items).enumerate() {
                at.push(Step::Index(i));
                compare(expected, Some(actual), at, found);
                at.pop();
            }
        }
        (expected, Some(actual)) if equal(expected, actual) => {}
        (expected, actual) => found.push(Difference {
            path: at.clone(),
            expected: expected.clone(),
            actual: actual.cloned(),
        }),
    }
}

fn equal(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(a), Json::Number(b)) => a == b || a.as_f64() == b.as_f64(),
        _ => a == b,
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.path.is_empty() {
            write!(f, "`{}`: ", show_path(&self.path))?;
        }
        match &self.actual {
            None => write!(f, "expected {}, found nothing", self.expected),
            Some(actual) => write!(f, "expected {}, found {actual}", self.expected),
        }
    }
}
