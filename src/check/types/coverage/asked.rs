//! The questions that conditions ask, by what is asked: each is one, however often and in whatever words it is asked.

use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

use crate::ast::expr::Expr;
use crate::expr::Type;
use crate::expr::fold::same::{fingerprint, same};
use crate::expr::infer::path;

use super::super::cases::{Atom, Reader};
use super::super::constant::changes;
use super::super::jump::texts;
use super::super::range::{Range, measured};
use super::formula::Formula;
use super::question::{Ask, ask};
use super::search::Among;
use super::set::Set;
use super::settle::{Compared, Sized, settle};
use super::space::{Opens, Place, Space, Which};
use super::ties::Ties;

/// How conditions within conditions are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// For both of their values, which doubles what there is to read with each one within another.
    Deep,
    /// As they stand: a `?:` as a whole, a comparison of conditions as one of two values.
    AsItStands,
}

/// The questions that conditions ask.
pub struct Questions<'r, 'cx, 'e> {
    /// Reads what is asked.
    pub reader: Reader<'r, 'cx>,
    /// How conditions within conditions are read.
    pub reading: Reading,
    /// How many parts of conditions were read.
    pub parts: usize,
    /// Whether there was more than can be looked at: then what was read says less than is asked.
    pub too_much: bool,
    /// By what is asked: a path, or what [`Questions::name`] calls it.
    numbers: HashMap<String, usize>,
    spaces: Vec<Space>,
    /// What is asked, for people; by question.
    shown: Vec<Option<String>>,
    compared: Vec<Compared>,
    sized: Vec<Sized>,
    /// Expressions that are no paths, by fingerprint, each with its number.
    others: HashMap<u64, Vec<(&'e Expr, usize)>>,
    /// How many names were made.
    made: usize,
}

/// What conditions ask, with numbered answers.
pub struct Asked {
    /// What is asked of the answers.
    pub formulas: Vec<Formula<Among>>,
    /// All answers to each question, and how many there are numbers for.
    pub answers: Vec<(Set, u32)>,
    /// What ties answers to each other.
    pub ties: Ties,
    /// The questions.
    pub spaces: Vec<Space>,
    /// What each of them asks for, for people; `None` where it has no words.
    pub shown: Vec<Option<String>>,
    /// Whether there was more than can be looked at.
    pub too_much: bool,
}

impl<'r, 'cx, 'e> Questions<'r, 'cx, 'e> {
    /// Nothing has been asked.
    pub fn new(reader: Reader<'r, 'cx>, reading: Reading) -> Self {
        Self {
            reader,
            reading,
            parts: 0,
            too_much: false,
            numbers: HashMap::new(),
            spaces: Vec::new(),
            shown: Vec::new(),
            compared: Vec::new(),
            sized: Vec::new(),
            others: HashMap::new(),
            made: 0,
        }
    }

    /// Numbers the answers, once all is asked.
    pub fn answers(mut self, formulas: Vec<Formula<Ask>>) -> Asked {
        let alike = self.alike();
        let (mut ties, all) = settle(&mut self.spaces, &self.compared, &self.sized);
        ties.alike = alike;
        let spaces = &self.spaces;
        let mut numbered = |ask: Ask| {
            let space = spaces.get(ask.of);
            let these = space.map_or(Set::of([]), |space| {
                let these = space.among(&ask.which);
                match ask.truth {
                    true => these,
                    false => these.others(space.size()),
                }
            });
            let (of, these) = (ask.of, Rc::new(these));
            Among { of, these }
        };
        let formulas = formulas.into_iter();
        let formulas = formulas.map(|formula| formula.map(&mut numbered)).collect();
        let answers = spaces.iter().map(|space| (space.all(), space.size()));
        Asked {
            formulas,
            answers: answers.collect(),
            ties,
            too_much: self.too_much || !all,
            spaces: self.spaces,
            shown: self.shown,
        }
    }

    /// Of values that are compared, and whose sizes are asked for: the question whether they are equal, and the one whether their
    /// sizes are.
    fn alike(&mut self) -> Vec<(usize, usize)> {
        let sizes = self.sized.iter().map(|sized| (sized.of, sized.size));
        let sizes: HashMap<usize, usize> = sizes.collect();
        let compared = self.compared.iter().map(|of| (of.sides, of.question));
        let mut known: HashMap<(usize, usize), usize> = compared.collect();
        let mut alike = Vec::new();
        for at in 0..self.compared.len() {
            let Some(Compared {
                question, sides, ..
            }) = self.compared.get(at).copied()
            else {
                continue;
            };
            let (Some(a), Some(b)) = (sizes.get(&sides.0), sizes.get(&sides.1)) else {
                continue;
            };
            let of_sizes = known
                .get(&(*a, *b))
                .or_else(|| known.get(&(*b, *a)))
                .copied();
            let of_sizes = of_sizes.unwrap_or_else(|| {
                let question = self.spaces.len();
                self.spaces.push(Space::Of(3));
                self.shown.push(None);
                let (sides, turned) = ((*a, *b), false);
                self.compared.push(Compared {
                    question,
                    sides,
                    turned,
                });
                known.insert(sides, question);
                question
            });
            alike.push((question, of_sizes));
        }
        alike
    }

