//! The checkpoint of a committed super-step.

use serde_json::{Map as JsonMap, Value as Json};

use crate::run::context::RunContext;
use crate::run::error::RunError;
use crate::run::event::{EventKind, Mode};
use crate::run::frame::Frame;
use crate::run::plan::{GraphPlan, Plan};
use crate::run::schedule;
use crate::run::store::{Checkpoint, FieldWrite, Record, Source};
use crate::value::Value;

/// Keeps a committed step and tells those who watch.
///
/// # Errors
/// Kind `store`.
pub async fn keep(
    cx: &RunContext,
    plan: &Plan,
    frame: &Frame,
    changes: Vec<FieldWrite>,
    source: Source,
) -> Result<(), RunError> {
    let graph = &plan.graphs[frame.graph];
    // A step that is not kept is made again after a stop: it must not be what a run stops after.
    if source == Source::Step && frame.tracked {
        cx.note_commit();
    }
    if cx.journal.keeps() && frame.tracked {
        cx.dealt_with().await;
        let seq = cx.journal.take_seq();
        let root = frame.key.is_empty();
        let mut changes = changes;
        changes.extend(cx.persisted.changes(frame));
        let mut schedule = schedule::to_json(graph, frame, cx.usage());
        if root && source == Source::Input {
            schedule::note_context(&mut schedule, kept_context(&frame.context));
        }
        if root {
            cx.former.note(&mut schedule);
        }
        if cx.is_first_kept() {
            schedule::note_version(&mut schedule, &plan.version);
        }
        cx.journal.append(vec![Record::Checkpoint(Checkpoint {
            seq,
            frame: frame.key.to_string(),
            step: frame.step,
            root_step: if root {
                frame.step
            } else {
                cx.journal.root_step()
            },
            run_id: cx.run_id.to_string(),
            source,
            writes: changes,
            schedule,
            at: cx.ambient.kept_at().to_string(),
        })]);
        cx.journal.committed().await?;
        tell_kept(cx, graph, frame, seq);
    }
    tell_values(cx, graph, frame);
    Ok(())
}

/// Tells of the last checkpoint of a frame that goes on where a process was killed: that one may have kept it and not said so.
pub fn tell_again(cx: &RunContext, graph: &GraphPlan, frame: &Frame, seq: u64) {
    if cx.was_killed {
        tell_kept(cx, graph, frame, seq);
        tell_values(cx, graph, frame);
    }
}

fn tell_kept(cx: &RunContext, graph: &GraphPlan, frame: &Frame, seq: u64) {
    if cx.wants(Mode::Checkpoints) {
        let next = schedule::next_nodes(graph, &frame.agenda);
        let kind = EventKind::Checkpoint {
            checkpoint_id: seq,
            next,
        };
        let id = format!("{}{}#checkpoint", frame.key, frame.step);
        cx.send(&frame.path, frame.step, None, id, kind);
    }
}

fn tell_values(cx: &RunContext, graph: &GraphPlan, frame: &Frame) {
    if cx.wants(Mode::Values) {
        let id = format!("{}{}#values", frame.key, frame.step);
        let kind = EventKind::Values(values(graph, frame));
        cx.send(&frame.path, frame.step, None, id, kind);
    }
}

/// A context as a thread keeps it.
pub fn kept_context(context: &Value) -> Json {
    match context.as_map() {
        Some(map) if !map.is_empty() => context.to_json(),
        _ => Json::Null,
    }
}

/// All fields that have a value, as an object.
pub fn values(graph: &GraphPlan, frame: &Frame) -> Json {
    let entries = graph.fields.iter().zip(&frame.fields);
    let entries =
        entries.filter_map(|(name, value)| Some((name.to_string(), value.as_ref()?.to_json())));
    Json::Object(entries.collect::<JsonMap<String, Json>>())
}
