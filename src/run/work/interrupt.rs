//! `interrupt`: asks, waits for as long as it takes, goes on with a typed answer. Gives `answer`. The same
//! for `interrupt x before NODE` and `after`, which ask around another node.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Map as JsonMap, Value as Json, json};

use crate::expr::accept::accept;
use crate::expr::{Slot, Type};
use crate::ir::ErrorKind;
use crate::run::error::RunError;
use crate::run::event::RouteKind;
use crate::run::interrupt::OpenInterrupt;
use crate::run::ordinal::Of;
use crate::run::plan::code::Code;
use crate::run::plan::node::{StopPlan, slots};
use crate::run::plan::{AskPlan, JumpPlan, PermitPlan};
use crate::run::request::Request;
use crate::run::task::{TaskRun, join_path};

use super::Stop;
use super::answered::Answered;
use super::permit::{self, Shown};

/// The work: the answer where the journal has one, else an open interrupt. `false` where it has given
/// up and gone elsewhere: what would follow an answer is then left out.
///
/// The question is kept when it is first asked, so that it stays the same however long it takes.
///
/// # Errors
/// [`Stop::Interrupted`] while there is no answer.
pub fn work<'a>(
    run: &mut TaskRun<'a>,
    question: Question<'_>,
    timeout: Option<&'a (Duration, JumpPlan)>,
) -> Result<bool, Stop> {
    let (question, open) = match put(run, &question)? {
        Asked::Answered => return Ok(true),
        Asked::Open { question, open } => (question, open),
    };
    if let Some((limit, jump)) = timeout
        && is_over(&question, *limit, run.around.cx.ambient.now())
    {
        run.jumped = true;
        run.note_route(RouteKind::Timeout, 0);
        run.take(jump)?;
        return Ok(false);
    }
    Err(Stop::Interrupted(vec![*open]))
}

/// Asks the questions of static interrupts around a node, one after the other. Each answer is in scope of what
/// follows.
///
/// # Errors
/// [`Stop::Interrupted`] while one has no answer.
pub fn ask_all(run: &mut TaskRun<'_>, stops: &[StopPlan]) -> Result<(), Stop> {
    for stop in stops {
        let question = Question {
            name: &stop.name,
            slot: stop.slot,
            ask: &stop.ask,
            expect: &stop.expect,
            permits: &stop.permits,
            lets: &[],
        };
        if let Asked::Open { open, .. } = put(run, &question)? {
            return Err(Stop::Interrupted(vec![*open]));
        }
    }
    Ok(())
}

/// A question of a node, or around one.
pub struct Question<'p> {
    /// Its name.
    pub name: &'p str,
    /// Where its answer goes.
    pub slot: Slot,
    /// What is shown.
    pub ask: &'p AskPlan,
    /// Type of the answer.
    pub expect: &'p Type,
    /// Which calls the answer permits.
    pub permits: &'p [PermitPlan],
    /// `let`s that read the answer and that these use.
    pub lets: &'p [(Slot, Code)],
}

/// What came of a question.
enum Asked {
    /// The journal has its answer, which is in scope now.
    Answered,
    /// It waits.
    Open {
        /// The question as it is kept, with when it was asked.
        question: Json,
        /// What waits.
        open: Box<OpenInterrupt>,
    },
}

