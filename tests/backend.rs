//! The backends: `graphc.yaml`, scenarios, chat completions against a local server, tools.

mod bind;
mod command;
mod context;
mod embeddings;
mod files;
mod graph;
mod hosts;
mod http_tool;
mod openai;
mod path;
mod play;
mod providers;
mod recorded;
mod schema;
mod select;
pub mod server;
mod subset;
mod telemetry;
mod wire;
mod yaml;
