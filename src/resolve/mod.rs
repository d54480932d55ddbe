//! Names: from syntax trees to a program of ids.
//!
//! Reading order: [`program`] (what comes out), [`graph`], [`node`], [`target`] (its parts).

pub mod graph;
pub mod node;
pub mod program;
pub mod target;

pub use program::Program;
