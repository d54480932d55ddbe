//! `graphc` as its users call it: commands, projects, programs that embed it.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    missing_docs
)]

// What several of the others share.
mod cluster;
mod install;
mod terminal;

mod again;
mod cli;
mod examples;
mod modes;
#[cfg(unix)]
mod outside;
mod packages;
mod pasted;
mod progress;
mod readme;
