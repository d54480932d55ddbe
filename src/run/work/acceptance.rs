//! What a model's reply is held to: the type of the output, and each `ensure`. A reply that doesn't meet them is refused: the
//! model is told why, and asked again.

use crate::base::size::excerpt;
use crate::expr::function::message::record;
use crate::ir::ErrorKind;
use crate::run::decode::decode;
use crate::run::error::{Passage, RunError};
use crate::run::event::EventKind;
use crate::run::ordinal::Of;
use crate::run::plan::NodePlan;
use crate::run::plan::node::{ModelCallPlan, WorkPlan, slots};
use crate::run::task::{TaskRun, brief, show};
use crate::value::{List, Value};

use super::fallback::{self, PassedOver};
use super::model_call::{Reply, ask, models, policy};

/// Why a reply is refused.
enum Refusal {
    /// It is not of the output's type.
    Type(String),
    /// An `ensure` does not hold.
    Ensure { why: String, place: Passage },
}

/// What a model is told whose reply is not of its type, before and behind what is wrong with it.
const OF_TYPE: (&str, &str) = (
    "The reply is not of the form asked for: ",
    ". Reply again, with that form only.",
);
/// The same of a reply that an `ensure` refuses.
const ENSURED: (&str, &str) = ("The reply is not accepted: ", ". Reply again.");

/// What was wrong with the reply before, where a message asks for another because of that.
pub fn refused(message: &str) -> Option<&str> {
    [OF_TYPE, ENSURED]
        .iter()
        .find_map(|(before, behind)| message.strip_prefix(before)?.strip_suffix(behind))
}

impl Refusal {
    fn why(&self) -> &str {
        let (Refusal::Type(why) | Refusal::Ensure { why, .. }) = self;
        why
    }

    /// What the model is told.
    fn request(&self) -> String {
        let (before, behind) = match self {
            Refusal::Type(_) => OF_TYPE,
            Refusal::Ensure { .. } => ENSURED,
        };
        format!("{before}{}{behind}", self.why())
    }

    /// The error that it is, of a reply with that text.
    fn to_error(&self, text: &str) -> RunError {
        let failed = |message| RunError::new(ErrorKind::InvalidOutput, message);
        let reply = match excerpt(text).as_str() {
            "" => "its text is empty".to_owned(),
            begins => format!("the reply begins: {begins}"),
        };
        match self {
            Refusal::Type(why) => failed(format!(
                "the model's output is not of its type, asked twice: {why}; {reply}"
            )),
            Refusal::Ensure { why, place } => failed(format!(
                "the model's reply is not what `ensure` asks for, asked twice: {why}"
            ))
            .at(place.clone()),
        }
    }
}

/// In the id of the record that asking for a reply was given up, before the number of the round.
const GIVEN_UP: char = '!';

/// A reply that meets what is asked of it, and its output; asks once more with the reason where the first does not, and so in
/// each attempt of a policy that tries `invalid_output` again, then each model that the one which gave it falls back on. In an
/// `agent`, and where no output is wanted, a reply that calls tools is held to nothing.
///
/// # Errors
/// Kind `invalid_output`, where the last reply does not meet it either. That is kept, so that a resume
/// asks anew rather than read the same replies again. Where an `ensure` can't be computed.
pub async fn accepted(
    run: &mut TaskRun<'_>,
    node: &NodePlan,
    call: &ModelCallPlan,
    messages: &List,
    mut reply: Reply,
) -> Result<(Reply, Option<Value>), RunError> {
    if call.output.is_none() && call.ensures.is_empty() {
        return Ok((reply, None));
    }
    let cx = run.around.cx;
    let given_up = run.effects.beside(cx, Of::kind("given_up"));
    let given_up = |round: u32| format!("{given_up}{GIVEN_UP}{round}");
    let known = |round: u32| cx.journal.finished(run.effects.task(), &given_up(round));
    // Rounds that ended with an error in earlier processes: their replies are read again, and another one follows.
    let rounds = (0..).find(|round| known(*round).is_none()).unwrap_or(0);
    let models = models(run, call);
    // Of the models the first `from` are not asked any more in this round.
    let (mut round, mut from, mut made, mut attempt) = (0, 0, 0, 0);
    let mut passed = PassedOver::default();
    loop {
        attempt += 1;
        made += 1;
        let refusal = match held(run, node, call, &reply)? {
            Ok(output) => return Ok((reply, output)),
            Err(refusal) => refusal,
        };
        run.send(
            format!("{}~refused", run.effects.mark()),
            EventKind::Retrying {
                attempt,
                error: brief(&RunError::new(ErrorKind::InvalidOutput, refusal.why())),
                wait_ms: 0,
                by: run.speaker(),
            },
        );
        let mut again = messages.clone();
        again.push(reply.to_message());
        again.push(record("user", Value::text(refusal.request()), []));
        let asked = ask(run, node, call, from, &again).await;
        reply = asked.map_err(|error| passed.with_error(error))?;
        let refusal = match held(run, node, call, &reply)? {
            Ok(output) => return Ok((reply, output)),
            Err(refusal) => refusal,
        };
        let policy = (models.get(from)).and_then(|model| policy(run, node, *model));
        let policy = policy.filter(|policy| policy.on.contains(&ErrorKind::InvalidOutput));
        let error = RunError {
            attempt,
            ..refusal.to_error(&reply.text)
        };
        if made >= policy.map_or(1, |policy| policy.attempts) {
            made = 0;
            from = from.max(reply.model) + 1;
            if let (Some(model), Some(next)) = (models.get(from - 1), models.get(from)) {
                let id = format!("{}~fallback", run.effects.mark());
                fallback::tell(run, id, (*model, *next), &error);
                passed.add(&cx.plan.flow.models[*model].name, &error);
            }
        }
        if from >= models.len() && round == rounds {
            let error = passed.with_error(error);
            let kept = error.to_json();
            let (task, id) = (run.effects.task(), given_up(rounds));
            cx.journal.effect(task, id, "given_up", &run.path(), kept);
            return Err(error);
        }
        if from >= models.len() {
            (round, from) = (round + 1, 0);
            passed = PassedOver::default();
        }
        // A new attempt begins without what went wrong before.
        let asked = ask(run, node, call, from, messages).await;
        reply = asked.map_err(|error| passed.with_error(error))?;
    }
}

