//! For how many calls a way still has a permission.

use std::collections::BTreeMap;

use crate::resolve::program::Permit;

/// For none.
pub const NONE: u8 = 0;
/// As many as are counted.
pub const MOST: u8 = 7;
/// For all, if the answer was a yes: nothing has decided on it yet.
pub const UNDECIDED: u8 = 254;
/// For all; and where no way leads.
pub const ALL: u8 = 255;

/// How many calls of each kind, by number, still have a permission.
#[derive(Debug, Clone, Default)]
pub struct Left(Vec<u8>);

/// Takes the fewer of both; whether that was new.
pub fn meet(left: &mut Left, other: &Left) -> bool {
    let mut new = false;
    for (left, other) in left.0.iter_mut().zip(&other.0) {
        new |= *other < *left;
        *left = (*left).min(*other);
    }
    new
}

impl Left {
    /// The same of each of so many kinds.
    pub fn all(count: usize, left: u8) -> Self {
        Self(vec![left; count])
    }

    /// How many kinds there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Of one kind.
    pub fn get(&self, number: usize) -> Option<u8> {
        self.0.get(number).copied()
    }

    /// Takes the more of both.
    pub fn at_least(&mut self, other: &Self) {
        for (left, other) in self.0.iter_mut().zip(&other.0) {
            *left = (*left).max(*other);
        }
    }

    fn each(&mut self, numbers: impl IntoIterator<Item = usize>, change: impl Fn(u8) -> u8) {
        for number in numbers {
            if let Some(left) = self.0.get_mut(number) {
                *left = change(*left);
            }
        }
    }

    /// A question that permits calls of these kinds has been answered.
    pub fn permit(&mut self, numbers: &[usize], permit: &Permit) {
        let numbers = numbers.iter().copied();
        if permit.once && permit.each.is_none() {
            self.each(numbers, |left| match left {
                UNDECIDED | ALL => left,
                left => (left + 1).min(MOST),
            });
        } else {
            let given = if permit.when.is_some() {
                UNDECIDED
            } else {
                ALL
            };
            self.each(numbers, |left| left.max(given));
        }
    }

    /// Something has decided by what is known here: a no has gone another way.
    pub fn decided(&mut self) {
        self.each(0..self.len(), |left| match left {
            UNDECIDED => ALL,
            left => left,
        });
    }

    /// One call has been made.
    pub fn used(&mut self, numbers: impl IntoIterator<Item = usize>) {
        self.each(numbers, |left| match left {
            UNDECIDED | ALL => left,
            left => left.saturating_sub(1),
        });
    }

    /// Any number of calls has been made.
    pub fn used_by_many(&mut self, numbers: impl IntoIterator<Item = usize>) {
        self.each(numbers, |left| match left {
            UNDECIDED | ALL => left,
            _ => NONE,
        });
    }

    /// A graph has been called, of which it is known what is left behind it, by what it begins with.
    pub fn through(&mut self, behind: &BTreeMap<u8, Left>) {
        for (number, left) in self.0.iter_mut().enumerate() {
            *left = match behind.get(left) {
                Some(behind) => behind.get(number).unwrap_or(ALL),
                None => ALL,
            };
        }
    }
}
