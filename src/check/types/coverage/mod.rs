//! Whether the arms of a route leave a case open, whatever their conditions are made of.
//!
//! What a condition asks of one thing is a question with values as answers: of a place, of a size, which of two values is
//! more, which of several records it is; and of any other condition as it stands, whether it holds. Arms that deny one
//! another so cover all, also where nothing else is known of what they ask.
//!
//! Values of places are told apart as far as conditions name them: the members of an enum, `true` and `false`, null, texts
//! that are named and all others, numbers that are named and what lies between. Answers are tied to each other where they
//! are of the same thing: which of two values is more, and the values; a text and its size. With that all that is asked of
//! places is decided. What is left to itself are conditions as they stand, and expressions that are no places.
//!
//! Reading order: [`formula`], [`set`] (answers), [`question`] (what conditions ask) and [`asked`] (of what), [`space`] (all
//! answers to one question) and [`classes`], [`settle`] (their numbers), [`ties`] and [`ranks`] (what they say of each other),
//! [`mod@search`] (answers for which no arm holds), [`witness`] (those in words).

mod asked;
mod classes;
mod formula;
mod question;
mod ranks;
mod search;
mod set;
mod settle;
mod space;
mod ties;
mod witness;

use crate::resolve::program::Arm;

use super::cases::Reader;
use super::cx::Cx;
use asked::{Asked, Questions, Reading};
use search::Found;
pub use witness::Case;

/// Whether one of the arms of a route always holds.
pub enum Coverage {
    /// One does in every case.
    Full,
    /// In this case none does.
    Open(Case),
    /// There are too many cases to tell.
    Unknown,
}

/// Whether one of the arms holds in every case. No arm is an `else`.
pub fn coverage(cx: &Cx, arms: &[Arm]) -> Coverage {
    match search(cx, arms, Reading::Deep) {
        // Conditions that deny one another do so as they stand, too.
        Coverage::Unknown => match search(cx, arms, Reading::AsItStands) {
            Coverage::Full => Coverage::Full,
            _ => Coverage::Unknown,
        },
        known => known,
    }
}

fn search(cx: &Cx, arms: &[Arm], reading: Reading) -> Coverage {
    let mut questions = Questions::new(Reader::new(cx), reading);
    let conditions = arms.iter().filter_map(|arm| arm.when.as_ref());
    let denied = conditions.map(|when| question::read(&mut questions, when, false));
    let denied = denied.collect();
    let asked = questions.answers(denied);
    let Asked {
        formulas,
        answers: all,
        ties,
        ..
    } = &asked;
    match search::found(formulas, all, ties) {
        Found::Nothing => Coverage::Full,
        Found::Something(left) if !asked.too_much => {
            let all = all.iter().map(|(all, _)| all);
            Coverage::Open(witness::words(&asked, all, &left))
        }
        Found::Something(_) | Found::TooMuch => Coverage::Unknown,
    }
}
