//! What conditions say of the places that they read, and whether one of them can hold.
//!
//! One normal form serves all who ask: whether a condition is the same in every run ([`constant`](super::constant),
//! [`choice`](super::choice)), and whether the arms of a route cover all and can each be taken ([`route`](super::route)). A condition
//! becomes a formula without `!` ([`formula`]) whose parts say of one thing that it has one of some values ([`values`]): of a
//! place, a size, which of two values is more (-1, 0 or 1), which of several records it is; and of any other condition, as it
//! stands, that it holds. [`solve`] looks for values for which formulas hold: it takes away what a part alone rules out, and
//! tries the rest both ways.
//!
//! What compares two places is a question of its own: nothing follows from it for their values, nor for a third place.
//!
//! Reading order: [`range`], [`values`], [`formula`], [`read`], [`domain`], [`solve`], [`words`].

pub mod domain;
pub mod formula;
pub mod range;
pub mod read;
pub mod solve;
pub mod values;
pub mod words;
