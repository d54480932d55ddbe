//! Evaluations: a flow, one of its graphs or one of its nodes runs over a data set, and scorers say how good what came is.
//!
//! - a [`Stage`](stage::Stage) is what runs: a graph, or a node [`alone`] in a copy of its graph that has stubs in place of all else;
//! - rows of a data set are read by [`crate::backend::scenario`], and held against the stage by [`fit`](mod@fit);
//! - [`play`] runs a row, [`scorer`]s judge what came, in a [`scope`] of its own;
//! - [`sheet`] is what an evaluation came to, [`compare`] holds it against an earlier one;
//! - [`spec`] reads the file that says all of it, [`run`] does it;
//! - [`pairs`] makes fine-tuning lines of what models were asked and said, [`replay`] finds that in a thread.
//!
//! Not here: finding files, tables for people.

pub mod alone;
pub mod compare;
pub mod fit;
pub mod pairs;
pub mod play;
pub mod replay;
pub mod run;
pub mod scope;
pub mod scorer;
pub mod sheet;
pub mod spec;
pub mod stage;
