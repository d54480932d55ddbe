//! `llm`: one model call. Gives `reply`, and `output` where it has a type.

use crate::run::error::RunError;
use crate::run::event::Mode;
use crate::run::plan::NodePlan;
use crate::run::plan::node::{ModelCallPlan, slots};
use crate::run::task::TaskRun;

use super::acceptance::accepted;
use super::model_call::{ask, conversation};

/// The work.
///
/// # Errors
/// Of the model, or of the reply's form.
pub async fn work(
    run: &mut TaskRun<'_>,
    node: &NodePlan,
    call: &ModelCallPlan,
) -> Result<(), RunError> {
    let messages = conversation(run, call)?;
    let reply = ask(run, node, call, 0, &messages).await?;
    let (reply, output) = accepted(run, node, call, &messages, reply).await?;
    let message = reply.to_message();
    if run.around.cx.wants(Mode::Messages) {
        run.say(run.effects.task().to_owned(), &message);
    }
    run.put_slot(slots::REPLY, message);
    if let Some(output) = output {
        run.put_slot(slots::OUTPUT, output);
    }
    Ok(())
}
