//! Which graph a finding lies in.

use crate::base::{FileId, Span};
use crate::ir::GraphId;
use crate::resolve::program::Program;

/// Where the graphs of a program stand.
pub(super) struct Places {
    /// In order; they don't lie in each other.
    graphs: Vec<(FileId, u32, u32, GraphId)>,
}

impl Places {
    pub(super) fn new(program: &Program) -> Self {
        let graphs = program.graphs.entries();
        let graphs =
            graphs.map(|(id, graph)| (graph.span.file, graph.span.start, graph.span.end, id));
        let mut graphs: Vec<_> = graphs.collect();
        graphs.sort();
        Self { graphs }
    }

    pub(super) fn graph(&self, at: Span) -> Option<GraphId> {
        let before = self
            .graphs
            .partition_point(|(file, start, _, _)| (*file, *start) <= (at.file, at.start));
        let (file, _, end, id) = self.graphs.get(before.checked_sub(1)?)?;
        (*file == at.file && at.start < *end).then_some(*id)
    }
}
