//! A field without a value, said where it is read and where it is given back: one mistake.

use std::collections::BTreeMap;

use crate::base::Span;
use crate::diag::{Code, Diagnostic, Diagnostics, Level, codes};

use super::any;

/// What is said of a field where it is given back.
pub(super) static GIVEN: &[&Code] = &[&codes::OUT_LEFT_UNWRITTEN, &codes::OUT_NEVER_WRITTEN];

/// What is said of it where it is read.
static READS: &[&Code] = &[&codes::READ_BEFORE_WRITE];

/// How bad the worst is that was said of each field, by its name.
pub(super) struct Alike {
    given: BTreeMap<Span, Level>,
    read: BTreeMap<Span, Level>,
}

/// Looks at all that was found.
pub(super) fn alike(diags: &Diagnostics) -> Alike {
    let worst = |codes: &[&'static Code]| {
        let mut worst: BTreeMap<Span, Level> = BTreeMap::new();
        for found in diags.iter().filter(|found| any(&[found.code], codes)) {
            if let Some(field) = found.spoken_of() {
                let known = worst.entry(field).or_insert(found.level);
                *known = (*known).max(found.level);
            }
        }
        worst
    };
    Alike {
        given: worst(GIVEN),
        read: worst(READS),
    }
}

impl Alike {
    /// Whether the same is said elsewhere, and no less badly: where a field is given back, and else where it is read.
    pub(super) fn says(&self, found: &Diagnostic) -> bool {
        let Some(field) = found.spoken_of() else {
            return false;
        };
        let of = |of: &BTreeMap<Span, Level>| of.get(&field).copied();
        match (any(&[found.code], READS), any(&[found.code], GIVEN)) {
            (true, _) => of(&self.given).is_some_and(|level| level >= found.level),
            (_, true) => of(&self.read).is_some_and(|level| level > found.level),
            _ => false,
        }
    }
}
