//! Tool calls: of a model (whose errors go back to it) and of a `call` node (whose errors are the node's).
//!
//! Arguments are checked against the declared types before anything runs, results after. A tool with a
//! body runs in the interpreter, in the order of the calls; the others may run side by side.

use std::collections::BTreeMap;

use futures_util::future::join_all;
use serde_json::{Value as Json, json};

use crate::expr::accept::accept_fields;
use crate::expr::function::message::record;
use crate::ir::{ErrorKind, ToolId};
use crate::run::decode::{Decoded, decode_fields, decode_json};
use crate::run::effect::EffectScope;
use crate::run::error::RunError;
use crate::run::event::{EventKind, Mode};
use crate::run::model::ToolCallRequest;
use crate::run::ordinal::Of;
use crate::run::plan::NodePlan;
use crate::run::task::{TaskRun, show};
use crate::run::turns;
use crate::value::{Map, Value};

use super::Stop;
use super::approve::{self, Settled};
use super::body;
use super::narrow;
use super::tool_outside::{call_outside, or_instead};

/// Calls of one reply that are made; the rest is answered with an error.
pub const MOST_CALLS: usize = 128;

/// A call that a model asked for.
pub struct Requested {
    id: String,
    name: String,
    /// Arguments, or why there are none that can be used.
    args: Result<Decoded<Json>, String>,
}

/// What a model is told of a call in a reply that was cut off: what is there of it may not be what was meant.
const CUT: &str = "the reply was cut off at max_tokens, so the call was not made";

impl Requested {
    /// Of a model's reply; `cut` where that was cut off.
    pub fn new(call: ToolCallRequest, cut: bool) -> Self {
        let args = match call.arguments.trim() {
            _ if cut => Err(CUT.to_owned()),
            "" => Ok(as_is(json!({}))),
            text => {
                decode_json(text).map_err(|problem| format!("the arguments are no JSON: {problem}"))
            }
        };
        Self {
            id: call.id,
            name: call.name,
            args,
        }
    }

    /// Of a record `tool_call` in a message; `cut` where that is a reply that was cut off.
    pub fn from_value(call: &Value, cut: bool) -> Self {
        let text = |key| {
            call.get(key)
                .and_then(Value::as_str)
                .unwrap_or_default()
                .to_owned()
        };
        let args = call.get("args").map_or_else(|| json!({}), Value::to_json);
        Self {
            id: text("id"),
            name: text("name"),
            args: match cut {
                true => Err(CUT.to_owned()),
                false => Ok(as_is(args)),
            },
        }
    }
}

fn as_is(value: Json) -> Decoded<Json> {
    let repairs = Vec::new();
    Decoded { value, repairs }
}

/// Who gets a tool's error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Errors {
    /// The model: the error is the call's result, and a resume does not make the call again.
    ToModel,
    /// The node: it fails, and a resume makes the call again.
    ToNode,
}

/// What came of the calls of a message.
pub struct Answers {
    /// A tool message for each call, in order.
    pub messages: Vec<Value>,
    /// The arguments that calls were made with which a person has changed, by position.
    pub changed: BTreeMap<usize, Json>,
}

/// A call that is to be made.
pub struct Call<'c> {
    /// The tool.
    pub tool: ToolId,
    /// Its arguments, of their types, let through here and approved.
    pub args: Map,
    /// Its effects.
    pub scope: &'c EffectScope,
    /// Who gets its error.
    pub errors: Errors,
    /// The model's id of the call, where a model asked for it.
    pub asked_as: Option<&'c str>,
}

