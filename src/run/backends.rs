//! What serves the models and tools of a flow while it runs.

use std::sync::Arc;

use crate::base::IdVec;
use crate::ir::{ModelId, ToolId};

use super::model::ChatModel;
use super::tool::ToolBackend;

/// A backend for each model and tool of one flow, in its order.
#[derive(Clone, Default)]
pub struct Backends {
    /// Models.
    pub models: IdVec<ModelId, Arc<dyn ChatModel>>,
    /// Tools. `None` where the tool's own body is run; a tool with a body that has a backend all the
    /// same is served by the backend (a scenario's script in its place).
    pub tools: IdVec<ToolId, Option<Arc<dyn ToolBackend>>>,
}
