//! Conditions in normal form.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::values::Values;

/// A condition: what it denies is in what its parts ask, so that there is no `not`.
#[derive(Debug, Clone)]
pub enum Formula {
    /// It holds always, or never.
    Is(bool),
    /// One thing has one of some values.
    Ask(Ask),
    /// All of these hold.
    All(Vec<Formula>),
    /// One of these holds.
    Any(Vec<Formula>),
}

/// One thing has one of some values.
#[derive(Debug, Clone)]
pub struct Ask {
    /// What is asked, by its place among [`ConditionReader`](super::read::ConditionReader).
    pub of: usize,
    /// The values.
    pub these: Rc<Values>,
}

impl Formula {
    /// One thing has one of these values.
    pub fn ask(of: usize, these: Values) -> Self {
        Formula::Ask(Ask {
            of,
            these: Rc::new(these),
        })
    }

    /// All of some (`all`), or one of them; those that ask for the same thing are one.
    pub fn of(parts: impl IntoIterator<Item = Formula>, all: bool) -> Self {
        let (mut asked, mut left) = (BTreeMap::<usize, Values>::new(), Vec::new());
        let mut open: Vec<Formula> = parts.into_iter().collect();
        open.reverse();
        while let Some(part) = open.pop() {
            match part {
                Formula::Is(value) if value == all => {}
                Formula::Is(value) => return Formula::Is(value),
                Formula::All(parts) if all => open.extend(parts.into_iter().rev()),
                Formula::Any(parts) if !all => open.extend(parts.into_iter().rev()),
                Formula::Ask(ask) => match (asked.get_mut(&ask.of), all) {
                    (Some(known), true) => known.keep(&ask.these),
                    (Some(known), false) => known.join(&ask.these),
                    (None, _) => {
                        asked.insert(ask.of, (*ask.these).clone());
                    }
                },
                other => left.push(other),
            }
        }
        let asked = asked.into_iter().map(|(of, these)| Formula::ask(of, these));
        let mut parts: Vec<Formula> = asked.chain(left).collect();
        match (parts.len(), all) {
            (0, _) => Formula::Is(all),
            (1, _) => parts.remove(0),
            (_, true) => Formula::All(parts),
            (_, false) => Formula::Any(parts),
        }
    }

    /// How many parts it has.
    pub fn size(&self) -> usize {
        match self {
            Formula::Is(_) | Formula::Ask(_) => 1,
            Formula::All(parts) | Formula::Any(parts) => parts.iter().map(Formula::size).sum(),
        }
    }

    /// Each of its asks.
    pub fn each(&self, visit: &mut impl FnMut(&Ask)) {
        match self {
            Formula::Is(_) => {}
            Formula::Ask(ask) => visit(ask),
            Formula::All(parts) | Formula::Any(parts) => {
                parts.iter().for_each(|part| part.each(visit));
            }
        }
    }

    /// What it says of one thing alone: all other asks hold.
    pub fn only(&self, of: usize) -> Formula {
        match self {
            Formula::Is(value) => Formula::Is(*value),
            Formula::Ask(ask) if ask.of == of => Formula::Ask(ask.clone()),
            Formula::Ask(_) => Formula::Is(true),
            Formula::All(parts) => Formula::of(parts.iter().map(|part| part.only(of)), true),
            Formula::Any(parts) => Formula::of(parts.iter().map(|part| part.only(of)), false),
        }
    }
}