fn put(run: &mut TaskRun<'_>, question: &Question<'_>) -> Result<Asked, RunError> {
    let cx = run.around.cx;
    let path = join_path(run.around.path, question.name);
    // The node's own question has no name but the task's.
    let own = question.name == run.name;
    let of = |kind| Of {
        kind,
        name: if own { "" } else { question.name },
        subject: &path,
    };
    let asked = run.effects.next(cx, of("ask"));
    let answered = run.effects.next(cx, of("answer"));
    let shown = permit::shown(run, question.permits)?;
    let permits: Vec<Json> = shown.iter().map(|shown| shown.json.clone()).collect();
    let rules = permit::rules(run, question.permits);
    let (id, earlier) = asked_id(run, &asked, (&permits, rules.as_ref()));
    // An answer is to the question that has the same sign behind its id.
    let sign = id.strip_prefix(&asked).unwrap_or_default();
    let task = run.effects.task();
    let mut earlier = earlier.iter().filter_map(|id| id.strip_prefix(&asked));
    let changed = earlier.any(|sign| {
        let id = format!("{answered}{sign}");
        cx.journal.finished(task, &id).is_some()
    });
    let answered = format!("{answered}{sign}");
    let kept = match cx.journal.finished(task, &id) {
        Some(known) => known.clone(),
        None => {
            let kept = question.kept(run, permits, rules)?;
            let noted = seen(run).noted(kept.clone());
            cx.journal.effect(task, id, "ask", &path, noted);
            kept
        }
    };
    let open = OpenInterrupt {
        id: run.effects.question_id(cx, &answered),
        node: question.name.to_owned(),
        path,
        ask: kept.get("ask").cloned().unwrap_or_default(),
        permits: permits_of(&kept).to_vec(),
        changed,
        expect: Some(question.expect.clone()),
        task: task.to_owned(),
        effect: answered,
    };
    match cx.journal.finished(task, &open.effect) {
        Some(answer) => {
            take(run, question, &shown, &open, Answered::of(answer))?;
            Ok(Asked::Answered)
        }
        None => Ok(Asked::Open {
            question: kept,
            open: Box::new(open),
        }),
    }
}

/// Brings an answer into scope, and gives the run what it permits.
fn take(
    run: &mut TaskRun<'_>,
    question: &Question<'_>,
    shown: &[Shown<'_>],
    open: &OpenInterrupt,
    answered: Answered<'_>,
) -> Result<(), RunError> {
    let types = &run.around.cx.plan.flow.types;
    let answer = accept(answered.answer, question.expect, types).map_err(|wrong| {
        let problems: Vec<String> = wrong.iter().map(|m| m.to_string()).collect();
        RunError::new(
            ErrorKind::InvalidInput,
            format!("the answer is not of its type: {}", problems.join("; ")),
        )
    })?;
    run.put_slot(question.slot, answer);
    run.put_slot(slots::ANSWERED, answered.to_value());
    run.bind_all(question.lets)?;
    let place = open.place();
    let place = run.around.cx.former_name(&place).into_owned();
    permit::given(run, shown, &place, &answered, (&open.task, &open.effect))
}

/// The id of a question, and those of the questions in its place that it is none of: asked with other pins or conditions, by an earlier
/// version of the flow or by the thread that this one was forked from.
fn asked_id(
    run: &TaskRun<'_>,
    asked: &str,
    (permits, rules): (&[Json], Option<&Json>),
) -> (String, Vec<String>) {
    let cx = run.around.cx;
    let own = match cx.forked_from {
        None => asked.to_owned(),
        Some(_) => run.effects.of_request(cx, asked, &seen(run)),
    };
    let mut id = own.clone();
    let mut others = Vec::new();
    while let Some(kept) = cx.journal.finished(run.effects.task(), &id)
        && (permits_of(kept) != permits || kept.get(RULES) != rules)
    {
        others.push(id);
        id = format!("{own}={}", others.len());
    }
    (id, others)
}

/// The entry of a question that is kept, for what decides beside its answer what that permits.
const RULES: &str = "rules";

/// What a question that is kept was said to permit.
fn permits_of(kept: &Json) -> &[Json] {
    let permits = kept.get("permits").and_then(Json::as_array);
    permits.map(Vec::as_slice).unwrap_or_default()
}

fn seen(run: &TaskRun<'_>) -> Request {
    let input = run.slots.get(slots::INPUT.0 as usize);
    Request::of_seen(run.around, input.and_then(Option::as_ref))
}

impl Question<'_> {
    /// It as the journal keeps it.
    fn kept(
        &self,
        run: &TaskRun<'_>,
        permits: Vec<Json>,
        rules: Option<Json>,
    ) -> Result<Json, RunError> {
        let now = run.around.cx.ambient.now().to_string();
        let mut kept = json!({ "ask": shown_text(run, self.ask)?, "at": now });
        if let (false, Some(entries)) = (permits.is_empty(), kept.as_object_mut()) {
            entries.insert("permits".to_owned(), Json::Array(permits));
            entries.extend(rules.map(|rules| (RULES.to_owned(), rules)));
        }
        Ok(kept)
    }
}

fn shown_text(run: &TaskRun<'_>, ask: &AskPlan) -> Result<Json, RunError> {
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
