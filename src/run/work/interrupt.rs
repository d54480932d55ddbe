//! `interrupt`: asks, waits for as long as it takes, goes on with a typed answer. Gives `answer`. The same
//! for `interrupt x before NODE` and `after`, which ask around another node.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map as JsonMap, Value as Json, json};

use crate::expr::Type;
use crate::expr::accept::accept;
use crate::ir::ErrorKind;
use crate::run::error::RunError;
use crate::run::interrupt::OpenInterrupt;
use crate::run::ordinal::Of;
use crate::run::plan::node::{StopPlan, slots};
use crate::run::plan::{AskPlan, JumpPlan};
use crate::run::request::Request;
use crate::run::task::{TaskRun, join_path};
use crate::value::Value;

use super::Stop;

/// The work: the answer where the journal has one, else an open interrupt. `false` where it has given
/// up and gone elsewhere: what would follow an answer is then left out.
///
/// The question is kept when it is first asked, so that it stays the same however long it takes.
///
/// # Errors
/// [`Stop::Interrupted`] while there is no answer.
pub fn work<'a>(
    run: &mut TaskRun<'a>,
    ask: &AskPlan,
    expect: &Type,
    timeout: Option<&'a (Duration, JumpPlan)>,
) -> Result<bool, Stop> {
    let path = run.path();
    let (question, open) = match put(run, ask, expect, (run.name, path))? {
        Asked::Answered(answer) => {
            run.put_slot(slots::ANSWER, answer);
            return Ok(true);
        }
        Asked::Open { question, open } => (question, open),
    };
    if let Some((limit, jump)) = timeout
        && is_over(&question, *limit, run.around.cx.ambient.now())
    {
        run.jumped = true;
        run.take(jump)?;
        return Ok(false);
    }
    Err(Stop::Interrupted(vec![open]))
}

/// Asks the questions of static interrupts around a node, one after the other. Each answer is in scope of what
/// follows.
///
/// # Errors
/// [`Stop::Interrupted`] while one has no answer.
pub fn ask_all(run: &mut TaskRun<'_>, stops: &[StopPlan]) -> Result<(), Stop> {
    for stop in stops {
        let path = join_path(run.around.path, &stop.name);
        match put(run, &stop.ask, &stop.expect, (&stop.name, path))? {
            Asked::Answered(answer) => run.put_slot(stop.slot, answer),
            Asked::Open { open, .. } => return Err(Stop::Interrupted(vec![open])),
        }
    }
    Ok(())
}

/// What came of a question.
enum Asked {
    /// The journal has its answer.
    Answered(Value),
    /// It waits.
    Open {
        /// The question as it is kept, with when it was asked.
        question: Json,
        /// What waits.
        open: OpenInterrupt,
    },
}

fn put(
    run: &TaskRun<'_>,
    ask: &AskPlan,
    expect: &Type,
    (name, path): (&str, String),
) -> Result<Asked, RunError> {
    let cx = run.around.cx;
    // The node's own question has no name but the task's.
    let name_of_gate = if name == run.name { "" } else { name };
    let of = |kind| Of {
        kind,
        name: name_of_gate,
        subject: &path,
    };
    let asked = run.effects.next(cx, of("ask"));
    let answered = run.effects.next(cx, of("answer"));
    let input = run.slots.get(slots::INPUT.0 as usize);
    let seen = || Request::of_seen(run.around, input.and_then(Option::as_ref));
    let own = match cx.forked_from {
        None => asked.clone(),
        Some(_) => run.effects.of_request(cx, &asked, &seen()),
    };
    // An answer is to the question that has the same sign behind its id.
    let sign = own.strip_prefix(&asked).unwrap_or_default();
    let (asked, answered) = (own.clone(), format!("{answered}{sign}"));
    let question = match cx.journal.finished(run.effects.task(), &asked) {
        Some(known) => known.clone(),
        None => {
            let question =
                json!({ "ask": question(run, ask)?, "at": cx.ambient.now().to_string() });
            let kept = seen().noted(question.clone());
            cx.journal
                .effect(run.effects.task(), asked, "ask", &path, kept);
            question
        }
    };
    if let Some(answer) = cx.journal.finished(run.effects.task(), &answered) {
        let answer = accept(answer, expect, &cx.plan.flow.types).map_err(|wrong| {
            let problems: Vec<String> = wrong.iter().map(|m| m.to_string()).collect();
            RunError::new(
                ErrorKind::InvalidInput,
                format!("the answer is not of its type: {}", problems.join("; ")),
            )
        })?;
        return Ok(Asked::Answered(answer));
    }
    let open = OpenInterrupt {
        id: run.effects.question_id(cx, &answered),
        node: name.to_owned(),
        path,
        ask: question.get("ask").cloned().unwrap_or_default(),
        expect: Some(expect.clone()),
        task: run.effects.task().to_owned(),
        effect: answered,
    };
    Ok(Asked::Open { question, open })
}

fn question(run: &TaskRun<'_>, ask: &AskPlan) -> Result<Json, RunError> {
    match ask {
        AskPlan::Text(text) => Ok(Json::String(text.render(&run.env())?)),
        AskPlan::Fields(fields) => {
            let entries = fields
                .iter()
                .map(|(name, code)| Ok((name.to_string(), run.eval(code)?.to_json())));
            Ok(Json::Object(
                entries.collect::<Result<JsonMap<String, Json>, RunError>>()?,
            ))
        }
    }
}

fn is_over(question: &Json, limit: Duration, now: Timestamp) -> bool {
    let asked = question
        .get("at")
        .and_then(Json::as_str)
        .and_then(|at| at.parse::<Timestamp>().ok());
    // A clock that was set back has not waited: the difference is negative then.
    asked.is_some_and(|asked| {
        Duration::try_from(now.duration_since(asked)).is_ok_and(|waited| waited >= limit)
    })
}
