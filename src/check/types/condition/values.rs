//! Sets of values, as far as conditions tell values apart.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::range::Range;

/// A value that is no number.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Atom {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A text or a member of an enum.
    Text(Arc<str>),
}

impl Atom {
    /// As it is shown in messages.
    pub fn show(&self) -> String {
        match self {
            Atom::Null => "null".to_owned(),
            Atom::Bool(value) => value.to_string(),
            Atom::Text(text) => text.to_string(),
        }
    }
}

/// A set of values: some atoms, or all but some, and ranges of numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Values {
    /// The atoms in it; where there are `others`, those that are not.
    pub atoms: BTreeSet<Atom>,
    /// Whether all other values that are no numbers are in it.
    pub others: bool,
    /// The numbers in it, in order, with gaps between them.
    pub numbers: Vec<Range>,
    /// Whether its numbers are whole.
    pub whole: bool,
}

impl Values {
    /// These atoms.
    pub fn atoms(atoms: impl IntoIterator<Item = Atom>) -> Self {
        Self {
            atoms: atoms.into_iter().collect(),
            others: false,
            numbers: Vec::new(),
            whole: false,
        }
    }

    /// All but these atoms, and no number.
    pub fn but(atoms: impl IntoIterator<Item = Atom>) -> Self {
        Self {
            others: true,
            ..Self::atoms(atoms)
        }
    }

    /// The numbers of a range.
    pub fn range(range: Range, whole: bool) -> Self {
        let numbers = Some(range).filter(|range| !range.is_empty(whole));
        Self {
            numbers: numbers.into_iter().collect(),
            whole,
            ..Self::atoms([])
        }
    }

    /// Every value.
    pub fn all() -> Self {
        Self {
            numbers: vec![Range::ALL],
            ..Self::but([])
        }
    }

    /// Whether nothing is in it.
    pub fn is_empty(&self) -> bool {
        !self.others && self.atoms.is_empty() && self.numbers.is_empty()
    }

    /// Whether it holds one value alone.
    pub fn is_one(&self) -> bool {
        let point = |range: &Range| range.low().0 == range.high().0;
        match (self.atoms.len(), self.numbers.as_slice()) {
            (1, []) => !self.others,
            (0, [only]) => !self.others && point(only),
            _ => false,
        }
    }

    /// Whether an atom is in it.
    pub fn has(&self, atom: &Atom) -> bool {
        self.atoms.contains(atom) != self.others
    }

    /// Whether some number of a range is in it.
    pub fn meets(&self, range: Range) -> bool {
        let from = self
            .numbers
            .partition_point(|known| known.high().0 < range.low().0);
        let near = self.numbers.iter().skip(from);
        let mut near = near.take_while(|known| known.low().0 <= range.high().0);
        near.any(|known| !known.and(range).is_empty(self.whole))
    }

    /// All other values.
    pub fn not(&self) -> Self {
        Self {
            atoms: self.atoms.clone(),
            others: !self.others,
            numbers: self.gaps().collect(),
            whole: self.whole,
        }
    }

    /// The numbers that are not in it.
    fn gaps(&self) -> impl Iterator<Item = Range> {
        let ends = self.numbers.iter();
        let before = std::iter::once(None).chain(ends.clone().map(|range| Some(range.high())));
        let after = ends.map(|range| Some(range.low())).chain([None]);
        let gaps = before.zip(after);
        gaps.filter_map(|(low, high)| Range::beyond(low, high))
            .filter(|gap| !gap.is_empty(self.whole))
    }

    /// Whether no value is in both.
    pub fn is_apart(&self, other: &Values) -> bool {
        let atoms = match (self.others, other.others) {
            (true, true) => false,
            (false, false) if other.atoms.len() < self.atoms.len() => {
                other.atoms.is_disjoint(&self.atoms)
            }
            (false, false) => self.atoms.is_disjoint(&other.atoms),
            (false, true) => self.atoms.is_subset(&other.atoms),
            (true, false) => other.atoms.is_subset(&self.atoms),
        };
        atoms && !other.numbers.iter().any(|range| self.meets(*range))
    }

    /// Whether all of it is in another.
    pub fn is_within(&self, other: &Values) -> bool {
        let atoms = match (self.others, other.others) {
            (true, false) => false,
            (true, true) => other.atoms.is_subset(&self.atoms),
            (false, false) => self.atoms.is_subset(&other.atoms),
            (false, true) => !other.atoms.iter().any(|atom| self.atoms.contains(atom)),
        };
        atoms && !other.gaps().any(|gap| self.meets(gap))
    }

    /// Takes away what is not in another.
    pub fn keep(&mut self, other: &Values) {
        match (self.others, other.others) {
            (_, true) if !self.others => {
                other.atoms.iter().for_each(|atom| {
                    self.atoms.remove(atom);
                });
            }
            (true, true) => self.atoms.extend(other.atoms.iter().cloned()),
            _ => {
                let both = other.atoms.iter().filter(|atom| self.has(atom));
                self.atoms = both.cloned().collect();
                self.others = false;
            }
        }
        for gap in other.gaps() {
            self.remove(gap);
        }
    }

    /// Takes away the numbers of a range.
    fn remove(&mut self, gap: Range) {
        let from = self
            .numbers
            .partition_point(|known| known.high().0 < gap.low().0);
        let rest = self.numbers.iter().skip(from);
        let to = from
            + rest
                .take_while(|known| known.low().0 <= gap.high().0)
                .count();
        let touched = self.numbers.get(from..to).unwrap_or_default();
        let sides = touched.iter().flat_map(|known| known.without(gap));
        let sides = sides.filter(|side| !side.is_empty(self.whole));
        let exact = |side: Range| if self.whole { side.whole() } else { side };
        let sides: Vec<Range> = sides.map(exact).collect();
        self.numbers.splice(from..to, sides);
    }

    /// Adds what is in another.
    pub fn join(&mut self, other: &Values) {
        self.atoms = match (self.others, other.others) {
            (false, false) => self.atoms.union(&other.atoms).cloned().collect(),
            (true, true) => self.atoms.intersection(&other.atoms).cloned().collect(),
            (true, false) => self.atoms.difference(&other.atoms).cloned().collect(),
            (false, true) => other.atoms.difference(&self.atoms).cloned().collect(),
        };
        self.others |= other.others;
        let mut all = std::mem::take(&mut self.numbers);
        all.extend(other.numbers.iter().copied());
        all.sort_by(|a, b| {
            a.low()
                .0
                .total_cmp(&b.low().0)
                .then(b.low().1.cmp(&a.low().1))
        });
        for range in all {
            match self.numbers.last_mut() {
                Some(last) if last.touches(range) => *last = last.hull(range),
                _ => self.numbers.push(range),
            }
        }
    }

    /// The first half of its atoms; `None` where it has other values, or too few.
    pub fn half(&self) -> Option<Self> {
        let some = !self.others && self.numbers.is_empty() && self.atoms.len() > 1;
        let half = self.atoms.iter().take(self.atoms.len() / 2);
        some.then(|| Self::atoms(half.cloned()))
    }

    /// The least and the greatest of its numbers.
    pub fn hull(&self) -> Option<Range> {
        Some(self.numbers.first()?.hull(*self.numbers.last()?))
    }
}
