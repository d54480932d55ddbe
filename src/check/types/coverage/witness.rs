//! Answers for which no arm holds, in words.

use super::super::cases::Atom;
use super::asked::Asked;
use super::classes::Relation;
use super::set::Set;
use super::space::{Opens, Place, Space};
use super::ties::{Answers, EQUAL, LESS, MORE, Order};

/// Most values of a place that are named.
const MOST: usize = 3;

/// A case in which no arm holds.
pub struct Case {
    /// What it is made of, in words.
    pub parts: Vec<String>,
    /// Whether that is all: there may be conditions in it that have no words, and of which it isn't known whether they can hold
    /// beside the rest.
    pub sure: bool,
}

/// What the answers say, a part for each question that they decide. `whole` are all answers to each question.
pub fn words<'a>(
    asked: &Asked,
    whole: impl Iterator<Item = &'a Set> + Clone,
    answers: &Answers,
) -> Case {
    let ties = &asked.ties;
    let decided = |at: usize| answers.get(at).and_then(|known| known.one());
    let less = |at: usize| {
        let all = whole.clone().nth(at);
        answers.get(at).map(|known| &**known) != all
    };
    let name = |at: usize| asked.shown.get(at).and_then(Option::as_deref);
    let parted = |at: usize| match asked.spaces.get(at) {
        Some(Space::Place(place)) => place.open == Opens::All,
        _ => false,
    };
    let mut case = Case {
        parts: Vec::new(),
        sure: true,
    };
    for (at, ((space, all), known)) in asked
        .spaces
        .iter()
        .zip(whole.clone())
        .zip(answers)
        .enumerate()
    {
        if **known == *all {
            continue;
        }
        let part = match space {
            Space::Place(place) if place.is_written_out() => continue,
            Space::Place(place) => {
                let mut sizes = ties.measures.iter().filter(|measure| measure.text == at);
                let sized = sizes.any(|measure| less(measure.size));
                name(at).and_then(|name| values(place, name, known, sized))
            }
            Space::Of(_) => {
                let order = ties.orders.iter().find(|order| order.question == at);
                // What the values say themselves needs no words.
                let told = order.is_some_and(|order| {
                    let (left, right) = (decided(order.sides.0), decided(order.sides.1));
                    let relation = left.zip(right).map(|(a, b)| order.classes.relation(a, b));
                    relation.is_some_and(|relation| relation != Relation::Any)
                });
                let follows = ties
                    .alike
                    .iter()
                    .any(|(values, sizes)| *sizes == at && decided(*values) == Some(EQUAL));
                if told || follows {
                    continue;
                }
                // Their parts may be asked for as well.
                let whole =
                    order.is_some_and(|order| !parted(order.sides.0) && !parted(order.sides.1));
                case.sure &= whole;
                order.and_then(|order| {
                    compared(order, (name(order.sides.0)?, name(order.sides.1)?), known)
                })
            }
        };
        match part {
            Some(part) if part.is_empty() => {}
            Some(part) => case.parts.push(part),
            None => case.sure = false,
        }
    }
    case
}

/// Which of two values is more, as the conditions name them.
fn compared(order: &Order, (left, right): (&str, &str), known: &Set) -> Option<String> {
    let (less, equal, more) = (known.has(LESS), known.has(EQUAL), known.has(MORE));
    Some(match order.turned {
        false => format!("`{left} {} {right}`", sign(less, equal, more)?),
        true => format!("`{right} {} {left}`", sign(more, equal, less)?),
    })
}

fn sign(less: bool, equal: bool, more: bool) -> Option<&'static str> {
    match (less, equal, more) {
        (true, false, false) => Some("<"),
        (true, true, false) => Some("<="),
        (false, true, false) => Some("=="),
        (false, true, true) => Some(">="),
        (false, false, true) => Some(">"),
        (true, false, true) => Some("!="),
        _ => None,
    }
}

/// Values of a place; `sized` where its size is named too.
fn values(place: &Place, name: &str, known: &Set, sized: bool) -> Option<String> {
    let classes = &place.classes;
    let (numbers, atoms): (Vec<u32>, Vec<u32>) =
        known.numbers().partition(|class| classes.is_number(*class));
    let mut shown: Vec<String> = Vec::new();
    for atom in atoms
        .iter()
        .filter_map(|class| classes.atoms.get(*class as usize))
    {
        shown.push(match atom {
            Atom::Other => return Some(other(place, name, known, sized)),
            atom if place.open != Opens::Nothing => quoted(atom),
            atom => format!("`{}`", atom.show()),
        });
    }
    for row in numbers.chunk_by(|a, b| a + 1 == *b) {
        let (first, last) = (row.first()?, row.last()?);
        let range = classes
            .range(*first)
            .to(classes.range(*last))
            .and(place.range);
        shown.push(range.show(place.whole));
    }
    shown.truncate(MOST);
    let (last, before) = shown.split_last()?;
    Some(match before {
        [] => format!("`{name}` is {last}"),
        _ => format!("`{name}` is {} or {last}", before.join(", ")),
    })
}

/// A place with a value that no condition names; nothing where its size says that.
fn other(place: &Place, name: &str, known: &Set, sized: bool) -> String {
    let named = place.classes.atoms.iter().zip(0..);
    let empty = Atom::Text("".into());
    let out = named.filter(|(atom, at)| {
        let may = **atom != Atom::Null || place.atoms.contains(atom);
        may && **atom != Atom::Other && !known.has(*at) && !(sized && **atom == empty)
    });
    let out: Vec<String> = out.map(|(atom, _)| quoted(atom)).collect();
    match out.as_slice() {
        [] => String::new(),
        [one] => format!("`{name}` is not {one}"),
        few if few.len() <= MOST => format!("`{name}` is none of {}", few.join(", ")),
        _ => format!("`{name}` is none of those"),
    }
}

/// An atom of a place that is open to any text.
fn quoted(atom: &Atom) -> String {
    match atom {
        Atom::Text(text) => format!("`{text:?}`"),
        atom => format!("`{}`", atom.show()),
    }
}
