//! `cache`: the result of a node's work is used again for the same key.
//!
//! Kept is what the work gave to the rest of the node: its names (`reply`, `output`, `result`, ..) and what it wrote to
//! the state. Whether there was such a result is an effect of the task, so that a task that runs again goes the same way.

use std::time::Duration;

use serde_json::{Map as JsonMap, Value as Json, json};
use sha2::{Digest, Sha256};

use crate::expr::Slot;
use crate::ir::{ErrorKind, FieldId, Flow, Graph, Work};
use crate::run::channel::Incoming;
use crate::run::error::RunError;
use crate::run::frame::Frame;
use crate::run::ordinal::Of;
use crate::run::plan::NodePlan;
use crate::run::plan::node::{CachePlan, slots};
use crate::run::refit::{refit, refit_write};
use crate::run::request::Request;
use crate::run::task::TaskRun;
use crate::value::Value;

use super::Stop;
use super::acceptance::holds_still;

/// How long a result holds without a `ttl`: results of versions of the flow that are gone, which nobody asks for, have an end.
const TTL: Duration = Duration::from_secs(30 * 24 * 3600);

/// The work, or the result that an earlier visit has kept. As [`super::own_work`] otherwise.
///
/// # Errors
/// Of the work, of the key's expression, and of the store.
pub async fn work<'a>(
    run: &mut TaskRun<'a>,
    frame: &Frame,
    node: &'a NodePlan,
    cache: &CachePlan,
) -> Result<bool, Stop> {
    let cx = run.around.cx;
    let Some(store) = &cx.store else {
        return super::own_work(run, frame, node).await;
    };
    let key = key(run, cache)?;
    let path = run.path();
    let request = Request::new(&json!(key));
    let id = run.effects.next(cx, Of::node("cache", &path));
    let id = run.effects.of_request(cx, &id, &request);
    let now = cx.ambient.now().as_millisecond();
    let look = async {
        let _waits = cx.journal.waits();
        let found = store.cached(&key, now).await?;
        Ok(request.noted(found.unwrap_or_default()))
    };
    let found = run.effects.outside(cx, &id, "cache", &path, look).await?;
    let graph = &cx.plan.flow.graphs[frame.graph];
    if found.is_object() && is_of(&cx.plan.flow, graph, run.name, &found) {
        give(run, &found);
        if holds_still(run, node)? {
            write(run, graph, &found)?;
            return Ok(true);
        }
    }
    let before = run.view.writes.len();
    let done = super::own_work(run, frame, node).await?;
    // A jump leads on from here and now: it is no result.
    if done && !run.jumped {
        let ttl = cache.ttl.unwrap_or(TTL).as_millis();
        let ttl = i64::try_from(ttl).unwrap_or(i64::MAX);
        let until = cx.ambient.now().as_millisecond().saturating_add(ttl);
        let result = result(run, before);
        let _waits = cx.journal.waits();
        store
            .cache(&key, &result, until)
            .await
            .map_err(RunError::from)?;
    }
    Ok(done)
}

