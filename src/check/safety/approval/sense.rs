//! The direction of a value that is made from answers: what was said where it says yes, and what where it says no.
//!
//! A condition is such a value too: `answer` is straight, `!answer` and `answer ? false : true` are turned.

use std::collections::BTreeMap;

use crate::ast::expr::LogicalOp;

use super::answer::{Says, joined, said_by};
use super::others::Others;

/// What was said where a value says yes, and where it says no.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sense {
    /// Where it is `true`, or a word that agrees.
    pub yes: Says,
    /// Where it is `false`, or a word that refuses.
    pub no: Says,
}

impl Sense {
    /// An answer as it is.
    pub const STRAIGHT: Sense = Sense::of(Says::Yes, Says::No);
    /// The opposite of an answer.
    pub const TURNED: Sense = Sense::of(Says::No, Says::Yes);
    /// No answer.
    pub const OTHER: Sense = Sense::of(Says::Nothing, Says::Nothing);
    /// Made from an answer in a way that is not known.
    pub const SOMETHING: Sense = Sense::of(Says::Something, Says::Something);
    /// An answer of which nothing is known yet.
    pub const NEVER: Sense = Sense::of(Says::Never, Says::Never);

    /// Both sides.
    pub const fn of(yes: Says, no: Says) -> Sense {
        Sense { yes, no }
    }

    /// The opposite value.
    pub fn flipped(self) -> Sense {
        Sense::of(self.no, self.yes)
    }

    /// One of two values.
    pub fn or(self, other: Sense) -> Sense {
        let or = |a, b| joined(LogicalOp::Or, &[a, b]);
        Sense::of(or(self.yes, other.yes), or(self.no, other.no))
    }

    /// What was said where such a value equals another that says as much.
    pub fn equal(self, to: Says) -> Sense {
        match to {
            Says::Yes => self,
            Says::No => self.flipped(),
            // Of a word that is not known nothing is said, but where no word tells what was answered.
            _ if self.yes == self.no => self,
            _ => Sense::SOMETHING,
        }
    }

    /// Whether it is made from an answer.
    pub fn depends(self) -> bool {
        self != Sense::OTHER
    }
}

/// What was said where a field holds a word that is none of the usual ones.
pub type Words = BTreeMap<String, Says>;

/// What is known of a name or a field that holds an answer.
pub struct Heard<'r> {
    /// Its direction.
    pub sense: Sense,
    /// What its own words say.
    pub words: Option<&'r Words>,
    /// What it may hold that nobody has said.
    pub others: Others,
}

impl Heard<'_> {
    /// An answer itself.
    pub const ANSWER: Heard<'static> = Heard::of(Sense::STRAIGHT);

    /// One of which only the direction is known.
    pub const fn of(sense: Sense) -> Self {
        Heard {
            sense,
            words: None,
            others: Others::None,
        }
    }
}

/// What a name says that holds an answer: `answer.rejected` is turned.
pub fn by_name(sense: Sense, name: &str) -> Sense {
    match said_by(name) {
        Some(Says::No) if sense == Sense::STRAIGHT => Sense::TURNED,
        _ => sense,
    }
}
