//! What all that a field may be given says, taken together: of its writes, or of the branches of a `?:`.

use crate::ast::expr::LogicalOp;

use super::answer::{Says, joined};
use super::sense::{Sense, Words};

/// Most words of its own that a field is known by; of one with more they tell nothing.
const MOST: usize = 64;

/// What was said, of all writes together: a set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Set(u8);

impl Set {
    const YES: u8 = 1;
    const NO: u8 = 2;
    const SOMETHING: u8 = 4;

    fn add(&mut self, says: Says) {
        self.0 |= match says {
            Says::Yes => Self::YES,
            Says::No => Self::NO,
            Says::Something => Self::SOMETHING,
            // Whatever was said.
            Says::Nothing => Self::YES | Self::NO,
            Says::Never => 0,
        };
    }

    fn says(self) -> Says {
        match self.0 {
            0 => Says::Never,
            set if set & Self::NO != 0 => Says::No,
            set if set & Self::SOMETHING != 0 => Says::Something,
            _ => Says::Yes,
        }
    }

    /// What the other side says of which nothing was written.
    fn opposite(self) -> Says {
        match self.0 {
            Self::YES => Says::No,
            Self::NO => Says::Yes,
            _ => self.says(),
        }
    }
}

/// What is known of a field, or of a value.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Held {
    yes: Set,
    no: Set,
    words: Words,
    lost: bool,
}

impl Held {
    /// Its direction.
    pub fn sense(&self) -> Sense {
        match (self.yes.says(), self.no.says()) {
            (Says::Never, Says::Never) => Sense::STRAIGHT,
            (Says::Never, no) => Sense {
                yes: self.no.opposite(),
                no,
            },
            (yes, Says::Never) => Sense {
                yes,
                no: self.yes.opposite(),
            },
            (yes, no) => Sense { yes, no },
        }
    }

    /// The direction of a value that may be any of them; of one that is not known yet nothing is said.
    pub fn of_value(&self) -> Sense {
        match self.sides() == (0, 0) && self.words.is_empty() && !self.lost {
            true => Sense::NEVER,
            false => self.sense(),
        }
    }

    /// What its own words say.
    pub fn words(&self) -> Option<&Words> {
        Some(&self.words).filter(|words| !words.is_empty())
    }

    /// What the usual words say, to see whether it changes.
    pub fn sides(&self) -> (u8, u8) {
        (self.yes.0, self.no.0)
    }

    /// What is known so far: nothing is taken for what has not been written.
    pub fn so_far(&self) -> Sense {
        Sense {
            yes: self.yes.says(),
            no: self.no.says(),
        }
    }

    /// Adds a value of such a direction.
    pub fn add(&mut self, sense: Sense) {
        self.yes.add(sense.yes);
        self.no.add(sense.no);
    }

    /// Adds a word that is none of the usual ones.
    pub fn word(&mut self, word: String, says: Says) {
        if says == Says::Never || self.lost {
            return;
        }
        let says = match says {
            Says::Nothing => Says::No,
            says => says,
        };
        let known = self.words.entry(word).or_insert(says);
        *known = joined(LogicalOp::Or, &[*known, says]);
        if self.words.len() > MOST {
            self.words.clear();
            self.lost = true;
        }
    }
}
