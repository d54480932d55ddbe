//! The models and tools that a run calls.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::IdVec;
use crate::ir::{ModelId, ToolId};

use super::extern_node::ExternNode;
use super::model::ChatModel;
use super::tool::ToolBackend;

/// A backend for each model and each tool of a flow.
#[derive(Clone, Default)]
pub struct Backends {
    /// By model.
    pub models: IdVec<ModelId, Arc<dyn ChatModel>>,
    /// By tool; `None` for tools with a body that nothing replaces.
    pub tools: IdVec<ToolId, Option<Arc<dyn ToolBackend>>>,
    /// `extern` nodes by the name that they are registered under.
    pub externs: BTreeMap<String, Arc<dyn ExternNode>>,
}

impl Backends {
    /// Ends what tools keep open between calls, when no more calls are made.
    pub async fn close(&self) {
        let tools = self.tools.iter().flatten();
        futures_util::future::join_all(tools.map(|tool| tool.close())).await;
    }
}
