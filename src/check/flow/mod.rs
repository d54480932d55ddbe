//! Where a run of a graph can go: rules on nodes, edges, jumps, joins and what runs side by side.
//!
//! [`build()`] makes a [`Flow`] of each graph, the one picture of it that all these rules read. Nothing here types an
//! expression: conditions count as free.
//!
//! Reading order: [`model`], [`build`](mod@build) (with `outside` and `leaving`), [`written`]; [`arrows`], [`reach`], [`finish`], [`cycle`], [`visits`] and [`repeat`]; [`place`] and [`together`] (with `arrival`, `apart`, [`abreast`] and [`witness`]), which
//! say what may run in the same super-step; [`made`], [`race`], [`fork`], [`gathered`], [`join`], [`unmet`] and [`half`], which ask them; [`twice`]; [`bits`], [`effect`], [`exit`] and [`avoid`]: what is written
//! on every way.

pub mod abreast;
mod apart;
mod arrival;
pub mod arrows;
pub mod avoid;
pub mod bits;
pub mod build;
pub mod cycle;
pub mod effect;
pub mod exit;
pub mod finish;
pub mod fork;
pub mod gathered;
pub mod group;
pub mod half;
pub mod join;
mod leaving;
pub mod made;
pub mod model;
mod outside;
pub mod place;
pub mod race;
pub mod reach;
pub mod repeat;
pub mod sparse;
pub mod together;
pub mod twice;
pub mod unmet;
pub mod visits;
pub mod witness;
pub mod written;

pub use abreast::Abreast;
pub use build::build;
pub use model::{Cause, Flow, Goal, Spot, Way, Write};
pub use race::writes_of;
pub use together::Together;
pub use written::Written;
