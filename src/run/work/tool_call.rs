//! Tool calls: of a model (whose errors go back to it) and of a `call` node (whose errors are the node's).
//!
//! Arguments are checked against the declared types before anything runs, results after. A tool with a
//! body runs in the interpreter, in the order of the calls; the others may run side by side.

use std::borrow::Cow;
use std::sync::atomic::AtomicU32;

use futures_util::future::join_all;
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use crate::expr::Type;
use crate::expr::accept::{Mismatch, accept, accept_fields, lenient_json};
use crate::expr::function::message::record;
use crate::ir::{ErrorKind, Retry, Tool, ToolId};
use crate::run::effect::{EffectScope, cancelled};
use crate::run::error::RunError;
use crate::run::event::{EventKind, Mode};
use crate::run::model::{CallContext, ToolCallRequest};
use crate::run::plan::NodePlan;
use crate::run::task::{TaskRun, show};
use crate::run::tool::ToolCall;
use crate::value::{Map, Value};

use super::Stop;
use super::approve;
use super::body;
use super::doubt::{self, Known};
use super::narrow;
use super::retry::{self, Attempted, Failure};

/// A call that a model asked for.
pub struct Requested {
    id: String,
    name: String,
    /// Arguments, or what is wrong with their JSON.
    args: Result<Json, String>,
}

impl From<ToolCallRequest> for Requested {
    fn from(call: ToolCallRequest) -> Self {
        let args = match call.arguments.trim() {
            "" => Ok(json!({})),
            text => lenient_json(text),
        };
        Self {
            id: call.id,
            name: call.name,
            args,
        }
    }
}

impl Requested {
    /// Of a record `tool_call` in a message.
    pub fn from_value(call: &Value) -> Self {
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
            args: Ok(args),
        }
    }
}

/// Who gets a tool's error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Errors {
    /// The model: the error is the call's result, and a resume does not make the call again.
    ToModel,
    /// The node: it fails, and a resume makes the call again.
    ToNode,
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
}

/// Answers all calls of a message, in order, one tool message each. Refusals and errors are answers too.
///
/// # Errors
/// Only what is the run's, not the tool's: cancellation, the store, open interrupts.
pub async fn answer_all<'a>(
    run: &mut TaskRun<'a>,
    node: &'a NodePlan,
    tools: &[ToolId],
    calls: Vec<Requested>,
    parallel: bool,
) -> Result<Vec<Value>, Stop> {
    // Scopes are numbered before anything runs, so that timing can't change them.
    let scopes: Vec<EffectScope> = calls.iter().map(|_| run.effects.child()).collect();
    let mut results: Vec<Option<Result<Value, RunError>>> = calls.iter().map(|_| None).collect();
    let mut ready = Vec::new();
    let mut open = Vec::new();
    // All that a person has to approve is asked for at once, before any of the calls is made.
    for (index, (call, scope)) in calls.iter().zip(&scopes).enumerate() {
        let result = match requested(run, tools, call) {
            Ok((tool, args)) => prepare(run, node, tool, args, scope).map(|args| (tool, args)),
            Err(refusal) => Err(RunError::new(ErrorKind::ToolError, refusal).into()),
        };
        match (result, results.get_mut(index)) {
            (Ok((tool, args)), _) => ready.push((
                index,
                Call {
                    tool,
                    args,
                    scope,
                    errors: Errors::ToModel,
                },
            )),
            (Err(Stop::Interrupted(more)), _) => open.extend(more),
            (Err(Stop::Failed(error)), Some(place)) => *place = Some(Err(error)),
            (Err(_), None) => {}
        }
    }
    if !open.is_empty() {
        return Err(Stop::Interrupted(open));
    }
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
        made.push(call_indexed(shared, node, index, call));
    }
    for (index, result) in join_all(made).await {
        match (unless_open(result), results.get_mut(index)) {
            (Err(Stop::Interrupted(more)), _) => open.extend(more),
            (Ok(result), Some(place)) => *place = Some(result),
            _ => {}
        }
    }
    let answered = calls.iter().zip(results);
    let messages = answered.filter_map(|(call, result)| Some(tool_message(call, result?)));
    let messages = messages.collect::<Result<Vec<Value>, RunError>>()?;
    match open.is_empty() {
        true => Ok(messages),
        false => Err(Stop::Interrupted(open)),
    }
}

