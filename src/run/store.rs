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
//!
//! History is never rewritten. Who wants another past takes a fork: a new thread with what an older one had up to a
//! checkpoint ([`Store::fork`]). What is of no use any more is let go as a whole ([`Store::compact`]). What both need beside
//! the records is in `past`.

use std::collections::BTreeMap;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::value::Value;

use super::memory::ItemStore;

mod around;
mod past;

pub use around::Around;
pub use past::{Compacted, Effects, ForkedFrom, Keep, ListedEffect};

/// Keeps threads. All implementations pass one conformance suite (`tests/store/main.rs`).
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
    /// Nobody is refused because of who looks. A store that has no other way than this one, which takes the lease for a
    /// moment, is for programs in which nobody looks at threads that others resume.
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

    /// What a resume needs; `None` for a thread without records. Of a thread with checkpoints it is what
    /// [`Store::image_at`] gives of the latest with [`Effects::All`].
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

    /// Fields of a frame as they were after checkpoint `seq`, as its checkpoints have them; empty where there is none. What a
    /// frame has on top of those around it, [`kept::resolve`](super::kept::resolve) puts together.
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

    /// The thread as it was right after checkpoint `seq`, which may be of any frame.
    ///
    /// - `last_seq` is `seq`; later checkpoints are as if they had never been.
    /// - `frames` has the root as of its latest checkpoint up to `seq` (none where there is none yet), then of each other
    ///   frame the latest checkpoint up to `seq` among those of the root's step, ascending by `seq`.
    /// - `effects` and `counts` are as `effects` says, the former in the order appended.
    /// - The status is the one of now: a store keeps no earlier ones.
    ///
    /// # Errors
    /// [`StoreError::NoThread`], [`StoreError::NoCheckpoint`]; where the store can't be read.
    async fn image_at(
        &self,
        thread_id: &str,
        seq: u64,
        effects: Effects,
    ) -> Result<ThreadImage, StoreError> {
        let _ = (thread_id, seq, effects);
        Err(StoreError::cannot("read earlier states"))
    }

    /// Makes the new thread that `to` is the lease of: all that thread `from` had right after its checkpoint `at`, with
    /// the same `seq`s and steps, and with effects and their counts as `effects` says; behind it `records`, which hold the new
    /// thread's status, are appended. It is there as a whole or not at all; `from`, of which no lease is needed,
    /// stays as it is, and may be written at the same time. `created_at` of the new thread is the time of the first record that has one.
    ///
    /// # Errors
    /// [`StoreError::Exists`] where the new thread has records already, [`StoreError::NoThread`],
    /// [`StoreError::NoCheckpoint`], [`StoreError::Fenced`]; as of [`Store::append`].
    async fn fork(
        &self,
        from: &str,
        at: u64,
        effects: Effects,
        to: &Lease,
        records: &[Record],
    ) -> Result<(), StoreError> {
        let _ = (from, at, effects, to, records);
        Err(StoreError::cannot("fork threads"))
    }

    /// Lets go of what lies before the oldest checkpoint that `keep` keeps: checkpoints, changes of fields, and effects
    /// of steps of the root that no kept checkpoint can need again. All or nothing; who reads meanwhile sees the thread as it
    /// was or as it will be.
    ///
    /// - Every checkpoint from that one on stays, and reads as before: [`Store::state`] of its frame, [`Store::image_at`], its
    ///   entry in [`Store::history`]. Only [`FieldImage::changes`] may be lower. Frames without a checkpoint that is kept are gone.
    /// - The oldest one is a checkpoint of the root from which on nothing live is older: where a frame of its step was
    ///   kept before it, an older one. What a resume needs is never let go.
    /// - A field's changes up to its frame's oldest kept checkpoint become one [`Change::Put`] of that checkpoint (none
    ///   where the field had no value then).
    /// - The `counts` of effects stay.
    ///
    /// A thread without checkpoints or without records stays as it is.
    ///
    /// # Errors
    /// [`StoreError::Fenced`]; where the store can't be written.
    async fn compact(&self, lease: &Lease, keep: Keep) -> Result<Compacted, StoreError> {
        let _ = (lease, keep);
        Err(StoreError::cannot("compact threads"))
    }

    /// Gives space that nothing needs any more back to the system, and says how many bytes; 0 where the store leaves that to
    /// its server.
    ///
    /// # Errors
    /// Where others write now, for whom that would not be safe or quick enough; then nothing has changed.
    async fn reclaim(&self) -> Result<u64, StoreError> {
        Ok(0)
    }

    /// Effects of a thread in the order appended, at most `limit`, those behind position `after`; failed attempts
    /// included, those that were let go of not.
    ///
    /// # Errors
    /// Where the store can't be read.
    async fn effects(
        &self,
        thread_id: &str,
        after: Option<u64>,
        limit: usize,
    ) -> Result<Vec<ListedEffect>, StoreError> {
        let _ = (thread_id, after, limit);
        Err(StoreError::cannot("list effects"))
    }

    /// Checkpoints of all frames as they were appended, oldest first, at most `limit`, with a `seq` above `after`. In
    /// [`Checkpoint::writes`] what [`Store::compact`] has put together stands behind the checkpoint's own writes, by the name of the field.
    ///
    /// # Errors
    /// Where the store can't be read.
    async fn checkpoints(
        &self,
        thread_id: &str,
        after: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Checkpoint>, StoreError> {
        let _ = (thread_id, after, limit);
        Err(StoreError::cannot("list changes"))
    }

    /// Long-term memory in the same place; `None` where it keeps threads alone.
    fn memory(&self) -> Option<&dyn ItemStore> {
        None
    }
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
    /// Path of the node, and for a tool `#` and its name: what scripts count by.
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
    /// What the thread was forked from, where it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<ForkedFrom>,
    /// What tells this thread from others that have had its id and were deleted: a part of its calls' idempotency keys, the same
    /// as long as the thread is there. `None` of a thread that an earlier version of the program has begun, or a run under
    /// `Durability::Exit`, and where the id is all that such keys have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub life: Option<String>,
    /// Nodes that the last run was told to stop before, by name or path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interrupt_before: Vec<String>,
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

/// Why a store failed. In all cases but [`StoreError::Corrupt`] nothing was written; or, where the answer to a commit was lost
/// on its way ([`StoreError::Unavailable`] says so), all of it or nothing.
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
    /// A new thread was to have the id of one that is there.
    #[error("there is a thread `{thread_id}` already; nothing was written")]
    Exists {
        /// The thread.
        thread_id: String,
    },
    /// There is no such thread.
    #[error("there is no thread `{thread_id}`")]
    NoThread {
        /// The thread.
        thread_id: String,
    },
    /// The thread has no such checkpoint: it never had, or was compacted.
    #[error("thread `{thread_id}` has no checkpoint {seq}{}", past::nearest(*before, *after))]
    NoCheckpoint {
        /// The thread.
        thread_id: String,
        /// What was asked for.
        seq: u64,
        /// The nearest before it.
        before: Option<u64>,
        /// The nearest after it.
        after: Option<u64>,
    },
    /// It can't be reached, opened, read or written.
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

impl StoreError {
    /// Of a store that was written without a part of [`Store`].
    fn cannot(what: &str) -> Self {
        Self::Unavailable {
            message: format!("this store can't {what}: it was made for runs alone"),
        }
    }
}
