//! Calls that may have happened: a tool that is `@idempotent(false)` is not called again on the mere
//! chance that its call was lost with the process. The run asks.
//!
//! Before each such call the journal keeps that it begins. A beginning without an end, in a later process, is a doubt; so is
//! a call that was cut off (its time was up, the connection broke, the other side failed) and one that has given what can't be used
//! (`invalid_output`). The answer to it is either the call's result or leave to make the call again.
//! Ids beside the effect's own, `ID`: `ID^n` is the beginning of call `n`, `ID?n` the answer to its doubt.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::{Map as JsonMap, Value as Json, json};

use crate::expr::Type;
use crate::expr::accept::accept;
use crate::ir::{ErrorKind, Flow, ToolId};
use crate::run::error::RunError;
use crate::run::interrupt::OpenInterrupt;
use crate::run::request::Request;
use crate::run::store::EffectRecord;
use crate::run::task::TaskRun;

use super::Stop;
use super::answered::Answered;
use super::tool_call::Call;

/// What divides an effect's id from the number of the call that is in doubt.
const DOUBT: char = '?';

/// What is known of the calls of one effect.
pub enum Known {
    /// Nothing stands against making it; its beginnings go on from this number.
    Begun(AtomicU32),
    /// It has happened, and this is its result.
    Happened(Json),
}

/// What earlier processes have left in the journal.
///
/// # Errors
/// [`Stop::Interrupted`] where a call may have happened and nobody has said whether it has.
///
/// `stale` is the result of an ended call that isn't of the tool's type any more.
pub fn settle(
    run: &TaskRun<'_>,
    call: &Call<'_>,
    id: &str,
    stale: Option<&Json>,
    args: &Json,
) -> Result<Known, Stop> {
    let journal = &run.around.cx.journal;
    let task = call.scope.task();
    let mut number = 0;
    if let Some(received) = stale {
        let doubt = format!("{id}{DOUBT}");
        match journal.finished(task, &doubt) {
            None => {
                let open = ask(run, call, doubt, args, Left::Unusable(received));
                return Err(Stop::Interrupted(vec![open]));
            }
            Some(kept) if has_happened(Answered::of(kept).answer) => {
                return Ok(Known::Happened(result(Answered::of(kept).answer).clone()));
            }
            Some(_) => {}
        }
    }
    while let Some(begun) = journal.finished(task, &format!("{id}^{number}")) {
        let attempt = begun.get("attempt").and_then(Json::as_u64);
        let failed = journal.finished(task, &format!("{id}!{}", attempt.unwrap_or_default()));
        let doubt = format!("{id}{DOUBT}{number}");
        // Those that it was made with, whatever a later version of the flow would give.
        let args = begun.get("args").unwrap_or(args);
        match (failed, journal.finished(task, &doubt)) {
            (Some(kept), _) if !is_left_by(kept) => {}
            (kept, None) => {
                let open = ask(run, call, doubt, args, kept.map_or(Left::Begun, Left::of));
                return Err(Stop::Interrupted(vec![open]));
            }
            (_, Some(kept)) if has_happened(Answered::of(kept).answer) => {
                return Ok(Known::Happened(result(Answered::of(kept).answer).clone()));
            }
            (_, Some(_)) => {}
        }
        number += 1;
    }
    Ok(Known::Begun(AtomicU32::new(number)))
}

/// The result of a call that is in doubt, where a person has said that it has happened.
pub fn has_said_so(run: &TaskRun<'_>, call: &Call<'_>, id: &str) -> Option<Json> {
    let journal = &run.around.cx.journal;
    let task = call.scope.task();
    let begun = |number: &u32| {
        let begun = journal.finished(task, &format!("{id}^{number}"));
        begun.is_some()
    };
    let doubts = (0..).take_while(begun);
    let doubts = doubts.map(|number| format!("{id}{DOUBT}{number}"));
    let doubts = std::iter::once(format!("{id}{DOUBT}")).chain(doubts);
    let answers = doubts.filter_map(|doubt| journal.finished(task, &doubt));
    let mut answers = answers.map(|kept| Answered::of(kept).answer);
    let said = answers.find(|answer| has_happened(answer))?;
    Some(result(said).clone())
}

/// Keeps that a call begins, before it does.
///
/// # Errors
/// Kind `store`: then it must not begin.
pub async fn begin(
    run: &TaskRun<'_>,
    call: &Call<'_>,
    id: &str,
    begun: &AtomicU32,
    (attempt, args): (u32, &JsonMap<String, Json>),
) -> Result<(), RunError> {
    let cx = run.around.cx;
    let number = begun.fetch_add(1, Ordering::Relaxed);
    cx.journal.effect(
        call.scope.task(),
        format!("{id}^{number}"),
        BEGUN,
        &cx.plan.tools[call.tool].name,
        Request::new(&json!(args)).noted(json!({ "attempt": attempt, "args": args })),
    );
    Ok(cx.journal.keep().await?)
}

/// Tools of which a call had begun, and nothing tells whether it happened, among effects of one run.
pub fn open_calls<'e>(effects: impl Iterator<Item = &'e EffectRecord> + Clone) -> Vec<String> {
    let settled = effects.clone().filter(|e| !is_left_by(&e.outcome));
    let settled: BTreeSet<(&str, &str)> = settled.map(|e| (&*e.task, &*e.id)).collect();
    let begun = effects.filter(|effect| effect.kind == BEGUN);
    let open = begun.filter(|effect| {
        let Some((id, number)) = effect.id.rsplit_once('^') else {
            return false;
        };
        let attempt = effect.outcome.get("attempt").and_then(Json::as_u64);
        let failed = format!("{id}!{}", attempt.unwrap_or_default());
        let said = format!("{id}{DOUBT}{number}");
        let known = [id, &failed, &said];
        !known
            .iter()
            .any(|id| settled.contains(&(&*effect.task, *id)))
    });
    open.map(|effect| effect.of().to_owned()).collect()
}

