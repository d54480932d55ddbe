//! Fixed replies in place of a tool.

use async_trait::async_trait;
use serde_json::Value as Json;

use crate::ir::ErrorKind;
use crate::project::spec::script::ToolReply;
use crate::run::model::CallContext;
use crate::run::probe::Probed;
use crate::run::tool::{ToolBackend, ToolCall, ToolError};

/// What the caller of a scripted tool gets, once it has been reported what comes first.
///
/// # Errors
/// The injected one.
pub async fn give(reply: &ToolReply, cx: &CallContext) -> Result<Json, ToolError> {
    if let Some(reports) = &cx.reports {
        for payload in &reply.progress {
            reports.send(Ok(payload.clone())).await;
        }
    }
    match &reply.outcome {
        Ok(result) => Ok(result.clone()),
        Err(fault) => Err(ToolError {
            retry_after: fault.retry_after,
            ..ToolError::new(fault.kind, fault.message.clone())
        }),
    }
}

/// A tool that always gives the first of its replies that fits the arguments.
pub struct ScriptTool {
    replies: Vec<ToolReply>,
}

impl ScriptTool {
    /// A tool with these replies.
    pub fn new(replies: Vec<ToolReply>) -> Self {
        Self { replies }
    }
}

#[async_trait]
impl ToolBackend for ScriptTool {
    async fn call(&self, call: ToolCall, cx: &CallContext) -> Result<Json, ToolError> {
        match self.replies.iter().find(|reply| reply.fits(&call.args)) {
            Some(reply) => give(reply, cx).await,
            None => Err(ToolError::new(
                ErrorKind::ToolError,
                format!(
                    "the script of `{}` in graphc.yaml has no reply for {}",
                    call.tool,
                    Json::Object(call.args)
                ),
            )),
        }
    }

    async fn probe(&self) -> Probed {
        Probed::Ok("replies stand in graphc.yaml".to_owned())
    }
}
