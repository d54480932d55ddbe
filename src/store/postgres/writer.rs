//! The queue of appends. What has queued up while one batch is written is the next.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{mpsc, oneshot};
use tokio_postgres::Client;

use super::append::AppendAll;
use super::chunk::{self, CHUNK, size};
use super::error::Failure;
use super::session::Link;
use crate::run::store::StoreError;
use crate::store::append::Append;

/// At most this many appends share a transaction, so that the first needn't wait for long, and at most about [`CHUNK`] bytes.
const BATCH: usize = 256;

type Reply = oneshot::Sender<Result<(), StoreError>>;

/// An append and who waits for it.
pub(super) struct Job {
    pub(super) append: Append,
    pub(super) reply: Reply,
}

/// Threads that this store writes.
pub(super) type Held = Arc<Mutex<HashMap<String, Holding>>>;

/// A thread that this store writes.
pub(super) struct Holding {
    /// The fencing token.
    pub(super) token: u64,
    /// The connection whose lock keeps others out.
    pub(super) client: Arc<Client>,
}

/// Writes until nobody can send any more and all that was sent is written.
pub(super) async fn serve(
    mut jobs: mpsc::UnboundedReceiver<Job>,
    link: Arc<tokio::sync::Mutex<Link>>,
    held: Held,
    failure: Failure,
) {
    let mut next = jobs.recv().await;
    while let Some(job) = next.take() {
        let mut bytes = size(&job.append);
        let mut batch = vec![job];
        while batch.len() < BATCH && bytes < CHUNK {
            let Ok(job) = jobs.try_recv() else { break };
            bytes += size(&job.append);
            batch.push(job);
        }
        let mut link = link.lock().await;
        append_batch(&mut link, batch, &held, &failure).await;
        drop(link);
        next = jobs.recv().await;
    }
}

/// Appends all in one transaction. Where that fails, each gets its own, so that nobody's records hang on anybody else's.
async fn append_batch(link: &mut Link, batch: Vec<Job>, held: &Held, failure: &Failure) {
    let mut ready = Vec::with_capacity(batch.len());
    for job in batch {
        let holds = still_held(held, &job.append, failure);
        match holds.and_then(|()| chunk::check(&job.append)) {
            Ok(()) => ready.push(job),
            Err(error) => {
                let _ = job.reply.send(Err(error));
            }
        }
    }
    let appends: Vec<&Append> = ready.iter().map(|job| &job.append).collect();
    if appends.is_empty() {
        return;
    }
    let outcomes = match append_all(link, &appends, failure).await {
        Ok(outcomes) => outcomes,
        Err(error) if appends.len() == 1 => vec![Err(error)],
        Err(_) => {
            let mut outcomes = Vec::with_capacity(appends.len());
            for append in appends {
                let alone = append_all(link, &[append], failure).await;
                outcomes.push(alone.and_then(|mut outcomes| outcomes.pop().unwrap_or(Ok(()))));
            }
            outcomes
        }
    };
    for (job, outcome) in ready.into_iter().zip(outcomes) {
        let _ = job.reply.send(outcome);
    }
}

async fn append_all(
    link: &mut Link,
    appends: &[&Append],
    failure: &Failure,
) -> Result<Vec<Result<(), StoreError>>, StoreError> {
    link.run(&AppendAll { appends, failure }, failure).await
}

/// Refuses to write where the lock went with its connection: somebody else may be about to take the thread. Whether somebody
/// has, the token says, which is checked while it is written.
fn still_held(held: &Held, append: &Append, failure: &Failure) -> Result<(), StoreError> {
    let held = held.lock().unwrap_or_else(PoisonError::into_inner);
    let token = u64::try_from(append.token).ok();
    match held.get(&append.thread_id) {
        Some(holding) if Some(holding.token) == token && holding.client.is_closed() => {
            Err(failure.lost())
        }
        _ => Ok(()),
    }
}
