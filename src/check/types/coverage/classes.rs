//! Values that conditions tell apart, numbered: those of one place, or of places that are compared with each other.

use super::super::cases::Atom;
use super::super::range::Range;
use super::set::Set;

/// Classes of values: each of the atoms, then the numbers before, on and behind each cut.
#[derive(Debug, Default)]
pub struct Classes {
    /// Null, texts, bools, and [`Atom::Other`], in order.
    pub atoms: Vec<Atom>,
    /// Numbers that conditions name, in order.
    pub cuts: Vec<f64>,
    /// Whether there are numbers among them.
    pub numbers: bool,
}

/// How the values of two classes are to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relation {
    /// Each of the one is less.
    Less,
    /// There is one value, in both.
    Equal,
    /// Each of the one is more.
    More,
    /// They differ, and have no known order.
    Unlike,
    /// Any of these.
    Any,
}

impl Classes {
    /// How many there are.
    pub fn count(&self) -> u32 {
        let pieces = if self.numbers {
            2 * self.cuts.len() + 1
        } else {
            0
        };
        (self.atoms.len() + pieces) as u32
    }

    /// The class of a text, a bool or null.
    pub fn atom(&self, atom: &Atom) -> Option<u32> {
        let at = self.atoms.binary_search(atom).ok()?;
        Some(at as u32)
    }

    /// Whether a class is of numbers.
    pub fn is_number(&self, class: u32) -> bool {
        class as usize >= self.atoms.len()
    }

    /// Whether a class has one value.
    pub fn is_point(&self, class: u32) -> bool {
        match self.atoms.get(class as usize) {
            Some(atom) => *atom != Atom::Other,
            None => (class as usize - self.atoms.len()) % 2 == 1,
        }
    }

    /// How the values of two classes are to each other.
    pub fn relation(&self, a: u32, b: u32) -> Relation {
        if a == b {
            return match self.is_point(a) {
                true => Relation::Equal,
                false => Relation::Any,
            };
        }
        let (one, other) = (self.atoms.get(a as usize), self.atoms.get(b as usize));
        match (one, other) {
            (None, None)
            | (Some(Atom::Text(_)), Some(Atom::Text(_)))
            | (Some(Atom::Bool(_)), Some(Atom::Bool(_))) => match a < b {
                true => Relation::Less,
                false => Relation::More,
            },
            _ => Relation::Unlike,
        }
    }

    /// The classes of the numbers of a range whose bounds are cuts.
    pub fn of_range(&self, range: Range) -> Set {
        if !self.numbers {
            return Set::of([]);
        }
        let before = self.atoms.len() as u32;
        let (low, high) = range.bounds();
        Set::of([(before + self.from(low), before + self.to(high))])
    }

    /// The numbers of a class: what lies before, on or behind a cut.
    pub fn range(&self, class: u32) -> Range {
        let cut = |i: usize| self.cuts.get(i).copied();
        let at = (class as usize).saturating_sub(self.atoms.len());
        match (at % 2, cut(at / 2)) {
            (1, Some(on)) => Range::point(on),
            (_, behind) => Range::between((at / 2).checked_sub(1).and_then(cut), behind),
        }
    }

    /// The first piece of a range with this lower bound.
    fn from(&self, (at, taken): (f64, bool)) -> u32 {
        let before = self.cuts.partition_point(|cut| *cut < at) as u32;
        match (self.named(at), taken) {
            (true, true) => 2 * before + 1,
            (true, false) => 2 * before + 2,
            (false, _) => 2 * before,
        }
    }

    /// The piece behind the last one of a range with this upper bound.
    fn to(&self, (at, taken): (f64, bool)) -> u32 {
        let before = self.cuts.partition_point(|cut| *cut < at) as u32;
        match (self.named(at), taken) {
            (true, true) => 2 * before + 2,
            _ => 2 * before + 1,
        }
    }

    /// Whether conditions name a number. Zero has no sign.
    fn named(&self, at: f64) -> bool {
        self.cuts
            .binary_search_by(|cut| cut.total_cmp(&(at + 0.0)))
            .is_ok()
    }
}
