//! A thread that owns a connection and does the work sent to it, in order.
//!
//! SQLite blocks, callers are async: they send work and wait for the reply. Appends that have
//! queued up meanwhile go into one transaction, which costs one commit instead of many.
//!
//! Owner: the store, which ends the queue when it is dropped; the thread then finishes what was
//! queued and closes its connection.

use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::oneshot;

use super::error::Failure;
use super::presence::Presence;
use super::schema::is_busy;
use crate::run::store::StoreError;
use crate::store::append::Append;

/// At most this many appends share a transaction, so that the first needn't wait for long.
const BATCH: usize = 256;

/// An append waits this many times as long as other work for a program that keeps the file locked: a long write of another
/// thread (a fork, a compaction) is no reason for a run to fail, and what it has done since to be lost.
const PATIENCE: u32 = 24;

/// The sending side of the thread.
pub(super) struct Worker {
    /// Taken when the store is dropped.
    queue: Option<Sender<Job>>,
    thread: Option<JoinHandle<()>>,
    failure: Failure,
}

type Reply = oneshot::Sender<Result<(), StoreError>>;

type Work = Box<dyn FnOnce(&mut Connection, &Presence) + Send>;

enum Job {
    Append(Append, Reply),
    Work(Work),
}

impl Worker {
    /// Starts the thread.
    pub(super) fn start(
        name: &str,
        connection: Connection,
        (failure, busy_timeout): (Failure, Duration),
    ) -> Result<Worker, StoreError> {
        let (queue, jobs) = channel();
        let own_failure = failure.clone();
        let thread = std::thread::Builder::new()
            .name(name.to_string())
            .spawn(move || serve(connection, &jobs, &own_failure, busy_timeout))
            .map_err(|error| failure.because(&format!("no thread could be started: {error}")))?;
        Ok(Worker {
            queue: Some(queue),
            thread: Some(thread),
            failure,
        })
    }

    /// Appends, possibly in one transaction with others. Where the caller stops waiting, it is
    /// appended all the same, or not at all.
    pub(super) async fn append(&self, append: Append) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(Job::Append(append, reply));
        answer.await.unwrap_or_else(|_| Err(self.stopped()))
    }

    /// Does work on the connection.
    pub(super) async fn run<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Connection) -> Result<T, StoreError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        self.send(Job::Work(Box::new(move |connection, _| {
            // Nobody waits for the answer any more where this fails.
            let _ = reply.send(work(connection));
        })));
        answer.await.unwrap_or_else(|_| Err(self.stopped()))
    }

    /// Does work that changes a file which must still be there.
    pub(super) async fn change<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&mut Connection, &Failure) -> Result<T, StoreError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let failure = self.failure.clone();
        self.send(Job::Work(Box::new(move |connection, presence| {
            let there = presence.check(&failure);
            // Nobody waits for the answer any more where this fails.
            let _ = reply.send(there.and_then(|()| work(connection, &failure)));
        })));
        answer.await.unwrap_or_else(|_| Err(self.stopped()))
    }

    /// Does work that nobody waits for.
    pub(super) fn detach(&self, work: impl FnOnce(&mut Connection) + Send + 'static) {
        self.send(Job::Work(Box::new(|connection, _| work(connection))));
    }

    /// A job that can't be sent is dropped with its reply, which tells who waits for it.
    fn send(&self, job: Job) {
        if let Some(queue) = &self.queue {
            let _ = queue.send(job);
        }
    }

    fn stopped(&self) -> StoreError {
        self.failure.because("its thread has ended unexpectedly")
    }
}

impl Drop for Worker {
    /// Waits for what was queued, so that a store that is gone has no file open and no work left.
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn serve(
    mut connection: Connection,
    jobs: &Receiver<Job>,
    failure: &Failure,
    busy_timeout: Duration,
) {
    let presence = Presence::of(failure.path());
    let mut next = jobs.recv().ok();
    while let Some(job) = next.take() {
        match job {
            Job::Work(work) => work(&mut connection, &presence),
            Job::Append(append, reply) => {
                let mut batch = vec![(append, reply)];
                while batch.len() < BATCH && next.is_none() {
                    match jobs.try_recv() {
                        Ok(Job::Append(append, reply)) => batch.push((append, reply)),
                        Ok(other) => next = Some(other),
                        Err(_) => break,
                    }
                }
                // Where it can't be set it stays as it is.
                let _ = connection.busy_timeout(busy_timeout * PATIENCE);
                append_batch(&mut connection, batch, &presence, failure);
                let _ = connection.busy_timeout(busy_timeout);
            }
        }
        if next.is_none() {
            next = jobs.recv().ok();
        }
    }
}

/// Appends all in one transaction. Where one of them fails, each gets its own, so that nobody's
/// records hang on anybody else's.
fn append_batch(
    connection: &mut Connection,
    batch: Vec<(Append, Reply)>,
    presence: &Presence,
    failure: &Failure,
) {
    let appends = batch.iter().map(|(append, _)| append);
    let mut together = append_all(connection, appends, presence, failure);
    let alone = batch.len() == 1;
    for (append, reply) in batch {
        let result = match &together {
            // A file that others hold for so long is not waited for once more with each append.
            Err(Refused { busy: false, .. }) if !alone => {
                let result = append_all(connection, [&append], presence, failure);
                if let Err(refused @ Refused { busy: true, .. }) = &result {
                    together = Err(refused.clone());
                }
                result
            }
            done => done.clone(),
        };
        let _ = reply.send(result.map_err(|refused| refused.error));
    }
}

fn append_all<'a>(
    connection: &mut Connection,
    appends: impl IntoIterator<Item = &'a Append>,
    presence: &Presence,
    failure: &Failure,
) -> Result<(), Refused> {
    let of = |error: rusqlite::Error| Refused {
        busy: is_busy(&error),
        error: failure.of(error),
    };
    presence.check(failure).map_err(Refused::from)?;
    // An error drops the transaction, which rolls it back.
    let tx = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(of)?;
    for append in appends {
        append.write(&tx, failure).map_err(Refused::from)?;
    }
    tx.commit().map_err(of)
}

/// Why appends were not written.
#[derive(Clone)]
struct Refused {
    error: StoreError,
    /// Whether others held the file, for as long as it is waited for.
    busy: bool,
}

impl From<StoreError> for Refused {
    fn from(error: StoreError) -> Self {
        Self { error, busy: false }
    }
}
