//! `extern` nodes that a scenario plays.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::{Map as JsonMap, Value as Json};

use crate::backend::scenario::Script;
use crate::ir::node::Work;
use crate::ir::{ErrorKind, Flow};
use crate::run::extern_node::{ExternCall, ExternNode};
use crate::run::model::CallContext;
use crate::run::tool::{ToolBackend, ToolCall, ToolError};

/// The `extern` nodes that a scenario plays: its `tools` of their names give what they write.
pub(super) fn externs(flow: &Flow, script: &Arc<Script>) -> BTreeMap<String, Arc<dyn ExternNode>> {
    let nodes = flow.graphs.iter().flat_map(|graph| &graph.nodes);
    let names = nodes.filter_map(|node| match &node.work {
        Work::Extern { name, .. } => Some(name),
        _ => None,
    });
    let played = names.map(|name| {
        let tool = script.tool(name).unwrap_or_else(|| script.absent_tool());
        (name.clone(), Arc::new(Played(tool)) as Arc<dyn ExternNode>)
    });
    played.collect()
}

/// An `extern` node that a scenario plays.
struct Played(Arc<dyn ToolBackend>);

#[async_trait]
impl ExternNode for Played {
    async fn run(
        &self,
        call: ExternCall,
        cx: &CallContext,
    ) -> Result<JsonMap<String, Json>, ToolError> {
        let call = ToolCall {
            tool: call.name,
            args: call.state,
        };
        match self.0.call(call, cx).await? {
            Json::Object(written) => Ok(written),
            other => {
                let message = format!("expected an object of fields, found {other}");
                Err(ToolError::new(ErrorKind::InvalidOutput, message))
            }
        }
    }
}