/// Answers all calls of a message, in order, one tool message each. Refusals and errors are answers too. The message of a call that
/// a person has changed says so: the model is to know what was really done.
///
/// # Errors
/// Only what is the run's, not the tool's: cancellation, the store, open interrupts.
pub async fn answer_all<'a>(
    run: &mut TaskRun<'a>,
    node: &'a NodePlan,
    tools: &[ToolId],
    calls: Vec<Requested>,
    parallel: bool,
) -> Result<Answers, Stop> {
    // Scopes are named before anything runs, so that timing can't change them.
    let scope = |call: &Requested| scope_of(run, tools, call);
    let scopes: Vec<EffectScope> = calls.iter().map(scope).collect();
    let mut results: Vec<Option<Result<Value, RunError>>> = calls.iter().map(|_| None).collect();
    let mut ready = Vec::new();
    let mut changed = BTreeMap::new();
    let mut open = Vec::new();
    let wanted = calls.iter().zip(&scopes).enumerate();
    let wanted = wanted.map(|(index, (call, scope))| match index < MOST_CALLS {
        true => requested(run, node, tools, call, scope),
        false => Err(RunError::new(ErrorKind::ToolError, too_many())),
    });
    let wanted: Vec<Result<(ToolId, Map), RunError>> = wanted.collect();
    turns::wait(
        run,
        wanted.iter().flatten().map(|(tool, args)| (*tool, args)),
    )
    .await?;
    let mut claims = false;
    // All that a person has to approve is asked for at once, before any of the calls is made.
    for (index, (wanted, scope)) in wanted.into_iter().zip(&scopes).enumerate() {
        let result = wanted.map_err(Stop::from).and_then(|(tool, args)| {
            let settled = prepare(run, node, tool, (args, Errors::ToModel), scope)?;
            Ok((tool, settled))
        });
        match (result, results.get_mut(index)) {
            (Ok((tool, settled)), _) => {
                claims |= settled.claims;
                changed.extend(settled.changed.map(|args| (index, args)));
                ready.push((
                    index,
                    Call {
                        tool,
                        args: settled.args,
                        scope,
                        errors: Errors::ToModel,
                        asked_as: calls.get(index).map(|call| call.id.as_str()),
                    },
                ));
            }
            (Err(Stop::Interrupted(more)), _) => open.extend(more),
            (Err(Stop::Failed(error)), Some(place)) => *place = Some(Err(error)),
            (Err(_), None) => {}
        }
    }
    if !open.is_empty() {
        return Err(Stop::Interrupted(open));
    }
    approve::keep_uses(run, claims).await?;
    let mut outside = Vec::new();
    for (index, call) in ready {
        let result = if runs_inside(run, call.tool) {
            Some(unless_open(call_one(run, node, call).await)?)
        } else if parallel {
            outside.push((index, call));
            None
        } else {
            Some(unless_open(call_outside(run, node, call).await)?)
        };
        if let Some(place) = results.get_mut(index) {
            *place = result;
        }
    }
    let shared: &TaskRun<'a> = run;
    let mut made = Vec::with_capacity(outside.len());
    for (index, call) in outside {
        made.push(Box::pin(call_indexed(shared, node, index, call)));
    }
    for (index, result) in join_all(made).await {
        match (unless_open(result), results.get_mut(index)) {
            (Err(Stop::Interrupted(more)), _) => open.extend(more),
            (Ok(result), Some(place)) => *place = Some(result),
            _ => {}
        }
    }
    let answered = calls.iter().zip(results).enumerate();
    let messages = answered
        .filter_map(|(index, (call, result))| {
            Some(tool_message(call, result?, changed.get(&index)))
        })
        .collect::<Result<Vec<Value>, RunError>>()?;
    match open.is_empty() {
        true => Ok(Answers { messages, changed }),
        false => Err(Stop::Interrupted(open)),
    }
}

fn too_many() -> String {
    format!("not made: of the calls of one reply, the first {MOST_CALLS} are")
}

/// The scope of a call: by the tool that it is of. What a model calls a tool that there isn't has no effects, and is
/// no name for any.
fn scope_of(run: &TaskRun<'_>, tools: &[ToolId], call: &Requested) -> EffectScope {
    let cx = run.around.cx;
    let names = tools.iter().map(|tool| &*cx.plan.tools[*tool].name);
    let name = names.into_iter().find(|name| **name == *call.name);
    let of = name.map_or(Of::kind("none"), |name| Of::named("tool", name));
    run.effects.child(cx, of)
}

/// The tool and the arguments that a model asked for, with those that the node fixes.
fn requested(
    run: &TaskRun<'_>,
    node: &NodePlan,
    tools: &[ToolId],
    call: &Requested,
    scope: &EffectScope,
) -> Result<(ToolId, Map), RunError> {
    let plan = &run.around.cx.plan;
    let named = |tool: &ToolId| *plan.tools[*tool].name == *call.name;
    let refused = |why: String| RunError::new(ErrorKind::ToolError, why);
    let Some(tool) = tools.iter().copied().find(named) else {
        return Err(refused(unknown(run, tools, &call.name)));
    };
    let args = call.args.as_ref().map_err(|why| refused(why.clone()))?;
    let flow = &run.around.cx.plan.flow;
    let declared = &flow.tools[tool];
    let params = match node.narrowed.get(&tool) {
        Some(narrowed) => &narrowed.open,
        None => &declared.params,
    };
    let read = decode_fields(&args.value, params, &flow.types);
    let read = read.map_err(|wrong| refusal(run, tool, &wrong))?;
    let repairs = args.repairs.iter().cloned().chain(read.repairs);
    run.send_repairs(scope.mark(), &declared.name, repairs.collect());
    let mut args = read.value.as_map().cloned().unwrap_or_default();
    for (name, value) in run.fixed.get(&tool).into_iter().flat_map(Map::iter) {
        args.insert(name.clone(), value.clone());
    }
    Ok((tool, args))
}