/// The tool and the arguments that a model asked for.
fn requested<'c>(
    run: &TaskRun<'_>,
    tools: &[ToolId],
    call: &'c Requested,
) -> Result<(ToolId, &'c Json), String> {
    let plan = &run.around.cx.plan;
    let named = |tool: &ToolId| *plan.tools[*tool].name == *call.name;
    let Some(tool) = tools.iter().copied().find(named) else {
        return Err(unknown(run, tools, &call.name));
    };
    match &call.args {
        Ok(args) => Ok((tool, args)),
        Err(problem) => Err(format!("the arguments are no JSON: {problem}")),
    }
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

fn tool_message(call: &Requested, result: Result<Value, RunError>) -> Result<Value, RunError> {
    let content = match result {
        Ok(value) => show(&value),
        Err(error) if matches!(error.kind, ErrorKind::Cancelled | ErrorKind::Store) => {
            return Err(error);
        }
        Err(error) => format!("error: {}", error.message),
    };
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

/// The arguments of a call: of their types, let through here, and approved where a person has to.
///
/// # Errors
/// Kind `tool_error` where one of these does not hold; [`Stop::Interrupted`] while nobody has answered.
pub fn prepare(
    run: &TaskRun<'_>,
    node: &NodePlan,
    tool: ToolId,
    args: &Json,
    scope: &EffectScope,
) -> Result<Map, Stop> {
    let flow = &run.around.cx.plan.flow;
    let declared = &flow.tools[tool];
    let accepted = accept_fields(args, &declared.params, &flow.types).map_err(|wrong| {
        RunError::new(
            ErrorKind::ToolError,
            format!("`{}` refuses its arguments: {}", declared.name, all(&wrong)),
        )
    })?;
    let args = accepted.as_map().cloned().unwrap_or_default();
    narrow::check(run, node, tool, &args)?;
    approve::settle(run, node, tool, args, scope)
}

/// What stands in place of a call's error: the value of `@on_error`; the error itself where there is none, or where it is
/// the run's and not the tool's.
fn or_instead(run: &TaskRun<'_>, tool: ToolId, error: RunError) -> Result<Value, Stop> {
    let flow = &run.around.cx.plan.flow;
    let tool = &flow.tools[tool];
    match &tool.on_error {
        Some(value) if !is_the_runs(&error) => {
            let ty = tool.returns.as_ref().unwrap_or(&Type::Null);
            // The compiler has held it to the type.
            Ok(accept(value, ty, &flow.types).unwrap_or_default())
        }
        _ => Err(error.into()),
    }
}

fn is_the_runs(error: &RunError) -> bool {
    matches!(error.kind, ErrorKind::Cancelled | ErrorKind::Store)
}

fn all(wrong: &[Mismatch]) -> String {
    wrong
        .iter()
        .map(|mismatch| mismatch.to_string())
        .collect::<Vec<_>>()
        .join("; ")
}

async fn call_outside(run: &TaskRun<'_>, node: &NodePlan, call: Call<'_>) -> Result<Value, Stop> {
    let cx = run.around.cx;
    let tool = &cx.plan.flow.tools[call.tool];
    let Json::Object(args) = Value::Map(call.args.clone()).to_json() else {
        return Err(RunError::new(ErrorKind::ToolError, "the arguments are no object").into());
    };
    let made = call.scope.next();
    // What an earlier version of the flow was content with counts as an attempt that has failed.
    let id = call.scope.usable(cx, &made, |kept| {
        is_final(tool, call.errors)
            || kept
                .get("ok")
                .is_none_or(|ok| result_of(run, tool, ok).is_ok())
    });
    let stale = (id != made).then_some(&made);
    let known = known(run, &call, &id, stale, &args)?;
    let policy = policy(run, node, call.tool);
    let make = async {
        let begun = match &known {
            Some(Known::Happened(result)) => return Ok(json!({ "ok": result })),
            Some(Known::Begun(begun)) => Some(begun),
            None => None,
        };
        let made = retry::attempts(
            run,
            policy.as_deref(),
            Attempted {
                id: &id,
                kind: "tool",
                subject: &tool.name,
                fails_as_result: is_final(tool, call.errors),
            },
            |attempt| one_attempt(run, &call, &id, begun, args.clone(), attempt),
        );
        match made.await {
            Ok(result) => Ok(json!({ "ok": result })),
            Err(failure) if is_final(tool, call.errors) && !is_the_runs(&failure.error) => {
                Ok(json!({ "error": failure.to_kept() }))
            }
            Err(failure) => Err(failure.error),
        }
    };
    let outcome = call
        .scope
        .outside(cx, &id, "tool", &tool.name, make)
        .await?;
    if let Some(error) = outcome.get("error") {
        let text = |key| error.get(key).and_then(Json::as_str).unwrap_or_default();
        let kind = ErrorKind::from_word(text("kind")).unwrap_or(ErrorKind::ToolError);
        return or_instead(run, call.tool, RunError::new(kind, text("message")));
    }
    let result = outcome.get("ok").unwrap_or(&Json::Null);
    result_of(run, tool, result).or_else(|message| {
        let error = RunError::new(ErrorKind::InvalidOutput, message);
        or_instead(run, call.tool, error)
    })
}

/// The result of a tool, of its type.
///
/// # Errors
/// In words, where it isn't.
fn result_of(run: &TaskRun<'_>, tool: &Tool, result: &Json) -> Result<Value, String> {
    let ty = tool.returns.as_ref().unwrap_or(&Type::Json);
    accept(result, ty, &run.around.cx.plan.flow.types).map_err(|wrong| {
        format!(
            "the result of `{}` is not of its type: {}",
            tool.name,
            all(&wrong)
        )
    })
}

/// What is tried again. A call that must not be made twice has been made where what it gave can't be used.
fn policy<'p>(run: &TaskRun<'_>, node: &'p NodePlan, tool: ToolId) -> Option<Cow<'p, Retry>> {
    let policy = node.retry.as_ref()?;
    if !doubt::asks(&run.around.cx.plan.flow, tool) {
        return Some(Cow::Borrowed(policy));
    }
    let mut policy = policy.clone();
    policy.on.retain(|kind| *kind != ErrorKind::InvalidOutput);
    Some(Cow::Owned(policy))
}

/// What earlier processes have left of a call that must not be made twice and has no result so far.
fn known(
    run: &TaskRun<'_>,
    call: &Call<'_>,
    id: &str,
    stale: Option<&String>,
    args: &serde_json::Map<String, Json>,
) -> Result<Option<Known>, Stop> {
    let cx = run.around.cx;
    let ended = || cx.journal.finished(call.scope.task(), id).is_some();
    if !doubt::asks(&cx.plan.flow, call.tool) || ended() {
        return Ok(None);
    }
    let stale = stale.and_then(|id| cx.journal.finished(call.scope.task(), id));
    let stale = stale.and_then(|kept| kept.get("ok"));
    doubt::settle(run, call, id, stale, &json!(args)).map(Some)
}

/// Whether an error of the tool is the call's result.
fn is_final(tool: &Tool, errors: Errors) -> bool {
    errors == Errors::ToModel || tool.on_error.is_some()
}

async fn one_attempt(
    run: &TaskRun<'_>,
    call: &Call<'_>,
    id: &str,
    begun: Option<&AtomicU32>,
    args: serde_json::Map<String, Json>,
    attempt: u32,
) -> Result<Json, Failure> {
    let cx = run.around.cx;
    let plan = &cx.plan.tools[call.tool];
    let Some(backend) = cx.backends.tools.get(call.tool).and_then(Option::as_ref) else {
        let message = format!("tool `{}` is not bound to anything", plan.name);
        return Err(RunError::new(ErrorKind::ToolError, message).into());
    };
    // Counted only once it is sure to be made.
    if run.effects.stop.is_cancelled() {
        return Err(cancelled().into());
    }
    if let Some(begun) = begun {
        doubt::begin(run, call, id, begun, attempt).await?;
    }
    let context = CallContext {
        thread_id: cx.thread_id.clone(),
        run_id: cx.run_id.clone(),
        node: run.path(),
        send: run.effects.send(),
        ordinal: cx.journal.count("tool", &plan.name),
        attempt,
        idempotency_key: call.scope.idempotency_key(cx, id),
        timeout: plan.timeout,
        // It may have done its work already: a run that is cancelled waits for it.
        cancel: CancellationToken::new(),
    };
    let made = backend.call(
        ToolCall {
            tool: plan.name.to_string(),
            args,
        },
        &context,
    );
    let made = match plan.timeout {
        None => made.await,
        Some(limit) => tokio::time::timeout(limit, made).await.unwrap_or_else(|_| {
            let message = format!(
                "tool `{}` took longer than {}",
                plan.name,
                crate::base::duration::show(limit)
            );
            Err(crate::run::tool::ToolError::new(
                ErrorKind::Timeout,
                message,
            ))
        }),
    };
    let result = made.map_err(|error| Failure {
        retry_after: error.retry_after,
        ..RunError::from(error).into()
    })?;
    match result_of(run, &cx.plan.flow.tools[call.tool], &result) {
        Ok(_) => Ok(result),
        Err(message) => Err(Failure::unusable(message, result)),
    }
}