/// The output of a reply, or why it is refused. `reply` and `output` are in scope behind it.
fn held(
    run: &mut TaskRun<'_>,
    node: &NodePlan,
    call: &ModelCallPlan,
    reply: &Reply,
) -> Result<Result<Option<Value>, Refusal>, RunError> {
    if !reply.tool_calls.is_empty() && is_turn(node, call) {
        return Ok(Ok(None));
    }
    let output = match &call.output {
        None => None,
        Some(_) if reply.is_cut() => {
            let cut = "it was cut off at max_tokens".to_owned();
            return Ok(Err(Refusal::Type(cut)));
        }
        Some((ty, _, _)) => {
            let types = &run.around.cx.plan.flow.types;
            match decode(&reply.text, ty, types) {
                Ok(output) => {
                    run.send_repairs(run.effects.mark(), "output", output.repairs);
                    Some(output.value)
                }
                Err(problem) => return Ok(Err(Refusal::Type(problem))),
            }
        }
    };
    run.put_slot(slots::REPLY, reply.to_message());
    if let Some(output) = &output {
        run.put_slot(slots::OUTPUT, output.clone());
    }
    Ok(match broken(run, node, call)? {
        Some(refusal) => Err(refusal),
        None => Ok(output),
    })
}

/// Whether a reply that calls tools is one on the way to the last, which alone is held to anything.
fn is_turn(node: &NodePlan, call: &ModelCallPlan) -> bool {
    matches!(node.work, WorkPlan::Agent { .. }) || call.output.is_none()
}

/// The first `ensure` that does not hold of the `reply` and `output` in scope.
fn broken(
    run: &mut TaskRun<'_>,
    node: &NodePlan,
    call: &ModelCallPlan,
) -> Result<Option<Refusal>, RunError> {
    run.bind_all(&node.lets_within)?;
    for (condition, message) in &call.ensures {
        if !condition.holds(&run.env())? {
            let why = match message {
                Some(message) => show(&run.eval(message)?),
                None => format!("`{}` does not hold", condition.text()),
            };
            let place = condition.place();
            return Ok(Some(Refusal::Ensure { why, place }));
        }
    }
    Ok(None)
}

/// Whether the `reply` and `output` in scope, which an earlier visit has had, meet what is asked of them now.
///
/// # Errors
/// Where an `ensure` can't be computed.
pub fn holds_still(run: &mut TaskRun<'_>, node: &NodePlan) -> Result<bool, RunError> {
    let (WorkPlan::Llm(call) | WorkPlan::Agent { call, .. }) = &node.work else {
        return Ok(true);
    };
    let slot = |slot: crate::expr::Slot| run.slots.get(slot.0 as usize).and_then(Option::as_ref);
    let calls = slot(slots::REPLY).and_then(|reply| reply.get("tool_calls")?.as_list());
    let calls_tools = calls.is_some_and(|calls| !calls.is_empty());
    let no_output = call.output.is_some() && slot(slots::OUTPUT).is_none_or(Value::is_null);
    if no_output || (calls_tools && is_turn(node, call)) {
        return Ok(true);
    }
    Ok(broken(run, node, call)?.is_none())
}
