//! `@approve`: a person is asked before each call of the tool. The call is made, made with other arguments, or refused.
//!
//! The question is an interrupt of the node that makes the call. Its answer is kept in the journal under an id of its own in the
//! call's scope with [`APPROVAL`] behind it, so that no later process asks again for the same call.

use serde_json::{Map as JsonMap, Value as Json, json};

use crate::expr::accept::accept_fields;
use crate::ir::{ErrorKind, Flow, Tool, ToolId};
use crate::run::effect::EffectScope;
use crate::run::error::{Lasting, RunError};
use crate::run::interrupt::OpenInterrupt;
use crate::run::ordinal::Of;
use crate::run::plan::NodePlan;
use crate::run::task::TaskRun;
use crate::value::Map;

use super::Stop;
use super::narrow;

/// What stands behind the id of an approval.
const APPROVAL: char = '&';

/// Among what the journal keeps of an answer, the arguments that the person was shown.
const ASKED: &str = "asked";

/// An answer as the journal keeps it.
pub fn kept(open: &OpenInterrupt, answer: &Json) -> Json {
    let mut kept = answer.clone();
    let asked = open.ask.get("args").filter(|_| is_approval(open));
    if let (Some(asked), Some(entries)) = (asked, kept.as_object_mut()) {
        entries.insert(ASKED.to_owned(), asked.clone());
    }
    kept
}

/// What a call may be made with.
pub struct Settled {
    /// Its arguments.
    pub args: Map,
    /// The same by the names that the outside knows them by, where a person has changed them.
    pub changed: Option<Json>,
}

impl From<Map> for Settled {
    fn from(args: Map) -> Self {
        Self {
            args,
            changed: None,
        }
    }
}

/// The arguments that a call may be made with: those that it came with, where nobody has to be asked.
///
/// What a person has answered holds also where a later version of the flow would not ask any more: a call that was refused
/// is not made. Nobody is asked for a call that an earlier version has made without.
///
/// # Errors
/// [`Stop::Interrupted`] while nobody has answered; kind `tool_error` where the call is refused, and where the
/// arguments that a person gave are not let through here.
pub fn settle(
    run: &TaskRun<'_>,
    node: &NodePlan,
    id: ToolId,
    args: Map,
    scope: &EffectScope,
) -> Result<Settled, Stop> {
    let cx = run.around.cx;
    let tool = &cx.plan.flow.tools[id];
    let may_know = cx.journal.is_resumed() && !cx.journal.numbers_effects();
    if !tool.approve && !may_know {
        return Ok(args.into());
    }
    let of = Of::node("approve", &tool.name);
    // One that is only looked for counts as no part of the call: what comes behind it has the same ids in every process.
    let asked = match tool.approve {
        true => scope.next(cx, of),
        false => scope.first(of),
    };
    let effect = format!("{asked}{APPROVAL}");
    let question = question(tool, &args);
    let made = || {
        let call = scope.first(Of::node("tool", &tool.name));
        cx.journal.finished(scope.task(), &call).is_some()
    };
    // Arguments that an earlier version of the flow took, and this one doesn't, would fail the call in each process: the person is
    // asked anew, where that may be.
    let stands = |kept: &Json| {
        let edits = kept.get("decision").and_then(Json::as_str) == Some("edit");
        !edits || !tool.approve || made() || {
            let given = edited(&cx.plan.flow, tool, kept);
            given.is_ok_and(|given| narrow::check(run, node, id, &given).is_ok())
        }
    };
    // A word on other arguments, as an earlier version of the flow gave them, is none on these.
    let same = |kept: &Json| {
        kept.get(ASKED)
            .is_none_or(|asked| Some(asked) == question.get("args"))
    };
    let usable = |kept: &Json| same(kept) && stands(kept);
    let effect = scope.usable(cx, &effect, &run.path(), usable);
    let Some(answer) = cx.journal.finished(scope.task(), &effect) else {
        if !tool.approve || (may_know && made()) {
            return Ok(args.into());
        }
        return Err(Stop::Interrupted(vec![OpenInterrupt {
            id: scope.question_id(cx, &effect),
            node: run.name.to_owned(),
            path: run.path(),
            ask: question,
            expect: cx.plan.approval.clone(),
            task: scope.task().to_owned(),
            effect,
        }]));
    };
    match answer.get("decision").and_then(Json::as_str) {
        Some("approve") => Ok(args.into()),
        Some("edit") => {
            let given = edited(&cx.plan.flow, tool, answer)
                .map_err(|problem| RunError::new(ErrorKind::ToolError, problem))?;
            if !made() {
                narrow::check(run, node, id, &given)?;
            }
            let changed = Some(outer(tool, &given)).filter(|given| *given != outer(tool, &args));
            Ok(Settled {
                args: given,
                changed,
            })
        }
        _ => {
            let message = match answer.get("message").and_then(Json::as_str) {
                Some(message) => format!("a person refused this call: {message}"),
                None => "a person refused this call".to_owned(),
            };
            let refused = RunError {
                lasting: Some(Box::new(Lasting::Refused)),
                ..RunError::new(ErrorKind::ToolError, message)
            };
            Err(refused.into())
        }
    }
}

