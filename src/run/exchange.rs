//! Model calls as a watcher sees them: what was asked, and what came.

use std::sync::Arc;

use crate::value::Value;

use super::model::ChatRequest;

/// A model call that has ended with a reply.
#[derive(Debug, Clone)]
pub struct Exchange {
    /// Graph of the node.
    pub graph: Arc<str>,
    /// The node.
    pub node: Arc<str>,
    /// Key of its task: the turns of an agent, and a reply that was asked for again, have the same.
    pub task: String,
    /// What the model was asked.
    pub request: ChatRequest,
    /// The assistant message, a record `message`.
    pub reply: Value,
}

/// Who watches model calls. Replies that the journal answers are shown too, with the request that the task makes now.
#[derive(Clone)]
pub struct Watcher(Arc<dyn Fn(Exchange) + Send + Sync>);

impl Watcher {
    /// Shows each call to a function, which must not wait.
    pub fn new(see: impl Fn(Exchange) + Send + Sync + 'static) -> Self {
        Self(Arc::new(see))
    }

    /// Shows a call.
    pub fn see(&self, exchange: Exchange) {
        (self.0)(exchange);
    }
}
