//! The trait behind which every `extern` node stands.

use async_trait::async_trait;
use serde_json::{Map as JsonMap, Value as Json};

use super::model::CallContext;
use super::tool::ToolError;

/// A node that the embedding program implements, registered in
/// [`Backends::externs`](super::backends::Backends::externs) by its name.
#[async_trait]
pub trait ExternNode: Send + Sync {
    /// Does the node's work and gives the values of the fields that it writes, by name; of those that it
    /// declares in `writes`, any that has a value already may be left out. The runtime checks them against the fields' types and
    /// passes them through their reducers.
    ///
    /// # Errors
    /// By kind; they are the node's, which its `retry` and `on_error` handle.
    async fn run(
        &self,
        call: ExternCall,
        cx: &CallContext,
    ) -> Result<JsonMap<String, Json>, ToolError>;
}

/// A visit of an `extern` node.
#[derive(Debug, Clone)]
pub struct ExternCall {
    /// The name that it is registered under.
    pub name: String,
    /// The fields that it declares in `reads`, by name; null where one has no value yet.
    pub state: JsonMap<String, Json>,
    /// What the send passed in, where a send made the visit.
    pub input: Option<Json>,
}
