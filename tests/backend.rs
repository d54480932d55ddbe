//! The backends: `graphc.yaml`, scenarios, chat completions against a local server, tools.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

mod backend {
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
    mod server;
}
