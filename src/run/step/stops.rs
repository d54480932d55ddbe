//! Nodes that a run was told to stop before.

use serde_json::Value as Json;

use crate::run::context::RunContext;
use crate::run::frame::Frame;
use crate::run::interrupt::OpenInterrupt;
use crate::run::plan::GraphPlan;
use crate::run::task::join_path;
use crate::run::view::short_hash;

use super::FrameEnd;

/// The nodes that the caller wants the run to stop before, where it has not been sent on.
pub(super) fn stops_before(
    cx: &RunContext,
    graph: &GraphPlan,
    frame: &Frame,
) -> Result<(), FrameEnd> {
    if cx.interrupt_before.is_empty() {
        return Ok(());
    }
    let mut open = Vec::new();
    for task in &frame.agenda.tasks {
        let name = &graph.nodes[task.node].name;
        let path = join_path(&frame.path, name);
        let key = frame
            .task_key(name, task.send.as_ref().map(|(index, _)| *index))
            .to_string();
        let wanted = cx
            .interrupt_before
            .iter()
            .any(|node| node == ANY || **node == **name || *node == path);
        if wanted && cx.journal.finished(&key, BEFORE).is_none() {
            let id = short_hash("stop", &format!("{}/{key}", cx.asking_thread()));
            open.push(OpenInterrupt {
                permits: Vec::new(),
                changed: false,
                id,
                node: name.to_string(),
                path,
                ask: Json::Null,
                expect: None,
                task: key,
                effect: BEFORE.to_owned(),
            });
        }
    }
    if open.is_empty() {
        Ok(())
    } else {
        Err(FrameEnd::Interrupted(open))
    }
}

/// Stands for every node among those that a run stops before.
pub const ANY: &str = "*";

/// The effect that says that a run was sent on from a stop before a node.
pub const BEFORE: &str = "before";
