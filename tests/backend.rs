//! The backends: `graphc.yaml`, scenarios, chat completions against a local server, tools.

mod bind;
mod command;
mod context;
mod embeddings;
mod files;
mod graph;
mod http_tool;
mod openai;
mod play;
mod providers;
mod recorded;
pub mod server;
