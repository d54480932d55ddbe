//! What a store keeps of a thread, and what it gives back of it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::value::Value;

use super::ForkedFrom;

/// One record of a thread.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    /// A committed super-step.
    Checkpoint(Checkpoint),
    /// A finished effect, or a failed attempt at one.
    Effect(EffectRecord),
    /// Where the thread stands now; replaces the one before.
    Status(ThreadStatus),
    /// An effect that answers nothing any more, since what it came of has been edited. It is as if it had not been made, but
    /// that it stays counted. One that isn't there is passed over.
    Forget(EffectKey),
}

/// Which effect of a thread: no two of one thread have the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct EffectKey {
    /// Step of the root that it belongs to.
    pub root_step: u64,
    /// Its task.
    pub task: String,
    /// Its id within the task.
    pub id: String,
}

/// A committed super-step of one frame: only what changed.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// Position in the thread, ascending over all frames.
    pub seq: u64,
    /// The frame: `""` or the key of the task that made the call.
    pub frame: String,
    /// Step of the frame that comes next.
    pub step: u64,
    /// Step of the root that this belongs to: for the root itself, `step`.
    pub root_step: u64,
    /// The run.
    pub run_id: String,
    /// `input`, `step` or `update`.
    pub source: Source,
    /// Fields written.
    pub writes: Vec<FieldWrite>,
    /// The scheduler's own data: tasks to come, joins, visits.
    pub schedule: Json,
    /// When, RFC 3339.
    pub at: String,
}

/// What made a checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Input of a run or of a subgraph call.
    Input,
    /// A super-step.
    Step,
    /// An edit from outside of any run.
    Update,
}

/// A change to one field.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldWrite {
    /// The field.
    pub field: String,
    /// The change.
    pub change: Change,
}

/// How a field changed. A store puts a field together from its latest `Put` and all that follows.
#[derive(Debug, Clone, PartialEq)]
pub enum Change {
    /// The whole value.
    Put(Value),
    /// Elements added to the end of a list.
    Append(Vec<Value>),
    /// Entries put into a map with text keys.
    Merge(Vec<(String, Value)>),
    /// It has no value any more.
    Clear,
}

/// An effect of a task.
#[derive(Debug, Clone, PartialEq)]
pub struct EffectRecord {
    /// The task: frame, step, node and send. Unique on the thread.
    pub task: String,
    /// What the effect is of and its ordinal among its like in the task, such as `uuid@0` or `tool:pay@0.tool@0`; a
    /// failed attempt's ends in `!n`. Before [`ThreadStatus::named_from`] its position in the task, such as `3` or `3.1`.
    pub id: String,
    /// Step of the root that this belongs to.
    pub root_step: u64,
    /// What it was: `model`, `tool`, `begun`, `now`, `uuid`, `random`, `answer`, `ask`, `handled`.
    pub kind: String,
    /// What it is of, which scripts count by: the tool or the event, or the node's path, a model's by the names that nodes
    /// had when the run began. A copy's has a mark ahead of it ([`EffectRecord::copy`]).
    pub subject: String,
    /// Its result as stored JSON; for a failed attempt, the error.
    pub outcome: Json,
}

impl EffectRecord {
    /// What it is found by.
    pub fn key(&self) -> EffectKey {
        EffectKey {
            root_step: self.root_step,
            task: self.task.clone(),
            id: self.id.clone(),
        }
    }

    /// It once more, for a task that is the same under another name, and of `subject`. Scripts do not count it again.
    #[must_use]
    pub fn copy(&self, task: String, subject: &str) -> Self {
        Self {
            task,
            subject: format!("{COPY}{subject}"),
            ..self.clone()
        }
    }

    /// Whether it is one that stands for another task's, by its own name.
    pub fn is_copy(&self) -> bool {
        self.subject.starts_with(COPY)
    }

    /// What it is of, whether it is a copy or not.
    pub fn of(&self) -> &str {
        self.subject.strip_prefix(COPY).unwrap_or(&self.subject)
    }
}

/// Stands ahead of a copy's subject: no tool, event or node has a name that begins with it.
const COPY: char = '=';

