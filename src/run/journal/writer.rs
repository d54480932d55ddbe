//! The writer of a journal: a task that owns the lease and appends to the store, in order.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;

use serde_json::Value as Json;

use crate::run::store::{Change, Lease, Record, Store, StoreError};
use crate::value::Value;

/// Appends that may wait for the store: a run that is quicker than its store waits for it, rather than take all memory.
const MOST_WAITING: usize = 256;

/// Bytes that may wait for the store, beside the append that makes them more.
pub const MOST_BYTES: usize = 16 << 20;

/// Bytes after which a batch takes no more appends: a store makes text of it as a whole.
const MOST_IN_BATCH: usize = 4 << 20;

/// Passes records to a store in order, from a task of its own that owns the lease.
pub struct Writer {
    queue: mpsc::UnboundedSender<Job>,
    /// Appends that the store has not kept yet, and who waits for fewer.
    behind: Arc<Behind>,
    /// The store's first error.
    failed: Arc<OnceLock<StoreError>>,
    task: JoinHandle<Result<(), StoreError>>,
}

impl Writer {
    /// A writer to a thread. Notes the position of the latest checkpoint that the store has kept.
    pub fn start(store: Arc<dyn Store>, lease: Lease, kept_seq: Arc<AtomicU64>) -> Self {
        let (queue, jobs) = mpsc::unbounded_channel();
        let failed = Arc::new(OnceLock::new());
        let behind = Arc::new(Behind::default());
        let writing = Writing {
            store,
            lease: Some(lease),
            failed: failed.clone(),
            behind: behind.clone(),
            kept_seq,
        };
        Self {
            queue,
            behind,
            failed,
            task: tokio::spawn(write(writing, jobs)),
        }
    }

    /// Passes records on, all or none, behind those before them. An error shows at the next barrier.
    pub fn append(&self, records: Vec<Record>) {
        let bytes = size(&records);
        self.behind.appends.fetch_add(1, Ordering::Relaxed);
        self.behind.bytes.fetch_add(bytes, Ordering::Relaxed);
        // The task ends only when the writer is closed.
        let _ = self.queue.send(Job::Append(records, bytes));
    }

    /// Waits until all records so far are kept.
    ///
    /// # Errors
    /// The store's first error.
    pub async fn barrier(&self) -> Result<(), StoreError> {
        let (done, kept) = oneshot::channel();
        self.queue.send(Job::Barrier(done)).map_err(|_| ended())?;
        kept.await.map_err(|_| ended())?
    }

    /// The store's first error so far.
    pub fn failed(&self) -> Result<(), StoreError> {
        self.failed.get().cloned().map_or(Ok(()), Err)
    }

    /// Whether so much waits for the store that a run has to wait as well.
    pub fn is_far_behind(&self) -> bool {
        self.behind.are_many()
    }

    /// Waits until that is not so, or the store has failed.
    pub async fn few(&self) {
        self.behind.few(&self.failed).await;
    }

    /// Keeps what is under way and gives the thread back.
    ///
    /// # Errors
    /// The store's first error.
    pub async fn close(self) -> Result<(), StoreError> {
        let Self { queue, task, .. } = self;
        drop(queue);
        task.await.unwrap_or_else(|_| Err(ended()))
    }
}

/// How far a writer is behind.
#[derive(Default)]
struct Behind {
    appends: AtomicUsize,
    bytes: AtomicUsize,
    fewer: Notify,
}

impl Behind {
    fn are_many(&self) -> bool {
        self.appends.load(Ordering::Acquire) >= MOST_WAITING
            || self.bytes.load(Ordering::Acquire) >= MOST_BYTES
    }

    /// Waits until there are few, or the store has failed.
    async fn few(&self, failed: &OnceLock<StoreError>) {
        let many = || failed.get().is_none() && self.are_many();
        while many() {
            let fewer = self.fewer.notified();
            tokio::pin!(fewer);
            // Listens before it looks: one that is kept in between is not missed.
            fewer.as_mut().enable();
            if many() {
                fewer.await;
            }
        }
    }

    fn recorded(&self, appends: usize, bytes: usize) {
        self.appends.fetch_sub(appends, Ordering::Release);
        self.bytes.fetch_sub(bytes, Ordering::Release);
        self.fewer.notify_waiters();
    }
}

enum Job {
    /// Records and about how many bytes they are.
    Append(Vec<Record>, usize),
    /// Answers with the first error so far, once all before it is kept.
    Barrier(oneshot::Sender<Result<(), StoreError>>),
}

