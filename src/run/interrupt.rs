//! Interrupts: questions that a run waits for, and the answers to them.

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::expr::Type;

use super::step::BEFORE;

/// An interrupt that waits for its answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct OpenInterrupt {
    /// Stable: the same however often the run is resumed, and no other interrupt has it.
    pub id: String,
    /// Name of the node.
    pub node: String,
    /// Path of the node, such as `cake_man/await_approval`, without the indices of sends: what scenarios name it by.
    pub path: String,
    /// What is asked: an object or a text; null at a stop before a node.
    pub ask: Json,
    /// Calls that the answer may permit, as far as that is known: `permits` in a result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub permits: Vec<Json>,
    /// Whether an answer was given to another question in its place, with other pins or conditions, which is none to this one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub changed: bool,
    /// Type of the answer; `None` at a stop before a node, which takes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expect: Option<Type>,
    /// The task that waits.
    pub task: String,
    /// The effect within the task that the answer belongs to.
    pub effect: String,
}

impl OpenInterrupt {
    /// Whether it is a stop before a node, which asks nothing and is passed by any resume.
    pub fn is_stop(&self) -> bool {
        self.effect == BEFORE
    }

    /// The path with the indices of the sends on the way, such as `work[1]/ask`: no two tasks have the same.
    pub fn place(&self) -> String {
        let (callers, own) = self.task.rsplit_once('/').unwrap_or(("", &self.task));
        // A task is `STEP:NODE[SEND]`; a question around a node has another name than the node.
        let names = callers.split('/').filter(|part| !part.is_empty());
        let names = names.map(|part| part.split_once(':').map_or(part, |(_, name)| name));
        let index = own.find('[').and_then(|at| own.get(at..));
        let own = format!("{}{}", self.node, index.unwrap_or_default());
        names.chain([own.as_str()]).collect::<Vec<_>>().join("/")
    }

    /// Whether a path as a person writes it leads here: parts without an index stand for any.
    pub fn is_at(&self, path: &str) -> bool {
        let place = self.place();
        let plain = |part: &str| part.split('[').next().unwrap_or(part).to_owned();
        let mut parts = place.split('/');
        let fit = path.split('/').all(|wanted| {
            let here = parts.next();
            here.is_some_and(|here| here == wanted || plain(here) == wanted)
        });
        fit && parts.next().is_none()
    }

    /// The entry of a result's `interrupts` (docs/cli/result.md).
    pub fn to_json(&self) -> Json {
        let mut json =
            json!({ "id": self.id, "node": self.node, "path": self.place(), "ask": self.ask });
        if let (false, Some(entries)) = (self.permits.is_empty(), json.as_object_mut()) {
            entries.insert("permits".to_owned(), Json::Array(self.permits.clone()));
        }
        if let (true, Some(entries)) = (self.changed, json.as_object_mut()) {
            entries.insert("changed".to_owned(), json!(true));
        }
        if let (true, Some(entries)) = (self.is_stop(), json.as_object_mut()) {
            entries.insert("stop".to_owned(), json!("before"));
        }
        json
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