/// Arguments by the names that the outside knows them by.
fn outer(tool: &Tool, args: &Map) -> Json {
    let params = tool.params.iter();
    let args = params.filter_map(|param| {
        let value = args.get(&param.name)?;
        Some((param.outer_name().to_owned(), value.to_json()))
    });
    Json::Object(args.collect::<JsonMap<String, Json>>())
}

/// What the person is shown. Arguments have the names by which an answer gives them.
fn question(tool: &Tool, args: &Map) -> Json {
    let args = outer(tool, args);
    let name = &tool.name;
    let question = format!("may `{name}` be called with these arguments?");
    json!({ "tool": name, "args": args, "question": question })
}

fn edited(flow: &Flow, tool: &Tool, answer: &Json) -> Result<Map, String> {
    let args = answer.get("args").unwrap_or(&Json::Null);
    let accepted = accept_fields(args, &tool.params, &flow.types).map_err(|wrong| {
        let problems: Vec<String> = wrong.iter().map(|m| m.to_string()).collect();
        format!(
            "`args` are not what `{}` takes: {}",
            tool.name,
            problems.join("; ")
        )
    })?;
    Ok(accepted.as_map().cloned().unwrap_or_default())
}

/// Whether an interrupt asks if a call may be made, rather than being a node's own.
pub fn is_approval(open: &OpenInterrupt) -> bool {
    open.effect.contains(APPROVAL)
}

/// Whether the answer to an approval, already of its type, goes with the tool. `let_through` says of arguments whether the node that
/// asks may call it with them.
///
/// # Errors
/// In words, where arguments are given that nobody asked for, or that are not of the tool's types or not let through; where a message
/// is, that nobody would read.
pub fn check(
    flow: &Flow,
    open: &OpenInterrupt,
    answer: &Json,
    let_through: impl FnOnce(&Map) -> Result<(), RunError>,
) -> Result<(), String> {
    if !is_approval(open) {
        return Ok(());
    }
    let refused = |problem: String| {
        Err(format!(
            "the answer to `{}` ({}) is refused, the thread is as it was: {problem}",
            open.id,
            open.place()
        ))
    };
    let given = |key: &str| answer.get(key).is_some_and(|value| !value.is_null());
    let decision = answer.get("decision").and_then(Json::as_str);
    // A word that nobody would read.
    let message = answer.get("message").and_then(Json::as_str);
    if message.is_some_and(|said| !said.is_empty()) && decision != Some("refuse") {
        return refused("`message` goes with the decision \"refuse\"".to_owned());
    }
    if decision != Some("edit") {
        return match given("args") {
            true => refused("`args` go with the decision \"edit\"".to_owned()),
            false => Ok(()),
        };
    }
    let name = open.ask.get("tool").and_then(Json::as_str);
    let tool = flow
        .tools
        .iter()
        .find(|tool| Some(tool.name.as_str()) == name);
    let Some(tool) = tool else { return Ok(()) };
    match edited(flow, tool, answer) {
        Ok(given) => let_through(&given).or_else(|error| refused(error.message)),
        Err(problem) => refused(problem),
    }
}
