//! A tool call that leaves the process: attempts at it, what they gave, and what of that counts.
//!
//! A result that is not of the tool's type is a failed attempt: `retry` may make another, and a resume does.

use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use crate::expr::Type;
use crate::expr::accept::accept;
use crate::ir::flow::ToolEffect;
use crate::ir::{ErrorKind, Tool, ToolId};
use crate::run::cut_off::Cut;
use crate::run::effect::{EffectScope, cancelled};
use crate::run::error::RunError;
use crate::run::grace::{nested_grace, within_grace};
use crate::run::memory::{self, Access, MemoryTool};
use crate::run::model::{CallContext, Usage};
use crate::run::nested::Nested;
use crate::run::observe::{Asked, CallEnd};
use crate::run::ordinal::Of;
use crate::run::plan::NodePlan;
use crate::run::report::Reports;
use crate::run::request::Request;
use crate::run::task::TaskRun;
use crate::run::tool::{ToolBackend, ToolCall};
use crate::value::{Map, Value};

use super::Stop;
use super::in_doubt::{self, Known};
use super::progress::Progress;
use super::retry::{self, Attempted, Failure};
use super::tool_call::{Call, Errors};

/// Makes a call that leaves the process, or takes its result from the journal.
///
/// # Errors
/// Of the tool, of its result; [`Stop::Interrupted`] where it may have happened.
pub async fn call_outside(
    run: &TaskRun<'_>,
    node: &NodePlan,
    call: Call<'_>,
) -> Result<Value, Stop> {
    let cx = run.around.cx;
    let tool = &cx.plan.flow.tools[call.tool];
    let Json::Object(args) = Value::Map(call.args.clone()).to_json() else {
        return Err(RunError::new(ErrorKind::ToolError, "the arguments are no object").into());
    };
    let of = Of::node("tool", &tool.name);
    let request = Request::new(&json!(args));
    let made = call.scope.next(cx, of);
    let id = kept_as(run, (call.tool, call.errors), &call.args, call.scope, &made);
    let made = call.scope.of_request(cx, &made, &request);
    let stale = (id != made).then_some(&made);
    let stale = stale.filter(|id| {
        let kept = cx.journal.entry(call.scope.task(), id);
        kept.is_some_and(|kept| kept.subject == tool.name)
    });
    let known = known(run, &call, &id, stale, &args)?;
    let usage: Arc<Mutex<Usage>> = Arc::default();
    let used = || *usage.lock().unwrap_or_else(PoisonError::into_inner);
    let make = async {
        let begun = match &known {
            Some(Known::Happened(result)) => return Ok(json!({ "ok": result })),
            Some(Known::Begun(begun)) => Some(begun),
            None => None,
        };
        let asked = Asked::Tool {
            name: &tool.name,
            id: call.asked_as,
            args: &args,
        };
        let under_way = cx.call_started((call.scope.task(), &id), &asked);
        let made = retry::attempts(
            run,
            node.retry.as_ref(),
            Attempted {
                id: &id,
                kind: "tool",
                subject: &tool.name,
                request: &request,
                fails_as_result: is_final(tool, call.errors),
                once: in_doubt::asks(&cx.plan.flow, call.tool),
            },
            |attempt| {
                let usage = Arc::clone(&usage);
                one_attempt(run, &call, (&id, begun), args.clone(), attempt, usage)
            },
        );
        let made = made.await;
        if let Some(under_way) = under_way {
            under_way.end(&CallEnd {
                error: made.as_ref().err().map(|failure| &failure.error),
                result: made.as_ref().ok(),
                ..CallEnd::default()
            });
        }
        match made {
            Ok(result) => Ok(json!({ "ok": result })),
            Err(failure) if is_final(tool, call.errors) && !is_the_runs(&failure.error) => {
                if is_no_answer(failure.error.kind) {
                    cx.count_failed_tool(&tool.name, &failure.error);
                }
                Ok(json!({ "error": failure.to_kept() }))
            }
            Err(failure) => {
                cx.add_usage(used());
                Err(failure.error)
            }
        }
    };
    let make = async {
        let mut outcome = make.await?;
        let used = used();
        if used != Usage::default() {
            outcome["usage"] = json!(used);
        }
        Ok(request.noted(outcome))
    };
    let counts = cx.was_killed || cx.journal.finished(call.scope.task(), &id).is_none();
    let outcome = call
        .scope
        .outside(cx, &id, "tool", &tool.name, make)
        .await?;
    if let Some(used) = outcome.get("usage").filter(|_| counts) {
        cx.add_usage(serde_json::from_value(used.clone()).unwrap_or_default());
    }
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

/// The id under which the journal has the outcome of a call with these arguments, or will have it: `first` is that of the first outcome of
/// its place in the task. What may not be asked for again and what is answered without a call is the same by this.
pub fn kept_as(
    run: &TaskRun<'_>,
    (tool, errors): (ToolId, Errors),
    args: &Map,
    scope: &EffectScope,
    first: &str,
) -> String {
    let cx = run.around.cx;
    let tool = &cx.plan.flow.tools[tool];
    let request = Request::new(&Value::Map(args.clone()).to_json());
    let made = scope.of_request(cx, first, &request);
    // What an earlier version of the flow was content with counts as an attempt that has failed.
    scope.usable(cx, &made, &tool.name, |kept| {
        let ok = kept.get("ok");
        is_final(tool, errors) || ok.is_none_or(|ok| result_of(run, tool, ok).is_ok())
    })
}

/// The result of a tool, of its type.
///
/// # Errors
/// In words, where it isn't.
fn result_of(run: &TaskRun<'_>, tool: &Tool, result: &Json) -> Result<Value, String> {
    let ty = tool.returns.as_ref().unwrap_or(&Type::Json);
    accept(result, ty, &run.around.cx.plan.flow.types)
        .map_err(|wrong| format!("the result of `{}` is not of its type: {wrong}", tool.name))
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
    if ended() {
        return Ok(None);
    }
    if !in_doubt::asks(&cx.plan.flow, call.tool) {
        // Who was asked under an earlier version of the flow, and has said that it has happened, is believed.
        let happened = in_doubt::has_said_so(run, call, id);
        return Ok(happened.map(Known::Happened));
    }
    let stale = stale.and_then(|id| cx.journal.finished(call.scope.task(), id));
    let stale = stale.and_then(|kept| kept.get("ok"));
    in_doubt::settle(run, call, id, stale, &json!(args)).map(Some)
}

/// Whether an error of the tool is the call's result.
fn is_final(tool: &Tool, errors: Errors) -> bool {
    errors == Errors::ToModel || tool.on_error.is_some()
}

/// Whether an error of that kind is none of the tool's own: what serves it could not be reached, refused us or gave what is no result.
fn is_no_answer(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::Timeout
            | ErrorKind::RateLimit
            | ErrorKind::ServerError
            | ErrorKind::Network
            | ErrorKind::Auth
            | ErrorKind::InvalidRequest
            | ErrorKind::InvalidOutput
    )
}

