//! The trait behind which threads are kept. The records that it keeps are in `record`.
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
use serde_json::Value as Json;

use crate::value::Value;

use super::memory::ItemStore;

mod around;
mod error;
mod past;
mod record;

pub use around::Around;
pub use error::StoreError;
pub use past::{Compacted, Effects, ForkedFrom, Keep, ListedEffect};
pub use record::{
    Change, Checkpoint, CheckpointInfo, EffectKey, EffectRecord, FieldImage, FieldWrite,
    FrameImage, Record, RunState, Source, ThreadImage, ThreadInfo, ThreadStatus,
};

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
    /// frame has on top of those around it, [`persisted::resolve`](super::persisted::resolve) puts together.
    ///
    /// # Errors
    /// Where the store can't be read.
    async fn state(
        &self,
        thread_id: &str,
        frame: &str,
        seq: u64,
    ) -> Result<BTreeMap<String, Value>, StoreError>;

    /// The result that [`Store::cache`] has kept under a key, whichever thread it was made on; `None` where there is
    /// none that still holds at `now`, in milliseconds since 1970.
    ///
    /// # Errors
    /// Where the store can't be read.
    async fn cached(&self, key: &str, now: i64) -> Result<Option<Json>, StoreError>;

    /// Keeps a result under a key, in place of the one before. `until` is when it holds no longer, in
    /// milliseconds since 1970.
    ///
    /// # Errors
    /// Where the store can't be written.
    async fn cache(&self, key: &str, result: &Json, until: i64) -> Result<(), StoreError>;

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
