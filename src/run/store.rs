//! The trait behind which threads are kept, and the records it keeps.
//!
//! A thread is an append-only list of records. Three kinds matter to a resume: the latest
//! [`Checkpoint`] of every live frame (the run's graph, and each subgraph call under way), the
//! [`EffectRecord`]s made since, and the [`ThreadStatus`]. Names of nodes and fields are stored as
//! text, so that a thread outlives a change of the flow.
//!
//! Frames: the run's graph is the frame `""`. A subgraph call's frame is named after the task that
//! made it, which holds the caller's step, so that no two calls share one. Everything under a task
//! of the root's step `n` carries `root_step = n`: what a resume needs beyond the root's latest
//! checkpoint is just the rows of the current root step.

use std::collections::BTreeMap;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::value::Value;

/// Keeps threads. All implementations pass one conformance suite (`tests/store.rs`).
#[async_trait]
pub trait Store: Send + Sync {
    /// Becomes the one writer of a thread, which need not exist yet. The lease ends with
    /// [`Store::release`], or by itself when its process has died.
    ///
    /// # Errors
    /// [`StoreError::Busy`] while another writer holds it.
    async fn acquire(&self, thread_id: &str) -> Result<Lease, StoreError>;

    /// Whether a writer holds a thread now. A thread that is `running` and that nobody holds was cut off.
    ///
    /// # Errors
    /// Where the store can't be reached.
    async fn is_held(&self, thread_id: &str) -> Result<bool, StoreError> {
        match self.acquire(thread_id).await {
            Ok(lease) => {
                self.release(lease).await?;
                Ok(false)
            }
            Err(StoreError::Busy { .. }) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Gives a thread back. All that was appended under the lease is kept.
    ///
    /// # Errors
    /// Where the store can't be reached.
    async fn release(&self, lease: Lease) -> Result<(), StoreError>;

    /// What a resume needs; `None` for a thread without records.
    ///
    /// # Errors
    /// Where the store can't be read or holds what it can't have written.
    async fn load(&self, thread_id: &str) -> Result<Option<ThreadImage>, StoreError>;

    /// Appends records, all or none, in order. When it returns they are kept as durably as the
    /// store can (see its docs).
    ///
    /// # Errors
    /// [`StoreError::Fenced`] where another writer has taken the thread since.
    async fn append(&self, lease: &Lease, records: &[Record]) -> Result<(), StoreError>;

    /// All threads, the latest used first.
    ///
    /// # Errors
    /// Where the store can't be read.
    async fn threads(&self) -> Result<Vec<ThreadInfo>, StoreError>;

    /// One thread.
    ///
    /// # Errors
    /// Where the store can't be read.
    async fn thread(&self, thread_id: &str) -> Result<Option<ThreadInfo>, StoreError>;

    /// Checkpoints of all frames, newest first, at most `limit`, with a `seq` below `before`; no
    /// state is read.
    ///
    /// # Errors
    /// Where the store can't be read.
    async fn history(
        &self,
        thread_id: &str,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<CheckpointInfo>, StoreError>;

    /// Fields of a frame as they were after checkpoint `seq`; empty where there is none.
    ///
    /// # Errors
    /// Where the store can't be read.
    async fn state(
        &self,
        thread_id: &str,
        frame: &str,
        seq: u64,
    ) -> Result<BTreeMap<String, Value>, StoreError>;

    /// The result that [`Store::keep`] has kept under a key, whichever thread it was made on; `None` where there is
    /// none that still holds at `now`, in milliseconds since 1970.
    ///
    /// # Errors
    /// Where the store can't be read.
    async fn kept(&self, key: &str, now: i64) -> Result<Option<Json>, StoreError>;

    /// Keeps a result under a key, in place of the one before. `until` is when it holds no longer, in
    /// milliseconds since 1970.
    ///
    /// # Errors
    /// Where the store can't be written.
    async fn keep(&self, key: &str, result: &Json, until: Option<i64>) -> Result<(), StoreError>;

    /// Removes a thread and all its records; `false` where there was none.
    ///
    /// # Errors
    /// [`StoreError::Busy`] while a writer holds it.
    async fn delete(&self, thread_id: &str) -> Result<bool, StoreError>;
}

/// The right to write a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The thread.
    pub thread_id: String,
    /// Fencing token: each new writer's is greater than all before it on this thread.
    pub token: u64,
}

/// One record of a thread.
#[derive(Debug, Clone, PartialEq)]
pub enum Record {
    /// A committed super-step.
    Checkpoint(Checkpoint),
    /// A finished effect, or a failed attempt at one.
    Effect(EffectRecord),
    /// Where the thread stands now; replaces the one before.
    Status(ThreadStatus),
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
    /// `input` or `step`.
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
    /// Path of the node, and for a tool `#` and its name: what scripts count by.
    pub subject: String,
    /// Its result as stored JSON; for a failed attempt, the error.
    pub outcome: Json,
}

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
    /// Effects of the root's current step, in the order appended.
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

/// Why a store failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// Another writer holds the thread.
    #[error("thread `{thread_id}` is in use by {holder}")]
    Busy {
        /// The thread.
        thread_id: String,
        /// Who: host and process where known.
        holder: String,
    },
    /// Another writer has taken the thread since the lease was given.
    #[error("another process has taken over thread `{thread_id}`; nothing was written")]
    Fenced {
        /// The thread.
        thread_id: String,
    },
    /// It can't be reached, opened, read or written; nothing was written.
    #[error("{message}")]
    Unavailable {
        /// What failed, with the path or address.
        message: String,
    },
    /// It holds what no version of this program wrote.
    #[error("{message}")]
    Corrupt {
        /// What is wrong, and where.
        message: String,
    },
}
