//! The queue of appends. What has queued up while one batch is written is the next.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio_postgres::Client;

use super::append::AppendAll;
use super::chunk::{self, CHUNK, size};
use super::inner::Inner;
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

/// Pauses before appends are tried again whose connection was lost: half a minute in all, as long as a server takes to be back, or to
/// give up the locks of a connection that is gone.
const PAUSES: [Duration; 8] = [
    Duration::from_millis(50),
    Duration::from_millis(200),
    Duration::from_millis(800),
    Duration::from_secs(2),
    Duration::from_secs(4),
    Duration::from_secs(6),
    Duration::from_secs(8),
    Duration::from_secs(10),
];

/// Writes until nobody can send any more and all that was sent is written.
pub(super) async fn serve(mut jobs: mpsc::UnboundedReceiver<Job>, inner: &Inner) {
    let mut next = jobs.recv().await;
    while let Some(job) = next.take() {
        let mut bytes = size(&job.append);
        let mut batch = vec![job];
        while batch.len() < BATCH && bytes < CHUNK {
            let Ok(job) = jobs.try_recv() else { break };
            bytes += size(&job.append);
            batch.push(job);
        }
        append_batch(inner, batch).await;
        next = jobs.recv().await;
    }
}

/// Appends all in one transaction. Where that fails, each gets its own, so that nobody's records hang on anybody else's; where the
/// connection was lost, again and again for a while.
async fn append_batch(inner: &Inner, batch: Vec<Job>) {
    let mut ready = Vec::with_capacity(batch.len());
    for job in batch {
        match chunk::check(&job.append) {
            Ok(()) => ready.push(job),
            Err(error) => {
                let _ = job.reply.send(Err(error));
            }
        }
    }
    let appends: Vec<&Append> = ready.iter().map(|job| &job.append).collect();
    let mut outcomes = match append_all(inner, &appends).await {
        Ok(outcomes) => outcomes,
        Err(error) if appends.len() == 1 => vec![Err(error)],
        Err(error) => {
            let in_doubt = matches!(error, StoreError::Lost { in_doubt: true, .. });
            let mut outcomes = Vec::with_capacity(appends.len());
            for append in &appends {
                outcomes.push(again(inner, append, in_doubt).await);
            }
            outcomes
        }
    };
    for pause in PAUSES {
        if !outcomes.iter().any(is_lost) {
            break;
        }
        tokio::time::sleep(pause).await;
        for (append, outcome) in appends.iter().zip(&mut outcomes) {
            if let Err(StoreError::Lost { in_doubt, .. }) = outcome {
                *outcome = again(inner, append, *in_doubt).await;
            }
        }
    }
    for (job, outcome) in ready.into_iter().zip(outcomes) {
        let _ = job.reply.send(outcome);
    }
}

fn is_lost(outcome: &Result<(), StoreError>) -> bool {
    matches!(outcome, Err(StoreError::Lost { .. }))
}

/// Appends what may have been appended already: `in_doubt`, where the answer to its commit was lost. Nobody else writes with its token, and it
/// is there as a whole or not at all: what is there of it is all of it.
async fn again(inner: &Inner, append: &Append, in_doubt: bool) -> Result<(), StoreError> {
    let alone = append_all(inner, &[append]).await;
    match alone.and_then(|mut outcomes| outcomes.pop().unwrap_or(Ok(()))) {
        Err(StoreError::Repeated { .. }) if in_doubt => Ok(()),
        Err(StoreError::Lost {
            message,
            in_doubt: now,
        }) => Err(StoreError::Lost {
            message,
            in_doubt: in_doubt || now,
        }),
        outcome => outcome,
    }
}

/// Appends in one transaction, by writers that have their locks. Whether somebody else has taken a thread, the token says, which is checked
/// while it is written.
async fn append_all(
    inner: &Inner,
    appends: &[&Append],
) -> Result<Vec<Result<(), StoreError>>, StoreError> {
    if appends.is_empty() {
        return Ok(Vec::new());
    }
    for append in appends {
        inner.regain(&append.thread_id, append.token).await?;
    }
    let failure = inner.failure.doing("written");
    let work = AppendAll {
        appends,
        failure: &failure,
    };
    inner.writer.lock().await.run(&work, &failure).await
}
