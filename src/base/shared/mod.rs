//! Sets and maps that share what they have in common.
//!
//! What is known at one place of a flow is mostly what was known at the place before. A [`SharedSet`] is cloned in no time, and
//! a change of one costs in proportion to the change: its parts are shared with what it was cloned from. Putting two together
//! or comparing them looks only at where they differ.
//!
//! Both are treaps whose ranks are hashes of the keys, so that the same keys always have the same shape, however they came
//! together.

mod map;
mod set;
mod tree;

pub use map::SharedMap;
pub use set::{Keys, SharedSet};
pub use tree::Iter;