    /// Which of two values is more, and whether they are asked for the other way round.
    pub(super) fn order(&mut self, left: &'e Expr, right: &'e Expr) -> (usize, bool) {
        let (a, b) = (self.name(left), self.name(right));
        let turns = a > b;
        let (key, sides) = match turns {
            true => (format!("{b} ? {a}"), [right, left]),
            false => (format!("{a} ? {b}"), [left, right]),
        };
        let known = self.spaces.len();
        let question = self.question(key, || Space::Of(3));
        if question == known {
            let [left, right] = sides.map(|side| self.value(side));
            let sides = (left, right);
            if left != right {
                let turned = turns;
                self.compared.push(Compared {
                    question,
                    sides,
                    turned,
                });
            }
        }
        (question, turns)
    }

    /// Where two texts are asked for the lesser one, and where one is asked for its size, the empty text is told apart.
    pub(super) fn least(&mut self, question: usize) {
        if let Some(Space::Place(place)) = self.spaces.get_mut(question)
            && place.open == Opens::Texts
        {
            place.atoms.insert(Atom::Text("".into()));
        }
    }

    /// The value of an expression: a place, a size, or what is written out.
    pub(super) fn value(&mut self, expr: &'e Expr) -> usize {
        if let Some(of) = measured(expr) {
            return self.size(of);
        }
        match self.reader.atom(expr) {
            Some(atom) => {
                let key = format!("the value {}", self.name(expr));
                self.question(key, || Space::Place(Place::value(atom)))
            }
            None => self.place(expr),
        }
    }

    /// Numbers, as answers.
    pub(super) fn within(&mut self, question: usize, range: Range, truth: bool) -> Formula<Ask> {
        if let Some(Space::Place(place)) = self.spaces.get_mut(question) {
            let (low, high) = range.bounds();
            let cuts = [low.0, high.0].into_iter().filter(|at| at.is_finite());
            place.cuts.extend(cuts);
        }
        ask(question, Which::Numbers(range), truth)
    }

    /// A text, a bool or null of a place.
    pub(super) fn atom(&mut self, subject: &'e Expr, atom: Atom, truth: bool) -> Formula<Ask> {
        let question = self.place(subject);
        if let Some(Space::Place(place)) = self.spaces.get_mut(question)
            && place.open != Opens::Nothing
        {
            place.atoms.insert(atom.clone());
        }
        ask(question, Which::Atom(atom), truth)
    }

    /// A condition as it stands.
    pub(super) fn whole(&mut self, expr: &'e Expr, truth: bool) -> Formula<Ask> {
        if path(expr).is_some() {
            let question = self.place(expr);
            let bool = Atom::Bool(true);
            if let Some(Space::Place(place)) = self.spaces.get(question)
                && place.atoms.contains(&bool)
            {
                return ask(question, Which::Atom(bool), truth);
            }
        }
        let key = format!("{} holds", self.name(expr));
        let question = self.question(key, || Space::Of(2));
        ask(question, Which::Some(vec![1]), truth)
    }

    /// The size of a text, a list or a map.
    pub(super) fn size(&mut self, of: &'e Expr) -> usize {
        let key = format!("size of {}", self.name(of));
        let known = self.spaces.len();
        let range = self.reader.sizes(of);
        let size = self.question(key, || Space::Place(Place::size(range)));
        if size == known {
            self.show(size, path(of).map(|of| format!("size({of})")));
            let ty = self.reader.cx.quiet(of).without_null();
            let types = &self.reader.cx.program.types;
            let text = ty == Type::String || texts(&ty, types).is_some();
            let of = self.place(of);
            self.least(of);
            self.sized.push(Sized { of, size, text });
        }
        size
    }

    fn place(&mut self, expr: &'e Expr) -> usize {
        let key = self.name(expr);
        if let Some(known) = self.numbers.get(&key) {
            return *known;
        }
        let ty = self.reader.cx.quiet(expr);
        let mut atoms: BTreeSet<Atom> = self.reader.values(&ty).iter().cloned().collect();
        let own = ty.without_null();
        let number = matches!(own, Type::Int | Type::Uint | Type::Float);
        let open = match own {
            _ if number || !atoms.contains(&Atom::Other) => Opens::Nothing,
            Type::String => Opens::Texts,
            _ => Opens::All,
        };
        if number || own == Type::Error {
            atoms.remove(&Atom::Other);
        }
        let numbers = match own {
            Type::Json | Type::Union(_) | Type::Error => None,
            _ => Some(number),
        };
        let place = Place {
            range: self.reader.bounds(expr),
            whole: matches!(own, Type::Int | Type::Uint),
            ..Place::new(atoms, open, numbers)
        };
        let question = self.question(key, || Space::Place(place));
        self.show(question, path(expr));
        question
    }

    fn show(&mut self, question: usize, as_text: Option<String>) {
        if let Some(slot) = self.shown.get_mut(question) {
            *slot = as_text;
        }
    }

    /// The number of a question, by what it asks.
    pub(super) fn question(&mut self, key: String, space: impl FnOnce() -> Space) -> usize {
        let next = self.spaces.len();
        let number = *self.numbers.entry(key).or_insert(next);
        if number == next {
            self.spaces.push(space());
            self.shown.push(None);
        }
        number
    }

    /// A name that is the same for expressions that have the same value.
    pub(super) fn name(&mut self, expr: &'e Expr) -> String {
        if let Some(path) = path(expr) {
            return path;
        }
        let alike = self.others.entry(fingerprint(expr)).or_default();
        let known = alike.iter().find(|(known, _)| same(known, expr));
        let number = match known {
            Some((known, number)) if !changes(known) => *number,
            _ => {
                self.made += 1;
                alike.push((expr, self.made));
                self.made
            }
        };
        format!("#{number}")
    }
}
