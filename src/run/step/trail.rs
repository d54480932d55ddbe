//! What goes round in a run that has come to its limit.

use crate::run::error::RunError;
use crate::run::frame::Frame;
use crate::run::limit::OF_RUN;
use crate::run::plan::GraphPlan;
use crate::run::task::join_path;

use super::FrameEnd;

/// The last nodes that a frame has run, so that a run that goes in circles can say in which.
#[derive(Default)]
pub(super) struct Trail {
    nodes: std::collections::VecDeque<u32>,
}

/// How the cycle is told.
const ROUND: &str = "; it goes round ";

/// Longest cycle that an error names.
const LONGEST_CYCLE: usize = 256;

impl Trail {
    pub(super) fn note(&mut self, frame: &Frame) {
        if self.nodes.len() >= 2 * LONGEST_CYCLE {
            self.nodes.pop_front();
        }
        self.nodes
            .extend(frame.agenda.tasks.first().map(|task| task.node.0));
    }

    pub(super) fn explain(
        &self,
        mut error: RunError,
        graph: &GraphPlan,
        frame: &Frame,
    ) -> RunError {
        let nodes: Vec<u32> = self.nodes.iter().copied().rev().collect();
        let cycle = (1..=nodes.len() / 2).find(|length| {
            let first = nodes.iter().take(*length);
            first.eq(nodes.iter().skip(*length).take(*length))
        });
        if let Some(length) = cycle {
            let names = nodes
                .iter()
                .take(length)
                .rev()
                .filter_map(|id| graph.nodes.get(crate::ir::NodeId(*id)));
            let names: Vec<&str> = names.map(|node| &*node.name).collect();
            let again = names.first().copied().unwrap_or_default();
            error.message = format!("{}{ROUND}{} -> {again}", error.message, names.join(" -> "));
        }
        Self::locate(error, graph, frame)
    }

    /// The same where a task's call has come to the limit of the run: what goes round may be out here.
    pub(super) fn explain_call(&self, end: FrameEnd, graph: &GraphPlan, frame: &Frame) -> FrameEnd {
        match end {
            FrameEnd::Failed(error)
                if error.setting() == Some(OF_RUN) && !error.message.contains(ROUND) =>
            {
                FrameEnd::Failed(self.explain(error, graph, frame))
            }
            end => end,
        }
    }

    fn locate(error: RunError, graph: &GraphPlan, frame: &Frame) -> RunError {
        match frame
            .agenda
            .tasks
            .first()
            .map(|task| &graph.nodes[task.node].name)
        {
            Some(name) => error.in_node(name, &join_path(&frame.path, name)),
            None => error,
        }
    }
}
