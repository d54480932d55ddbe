//! A frame edited from outside: its fields are written, and it goes on as if a node had written them.

use tokio_util::sync::CancellationToken;

use crate::ir::{FieldId, NodeId};

use super::channel::Incoming;
use super::context::RunContext;
use super::effect::EffectScope;
use super::error::RunError;
use super::frame::Frame;
use super::plan::jump::Preparation;
use super::store::FieldWrite;
use super::task::{Task, TaskRun, join_path};

/// Commits a super-step in which a node alone has run, and has written just that. Its own work is not done; its way on
/// is taken, on the state as it is then. All that the frame was to run gives way to it: what has arrived at joins and what waits
/// until nothing else is left stays.
///
/// Gives back what changed.
///
/// # Errors
/// Where a write does not fit its field, or the way on fails: it may need what only a run of the node has. The frame is then of no use.
pub fn update(
    frame: &mut Frame,
    cx: &RunContext,
    node: NodeId,
    writes: Vec<(FieldId, Incoming)>,
) -> Result<Vec<FieldWrite>, RunError> {
    let plan = cx.plan.clone();
    let graph = &plan.graphs[frame.graph];
    let node_plan = &graph.nodes[node];
    let output = {
        let around = frame.surroundings(cx, graph, 1);
        let key = frame.task_key(&node_plan.name, None);
        let effects = EffectScope::new(key, CancellationToken::new());
        let mut run = TaskRun::new(&around, node_plan, None, &effects);
        for (field, incoming) in writes {
            run.view.put(field, incoming)?;
        }
        let ahead = node_plan.prepare.iter().filter_map(|step| match step {
            Preparation::Let(slot, code) => Some((slot, code)),
            Preparation::Require(..) => None,
        });
        let behind = node_plan
            .lets_behind
            .iter()
            .map(|(slot, code)| (slot, code));
        for (slot, code) in ahead.chain(behind) {
            // One that needs what only a run has is missing where the way on names it, which is said there.
            let _ = run.bind(*slot, code);
        }
        run.leave(node_plan).map_err(|error| {
            let path = join_path(around.path, &node_plan.name);
            error.in_node(&node_plan.name, &path)
        })?;
        run.into_output(&node_plan.joins)
    };
    // What comes behind a fan-out comes behind the task of it that the edit stands for.
    let mut tasks = frame.agenda.tasks.iter();
    if !tasks.any(|task| task.node == node && task.send.is_some()) {
        frame.agenda.then.clear();
    }
    frame.agenda.tasks = vec![Task { node, send: None }];
    frame.commit(cx, vec![output])
}
