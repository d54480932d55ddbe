//! The models and tools of a scenario (`NAME.test.yaml`), which say what it says.
//!
//! [`Script`] plays a scenario and keeps a journal of what was asked; a [`cassette`] has what was recorded of one. Running a scenario is
//! no business of this module.

pub mod cassette;
mod queue;
mod script;

pub use script::{ModelRecord, Script, Start, forget, in_turns, remembered, seed};
