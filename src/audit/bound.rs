//! Numbers that may have no bound.

use std::collections::BTreeSet;
use std::iter::Sum;

use serde::Serialize;

/// The most that something can be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// No more than this.
    AtMost(u64),
    /// Nothing bounds it; the reasons, in words.
    Unbounded(BTreeSet<String>),
}

impl Bound {
    /// Nothing at all.
    pub const NONE: Bound = Bound::AtMost(0);

    /// Unbounded for one reason.
    pub fn unbounded(reason: String) -> Self {
        Bound::Unbounded(BTreeSet::from([reason]))
    }

    /// Whether it is zero.
    pub fn is_none(&self) -> bool {
        *self == Self::NONE
    }

    /// Both together.
    pub fn plus(self, other: Bound) -> Bound {
        match (self, other) {
            (Bound::AtMost(a), Bound::AtMost(b)) => Bound::AtMost(a.saturating_add(b)),
            (Bound::Unbounded(mut a), Bound::Unbounded(b)) => {
                a.extend(b);
                Bound::Unbounded(a)
            }
            (Bound::Unbounded(a), _) | (_, Bound::Unbounded(a)) => Bound::Unbounded(a),
        }
    }

    /// The greater one.
    pub fn max(self, other: Bound) -> Bound {
        match (self, other) {
            (Bound::AtMost(a), Bound::AtMost(b)) => Bound::AtMost(u64::max(a, b)),
            (a, b) => a.plus(b),
        }
    }

    /// The greatest of several.
    pub fn greatest(all: impl Iterator<Item = Bound>) -> Bound {
        all.fold(Self::NONE, Bound::max)
    }

    /// The smaller one; of two without a bound the first.
    pub fn min(self, other: Bound) -> Bound {
        match (self, other) {
            (Bound::AtMost(a), Bound::AtMost(b)) => Bound::AtMost(u64::min(a, b)),
            (Bound::Unbounded(_), known @ Bound::AtMost(_)) => known,
            (first, _) => first,
        }
    }

    /// So many times. Nothing stays nothing however often.
    pub fn times(self, count: &Bound) -> Bound {
        match (self, count) {
            (Bound::AtMost(0), _) | (_, Bound::AtMost(0)) => Bound::NONE,
            (Bound::AtMost(a), Bound::AtMost(b)) => Bound::AtMost(a.saturating_mul(*b)),
            (Bound::Unbounded(a), Bound::AtMost(_)) => Bound::Unbounded(a),
            (a, Bound::Unbounded(b)) => match a {
                Bound::Unbounded(a) => Bound::Unbounded(a.union(b).cloned().collect()),
                Bound::AtMost(_) => Bound::Unbounded(b.clone()),
            },
        }
    }

    /// Whether it allows more than another.
    pub fn exceeds(&self, other: &Bound) -> bool {
        match (self, other) {
            (Bound::AtMost(a), Bound::AtMost(b)) => a > b,
            (Bound::Unbounded(_), Bound::AtMost(_)) => true,
            (Bound::Unbounded(a), Bound::Unbounded(b)) => !a.is_subset(b),
            (Bound::AtMost(_), Bound::Unbounded(_)) => false,
        }
    }
}

impl Sum for Bound {
    fn sum<I: Iterator<Item = Bound>>(all: I) -> Bound {
        all.fold(Self::NONE, Bound::plus)
    }
}