async fn one_attempt(
    run: &TaskRun<'_>,
    call: &Call<'_>,
    (id, begun): (&str, Option<&AtomicU32>),
    args: serde_json::Map<String, Json>,
    attempt: u32,
    usage: Arc<Mutex<Usage>>,
) -> Result<Json, Failure> {
    let cx = run.around.cx;
    let plan = &cx.plan.tools[call.tool];
    let standard = cx.plan.flow.tools[call.tool].is_of(memory::MODULE);
    let built_in = || standard.then(|| Arc::new(MemoryTool::default()) as Arc<dyn ToolBackend>);
    let bound = cx.backends.tools.get(call.tool).cloned().flatten();
    let Some(backend) = bound.or_else(built_in) else {
        let message = format!("tool `{}` is not bound to anything", plan.name);
        return Err(RunError::new(ErrorKind::ToolError, message).into());
    };
    // Counted only once it is sure to be made.
    if run.effects.stop.is_cancelled() {
        return Err(cancelled().into());
    }
    let declared = &cx.plan.flow.tools[call.tool];
    let once = begun.is_some();
    // A call that may have done its work already is waited for; of one that only reads nothing has happened.
    let grace = match declared.effect == ToolEffect::Read && !once {
        true => Duration::ZERO,
        false => cx.cancel_grace,
    };
    let event = declared.progress;
    let (reports, heard) = event.map(|_| Reports::channel()).unzip();
    let context = CallContext {
        thread_id: cx.thread_id.to_string(),
        run_id: cx.run_id.to_string(),
        node: run.path(),
        send: run.effects.send(),
        ordinal: cx.journal.count("tool", &plan.name),
        attempt,
        idempotency_key: call.scope.idempotency_key(cx, id),
        rank: call.scope.rank(),
        timeout: plan.timeout,
        cancel: CancellationToken::new(),
        stop: run.effects.stop.clone(),
        memory: standard.then(|| {
            Access::new(
                cx.store.clone(),
                cx.journal.at_the_store(),
                cx.ambient.now().as_millisecond(),
                run.around.context.to_json(),
            )
        }),
        nested: Some(Nested {
            store: cx.store.clone(),
            ambient: Arc::clone(&cx.ambient),
            durability: cx.journal.durability(),
            cancel_grace: nested_grace(grace),
            usage,
            observed: cx.observed.as_ref().map(|observed| {
                let key = cx.call_key(call.scope.task(), id);
                observed.within(key)
            }),
        }),
        reports,
        secrets: Arc::clone(&cx.secrets),
        waits: run.effects.waits.of_call(),
    };
    let _permit = backend.acquire(&context).await.map_err(RunError::from)?;
    if let Some(begun) = begun {
        in_doubt::begin(run, call, id, begun, (attempt, &args)).await?;
    }
    // Where it is cut off from outside, the question about it has to say how.
    let under_way = begun.map(|_| {
        cx.cut_off.watch(Cut {
            task: call.scope.task().to_owned(),
            id: format!("{id}!{attempt}"),
            tool: plan.name.to_string(),
            request: Request::new(&json!(args)),
        })
    });
    let made = backend.call(
        ToolCall {
            tool: plan.name.to_string(),
            args,
        },
        &context,
    );
    let made = async {
        match (event, heard) {
            (Some(event), Some(heard)) => {
                let told = Progress::of(run, (&plan.name, event), (id, attempt));
                told.during(heard, made).await
            }
            _ => made.await,
        }
    };
    let under = (&*plan.name, &context.cancel);
    let made = within_grace(grace, &run.effects.stop, under, made);
    let made = match plan.timeout {
        None => made.await,
        Some(limit) => context
            .waits
            .limited(limit, Box::pin(made))
            .await
            .unwrap_or_else(|| {
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
    if let Some(under_way) = under_way {
        under_way.ended();
    }
    let result = made.map_err(|mut error| {
        if once && error.in_doubt {
            error
                .message
                .push_str("; whether it has happened is not known");
        }
        Failure {
            retry_after: error.retry_after,
            in_doubt: once.then_some(error.in_doubt),
            ..RunError::from(error).into()
        }
    })?;
    match result_of(run, declared, &result) {
        Ok(_) => Ok(result),
        Err(message) => Err(Failure {
            in_doubt: once.then_some(true),
            ..Failure::unusable(message, result)
        }),
    }
}

/// What stands in place of a call's error: the value of `@on_error`; the error itself where there is none, or where it is
/// the run's or a person's and not the tool's.
pub fn or_instead(run: &TaskRun<'_>, tool: ToolId, error: RunError) -> Result<Value, Stop> {
    let flow = &run.around.cx.plan.flow;
    let tool = &flow.tools[tool];
    match &tool.on_error {
        Some(value) if !is_the_runs(&error) && error.kind != ErrorKind::Unapproved => {
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
