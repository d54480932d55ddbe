//! Running a compiled flow: super-steps, the journal, interrupts, streams.
//!
//! What the outside implements: [`model`], [`tool`], [`extern_node`], [`store`], [`ambient`]. What it calls: [`engine`].
//! What it reads: [`event`], through [`stream`]; who observes every call: [`observe`].
//!
//! Inside, a step is a pure state machine ([`frame`]: outputs in the fixed order -> writes -> next
//! tasks) with the I/O around it in one place ([`step`]). Reading order: [`plan`] (what is run),
//! [`task`] and [`view`] (one node's visit), [`channel`] (reducers), [`freshness`], `clash`, [`frame`], [`visits`], [`waiting`], [`joins`], `growth`, [`step`], [`work`]
//! (the kinds' own work), [`update`] (an edit as a step of its own), [`effect`], [`ordinal`], [`former`], [`request`], `cut_off` and [`journal`] (what is never done twice), [`decode`] (values out of what a model wrote), [`permission`] (calls that a person has agreed to) and [`turns`] (who is first to use one), [`waits`] (time that is no task's own) and [`slots`] (who works at the same time), [`persisted`] (states of called graphs that last), [`memory`] (what outlasts threads), [`engine`].
//!
//! Not here: any backend, any store, any text of the command line.

#![allow(
    clippy::indexing_slicing,
    reason = "only ids index here, and `ir::valid` has checked those of every flow that is planned"
)]

pub mod ambient;
pub mod backends;
pub mod channel;
mod clash;
pub mod context;
mod cut_off;
pub mod decode;
mod depth;
pub mod effect;
pub mod engine;
pub mod error;
pub mod event;
pub mod exchange;
pub mod extern_node;
pub mod former;
pub mod frame;
pub mod freshness;
pub mod grace;
mod growth;
pub mod half_join;
pub mod interrupt;
pub mod joins;
pub mod journal;
pub mod key;
pub mod limit;
pub mod memory;
pub mod model;
pub mod nested;
pub mod observe;
pub mod ordinal;
pub mod permission;
pub mod persisted;
pub mod plan;
pub mod probe;
pub mod refit;
pub mod report;
pub mod request;
pub mod schedule;
pub mod slots;
pub mod step;
pub mod store;
pub mod stream;
pub mod task;
pub mod tool;
pub mod turns;
pub mod update;
pub mod view;
pub mod visits;
pub mod waiting;
pub mod waits;
pub mod work;
