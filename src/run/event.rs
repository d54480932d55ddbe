//! What a run tells while it runs: one closed type, read by the command line, tests and servers alike.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

/// Which events a reader wants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// The state after each super-step.
    Values,
    /// What each node wrote.
    Updates,
    /// Tokens of model replies, and messages that nodes write.
    Messages,
    /// Events that the flow emits.
    Custom,
    /// Tasks as they start and finish.
    Tasks,
    /// Checkpoints as they are made.
    Checkpoints,
    /// Ways taken and tool bodies run: what coverage and scenarios are counted by.
    Debug,
}

impl Mode {
    /// All modes.
    pub const ALL: [Mode; 7] = [
        Mode::Values,
        Mode::Updates,
        Mode::Messages,
        Mode::Custom,
        Mode::Tasks,
        Mode::Checkpoints,
        Mode::Debug,
    ];

    /// The mode of a word.
    pub fn from_word(word: &str) -> Option<Mode> {
        Self::ALL.into_iter().find(|mode| mode.word() == word)
    }

    /// The word on the command line and in `type`.
    pub fn word(self) -> &'static str {
        match self {
            Mode::Values => "values",
            Mode::Updates => "updates",
            Mode::Messages => "messages",
            Mode::Custom => "custom",
            Mode::Tasks => "tasks",
            Mode::Checkpoints => "checkpoints",
            Mode::Debug => "debug",
        }
    }
}

/// Something that happened in a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Number within the run, from 1, without gaps over all modes, in the order read.
    pub seq: u64,
    /// Stable over a crash and a resume, so that a reader can drop repeats; empty for tokens, what was sent during a call and what was dropped.
    pub id: String,
    /// Path of the frame, such as `content/slide_builder`; empty for the run's own graph.
    pub ns: String,
    /// Step of that frame.
    pub step: u64,
    /// The node, where one made it.
    pub node: Option<String>,
    /// What was left out for a reader that fell behind: of tokens, those that follow its text; of a state, older ones.
    pub skipped: u64,
    /// The thread. Several runs may have one stream.
    pub thread_id: Arc<str>,
    /// The run.
    pub run_id: Arc<str>,
    /// What happened.
    pub kind: EventKind,
}

/// The task that words or an attempt belong to: several of one node may be under way at the same time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Speaker {
    /// Its key, which is the `id` of its beginning.
    pub task: String,
    /// Index of the send that made it.
    pub send: Option<u32>,
}

/// What an event is of that the flow sends while a call is under way: a piece of a reply. It is not sent again for a call
/// that the journal has, and has no id: where a process was killed in the middle of a call, another one begins anew.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DuringCall {
    /// The tool that reports; none for a piece of a reply.
    pub tool: Option<String>,
    /// The effect, such as `model@0`.
    pub call: String,
    /// The attempt at it, from 1.
    pub attempt: u32,
    /// Its position in the attempt, from 0.
    pub index: u64,
    /// Whose it is.
    pub by: Speaker,
}

impl DuringCall {
    /// What tells it from all others of the run.
    pub fn key(&self) -> String {
        format!(
            "{}#{}!{}/{}",
            self.by.task, self.call, self.attempt, self.index
        )
    }
}

/// Whose a token is: the speaker, the effect, the attempt at it, and the model.
pub type TokenOf<'e> = (&'e Speaker, &'e String, u32, &'e String);

/// Which of the routes that a node may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RouteKind {
    /// Its edges or its `goto`; the entry of a graph.
    Next,
    /// `on_error`
    OnError,
    /// `max_visits N -> TARGET`
    MaxVisits,
    /// `timeout D -> TARGET` of an interrupt.
    Timeout,
    /// `skip when C -> TARGET`
    Skip,
}

