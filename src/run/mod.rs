//! Running a compiled flow: super-steps, the journal, interrupts, streams.
//!
//! [`backends`] gathers what serves a flow; [`store`], [`model`] and [`tool`] are the traits that the outside implements; [`event`] is the
//! only output while a flow runs.

pub mod backends;
pub mod event;
pub mod model;
pub mod store;
pub mod tool;