/// A hash of the flow's version, the node and its key: another version of the flow finds nothing of this one's.
fn key(run: &TaskRun<'_>, cache: &CachePlan) -> Result<String, RunError> {
    let around = run.around;
    let value = match &cache.key {
        Some(key) => run.eval(key)?.to_stored(),
        None => {
            let state = around.graph.fields.entries().map(|(id, name)| {
                let value = run.view.get(id).map(Value::to_stored);
                (name.to_string(), value.unwrap_or_default())
            });
            let state: JsonMap<String, Json> = state.collect();
            let input = slot(run, slots::INPUT).map(|value| value.to_stored());
            json!([state, input, around.context.to_stored()])
        }
    };
    let parts = json!([
        around.cx.plan.version,
        around.graph.name.to_string(),
        run.name,
        value
    ]);
    let digest = Sha256::digest(parts.to_string().as_bytes());
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Names that work gives.
const GIVEN: [Slot; 5] = [
    slots::REPLY,
    slots::OUTPUT,
    slots::TRANSCRIPT,
    slots::RESULTS,
    slots::RESULT,
];

fn slot<'r>(run: &'r TaskRun<'_>, slot: Slot) -> Option<&'r Value> {
    run.slots.get(slot.0 as usize).and_then(Option::as_ref)
}

fn result(run: &TaskRun<'_>, before: usize) -> Json {
    let given = GIVEN.iter().filter_map(|at| {
        let name = slots::NAMES.get(at.0 as usize)?;
        Some(((*name).to_owned(), slot(run, *at)?.to_stored()))
    });
    let given: JsonMap<String, Json> = given.collect();
    let writes = run.view.writes.iter().skip(before).map(|write| {
        json!({
            "field": *run.around.graph.fields[write.field],
            "value": write.incoming.value.to_stored(),
            "replace": write.incoming.replace,
        })
    });
    let writes: Vec<Json> = writes.collect();
    json!({ "given": given, "writes": writes })
}

/// Gives the rest of the node the names that its work gave before.
fn give(run: &mut TaskRun<'_>, found: &Json) {
    for at in GIVEN {
        let name = slots::NAMES.get(at.0 as usize).copied().unwrap_or_default();
        let value = found.pointer(&format!("/given/{name}"));
        if let Some(value) = value.and_then(Value::from_stored) {
            run.put_slot(at, value);
        }
    }
}

/// Writes what its work wrote before.
fn write(run: &mut TaskRun<'_>, graph: &Graph, found: &Json) -> Result<(), RunError> {
    let flow = &run.around.cx.plan.flow;
    let (name, path) = (run.name, run.path());
    for (field, incoming) in written(flow, graph, found)
        .map_err(|why| RunError::new(ErrorKind::Version, why).in_node(name, &path))?
    {
        run.view.put(field, incoming)?;
    }
    Ok(())
}

/// Whether what a result that a task of another version has found has written can be written in this one.
///
/// # Errors
/// What does not fit first.
pub fn fits(flow: &Flow, graph: &Graph, found: &Json) -> Result<(), String> {
    written(flow, graph, found).map(|_| ())
}

/// Whether a result is of the type that the node's work has: a task of another version may have found it, and then the
/// work is done as if there were none.
fn is_of(flow: &Flow, graph: &Graph, node: &str, found: &Json) -> bool {
    let node = graph.node(node).and_then(|id| graph.nodes.get(id));
    let Some(node) = node else { return true };
    let (name, ty) = match &node.work {
        Work::Call { tool, .. } => ("result", flow.tools[*tool].returns.as_ref()),
        Work::Llm(call) | Work::Agent { call, .. } => ("output", call.output.as_ref()),
        _ => return true,
    };
    let value = found.pointer(&format!("/given/{name}"));
    match (ty, value.and_then(Value::from_stored)) {
        (Some(ty), Some(value)) => refit(&flow.types, ty, &value).is_ok(),
        _ => true,
    }
}

/// What a result writes, by the names of now.
fn written(flow: &Flow, graph: &Graph, found: &Json) -> Result<Vec<(FieldId, Incoming)>, String> {
    let writes = found.get("writes").and_then(Json::as_array);
    let mut written = Vec::new();
    for write in writes.into_iter().flatten() {
        let name = write.get("field").and_then(Json::as_str);
        let name = name.unwrap_or_default();
        let migrate = &graph.migrate;
        if migrate.dropped.iter().any(|dropped| dropped == name) {
            continue;
        }
        let name = migrate.fields.get(name).map_or(name, String::as_str);
        let Some(field) = graph.field(name) else {
            let graph = &graph.name;
            return Err(format!("graph `{graph}` has no field `{name}`"));
        };
        let replace = write.get("replace").and_then(Json::as_bool) == Some(true);
        if let Some(value) = write.get("value").and_then(Value::from_stored) {
            let made = refit_write(flow, &graph.fields[field], replace, &value);
            let made = made.map_err(|why| format!("field `{name}`: {why}"))?;
            let value = made.unwrap_or(value);
            written.push((field, Incoming { value, replace }));
        }
    }
    Ok(written)
}
