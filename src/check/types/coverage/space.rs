//! All answers to one question, numbered.

use std::collections::BTreeSet;

use super::super::cases::Atom;
use super::super::range::Range;
use super::set::Set;

/// What may be answered.
pub enum Space {
    /// One of so many.
    Of(u32),
    /// A value of a place.
    Place(Place),
}

/// Values of a place that are told apart.
pub struct Place {
    /// Null, texts, bools, and [`Atom::Other`].
    pub atoms: BTreeSet<Atom>,
    /// Whether any other text or value may be there that a condition names.
    pub open: bool,
    /// Whether numbers may be there; `None` where its type is not known, and then only what is asked says so.
    pub numbers: Option<bool>,
    /// The numbers that it may be.
    pub range: Range,
    /// Whether they are whole.
    pub whole: bool,
    /// Numbers that conditions name.
    pub cuts: Vec<f64>,
}

/// Which answers an ask takes.
pub enum Which {
    /// These.
    Some(Vec<u32>),
    /// A text, bool or null.
    Atom(Atom),
    /// The numbers of a range.
    Numbers(Range),
}

impl Space {
    /// Readies the numbers, once all that is asked is known.
    pub fn settle(&mut self) {
        let Space::Place(place) = self else {
            return;
        };
        place.cuts.sort_by(f64::total_cmp);
        place.cuts.dedup();
        let numbers = place.numbers.unwrap_or(!place.cuts.is_empty());
        if !numbers {
            place.cuts.clear();
        }
        place.numbers = Some(numbers);
        if place.atoms.is_empty() && !numbers {
            place.atoms.insert(Atom::Other);
        }
    }

    /// How many answers there are numbers for.
    pub fn size(&self) -> u32 {
        match self {
            Space::Of(many) => *many,
            Space::Place(place) => {
                let pieces = match place.numbers {
                    Some(true) => 2 * place.cuts.len() + 1,
                    _ => 0,
                };
                (place.atoms.len() + pieces) as u32
            }
        }
    }

    /// The answers that there can be.
    pub fn all(&self) -> Set {
        let Space::Place(place) = self else {
            return Set::below(self.size());
        };
        let before = place.atoms.len() as u32;
        let pieces = (before..self.size()).filter(|at| {
            let piece = place.piece(*at - before).and(place.range);
            !piece.is_empty(place.whole)
        });
        Set::of(
            [(0, before)]
                .into_iter()
                .chain(pieces.map(|at| (at, at + 1))),
        )
    }

    /// The answers that are taken.
    pub fn among(&self, which: &Which) -> Set {
        match (which, self) {
            (Which::Some(these), _) => Set::of(these.iter().map(|at| (*at, *at + 1))),
            (Which::Atom(atom), Space::Place(place)) => {
                let at = place.atoms.iter().position(|known| known == atom);
                Set::of(at.map(|at| (at as u32, at as u32 + 1)))
            }
            (Which::Numbers(range), Space::Place(place)) if place.numbers == Some(true) => {
                let before = place.atoms.len() as u32;
                let (low, high) = range.bounds();
                let (from, to) = (place.from(low), place.to(high));
                Set::of([(before + from, before + to)])
            }
            _ => Set::of([]),
        }
    }
}

impl Place {
    /// A piece of the numbers: what lies before, on or behind the cuts, from below.
    fn piece(&self, at: u32) -> Range {
        let cut = |i: usize| self.cuts.get(i).copied();
        let i = at as usize / 2;
        match (at % 2, cut(i)) {
            (1, Some(on)) => Range::point(on),
            (_, behind) => {
                let before = i.checked_sub(1).and_then(cut);
                Range::between(before, behind)
            }
        }
    }

    /// The first piece of a range with this lower bound.
    fn from(&self, (at, taken): (f64, bool)) -> u32 {
        let before = self.cuts.partition_point(|cut| *cut < at);
        match at.is_finite() {
            true => 2 * before as u32 + if taken { 1 } else { 2 },
            false => 0,
        }
    }

    /// The piece behind the last one of a range with this upper bound.
    fn to(&self, (at, taken): (f64, bool)) -> u32 {
        let before = self.cuts.partition_point(|cut| *cut < at);
        match at.is_finite() {
            true => 2 * before as u32 + if taken { 2 } else { 1 },
            false => 2 * self.cuts.len() as u32 + 1,
        }
    }
}
