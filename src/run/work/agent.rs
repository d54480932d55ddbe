//! `agent`: model and tools in a loop. Gives `reply`, `output` where it has a type, and `transcript`,
//! the messages it made.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::run::event::Mode;
use crate::run::plan::node::{ModelCallPlan, slots};
use crate::run::plan::{Code, NodePlan};
use crate::run::task::TaskRun;
use crate::value::{List, Value};

use super::Stop;
use super::acceptance::accepted;
use super::model_call::{ask, conversation};
use super::tool_call::{Requested, answer_all};

/// What ends the loop.
pub struct Limits<'p> {
    /// Most turns.
    pub max_turns: u32,
    /// Ends it where it holds after a turn.
    pub until: Option<&'p Code>,
    /// Whether the tools of one turn run at the same time.
    pub parallel: bool,
}

/// The work: turns until no tool is called, a tool jumps, `until` holds or `max_turns` is reached.
///
/// # Errors
/// Of the model, of the reply's form, or of an expression; open interrupts of tools. A tool's error
/// goes back to the model.
pub async fn work<'a>(
    run: &mut TaskRun<'a>,
    node: &'a NodePlan,
    call: &'a ModelCallPlan,
    limits: Limits<'_>,
) -> Result<(), Stop> {
    let mut messages = conversation(run, call)?;
    // There is none where a tool, `until` or `max_turns` ends the loop.
    run.put_slot(slots::OUTPUT, Value::Null);
    let mut transcript = List::new();
    for turn in 1..=limits.max_turns.max(1) {
        let reply = ask(run, node, call, 0, &messages).await?;
        // Only the last reply is held to anything: one that calls tools is not the output yet.
        let (reply, output) = match reply.tool_calls.is_empty() {
            true => accepted(run, node, call, &messages, reply).await?,
            false => (reply, None),
        };
        let calls = reply.tool_calls.clone();
        say(run, &mut messages, &mut transcript, reply.to_message());
        run.put_slot(slots::REPLY, reply.to_message());
        run.put_slot(slots::TRANSCRIPT, Value::List(transcript.clone()));
        run.put_slot(slots::OUTPUT, output.unwrap_or(Value::Null));
        if calls.is_empty() {
            break;
        }
        let cut = reply.is_cut();
        let requested = calls.into_iter().map(|call| Requested::new(call, cut));
        let requested = requested.collect();
        let answers = answer_all(run, node, &call.tools, requested, limits.parallel).await?;
        if !answers.changed.is_empty() {
            let made = with_arguments(reply.to_message(), &answers.changed);
            for list in [&mut messages, &mut transcript] {
                list.put(list.len().saturating_sub(1), made.clone());
            }
            run.put_slot(slots::REPLY, made);
        }
        for answer in answers.messages {
            say(run, &mut messages, &mut transcript, answer);
        }
        run.put_slot(slots::TRANSCRIPT, Value::List(transcript.clone()));
        let enough = match limits.until {
            Some(until) => until.holds(&run.env())?,
            None => false,
        };
        if run.jumped || enough || turn == limits.max_turns {
            break;
        }
    }
    Ok(())
}

/// A model's message with the arguments that its calls were really made with.
fn with_arguments(message: Value, changed: &BTreeMap<usize, Json>) -> Value {
    let calls = message.get("tool_calls").and_then(Value::as_list);
    let calls = calls.into_iter().flat_map(List::iter).enumerate();
    let calls = calls.map(|(index, call)| match (call.as_map(), changed.get(&index)) {
        (Some(entries), Some(args)) => {
            let mut entries = entries.clone();
            entries.insert("args", Value::from_json(args));
            Value::Map(entries)
        }
        _ => call.clone(),
    });
    let calls = Value::List(calls.collect());
    match message.as_map() {
        Some(entries) => {
            let mut entries = entries.clone();
            entries.insert("tool_calls", calls);
            Value::Map(entries)
        }
        None => message,
    }
}

fn say(run: &TaskRun<'_>, messages: &mut List, transcript: &mut List, message: Value) {
    if run.around.cx.wants(Mode::Messages) {
        let id = format!("{}/{}", run.effects.task(), transcript.len());
        run.say(id, &message);
    }
    messages.push(message.clone());
    transcript.push(message);
}