/// Kinds of event.
#[derive(Debug, Clone, PartialEq)]
pub enum EventKind {
    /// The state after a super-step: an object of the fields that have a value.
    Values(Json),
    /// What a node wrote: an object of fields, `null` where it wrote nothing.
    Updates(Json),
    /// A token of a reply.
    Token {
        /// The text.
        text: String,
        /// Name of the model in the flow.
        model: String,
        /// The effect that it is of, such as `model@0`: the task's next reply has another.
        call: String,
        /// The attempt at it, from 1: what a failed one has said is said again by the next.
        attempt: u32,
        /// Whose it is.
        by: Speaker,
    },
    /// A whole message that a model or tool made.
    Message {
        /// The message.
        message: Json,
        /// Whose it is.
        by: Speaker,
    },
    /// The flow's own event.
    Custom {
        /// Its name.
        name: String,
        /// Its payload, an object.
        payload: Json,
        /// Of one that was sent while a call was under way, what it is of.
        during: Option<DuringCall>,
    },
    /// A task begins.
    TaskStarted {
        /// Index of the send that made it.
        send: Option<u32>,
    },
    /// A task has finished: its error, where it failed.
    TaskFinished {
        /// Index of the send that made it.
        send: Option<u32>,
        /// `kind` and `message` of its error.
        error: Option<Json>,
    },
    /// A task has stopped: it waits for an answer, and begins again with it.
    TaskInterrupted {
        /// Index of the send that made it.
        send: Option<u32>,
        /// Ids of the interrupts that it waits at, also those in the graph that it calls.
        interrupts: Vec<String>,
        /// The path of each of them, with the indices of sends.
        paths: Vec<String>,
    },
    /// An effect failed and will be tried again.
    Retrying {
        /// The attempt that failed, from 1.
        attempt: u32,
        /// Kind and message.
        error: Json,
        /// Until the next attempt, in milliseconds.
        wait_ms: u64,
        /// The task that makes it.
        by: Speaker,
    },
    /// A model has failed, or its output was refused, and the next of its fallbacks is asked.
    Fallback {
        /// Name of the model in the flow.
        model: String,
        /// The one that is asked in its place.
        fallback: String,
        /// Kind and message.
        error: Json,
        /// The task that asks.
        by: Speaker,
    },
    /// What a model wrote was not of the form asked for, and could be read all the same.
    Repaired {
        /// `output`, or the tool whose arguments it is.
        of: String,
        /// What was mended, each with its place.
        repairs: Vec<String>,
        /// Whose it is.
        by: Speaker,
    },
    /// A super-step was committed.
    Checkpoint {
        /// Its `seq` in the thread.
        checkpoint_id: u64,
        /// Names of the nodes that run next.
        next: Vec<String>,
    },
    /// A route was taken. The event's node is the one whose route it is; none for the graph's entry.
    Routed {
        /// Which of the node's.
        route: RouteKind,
        /// Position of the arm, from 0, of a `skip` among the node's; 0 for a route without arms.
        arm: usize,
    },
    /// A tool with a body was run.
    Interpreted {
        /// Its name.
        tool: String,
    },
    /// Events that a reader does not get who took nothing for too long. Told in each mode.
    Dropped {
        /// How many.
        events: u64,
    },
}

impl EventKind {
    /// The mode it belongs to; none for what is told in each.
    pub fn mode(&self) -> Option<Mode> {
        Some(match self {
            EventKind::Values(_) => Mode::Values,
            EventKind::Updates(_) => Mode::Updates,
            EventKind::Token { .. } | EventKind::Message { .. } => Mode::Messages,
            EventKind::Custom { .. } => Mode::Custom,
            EventKind::TaskStarted { .. }
            | EventKind::TaskFinished { .. }
            | EventKind::TaskInterrupted { .. }
            | EventKind::Retrying { .. }
            | EventKind::Fallback { .. }
            | EventKind::Repaired { .. } => Mode::Tasks,
            EventKind::Checkpoint { .. } => Mode::Checkpoints,
            EventKind::Routed { .. } | EventKind::Interpreted { .. } => Mode::Debug,
            EventKind::Dropped { .. } => return None,
        })
    }

    /// Whose word a token is, and of which attempt at which reply: what follows each other of the same is one text.
    pub fn token(&self) -> Option<(TokenOf<'_>, &str)> {
        match self {
            EventKind::Token {
                text,
                model,
                call,
                attempt,
                by,
            } => Some(((by, call, *attempt, model), text)),
            _ => None,
        }
    }

    /// The same, to add to.
    pub fn token_mut(&mut self) -> Option<(TokenOf<'_>, &mut String)> {
        match self {
            EventKind::Token {
                text,
                model,
                call,
                attempt,
                by,
            } => Some(((by, call, *attempt, model), text)),
            _ => None,
        }
    }

