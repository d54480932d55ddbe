//! What is seen of a run, one thing at a time.
//!
//! The closed list is also what a child process tells its parent, one JSON line each: what it has told
//! counts, also when it is killed at once after.

use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::{Map as JsonMap, Value as Json};

use crate::project::yaml::Path;
use crate::run::event::RouteKind;
use crate::run::store::RunState;

/// Something that was seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sighting {
    /// A task began. Told again when it begins again.
    Visit {
        /// Its key, such as `1:cake_man/0:editor`.
        task: String,
    },
    /// The flow sent an event. Told again when its task runs again.
    Custom {
        /// The task's key, `#`, the effect, and which of those of it.
        id: String,
        /// Name of the event.
        name: String,
        /// Its payload, an object.
        payload: Json,
    },
    /// A route was taken.
    Route {
        /// Path of the frame.
        ns: String,
        /// The node; `None` for the entry.
        node: Option<String>,
        /// Which of the node's.
        route: RouteKind,
        /// Position of the arm, or of the `skip`.
        arm: usize,
    },
    /// A tool with a body was run. Told again when its task runs again.
    Interpreted {
        /// The task's key, `#`, the effect's number.
        id: String,
        /// The tool.
        tool: String,
    },
    /// A call reached a tool without a body, or one that the scenario plays.
    Called {
        /// The tool.
        tool: String,
    },
    /// A model was asked.
    Asked(Asked),
    /// An interrupt opened: `id`, `node` (the path), `path`, `ask`.
    Interrupt(Json),
    /// An answer was given.
    Answered {
        /// The node's key in `answers`; `None` where they go in order.
        node: Option<String>,
    },
    /// An answer was refused.
    Refused {
        /// Where it is written.
        at: Path,
        /// Why.
        message: String,
    },
    /// A reply that was not of the type asked for: the model was asked again.
    Unfit {
        /// Where it is written.
        at: Path,
        /// What is wrong with it.
        message: String,
    },
    /// A call that no reply matched, in words.
    Unmatched {
        /// The call and what the scenario has for it.
        message: String,
    },
    /// Replies that no call has taken so far; the last one of a process counts.
    Left {
        /// Where they are written.
        replies: Vec<Path>,
    },
    /// The run ended, for now or for good; the last one counts.
    Ended(Ended),
    /// What long-term memory held at the end, by namespace and key: `space`, `key`, `value`.
    Remembered(Vec<Json>),
    /// The point has come at which the process is to be killed.
    Dying,
}

/// What a model was asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// Path of the node.
    pub node: String,
    /// Index of the send that made the task.
    pub send: Option<u32>,
    /// Name of the model in the flow.
    pub model: String,
    /// Names of the tools that it was shown, in order.
    pub tools: Vec<String>,
    /// All messages, a list.
    pub messages: Json,
}

/// What a run came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ended {
    /// How.
    pub status: RunState,
    /// Names of a caller's nodes that its graph left for.
    #[serde(default)]
    pub left: Vec<String>,
    /// Its `out` fields.
    pub output: JsonMap<String, Json>,
    /// All fields.
    pub values: JsonMap<String, Json>,
    /// Why it failed: `kind`, `message`, and `node`, `path`, `place` where known.
    pub error: Option<Json>,
    /// Calls that people have permitted: `tool`, `args`, `once`, `question`, `by`.
    #[serde(default)]
    pub permitted: Vec<Json>,
    /// Tokens of the models.
    pub usage: Json,
    /// What it waits for: the path of each node that asks, what it asks, and the type of the answer.
    #[serde(default)]
    pub open: Vec<(String, Json, String)>,
}

/// What passes a sighting on.
type Echo = Box<dyn Fn(&Sighting) + Send + Sync>;

/// Sightings in their order.
#[derive(Default)]
pub struct Log {
    seen: Mutex<Vec<Sighting>>,
    echo: Option<Echo>,
}

impl Log {
    /// A log that also passes on at once what it is told.
    pub fn echoing(echo: impl Fn(&Sighting) + Send + Sync + 'static) -> Self {
        Self {
            seen: Mutex::default(),
            echo: Some(Box::new(echo)),
        }
    }

    /// Writes a sighting down.
    pub fn tell(&self, sighting: Sighting) {
        if let Some(echo) = &self.echo {
            echo(&sighting);
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.push(sighting);
    }

    /// All so far.
    pub fn all(&self) -> Vec<Sighting> {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.clone()
    }
}
