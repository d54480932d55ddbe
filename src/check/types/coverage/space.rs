//! All answers to one question, numbered.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::super::cases::Atom;
use super::super::range::Range;
use super::classes::Classes;
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
    /// Null, texts, bools, and [`Atom::Other`]: those of its type, and those that conditions name.
    pub atoms: BTreeSet<Atom>,
    /// Which others it may be.
    pub open: Opens,
    /// Whether numbers may be there; `None` where its type is not known, and then only what is asked says so.
    pub numbers: Option<bool>,
    /// The numbers that it may be.
    pub range: Range,
    /// Whether they are whole.
    pub whole: bool,
    /// Numbers that conditions name.
    pub cuts: Vec<f64>,
    /// What is told apart, once all that is asked is known; shared by places that are compared.
    pub classes: Rc<Classes>,
}

/// What a place may be beside the values of its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opens {
    /// Nothing.
    Nothing,
    /// Any text.
    Texts,
    /// Any value.
    All,
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
    /// How many answers there are numbers for.
    pub fn size(&self) -> u32 {
        match self {
            Space::Of(many) => *many,
            Space::Place(place) => place.classes.count(),
        }
    }

    /// The answers that there can be.
    pub fn all(&self) -> Set {
        match self {
            Space::Of(many) => Set::below(*many),
            Space::Place(place) => place.all(),
        }
    }

    /// The answers that are taken.
    pub fn among(&self, which: &Which) -> Set {
        match (which, self) {
            (Which::Some(these), _) => Set::of(these.iter().map(|at| (*at, *at + 1))),
            (Which::Atom(atom), Space::Place(place)) => {
                Set::of(place.classes.atom(atom).map(|at| (at, at + 1)))
            }
            (Which::Numbers(range), Space::Place(place)) => place.classes.of_range(*range),
            _ => Set::of([]),
        }
    }
}

impl Place {
    /// A place with these values.
    pub fn new(atoms: BTreeSet<Atom>, open: Opens, numbers: Option<bool>) -> Self {
        Self {
            atoms,
            open,
            numbers,
            range: Range::ALL,
            whole: false,
            cuts: Vec::new(),
            classes: Rc::default(),
        }
    }

    /// A size.
    pub fn size(range: Range) -> Self {
        Self {
            range,
            whole: true,
            ..Self::new(BTreeSet::new(), Opens::Nothing, Some(true))
        }
    }

    /// A value that is written out.
    pub fn value(atom: Atom) -> Self {
        Self::new(BTreeSet::from([atom]), Opens::Nothing, Some(false))
    }

    /// Whether there are numbers among its values. Asked when all cuts are known.
    pub fn has_numbers(&self) -> bool {
        self.numbers.unwrap_or(!self.cuts.is_empty())
    }

    /// Whether it is no place, but a value that is written out.
    pub fn is_written_out(&self) -> bool {
        self.atoms.len() == 1 && self.open == Opens::Nothing && self.numbers == Some(false)
    }

    fn all(&self) -> Set {
        let classes = &self.classes;
        let may = |atom: &Atom| match (self.open, atom) {
            _ if self.atoms.contains(atom) => true,
            (Opens::Nothing, _) | (_, Atom::Null | Atom::Other) => false,
            (Opens::Texts, _) => matches!(atom, Atom::Text(_)),
            (Opens::All, _) => true,
        };
        let atoms = (0..).zip(&classes.atoms);
        let atoms = atoms.filter(|(_, atom)| may(atom)).map(|(at, _)| at);
        let numbers = match self.has_numbers() {
            true => classes.of_range(self.range),
            false => Set::of([]),
        };
        let numbers = numbers.numbers().filter(|class| {
            let range = classes.range(*class).and(self.range);
            !range.is_empty(self.whole)
        });
        let all: Vec<u32> = atoms.chain(numbers).collect();
        Set::of(all.into_iter().map(|at| (at, at + 1)))
    }
}
