//! The queue of appends. What has queued up while one batch is written is the next.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use super::append::{AppendAll, Pending};
use super::chunk::{self, CHUNK, size};
use super::error::{Failure, Stop};
use super::session::Link;
use crate::run::store::StoreError;
use crate::store::append::Append;

/// At most this many appends share a transaction, so that the first needn't wait for long, and at most about [`CHUNK`] bytes.
const BATCH: usize = 256;

type Outcome = Result<(), StoreError>;

/// An append and who waits for it.
pub(super) struct Job {
    pub(super) append: Append,
    pub(super) reply: oneshot::Sender<Outcome>,
}

/// Writes until nobody can send any more and all that was sent is written.
pub(super) async fn serve(
    mut jobs: mpsc::UnboundedReceiver<Job>,
    link: Arc<tokio::sync::Mutex<Link>>,
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
        append_batch(&mut link, batch, &failure).await;
        drop(link);
        next = jobs.recv().await;
    }
}

/// Appends all in one transaction. Where that fails, each gets its own, so that nobody's records hang on anybody else's.
async fn append_batch(link: &mut Link, batch: Vec<Job>, failure: &Failure) {
    let mut ready = Vec::with_capacity(batch.len());
    for job in batch {
        match chunk::check(&job.append) {
            Ok(()) => ready.push(job),
            Err(error) => {
                let _ = job.reply.send(Err(error));
            }
        }
    }
    let appends: Vec<Pending> = ready.iter().map(|job| Pending::new(&job.append)).collect();
    if appends.is_empty() {
        return;
    }
    let outcomes = match append_all(link, &appends, failure).await {
        Ok(outcomes) => outcomes,
        Err(stop) if stop.is_lost() || appends.len() == 1 => refuse(stop, &appends, failure),
        Err(_) => one_by_one(link, &appends, failure).await,
    };
    for (job, outcome) in ready.into_iter().zip(outcomes) {
        let _ = job.reply.send(outcome);
    }
}

/// Appends each in a transaction of its own, as long as there is a connection.
async fn one_by_one(link: &mut Link, appends: &[Pending<'_>], failure: &Failure) -> Vec<Outcome> {
    let mut outcomes = Vec::with_capacity(appends.len());
    let mut rest = appends;
    while let Some((append, behind)) = rest.split_first() {
        match append_all(link, std::slice::from_ref(append), failure).await {
            Ok(done) => outcomes.extend(done),
            Err(stop) if stop.is_lost() => {
                outcomes.extend(refuse(stop, rest, failure));
                break;
            }
            Err(stop) => outcomes.push(Err(failure.of(stop))),
        }
        rest = behind;
    }
    outcomes
}

async fn append_all(
    link: &mut Link,
    appends: &[Pending<'_>],
    failure: &Failure,
) -> Result<Vec<Outcome>, Stop> {
    link.patiently(&AppendAll { appends, failure }, failure)
        .await
}

/// The outcome of appends that could not be made.
fn refuse(stop: Stop, appends: &[Pending<'_>], failure: &Failure) -> Vec<Outcome> {
    let lost = stop.is_lost();
    let error = failure.of(stop);
    let refused = appends.iter().map(|append| match lost && append.is_sent() {
        true => Err(failure.in_doubt()),
        false => Err(error.clone()),
    });
    refused.collect()
}
