//! What goes round in a run that has come to its limit.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::ir::NodeId;
use crate::run::context::RunContext;
use crate::run::error::RunError;
use crate::run::frame::Frame;
use crate::run::limit::OF_RUN;
use crate::run::plan::GraphPlan;
use crate::run::schedule;
use crate::run::task::join_path;

use super::FrameEnd;

/// The nodes of a frame's last super-steps, so that a run that goes in circles can say in which.
#[derive(Default)]
pub(super) struct Trail {
    /// Step by step.
    nodes: VecDeque<u32>,
    /// How many of them each step has.
    sizes: VecDeque<usize>,
}

/// How the cycle is told.
const ROUND: &str = "; it goes round ";

/// Steps that are looked at: longer cycles are not named.
const MOST_STEPS: usize = 512;

/// Nodes of one step that count.
const MOST_NODES: usize = 16;

/// Checkpoints that are read at a time of what an earlier process has made.
const PAGE: usize = 128;

/// Names of nodes of one super-step.
type Step = BTreeSet<String>;

impl Trail {
    pub(super) fn note(&mut self, frame: &Frame) {
        if self.sizes.len() >= MOST_STEPS {
            let oldest = self.sizes.pop_front().unwrap_or_default();
            self.nodes.drain(..oldest);
        }
        let before = self.nodes.len();
        // Tasks are ordered by their nodes.
        for task in &frame.agenda.tasks {
            let size = self.nodes.len() - before;
            let known = size > 0 && self.nodes.back() == Some(&task.node.0);
            if !known && size < MOST_NODES {
                self.nodes.push_back(task.node.0);
            }
        }
        self.sizes.push_back(self.nodes.len() - before);
    }

    /// The step that comes next is one too many.
    pub(super) async fn explain(
        &self,
        cx: &RunContext,
        error: RunError,
        graph: &GraphPlan,
        frame: &Frame,
    ) -> RunError {
        self.with_last_steps(cx, error, graph, (frame, frame.step))
            .await
    }

    /// `next` comes behind the last step that is known.
    async fn with_last_steps(
        &self,
        cx: &RunContext,
        mut error: RunError,
        graph: &GraphPlan,
        (frame, next): (&Frame, u64),
    ) -> RunError {
        let mut steps = self.steps(graph);
        let mut cycle = cycle(&steps);
        if cycle.is_none() && steps.len() < MOST_STEPS {
            let first = next.saturating_sub(steps.len() as u64);
            let mut all = earlier(cx, frame, first).await;
            all.append(&mut steps);
            cycle = self::cycle(&all);
        }
        if let Some(cycle) = cycle {
            error.message += &format!("{ROUND}{cycle}");
        }
        Self::locate(error, graph, frame)
    }

    /// The steps that this process has made, the oldest first.
    fn steps(&self, graph: &GraphPlan) -> Vec<Step> {
        let mut nodes = self.nodes.iter();
        let mut named = |size: &usize| {
            let step = nodes.by_ref().take(*size);
            let step = step.filter_map(|id| graph.nodes.get(NodeId(*id)));
            step.map(|node| node.name.to_string()).collect()
        };
        self.sizes.iter().map(&mut named).collect()
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
                let next = frame.step + 1;
                FrameEnd::Failed(self.with_last_steps(cx, error, graph, (frame, next)).await)
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

/// The steps of a frame that earlier processes have made, as its checkpoints tell, the oldest first; none where they can't be read.
/// `first`: the first step of this process.
async fn earlier(cx: &RunContext, frame: &Frame, first: u64) -> Vec<Step> {
    let Some(store) = &cx.store else {
        return Vec::new();
    };
    let mut steps: BTreeMap<u64, Step> = BTreeMap::new();
    let mut before = None;
    // Checkpoints of other frames are among them.
    for _ in 0..2 * MOST_STEPS / PAGE {
        let page = store.history(&cx.thread_id, before, PAGE).await;
        let Some(page) = page.ok().filter(|page| !page.is_empty()) else {
            break;
        };
        before = page.last().map(|oldest| oldest.seq);
        let own = page.iter().filter(|info| *info.frame == *frame.key);
        for info in own.filter(|info| info.run_id == *cx.run_id && info.step < first) {
            let names = schedule::next_names(&info.schedule).into_iter();
            let names = names.take(MOST_NODES).map(str::to_owned).collect();
            steps.entry(info.step).or_insert(names);
        }
    }
    steps.into_values().collect()
}

/// The last way that leads from a step's nodes back to them, through others only. Where steps are never the same, nodes that are come to once do not count: they are of what runs beside it.
fn cycle(steps: &[Step]) -> Option<String> {
    round(steps).or_else(|| {
        let mut times: BTreeMap<&str, usize> = BTreeMap::new();
        for node in steps.iter().flatten() {
            *times.entry(node).or_default() += 1;
        }
        let again = |node: &&String| times.get(node.as_str()).is_some_and(|times| *times > 1);
        let steps = steps.iter().map(|step| step.iter().filter(again).cloned());
        let steps: Vec<Step> = steps.map(Iterator::collect).collect();
        round(&steps)
    })
}

fn round(steps: &[Step]) -> Option<String> {
    let mut all = steps.iter().enumerate().rev();
    let (from, to) = all.find_map(|(from, step)| {
        let mut behind = steps.iter().enumerate().skip(from + 1);
        let again = behind.find(|(_, other)| !step.is_empty() && *other == step);
        again.map(|(to, _)| (from, to))
    })?;
    let shown = |step: &Step| {
        let names: Vec<&str> = step.iter().map(String::as_str).collect();
        match names.as_slice() {
            [only] => (*only).to_owned(),
            several => format!("[{}]", several.join(", ")),
        }
    };
    let way: Vec<String> = steps.get(from + 1..=to)?.iter().map(shown).collect();
    let again = way.first()?;
    Some(format!("{} -> {again}", way.join(" -> ")))
}
