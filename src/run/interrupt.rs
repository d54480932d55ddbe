//! Interrupts: questions that a run waits for, and the answers to them.

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::expr::Type;

/// An interrupt that waits for its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenInterrupt {
    /// Stable: the same however often the run is resumed, and no other interrupt has it.
    pub id: String,
    /// Name of the node.
    pub node: String,
    /// Path of the node, such as `cake_man/await_approval`.
    pub path: String,
    /// What is asked: an object or a text; null at a stop before a node.
    pub ask: Json,
    /// Type of the answer; `None` at a stop before a node, which takes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Type>,
    /// The task that waits.
    pub task: String,
    /// The effect within the task that the answer belongs to.
    pub effect: String,
}

impl OpenInterrupt {
    /// The entry of a result's `interrupts` (docs/cli.md).
    pub fn to_json(&self) -> Json {
        json!({ "id": self.id, "node": self.node, "path": self.path, "ask": self.ask })
    }
}

/// An answer to an interrupt.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Which interrupt; may be left out where one is open.
    pub interrupt: Option<String>,
    /// The answer.
    pub value: Json,
}