    fn data(&self) -> Json {
        match self {
            EventKind::Values(data) | EventKind::Updates(data) => data.clone(),
            EventKind::Token {
                text,
                model,
                call,
                attempt,
                by,
            } => {
                json!({ "token": text, "model": model, "call": call, "attempt": attempt, "task": by.task, "send": by.send })
            }
            EventKind::Message { message, by } => {
                json!({ "message": message, "task": by.task, "send": by.send })
            }
            EventKind::Custom {
                name,
                payload,
                during,
            } => custom(name, payload, during.as_ref()),
            EventKind::TaskStarted { send } => json!({ "event": "started", "send": send }),
            EventKind::TaskFinished { send, error } => {
                json!({ "event": "finished", "send": send, "error": error })
            }
            EventKind::TaskInterrupted {
                send,
                interrupts,
                paths,
            } => {
                json!({ "event": "interrupted", "send": send, "interrupts": interrupts, "paths": paths })
            }
            EventKind::Retrying {
                attempt,
                error,
                wait_ms,
                by,
            } => {
                json!({ "event": "retrying", "attempt": attempt, "error": error, "wait_ms": wait_ms, "task": by.task, "send": by.send })
            }
            EventKind::Fallback {
                model,
                fallback,
                error,
                by,
            } => {
                json!({ "event": "fallback", "model": model, "fallback": fallback, "error": error, "task": by.task, "send": by.send })
            }
            EventKind::Repaired { of, repairs, by } => {
                json!({ "event": "repaired", "of": of, "repairs": repairs, "task": by.task, "send": by.send })
            }
            EventKind::Checkpoint {
                checkpoint_id,
                next,
            } => {
                json!({ "checkpoint_id": checkpoint_id.to_string(), "next": next })
            }
            EventKind::Routed { route, arm } => {
                json!({ "event": "routed", "route": route, "arm": arm })
            }
            EventKind::Interpreted { tool } => json!({ "event": "interpreted", "tool": tool }),
            EventKind::Dropped { events } => json!({ "events": events }),
        }
    }
}

fn custom(name: &str, payload: &Json, during: Option<&DuringCall>) -> Json {
    let mut data = json!({ "name": name, "payload": payload });
    if let (Some(of), Some(data)) = (during, data.as_object_mut()) {
        data.extend(of.tool.iter().map(|tool| ("tool".to_owned(), json!(tool))));
        data.insert("call".into(), json!(of.call));
        data.insert("attempt".into(), json!(of.attempt));
        data.insert("index".into(), json!(of.index));
        data.insert("task".into(), json!(of.by.task));
        data.insert("send".into(), json!(of.by.send));
    }
    data
}

impl Event {
    /// Key of the task that it is of, or of what told it beside a task.
    pub fn task(&self) -> &str {
        match &self.kind {
            EventKind::Token { by, .. } | EventKind::Message { by, .. } => &by.task,
            EventKind::Custom {
                during: Some(of), ..
            } => &of.by.task,
            _ => Self::task_of(&self.id),
        }
    }

    /// The same of an id. That of a message has a number behind the task's key.
    pub fn task_of(id: &str) -> &str {
        let is_number = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        match (id.split_once('#'), id.rsplit_once('/')) {
            (Some((key, _)), _) => key,
            (None, Some((task, number))) if is_number(number) => task,
            (None, _) => id,
        }
    }

    /// Whether an event of that id comes again where the task that has told it runs again: what tells of a stop or of a failed
    /// attempt does not.
    pub fn comes_again(id: &str) -> bool {
        let of_task = id.split_once('#').map_or("", |(_, of_task)| of_task);
        !(of_task.starts_with("wait-") || of_task.contains('!'))
    }

    /// The line of `graphc run --stream` (docs/cli/events.md).
    pub fn to_json(&self) -> Json {
        let kind = self.kind.mode().map_or("dropped", Mode::word);
        let mut line = json!({
            "seq": self.seq, "type": kind, "ns": self.ns, "step": self.step, "data": self.kind.data(),
        });
        if let Some(entries) = line.as_object_mut() {
            if let Some(node) = &self.node {
                entries.insert("node".into(), json!(node));
            }
            if !self.id.is_empty() {
                entries.insert("id".into(), json!(self.id));
            }
            if self.skipped > 0 {
                entries.insert("skipped".into(), json!(self.skipped));
            }
        }
        line
    }
}
