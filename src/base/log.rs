//! What logs are about: the targets of this crate's events, all below `graphc`.

/// Runs, tasks, calls.
pub const RUN: &str = "graphc::run";
/// Stores and their connections.
pub const STORE: &str = "graphc::store";
/// MCP servers.
pub const MCP: &str = "graphc::mcp";
/// Requests over HTTP.
pub const HTTP: &str = "graphc::http";
/// Traces and metrics.
pub const TELEMETRY: &str = "graphc::telemetry";
