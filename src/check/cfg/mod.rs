//! Where a run of a graph can go: rules on nodes, edges, jumps, joins and what runs side by side.
//!
//! [`build()`] makes a [`ControlFlowGraph`] of each graph, the one picture of it that all these rules read. Nothing here types an
//! expression: conditions count as free.
//!
//! Reading order: [`model`] (with [`BlockSet`]), [`build`](mod@build) (with `fan_out`, `outside` and `leaving`), [`graph`] (on petgraph), [`written`], [`past_reducer`]; [`reach`], [`finish`], [`cycle`], [`visits`] and [`repeat`]; [`place`] and [`mhp`] (with `joins`, [`mhp_cache`] and [`witness`]), which
//! say what may run in the same super-step; [`step_writes`], [`conflicting_tasks`], [`conflicting_siblings`], [`join`] and [`incomplete_join`], which ask them; [`duplicate_activation`]; [`field_set`], [`effect`], [`exit`] and [`leaves_unwritten`]: what is written
//! on every way.

mod block_set;
pub mod build;
pub mod conflicting_siblings;
pub mod conflicting_tasks;
pub mod cycle;
pub mod duplicate_activation;
pub mod effect;
pub mod exit;
mod fan_out;
pub mod field_set;
pub mod finish;
mod first_values;
pub mod incomplete_join;
pub mod join;
mod joins;
pub mod leaves_unwritten;
mod leaving;
pub mod mhp;
pub mod mhp_cache;
pub mod model;
mod outside;
pub mod past_reducer;
pub mod place;

pub mod graph;
pub mod reach;
pub mod repeat;
pub mod step_writes;
pub mod visits;
pub mod witness;
pub mod written;
pub mod written_around;

pub use block_set::BlockSet;
pub use build::build;
pub use mhp::MayHappenInParallel;
pub use mhp_cache::MhpCache;
pub use model::{Block, BlockId, ControlFlowGraph, EdgeKind, Successor, Transition, Write};
pub use step_writes::writes_of;
pub use written::Written;
