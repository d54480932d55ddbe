//! Names of tasks.

use std::sync::Arc;

/// Names a task: unique on its thread, the same whenever the task runs again.
#[derive(Debug, Clone)]
pub struct TaskKey {
    /// Key of the frame, empty for the root, else the key of the task that made the call and `/`.
    pub frame: Arc<str>,
    /// Step of the frame.
    pub step: u64,
    /// Name of the node.
    pub node: Arc<str>,
    /// Index of the send.
    pub send: Option<u32>,
}

impl std::fmt::Display for TaskKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}:{}", self.frame, self.step, self.node)?;
        self.send.map_or(Ok(()), |send| write!(f, "[{send}]"))
    }
}
