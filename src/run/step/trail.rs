//! What goes round in a run that has come to its limit.

use std::collections::{BTreeSet, VecDeque};

use crate::ir::NodeId;
use crate::run::context::RunContext;
use crate::run::error::RunError;
use crate::run::frame::Frame;
use crate::run::limit::OF_RUN;
use crate::run::plan::GraphPlan;
use crate::run::schedule;
use crate::run::store::Source;
use crate::run::task::join_path;

use super::FrameEnd;

/// The nodes of the last super-steps that a frame has made in this process, so that a run that goes in circles can say in which.
/// Those of processes before it are read where they are asked for.
#[derive(Default)]
pub(super) struct Trail {
    /// The step of the frame that the oldest is of.
    first: u64,
    steps: VecDeque<BTreeSet<NodeId>>,
}

/// How the cycle is told.
const ROUND: &str = "; it goes round ";

/// Longest cycle that an error names.
const LONGEST_CYCLE: usize = 256;

/// Most nodes of a step that are looked at.
const MOST_NODES: usize = 64;

/// Checkpoints of a thread, of all of its frames, that are looked through.
const MOST_READ: usize = 16 * LONGEST_CYCLE;

impl Trail {
    pub(super) fn note(&mut self, frame: &Frame) {
        if self.steps.is_empty() {
            self.first = frame.step;
        }
        if self.steps.len() >= 2 * LONGEST_CYCLE {
            self.steps.pop_front();
            self.first += 1;
        }
        let tasks = frame.agenda.tasks.iter().map(|task| task.node);
        self.steps.push_back(distinct(tasks));
    }

    pub(super) async fn explain(
        &self,
        cx: &RunContext,
        mut error: RunError,
        graph: &GraphPlan,
        frame: &Frame,
    ) -> RunError {
        let mut steps: Vec<BTreeSet<NodeId>> = self.steps.iter().rev().cloned().collect();
        let mut way = cycle(&steps);
        if way.is_empty() && steps.len() < 2 * LONGEST_CYCLE {
            steps.extend(self.earlier(cx, graph, frame).await);
            way = cycle(&steps);
        }
        let names = way.iter().filter_map(|id| graph.nodes.get(*id));
        let names: Vec<&str> = names.map(|node| &*node.name).collect();
        if let Some(again) = names.first() {
            error.message = format!("{}{ROUND}{} -> {again}", error.message, names.join(" -> "));
        }
        Self::locate(error, graph, frame)
    }

    /// The same where a task's call has come to the limit of the run: what goes round may be out here.
    pub(super) async fn explain_call(
        &self,
        cx: &RunContext,
        end: FrameEnd,
        graph: &GraphPlan,
        frame: &Frame,
    ) -> FrameEnd {
        match end {
            FrameEnd::Failed(error)
                if error.setting() == Some(OF_RUN) && !error.message.contains(ROUND) =>
            {
                FrameEnd::Failed(self.explain(cx, error, graph, frame).await)
            }
            end => end,
        }
    }

    /// The steps of the frame ahead of those that are noted, the last first, as its checkpoints have them. Where they can't be
    /// read the error is told without them.
    async fn earlier(
        &self,
        cx: &RunContext,
        graph: &GraphPlan,
        frame: &Frame,
    ) -> Vec<BTreeSet<NodeId>> {
        let mut steps = Vec::new();
        let Some(store) = cx.store.as_ref().filter(|_| cx.journal.keeps()) else {
            return steps;
        };
        let first = match self.steps.is_empty() {
            true => frame.step,
            false => self.first,
        };
        let _waits = cx.journal.waits();
        let kept = store.history(&cx.thread_id, None, MOST_READ).await;
        let kept = kept.unwrap_or_default().into_iter();
        for checkpoint in kept.filter(|checkpoint| checkpoint.frame == *frame.key) {
            if checkpoint.step < first {
                let names = schedule::next_names(&checkpoint.schedule);
                let nodes = graph.nodes.entries();
                let nodes = nodes.filter(|(_, node)| names.contains(&&*node.name));
                steps.push(distinct(nodes.map(|(id, _)| id)));
            }
            // What was before is of another run, or another call.
            if checkpoint.source == Source::Input {
                break;
            }
        }
        steps
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

fn distinct(nodes: impl Iterator<Item = NodeId>) -> BTreeSet<NodeId> {
    let mut distinct = BTreeSet::new();
    for node in nodes {
        distinct.insert(node);
        if distinct.len() >= MOST_NODES {
            break;
        }
    }
    distinct
}

/// The shortest way that the last steps, the last first, have gone twice: in each of its steps some node ran that ran one round before
/// too, whatever else ran beside. Of several such nodes it names the first; a node that it comes by more than once closes a
/// circle of its own, which is left out.
fn cycle(steps: &[BTreeSet<NodeId>]) -> Vec<NodeId> {
    let most = (steps.len() / 2).min(LONGEST_CYCLE);
    let round = (1..=most).find_map(|length| {
        let before = steps.iter().skip(length);
        let pairs = steps.iter().zip(before).take(length);
        let both = pairs.map(|(step, before)| step.intersection(before).next().copied());
        both.collect::<Option<Vec<NodeId>>>()
    });
    let mut way: Vec<NodeId> = Vec::new();
    for node in round.into_iter().flatten().rev() {
        if let Some(known) = way.iter().position(|known| *known == node) {
            way.truncate(known);
        }
        way.push(node);
    }
    way
}

#[cfg(test)]
mod tests {
    use super::*;

    fn round(steps: &[&[u32]]) -> Vec<u32> {
        let steps = steps.iter().rev();
        let steps = steps.map(|step| step.iter().copied().map(NodeId).collect());
        let steps: Vec<BTreeSet<NodeId>> = steps.collect();
        cycle(&steps).into_iter().map(|node| node.0).collect()
    }

    #[test]
    fn the_shortest_way_that_repeats_is_told() {
        assert_eq!(round(&[&[0], &[1], &[2], &[1], &[2]]), [1, 2]);
        assert_eq!(round(&[&[0], &[1], &[2], &[1]]), []);
        assert_eq!(round(&[&[7], &[7]]), [7]);
        assert_eq!(round(&[]), []);
    }

    #[test]
    fn routes_that_alternate_make_no_way_that_comes_by_a_node_twice() {
        let way: [&[u32]; 10] = [&[3], &[2], &[3], &[0], &[2]].repeat(2).try_into().unwrap();
        assert_eq!(round(&way), [3, 0, 2]);
    }

    #[test]
    fn a_loop_beside_a_way_that_leads_on_is_seen() {
        let way: [&[u32]; 4] = [&[0, 8], &[1, 9], &[2, 8], &[3, 9]];
        assert_eq!(round(&way), [8, 9]);
    }
}
