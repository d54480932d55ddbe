//! How far a run may go: super-steps of the run and of a called graph (`recursion_limit`), and tasks of one super-step.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::ir::{ErrorKind, NodeId};

use super::context::RunContext;
use super::error::RunError;
use super::plan::GraphPlan;
use super::task::join_path;

/// The `recursion_limit` of one call of a graph. Calls within it count too, and may run at the same time.
///
/// Like the run's own it goes on where a resume finds the call.
#[derive(Debug, Clone)]
pub struct StepLimit {
    graph: String,
    most: u64,
    made: Arc<AtomicU64>,
    /// Super-steps that led to the call.
    from: u64,
}

impl StepLimit {
    /// The limit of a call of that graph to which `from` super-steps of the run have led, and that has kept `made`, those of its own
    /// calls counted in.
    pub fn new(graph: &str, most: u32, from: u64, made: u64) -> Self {
        Self {
            graph: graph.to_owned(),
            most: most.into(),
            made: Arc::new(AtomicU64::new(made)),
            from,
        }
    }

    /// Super-steps that are left where so many of the run lead to one; those of calls beside it don't count.
    pub fn remaining(&self, made: u64) -> u64 {
        let within = made.saturating_sub(self.from);
        self.most.saturating_sub(within)
    }
}

/// What lifts the limit of a run.
pub const OF_RUN: &str = "--recursion-limit";

/// Counts a super-step against the limit of the run and those of the calls that it is in, `limits`.
///
/// # Errors
/// Kind `recursion_limit`.
pub fn count_step(cx: &RunContext, limits: &[StepLimit]) -> Result<(), RunError> {
    let reached = |message| RunError::new(ErrorKind::RecursionLimit, message);
    let one_more = |made| (made < cx.step_limit).then_some(made + 1);
    let order = Ordering::Relaxed;
    if let Err(made) = cx.steps.fetch_update(order, order, one_more) {
        let message = match made == cx.step_limit {
            true => format!("the run has made {made} super-steps, which is its limit"),
            // It was a higher one once.
            false => format!(
                "the run has made {made} super-steps, and its limit is {}",
                cx.step_limit
            ),
        };
        return Err(reached(message).lifted_by(OF_RUN));
    }
    for limit in limits {
        let made = limit.made.fetch_add(1, Ordering::Relaxed);
        if made >= limit.most {
            let graph = &limit.graph;
            let message = format!(
                "the called graph `{graph}` has made {made} super-steps, which is its limit"
            );
            let setting = format!("`recursion_limit` of graph `{graph}`");
            return Err(reached(message).lifted_by(setting));
        }
    }
    Ok(())
}

/// Tasks that one super-step may have, where a run does not say otherwise.
pub const MAX_TASKS: usize = 100_000;

/// The most tasks of one super-step, those counted in that wait in a deferred node: what keeps sends that multiply
/// with each step from taking all memory.
#[derive(Debug, Clone, Copy)]
pub struct TaskLimit(pub usize);

impl TaskLimit {
    /// Refuses a step with more tasks than that. `nodes` has the node of each of them.
    ///
    /// # Errors
    /// Kind `recursion_limit`; names the node with the most of them.
    pub fn hold(
        self,
        graph: &GraphPlan,
        path: &str,
        nodes: impl Iterator<Item = NodeId> + Clone,
    ) -> Result<(), RunError> {
        let count = nodes.clone().count();
        if count <= self.0 {
            return Ok(());
        }
        let mut of_node: BTreeMap<NodeId, usize> = BTreeMap::new();
        for node in nodes {
            *of_node.entry(node).or_default() += 1;
        }
        let most = of_node
            .iter()
            .max_by_key(|(node, of)| (**of, std::cmp::Reverse(**node)));
        let (node, of) = most.map_or((NodeId(0), 0), |(node, of)| (*node, *of));
        let name = &graph.nodes[node].name;
        let message = format!(
            "the next super-step would have {count} tasks, {of} of them of node `{name}`; it may have {}",
            self.0
        );
        let error = RunError::new(ErrorKind::RecursionLimit, message).lifted_by("--max-tasks");
        Err(error.in_node(name, &join_path(path, name)))
    }

    /// Refuses tasks on the way: `sent` by node `name` alone, or by all tasks of a step so far.
    ///
    /// # Errors
    /// As of [`TaskLimit::hold`].
    pub fn hold_sent(self, sent: usize, name: &str) -> Result<(), RunError> {
        if sent <= self.0 {
            return Ok(());
        }
        let who = match name {
            "" => "`start`".to_owned(),
            name => format!("node `{name}`"),
        };
        let message = format!(
            "{who} brings the tasks of the next super-step to {sent}; it may have {}",
            self.0
        );
        Err(RunError::new(ErrorKind::RecursionLimit, message).lifted_by("--max-tasks"))
    }
}
