//! What a flow calls: models, tools, services and servers of others, and what is sent to collectors.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    missing_docs
)]

// What several of the others share.
#[cfg(unix)]
mod cluster;
mod install;
#[cfg(unix)]
mod talk;

mod backend;
mod evaluations;
#[cfg(unix)]
mod mcp;
#[cfg(unix)]
mod online;
mod otlp;
mod protocols;
#[cfg(unix)]
mod record;
#[cfg(unix)]
mod services;
mod telemetry;