/// Kind of the record of a beginning.
const BEGUN: &str = "begun";

/// Whether a failed attempt, as the journal keeps it, may have had its effect. What earlier versions of the program have
/// kept doesn't say so but by its kind.
pub fn is_left_by(kept: &Json) -> bool {
    let Some(failed) = kept.get("failed") else {
        return false;
    };
    let kind = failed.get("kind").and_then(Json::as_str);
    let by_kind = || kind.and_then(ErrorKind::from_word)?.leaves_doubt().into();
    let said = failed.get("in_doubt").and_then(Json::as_bool);
    said.or_else(by_kind).unwrap_or_default()
}

/// What the journal has of a call that is in doubt.
enum Left<'k> {
    /// That it began.
    Begun,
    /// The message that it failed with.
    Failed(&'k str),
    /// What it gave, null where that was no JSON.
    Unusable(&'k Json),
}

impl<'k> Left<'k> {
    /// Of a failed attempt.
    fn of(kept: &'k Json) -> Self {
        let failed = |key| kept.get("failed").and_then(|failed| failed.get(key));
        let kind = failed("kind").and_then(Json::as_str);
        if kind == Some(ErrorKind::InvalidOutput.word()) {
            return Left::Unusable(failed("received").unwrap_or(&Json::Null));
        }
        let message = failed("message").and_then(Json::as_str);
        Left::Failed(message.unwrap_or_default())
    }
}

/// The question.
fn ask(
    run: &TaskRun<'_>,
    call: &Call<'_>,
    doubt: String,
    args: &Json,
    left: Left<'_>,
) -> OpenInterrupt {
    let cx = run.around.cx;
    let tool = &cx.plan.tools[call.tool].name;
    let what = match left {
        Left::Begun => "had begun when its process ended".to_owned(),
        Left::Failed(message) => format!("has failed ({message})"),
        Left::Unusable(_) => "gave what is not of its type".to_owned(),
    };
    let question =
        format!("a call of `{tool}` {what}, and it must not be made twice: did it happen?");
    let mut question = json!({ "tool": **tool, "args": args, "question": question });
    if let (Left::Unusable(received), Some(entries)) = (left, question.as_object_mut()) {
        entries.insert("received".to_owned(), received.clone());
    }
    OpenInterrupt {
        id: call.scope.question_id(cx, &doubt),
        node: run.name.to_owned(),
        path: run.path(),
        ask: question,
        permits: Vec::new(),
        changed: false,
        expect: cx.plan.happened.clone(),
        task: call.scope.task().to_owned(),
        effect: doubt,
    }
}

fn has_happened(answer: &Json) -> bool {
    answer.get("happened") == Some(&Json::Bool(true))
}

fn result(answer: &Json) -> &Json {
    answer.get("result").unwrap_or(&Json::Null)
}

/// Whether the answer to a doubt, already of its type, gives the result of the tool.
///
/// # Errors
/// In words, where the call is said to have happened and the result is not of the tool's type, or not to have, and there is one.
pub fn check(flow: &Flow, open: &OpenInterrupt, answer: &Json) -> Result<(), String> {
    if !open.effect.contains(DOUBT) {
        return Ok(());
    }
    let (name, ty) = asked_of(flow, open);
    // In a flow that asks for no such answer any more no type says so.
    if !answer.get("happened").is_some_and(Json::is_boolean) {
        return Err(format!(
            "the answer to `{}` ({}) is refused, the thread is as it was: `happened` must say whether it has\nexpected: {{ happened: bool, result: {} }}",
            open.id,
            open.place(),
            flow.types.describe(ty),
        ));
    }
    if !has_happened(answer) {
        return match result(answer).is_null() {
            true => Ok(()),
            false => Err(format!(
                "the answer to `{}` ({}) is refused, the thread is as it was: `result` goes with `happened: true`; without it the call is made again",
                open.id,
                open.place()
            )),
        };
    }
    accept(result(answer), ty, &flow.types)
        .map(|_| ())
        .map_err(|wrong| {
            let problems: Vec<String> = wrong.iter().map(|m| m.to_string()).collect();
            let problem = match answer.get("result") {
                None => "`result` is missing".to_owned(),
                Some(_) => format!("`result` is not what `{name}` gives: {}", problems.join("; ")),
            };
            format!(
                "the answer to `{}` ({}) is refused, the thread is as it was: {problem}\nexpected: {{ happened: bool, result: {} }}; without `result` where it has not happened",
                open.id,
                open.place(),
                flow.types.describe(ty),
            )
        })
}

/// The tool whose call is in doubt, and the type of its result.
pub fn asked_of<'f>(flow: &'f Flow, open: &'f OpenInterrupt) -> (&'f str, &'f Type) {
    let name = open.ask.get("tool").and_then(Json::as_str);
    let name = name.unwrap_or_default();
    let tool = flow.tools.iter().find(|tool| tool.name == name);
    let returns = tool.and_then(|tool| tool.returns.as_ref());
    (name, returns.unwrap_or(&Type::Json))
}

/// Whether an interrupt asks if a call has happened, rather than being a node's own.
pub fn is_question(open: &OpenInterrupt) -> bool {
    open.effect.contains(DOUBT)
}

/// Whether a tool's calls must not be made twice.
pub fn asks(flow: &Flow, tool: ToolId) -> bool {
    flow.tools[tool].idempotent == Some(false)
}
