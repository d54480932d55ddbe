//! Tools in a scenario.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value as Json;

use crate::backend::tool::script::give;
use crate::ir::ErrorKind;
use crate::run::model::CallContext;
use crate::run::tool::{ToolBackend, ToolCall, ToolError};

use super::{Script, nothing_fits, turns};

/// A tool that the scenario plays.
pub struct ScriptedTool {
    pub(super) script: Arc<Script>,
    /// Position of its replies in the scenario.
    pub(super) list: usize,
}

#[async_trait]
impl ToolBackend for ScriptedTool {
    async fn call(&self, call: ToolCall, cx: &CallContext) -> Result<Json, ToolError> {
        let script = &self.script;
        let cx = &turns::wait(script, "tool", &call.tool, cx).await;
        let lists = script.scenario.tools.get(self.list);
        let replies = lists.map_or(&[][..], |(_, replies)| replies);
        let earlier = script.earlier.tools.get(&call.tool);
        let chosen = {
            let mut state = script.state();
            *state.calls.entry(call.tool.clone()).or_default() += 1;
            let fits = |index: usize| replies.get(index).is_some_and(|r| r.fits(&call.args));
            let before = || script.before(earlier, cx);
            let queue = state.tools.get_mut(self.list);
            queue.and_then(|queue| queue.take(&call.tool, cx, before, fits))
        };
        match chosen.and_then(|index| replies.get(index)) {
            Some(reply) => give(reply, cx).await,
            None => {
                let what = describe(&call, cx);
                let message = nothing_fits(&script.scenario, &what, Some(replies.len()));
                script.state().unmatched.push(message.clone());
                Err(ToolError::new(ErrorKind::ToolError, message))
            }
        }
    }
}

/// A tool that the scenario has no replies for.
pub struct AbsentTool {
    pub(super) script: Arc<Script>,
}

#[async_trait]
impl ToolBackend for AbsentTool {
    async fn call(&self, call: ToolCall, cx: &CallContext) -> Result<Json, ToolError> {
        let cx = &turns::wait(&self.script, "tool", &call.tool, cx).await;
        let message = nothing_fits(&self.script.scenario, &describe(&call, cx), None);
        let mut state = self.script.state();
        *state.calls.entry(call.tool).or_default() += 1;
        state.unmatched.push(message.clone());
        Err(ToolError::new(ErrorKind::ToolError, message))
    }
}

fn describe(call: &ToolCall, cx: &CallContext) -> String {
    let args = Json::Object(call.args.clone());
    format!(
        "the call of tool `{}` in `{}` with {args}",
        call.tool, cx.node
    )
}
