//! Runs: the engine, the stores, and what processes leave when they are killed.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    missing_docs
)]

// What several of the others share.
mod cluster;
mod event_log;
mod install;
#[cfg(unix)]
mod judge;

#[cfg(unix)]
mod crash;
mod engine;
#[cfg(unix)]
mod kill;
#[cfg(unix)]
mod processes;
mod resume;
mod run;
mod scenario;
mod store;
mod travel;