/// The outcome of a call that does not wait for an answer.
fn unless_open(result: Result<Value, Stop>) -> Result<Result<Value, RunError>, Stop> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(Stop::Failed(error)) => Ok(Err(error)),
        Err(open) => Err(open),
    }
}

async fn call_indexed(
    run: &TaskRun<'_>,
    node: &NodePlan,
    index: usize,
    call: Call<'_>,
) -> (usize, Result<Value, Stop>) {
    (index, call_outside(run, node, call).await)
}

fn tool_message(
    call: &Requested,
    result: Result<Value, RunError>,
    changed: Option<&Json>,
) -> Result<Value, RunError> {
    let mut content = match result {
        Ok(value) => show(&value),
        Err(error) if matches!(error.kind, ErrorKind::Cancelled | ErrorKind::Store) => {
            return Err(error);
        }
        Err(error) => format!("error: {}", error.message),
    };
    if let Some(args) = changed {
        let note = "a person changed the arguments of this call: it was made with";
        content.push_str(&format!("\n\n({note} {args})"));
    }
    let more = [
        ("tool_call_id", Value::text(call.id.as_str())),
        ("name", Value::text(call.name.as_str())),
    ];
    Ok(record("tool", Value::text(content), more))
}

fn unknown(run: &TaskRun<'_>, tools: &[ToolId], name: &str) -> String {
    let plan = &run.around.cx.plan;
    let names = tools.iter().map(|tool| &*plan.tools[*tool].name);
    format!(
        "there is no tool `{name}` here; there is {}",
        crate::base::name::list(names)
    )
}

fn runs_inside(run: &TaskRun<'_>, tool: ToolId) -> bool {
    let cx = run.around.cx;
    let replaced = cx.backends.tools.get(tool).is_some_and(Option::is_some);
    cx.plan.tools[tool].body.is_some() && !replaced
}

/// Makes a call.
///
/// # Errors
/// Of the tool, of its result; [`Stop::Interrupted`] where it may have happened.
pub async fn call_one<'a>(
    run: &mut TaskRun<'a>,
    node: &'a NodePlan,
    call: Call<'_>,
) -> Result<Value, Stop> {
    if !runs_inside(run, call.tool) {
        return call_outside(run, node, call).await;
    }
    let cx = run.around.cx;
    if cx.wants(Mode::Debug) {
        let tool = cx.plan.tools[call.tool].name.to_string();
        run.send(call.scope.mark(), EventKind::Interpreted { tool });
    }
    match body::interpret(run, call.tool, &call.args, call.scope) {
        Ok(result) => Ok(result),
        Err(error) => or_instead(run, call.tool, error),
    }
}

/// The arguments of a call, of their types.
///
/// # Errors
/// Kind `tool_error` where they are not.
pub fn accepted(run: &TaskRun<'_>, tool: ToolId, args: &Json) -> Result<Map, RunError> {
    let flow = &run.around.cx.plan.flow;
    let accepted = accept_fields(args, &flow.tools[tool].params, &flow.types);
    let accepted = accepted.map_err(|wrong| refusal(run, tool, &wrong))?;
    Ok(accepted.as_map().cloned().unwrap_or_default())
}

fn refusal(run: &TaskRun<'_>, tool: ToolId, wrong: &dyn std::fmt::Display) -> RunError {
    let name = &run.around.cx.plan.flow.tools[tool].name;
    let why = format!("`{name}` refuses its arguments: {wrong}");
    RunError::new(ErrorKind::ToolError, why)
}

/// The arguments that a call is made with: let through here, and approved where a person has to.
///
/// # Errors
/// Kind `tool_error` where they are not let through; [`Stop::Interrupted`] while nobody has answered.
pub fn prepare(
    run: &TaskRun<'_>,
    node: &NodePlan,
    tool: ToolId,
    (args, errors): (Map, Errors),
    scope: &EffectScope,
) -> Result<Settled, Stop> {
    narrow::check(run, node, tool, &args)?;
    approve::settle(run, node, tool, (args, errors), scope)
}
