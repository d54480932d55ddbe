//! Which redirects are followed: those within one server.
//!
//! A request holds keys in headers of any name, in its path and in its body, and only `graphc.yaml` says who may see them.

use std::error::Error;
use std::fmt;

use reqwest::redirect::{Attempt, Policy};

/// Most redirects of one request.
const MOST: usize = 5;

/// A redirect to another server than the one that was asked.
#[derive(Debug)]
pub struct Elsewhere {
    /// Scheme, host and port of the other.
    pub to: String,
}

impl fmt::Display for Elsewhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "graphc.yaml does not name `{}`", self.to)
    }
}

impl Error for Elsewhere {}

/// Follows redirects that keep scheme, host and port.
pub fn policy() -> Policy {
    Policy::custom(|attempt: Attempt<'_>| {
        let to = attempt.url().origin();
        let from = attempt.previous().first().map(|url| url.origin());
        if from.is_some_and(|from| from != to) {
            let to = to.ascii_serialization();
            return attempt.error(Elsewhere { to });
        }
        match attempt.previous().len() > MOST {
            true => attempt.error(Endless),
            false => attempt.follow(),
        }
    })
}

/// One redirect after the other.
#[derive(Debug)]
struct Endless;

impl fmt::Display for Endless {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "too many redirects")
    }
}

impl Error for Endless {}

/// The redirect that kept a request from being answered, where it leads to another server.
pub fn elsewhere<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a Elsewhere> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(elsewhere) = error.downcast_ref() {
            return Some(elsewhere);
        }
        next = error.source();
    }
    None
}