/// Where a thread stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ThreadStatus {
    /// What the last run came to.
    pub state: RunState,
    /// The graph.
    pub graph: String,
    /// Version of the flow.
    pub version: String,
    /// The last run.
    pub run_id: String,
    /// Open interrupts, for people who look.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interrupts: Vec<Json>,
    /// The error of a failed run: `kind`, `message`, `node`, `path`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Json>,
    /// Constants that the last run was given; null where its graph declares none.
    #[serde(default, skip_serializing_if = "Json::is_null")]
    pub context: Json,
    /// Tokens of the last run.
    #[serde(default)]
    pub usage: Json,
    /// Step of the root from which ids of effects name what they are of. `None` in what earlier versions of the program
    /// have kept, where they number the effects of a task.
    #[serde(default)]
    pub named_from: Option<u64>,
    /// What the thread was forked from, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<Box<ForkedFrom>>,
    /// What tells this thread from others that have had its id and were deleted: a part of its calls' idempotency keys, the same
    /// as long as the thread is there. `None` of a thread that an earlier version of the program has begun, or a run under
    /// `Durability::Exit`, and where the id is all that such keys have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub life: Option<String>,
    /// Nodes that the last run was told to stop before, by name or path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interrupt_before: Vec<String>,
    /// Most super-steps that the last run was told it may make.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recursion_limit: Option<u64>,
    /// What served the last run, by the options of the program that ran it, such as `profile` and `scenario`. No run reads it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub served_by: BTreeMap<String, String>,
    /// When, RFC 3339.
    pub at: String,
}

/// What a run came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Under way, or its process has died.
    Running,
    /// Ended.
    Done,
    /// Waits for answers.
    Interrupted,
    /// Ended with an error; can be resumed.
    Failed,
    /// Was cancelled; can be resumed.
    Cancelled,
    /// Was forked or edited, and has not run since; can be resumed.
    Ready,
}

impl RunState {
    /// The word that people and `status` of a result have for it.
    pub fn word(self) -> &'static str {
        match self {
            RunState::Running => "running",
            RunState::Done => "done",
            RunState::Interrupted => "interrupted",
            RunState::Failed => "failed",
            RunState::Cancelled => "cancelled",
            RunState::Ready => "ready",
        }
    }
}

/// A thread without its state.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ThreadInfo {
    /// Its id.
    pub thread_id: String,
    /// Where it stands.
    pub status: ThreadStatus,
    /// `seq` of its latest checkpoint.
    pub checkpoint: u64,
    /// When its first record was made, RFC 3339.
    pub created_at: String,
}

/// A checkpoint without its state.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CheckpointInfo {
    /// Position in the thread.
    pub seq: u64,
    /// The frame.
    pub frame: String,
    /// Step of the frame that comes next.
    pub step: u64,
    /// The run.
    pub run_id: String,
    /// What made it.
    pub source: Source,
    /// Names of the fields written.
    pub fields: Vec<String>,
    /// The scheduler's own data.
    pub schedule: Json,
    /// When, RFC 3339.
    pub at: String,
}

/// What a resume needs of a thread.
#[derive(Debug, Clone, PartialEq)]
pub struct ThreadImage {
    /// Where it stands.
    pub status: ThreadStatus,
    /// Highest `seq` of any checkpoint.
    pub last_seq: u64,
    /// Live frames: the root first, then those of its current step, by `seq`.
    pub frames: Vec<FrameImage>,
    /// Effects of the root's current step, in the order appended. A fork may also have those of later steps: they
    /// answer when it comes there.
    pub effects: Vec<EffectRecord>,
    /// How many effects (failed attempts included) each `kind` and `subject` has had on the whole
    /// thread; a script goes on from there.
    pub counts: BTreeMap<(String, String), u64>,
}

/// A frame as of its latest checkpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct FrameImage {
    /// The frame.
    pub frame: String,
    /// `seq` of that checkpoint.
    pub seq: u64,
    /// Step that comes next.
    pub step: u64,
    /// The run that made it.
    pub run_id: String,
    /// The scheduler's own data.
    pub schedule: Json,
    /// Fields that have a value.
    pub fields: BTreeMap<String, FieldImage>,
}

/// A field put together from its changes.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldImage {
    /// Its value.
    pub value: Value,
    /// How many elements were appended or merged since the latest `Put`; the runtime writes a new
    /// `Put` once they outnumber what it held, so that reading stays linear.
    pub changes: u64,
}

impl FieldImage {
    /// A value that was put whole.
    pub fn of(value: Value) -> Self {
        Self { value, changes: 0 }
    }
}
