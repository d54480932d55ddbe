//! The events of tasks: what those who watch a run are sent of each.

use serde_json::Value as Json;

use crate::ir::{Channel, ErrorKind, FieldId};
use crate::run::channel::Incoming;
use crate::run::effect::EffectScope;
use crate::run::event::{EventKind, Mode};
use crate::run::interrupt::OpenInterrupt;
use crate::run::plan::{GraphPlan, NodePlan};
use crate::run::store::Change;
use crate::run::task::{Outcome, Output, Surroundings, Task, brief};
use crate::run::view::short_hash;
use crate::value::Value;

pub(super) fn started(
    around: &Surroundings<'_>,
    node: &NodePlan,
    task: &Task,
    effects: &EffectScope,
) {
    if around.cx.wants(Mode::Tasks) {
        let send = task.send.as_ref().map(|(index, _)| *index);
        let kind = EventKind::TaskStarted { send };
        around.cx.send(
            around.path,
            around.step,
            Some(&node.name),
            effects.task().to_owned(),
            kind,
        );
    }
}

pub(super) fn finished(
    around: &Surroundings<'_>,
    node: &NodePlan,
    task: &Task,
    effects: &EffectScope,
    outcome: Outcome,
) -> Outcome {
    let cx = around.cx;
    let send = |id, kind| cx.send(around.path, around.step, Some(&node.name), id, kind);
    if let Outcome::Done(output) = &outcome
        && cx.wants(Mode::Updates)
    {
        send(
            effects.task().to_owned(),
            EventKind::Updates(update(around.graph, output)),
        );
    }
    if cx.wants(Mode::Tasks) {
        let index = task.send.as_ref().map(|(index, _)| *index);
        let (what, kind) = end_of(index, &outcome);
        send(format!("{}#{what}", effects.task()), kind);
    }
    outcome
}

/// How a task ended, and what names that in its id: a task that has failed, waits or was stopped begins again with a resume, and
/// may end another way then. What it comes to again has the same name.
fn end_of(send: Option<u32>, outcome: &Outcome) -> (String, EventKind) {
    let ended = |error| EventKind::TaskFinished { send, error };
    match outcome {
        Outcome::Done(_) => ("end".to_owned(), ended(None)),
        Outcome::Failed(error) => {
            let told = brief(error);
            let name = match error.kind {
                ErrorKind::Cancelled => "stop".to_owned(),
                _ => short_hash("fail", &told.to_string()),
            };
            (name, ended(Some(told)))
        }
        Outcome::Interrupted(open) => {
            let interrupts: Vec<String> = open.iter().map(|open| open.id.clone()).collect();
            let name = short_hash("wait", &interrupts.join(" "));
            let kind = EventKind::TaskInterrupted {
                send,
                interrupts,
                paths: open.iter().map(OpenInterrupt::place).collect(),
            };
            (name, kind)
        }
    }
}

/// What a task wrote: for a gathering field what it added (a list where it wrote more than once), for
/// any other its value.
fn update(graph: &GraphPlan, output: &Output) -> Json {
    if output.written.is_empty() {
        return Json::Null;
    }
    let entries = output.written.iter().map(|written| {
        let value = match &written.change {
            Change::Append(items) => Json::Array(items.iter().map(|item| item.to_json()).collect()),
            Change::Merge(entries) => entries
                .iter()
                .map(|(key, value)| (key.clone(), value.to_json()))
                .collect(),
            Change::Put(value) => put(graph, output, written.field, value),
            Change::Clear => Json::Null,
        };
        (graph.fields[written.field].to_string(), value)
    });
    Json::Object(entries.collect())
}

fn put(graph: &GraphPlan, output: &Output, field: FieldId, value: &Value) -> Json {
    let writes = output.writes.iter().filter(|write| write.field == field);
    let writes: Vec<&Incoming> = writes.map(|write| &write.incoming).collect();
    let whole = matches!(graph.channels[field], Channel::Last | Channel::AnyLast);
    match writes.as_slice() {
        [only] if !whole => only.value.to_json(),
        several if !whole && several.iter().all(|write| !write.replace) => {
            several.iter().map(|write| write.value.to_json()).collect()
        }
        _ => value.to_json(),
    }
}
