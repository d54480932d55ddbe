//! `graph` in `graphc.yaml`: another flow; [`fit`] holds it against the tool.

pub mod fit;

use std::time::Duration;

use crate::base::Span;
use crate::ir::{Flow, GraphId};

/// Which graph a tool runs: `graph` in an entry of `tools`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphSpec {
    /// The flow's file, from the folder of `graphc.yaml`.
    pub file: String,
    /// Where that is written.
    pub file_at: Span,
    /// The graph; the flow's entry where this is `None`.
    pub graph: Option<String>,
    /// Longest time of one call.
    pub timeout: Option<Duration>,
}

impl GraphSpec {
    /// The graph, of the flow of its file.
    pub fn graph_of(&self, flow: &Flow) -> Option<GraphId> {
        match &self.graph {
            Some(graph) => flow.graph(graph),
            None => flow.entry,
        }
    }
}
