//! Values for which nothing holds, in words.

use crate::base::name::either;

use super::range::Range;
use super::read::{Asked, Order, Question, Subject};
use super::solve::Answers;
use super::values::{Atom, Values};

/// Values of a place that are named one by one.
const MOST_NAMED: usize = 8;

/// Values that a place has not, that are named.
const MOST_LEFT_OUT: usize = 3;

/// Most parts of a case that are named.
const MOST_PARTS: usize = 4;

/// A case in words; `None` where it has none. Whether that is all there is to it: there may be conditions in it that have no
/// words, and of which it isn't known whether they can hold beside the rest.
pub fn case(asked: &Asked, answers: &Answers) -> Option<(String, bool)> {
    let (mut parts, mut sure) = (Vec::new(), true);
    let mut compared = 0;
    for (at, (question, known)) in asked.questions.iter().zip(answers).enumerate() {
        if *known == question.domain || question.domain.is_within(known) {
            continue;
        }
        let order = asked.orders.iter().find(|order| order.question == at);
        let part = match order {
            Some(order) => {
                compared += 1;
                relation(order, known)
            }
            None => {
                let name = question.shown.as_deref();
                name.map(|name| values(name, question, known, is_sized(asked, answers, question)))
            }
        };
        sure &= part.is_some();
        parts.extend(part);
    }
    parts.retain(|part| !part.is_empty());
    let few = (1..=MOST_PARTS).contains(&parts.len());
    // What values compare to and what they are may exclude each other.
    sure &= compared == 0 || parts.len() == 1;
    few.then(|| (parts.join(" and "), sure))
}

/// Whether the size of a value is said too.
fn is_sized(asked: &Asked, answers: &Answers, value: &Question) -> bool {
    let Subject::Value(thing) = &value.subject else {
        return false;
    };
    let size = Subject::Size(thing.clone());
    let mut all = asked.questions.iter().zip(answers);
    all.any(|(question, known)| question.subject == size && *known != question.domain)
}

/// Which of two values is more, as the conditions name them.
fn relation(order: &Order, known: &Values) -> Option<String> {
    let [left, right] = order.shown.as_ref()?;
    let [less, equal, more] = [-1.0, 0.0, 1.0].map(|sign| known.meets(Range::point(sign)));
    let sign = match order.turned {
        false => sign(less, equal, more)?,
        true => sign(more, equal, less)?,
    };
    Some(format!("`{left} {sign} {right}`"))
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

/// What is left of the values of a place; empty where it has no words. Of one whose size is said (`sized`), that it is not empty
/// needs none.
fn values(name: &str, question: &Question, known: &Values, sized: bool) -> String {
    let open = question.domain.others;
    let shown = |atom: &Atom| if open { quoted(atom) } else { atom.show() };
    if known.others {
        let empty = Atom::Text("".into());
        let out = known.atoms.iter();
        let out = out.filter(|atom| question.domain.has(atom) && !(sized && **atom == empty));
        let out: Vec<String> = out.map(|atom| format!("`{}`", shown(atom))).collect();
        return match out.as_slice() {
            [] => String::new(),
            [one] => format!("`{name}` is not {one}"),
            few if few.len() <= MOST_LEFT_OUT => {
                format!("`{name}` is none of {}", few.join(", "))
            }
            _ => format!("`{name}` is none of those"),
        };
    }
    let atoms: Vec<String> = known.atoms.iter().map(shown).collect();
    if atoms.is_empty() && known.numbers == question.domain.numbers {
        return format!("`{name}` is not `null`");
    }
    let mut parts: Vec<String> = match atoms.len() {
        0 => Vec::new(),
        // A list of all would bury what it says.
        many if many > MOST_NAMED => {
            let first: Vec<&str> = atoms.iter().take(3).map(String::as_str).collect();
            let more = many - first.len();
            vec![format!("`{}` or one of {more} others", first.join("`, `"))]
        }
        _ => vec![either(atoms.iter().map(String::as_str))],
    };
    let ranges = known.numbers.iter().take(MOST_LEFT_OUT);
    parts.extend(ranges.map(|range| range.show(known.whole)));
    format!("`{name}` is {}", parts.join(" or "))
}

/// An atom of a place that is open to any text.
fn quoted(atom: &Atom) -> String {
    match atom {
        Atom::Text(text) => format!("{text:?}"),
        atom => atom.show(),
    }
}