fn ended() -> StoreError {
    StoreError::Unavailable {
        message: "the store panicked while the run was kept: what the run has done since its last checkpoint may be missing"
            .to_owned(),
    }
}

/// What the writer task holds. Where it ends otherwise than it should, since the store has panicked, nobody waits for it any more:
/// the run fails, and the thread is given back.
struct Writing {
    store: Arc<dyn Store>,
    lease: Option<Lease>,
    failed: Arc<OnceLock<StoreError>>,
    behind: Arc<Behind>,
    kept_seq: Arc<AtomicU64>,
}

impl Drop for Writing {
    fn drop(&mut self) {
        let Some(lease) = self.lease.take() else {
            return;
        };
        let _ = self.failed.set(ended());
        self.behind.fewer.notify_waiters();
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let store = Arc::clone(&self.store);
            runtime.spawn(async move { store.release(lease).await });
        }
    }
}

/// About how many bytes records are as text.
pub fn size(records: &[Record]) -> usize {
    let sizes = records.iter().map(|record| match record {
        Record::Checkpoint(checkpoint) => {
            let writes = checkpoint.writes.iter();
            json_size(&checkpoint.schedule)
                + writes
                    .map(|write| change_size(&write.change))
                    .sum::<usize>()
        }
        Record::Effect(effect) => json_size(&effect.outcome),
        Record::Status(_) | Record::Forget(_) => 0,
    });
    sizes.map(|size| size + 100).sum()
}

fn change_size(change: &Change) -> usize {
    let weight = match change {
        Change::Put(value) => value.weight(),
        Change::Append(values) => values.iter().map(Value::weight).sum(),
        Change::Merge(entries) => entries
            .iter()
            .map(|(key, value)| key.len() / 16 + 1 + value.weight())
            .sum(),
        Change::Clear => 0,
    };
    // An element, or 16 bytes of text, weighs one.
    weight.saturating_mul(16)
}

fn json_size(json: &Json) -> usize {
    match json {
        Json::String(text) => text.len(),
        Json::Array(items) => items.iter().map(|item| json_size(item) + 1).sum(),
        Json::Object(entries) => entries
            .iter()
            .map(|(key, item)| key.len() + json_size(item) + 4)
            .sum(),
        _ => 8,
    }
}

/// Notes the latest checkpoint among records that are kept.
fn note_kept(kept_seq: &AtomicU64, records: &[Record]) {
    let seqs = records.iter().filter_map(|record| match record {
        Record::Checkpoint(checkpoint) => Some(checkpoint.seq),
        _ => None,
    });
    if let Some(latest) = seqs.max() {
        kept_seq.fetch_max(latest, Ordering::Release);
    }
}

/// The writer task: owns the lease; ends when the journal is closed or, where a run is given up half
/// way, dropped. It gives the thread back in either case. Its first error is its result.
async fn write(
    mut writing: Writing,
    mut jobs: mpsc::UnboundedReceiver<Job>,
) -> Result<(), StoreError> {
    let mut batch: Vec<Record> = Vec::new();
    while let Some(job) = jobs.recv().await {
        let mut waiting = Vec::new();
        let mut next = Some(job);
        let (mut appends, mut bytes) = (0, 0);
        // What has queued up meanwhile goes into one append, as far as that stays small.
        while let Some(job) = next {
            match job {
                Job::Append(records, size) => {
                    batch.extend(records);
                    appends += 1;
                    bytes += size;
                }
                Job::Barrier(done) => waiting.push(done),
            }
            next = match bytes < MOST_IN_BATCH {
                true => jobs.try_recv().ok(),
                false => None,
            };
        }
        let Writing {
            store,
            lease,
            failed,
            behind,
            kept_seq,
        } = &writing;
        // After an error nothing more is written: later records would stand on ones that are missing.
        if failed.get().is_none()
            && !batch.is_empty()
            && let Some(lease) = lease
        {
            match store.append(lease, &batch).await {
                Ok(()) => note_kept(kept_seq, &batch),
                Err(error) => {
                    let _ = failed.set(error);
                }
            }
        }
        // Not only cleared: what one long append took is not held for the run's life.
        batch = Vec::new();
        behind.recorded(appends, bytes);
        for done in waiting {
            let _ = done.send(failed.get().cloned().map_or(Ok(()), Err));
        }
    }
    if let Some(lease) = writing.lease.take() {
        // All is kept; a lease that can't be given back ends with this process.
        let _ = writing.store.release(lease).await;
    }
    writing.failed.get().cloned().map_or(Ok(()), Err)
}
