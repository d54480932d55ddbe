//! Whether the arms of a route leave a case open, whatever their conditions are made of.
//!
//! What a condition asks of one thing is a question with values as answers: of a place, of a size, which of two values is
//! more, which of several records it is; and of any other condition as it stands, whether it holds. Arms that deny one
//! another so cover all, also where nothing else is known of what they ask.
//!
//! Reading order: [`formula`], [`set`] (answers), [`question`] (from conditions to questions), [`space`] (all answers to one),
//! [`search`] (answers for which no arm holds).

mod formula;
mod question;
mod search;
mod set;
mod space;

use crate::resolve::program::Arm;

use super::cases::Reader;
use question::Questions;

/// Whether one of the arms holds in every case. No arm is an `else`.
pub fn covered(reader: Reader, arms: &[Arm]) -> bool {
    let mut questions = Questions::new(reader);
    let conditions = arms.iter().filter_map(|arm| arm.when.as_ref());
    let denied = conditions.map(|when| questions.read(when, false));
    let denied: Vec<_> = denied.collect();
    let (denied, answers) = questions.answers(denied);
    search::found(denied, answers) == search::Found::Nothing
}
