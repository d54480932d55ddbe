//! Tools that a scenario has really called.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use serde_json::Value as Json;

use crate::run::model::CallContext;
use crate::run::tool::{ToolBackend, ToolCall, ToolError};

use super::{Script, turns};

/// A tool with what graphc.yaml binds it to.
pub struct RealTool {
    pub(super) script: Arc<Script>,
    pub(super) tool: Arc<dyn ToolBackend>,
}

#[async_trait]
impl ToolBackend for RealTool {
    async fn call(&self, call: ToolCall, cx: &CallContext) -> Result<Json, ToolError> {
        let cx = turns::wait(&self.script, "tool", &call.tool, cx).await;
        self.script.count_call(&call.tool);
        let _permit = self.tool.acquire(&cx).await?;
        let _under_way = UnderWay::begin(&self.script.under_way);
        self.tool.call(call, &cx).await
    }

    async fn close(&self) {
        self.tool.close().await;
    }
}

/// Counts a call as under way until it is dropped, also where it is cancelled.
pub(super) struct UnderWay<'s>(&'s AtomicUsize);

impl<'s> UnderWay<'s> {
    pub(super) fn begin(count: &'s AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::AcqRel);
        Self(count)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
