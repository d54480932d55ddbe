//! Words that a field may hold though nobody has said them: its first value, such as `pending`, or what a node writes. A
//! comparison tells nothing of an answer where such a word passes it.

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::ast::expr::LogicalOp;

use super::answer::{Says, joined};
use super::sense::Sense;

/// What a value may be that nobody has said.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Others {
    /// Nothing.
    #[default]
    None,
    /// One of these words.
    Words(Rc<BTreeSet<String>>),
    /// Something that is made of such a word.
    Any,
}

impl Others {
    /// One or the other.
    pub fn or(self, other: Others) -> Others {
        match (self, other) {
            (Others::None, one) | (one, Others::None) => one,
            (Others::Words(a), Others::Words(b)) => Others::Words(match a == b {
                true => a,
                false => Rc::new(a.union(&b).cloned().collect()),
            }),
            _ => Others::Any,
        }
    }

    /// What something else is that is made of it.
    pub fn used(self) -> Others {
        match self {
            Others::None => Others::None,
            _ => Others::Any,
        }
    }

    /// What was said where a test passes, and where not, given the words that pass it; `None` where nobody knows.
    pub fn held_to(&self, said: Sense, passes: impl Fn(&str) -> Option<bool>) -> Sense {
        let (yes, no) = match self {
            Others::None => return said,
            Others::Any => (true, true),
            Others::Words(words) => {
                let any = |unlike| words.iter().any(|word| passes(word) != Some(unlike));
                (any(false), any(true))
            }
        };
        let or = |may: bool, says: Says| match may {
            true => joined(LogicalOp::Or, &[says, Says::Nothing]),
            false => says,
        };
        Sense::of(or(yes, said.yes), or(no, said.no))
    }
}

/// Whether a word equals another; nobody knows where the two differ in what `lower` and `trim` take away.
pub fn equals(word: &str, other: &str) -> Option<bool> {
    match word == other {
        true => Some(true),
        false if plain(word) == plain(other) => None,
        false => Some(false),
    }
}

/// Whether a word passes one of the functions that ask a text for another.
pub fn asked(function: &str, word: &str, other: &str) -> Option<bool> {
    let ask = |word: &str, other: &str| match function {
        "contains" => Some(word.contains(other)),
        "startsWith" => Some(word.starts_with(other)),
        "endsWith" => Some(word.ends_with(other)),
        _ => None,
    };
    let said = ask(word, other)?;
    (ask(&plain(word), &plain(other)) == Some(said)).then_some(said)
}

fn plain(word: &str) -> String {
    word.trim().to_lowercase()
}
