//! `tools`: the tool calls of the last assistant message. Gives `results`, the tool messages.

use crate::ir::ToolId;
use crate::run::event::Mode;
use crate::run::model::FinishReason;
use crate::run::plan::node::slots;
use crate::run::plan::{Code, NodePlan};
use crate::run::task::TaskRun;
use crate::value::{List, Value};

use super::Stop;
use super::tool_call::{Requested, answer_all};

/// The work. Without a tool call in the last assistant message it does nothing.
///
/// # Errors
/// Of an expression; open interrupts of tools. A tool's error goes back to the model.
pub async fn work<'a>(
    run: &mut TaskRun<'a>,
    node: &'a NodePlan,
    messages: &Code,
    tools: &[ToolId],
    parallel: bool,
) -> Result<(), Stop> {
    let value = run.eval(messages)?;
    let Some(list) = value.as_list() else {
        return Err(messages.error("`messages` is no list".to_owned()).into());
    };
    let last = list
        .iter()
        .rev()
        .find(|message| role(message) == "assistant");
    let calls = last
        .and_then(|message| message.get("tool_calls"))
        .and_then(Value::as_list);
    let finish = last.and_then(|message| message.get("finish")?.as_str());
    let cut = finish == Some(FinishReason::Length.word());
    let requested: Vec<Requested> = calls
        .into_iter()
        .flat_map(List::iter)
        .map(|call| Requested::from_value(call, cut))
        .collect();
    let answers = answer_all(run, node, tools, requested, parallel).await?;
    let results = answers.messages;
    if run.around.cx.wants(Mode::Messages) {
        for (index, message) in results.iter().enumerate() {
            let id = format!("{}/{index}", run.effects.task());
            run.say(id, message);
        }
    }
    run.put_slot(slots::RESULTS, Value::from(results));
    Ok(())
}

fn role(message: &Value) -> &str {
    message
        .get("role")
        .and_then(Value::as_str)
        .unwrap_or_default()
}
