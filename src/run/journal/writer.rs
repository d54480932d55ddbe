//! The writer of a journal: a task that owns the lease and appends to the store, in order.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use tokio::sync::{Notify, mpsc, oneshot};
use tokio::task::JoinHandle;

use crate::run::store::{Lease, Record, Store, StoreError};

/// Appends that may wait for the store under [`Durability::Async`](super::Durability::Async): a run that is quicker than its store waits for it,
/// rather than take all memory.
const MOST_WAITING: usize = 256;

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
        self.behind.appends.fetch_add(1, Ordering::Relaxed);
        // The task ends only when the writer is closed.
        let _ = self.queue.send(Job::Append(records));
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
        self.behind.appends.load(Ordering::Relaxed) >= MOST_WAITING
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
    fewer: Notify,
}

impl Behind {
    /// Waits until there are few, or the store has failed.
    async fn few(&self, failed: &OnceLock<StoreError>) {
        let many =
            || failed.get().is_none() && self.appends.load(Ordering::Acquire) >= MOST_WAITING;
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

    fn kept(&self, appends: usize) {
        self.appends.fetch_sub(appends, Ordering::Release);
        self.fewer.notify_waiters();
    }
}

enum Job {
    Append(Vec<Record>),
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
        let mut appends = 0;
        // All that has queued up meanwhile goes into one append.
        while let Some(job) = next {
            match job {
                Job::Append(records) => {
                    batch.extend(records);
                    appends += 1;
                }
                Job::Barrier(done) => waiting.push(done),
            }
            next = jobs.try_recv().ok();
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
        behind.kept(appends);
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
