//! SQLite's work, which blocks, on a thread of its own that ends when nobody waits for it any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value as Json;
use tokio::sync::{Semaphore, SemaphorePermit, oneshot};
use tokio::time::timeout;

use super::Stop;
use crate::backend::wire::{Bounds, Failure};
use crate::ir::ErrorKind;
use crate::run::model::CallContext;
use crate::run::tool::ToolError;

/// How many queries run at the same time; more wait for their turn, which is no time of their own.
static TURNS: Semaphore = Semaphore::const_new(8);

/// How long a query that was told to end may take for it. Nearly all do within a thousandth of that.
const GRACE: Duration = Duration::from_secs(2);

/// How long SQLite waits before it tries again what another program keeps locked.
const BUSY: Duration = Duration::from_millis(10);

/// Whether a query is to end.
#[derive(Debug, Default)]
pub struct Watch {
    ended: AtomicBool,
    locked: AtomicBool,
}

impl Watch {
    /// Whether it is to end.
    pub fn is_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Waits for another program to release the database; `false` where the query is to end instead.
    pub fn waits_for_lock(&self) -> bool {
        let goes_on = !self.is_ended();
        self.locked.store(true, Ordering::Relaxed);
        if goes_on {
            std::thread::sleep(BUSY);
        }
        goes_on
    }

    fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }
}

/// Ends the query also where the call is dropped.
struct EndOnDrop(Arc<Watch>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Does the work of the tool's call.
///
/// # Errors
/// The work's own; `Timeout` or `Cancelled`, and then nothing of it was done, but for a query that does not end.
pub async fn run<W>(
    tool: &str,
    limit: Duration,
    cx: &CallContext,
    work: W,
) -> Result<Json, ToolError>
where
    W: FnOnce(&Arc<Watch>) -> Result<Json, Stop> + Send + 'static,
{
    let turn = turn(cx).await?;
    let bounds = Bounds::new(cx, Some(limit));
    let watch = Arc::new(Watch::default());
    let end = EndOnDrop(Arc::clone(&watch));
    let (answer, mut answered) = oneshot::channel();
    let thread = std::thread::Builder::new().name("sql".to_owned());
    let started = thread.spawn(move || {
        let done = work(&watch);
        drop(turn);
        let _ = answer.send(done);
    });
    let failed = |why: String| {
        let message = format!("the query of `{tool}` {why}");
        ToolError::new(ErrorKind::ToolError, message)
    };
    started.map_err(|error| failed(format!("can't be started: {error}")))?;
    let (ours, done) = match bounds.within(&mut answered).await {
        Ok(done) => (None, Some(done)),
        Err(ours) => {
            end.0.end();
            (Some(ours), timeout(GRACE, &mut answered).await.ok())
        }
    };
    match done {
        Some(Ok(Ok(result))) => Ok(result),
        Some(Ok(Err(Stop::Refused(why)))) => Err(failed(why)),
        Some(Ok(Err(Stop::Ended))) => Err(ended(tool, limit, ours, &end.0).unsent().into()),
        Some(Err(_)) => Err(failed("has ended unexpectedly".to_owned())),
        None => Err(ended(tool, limit, ours, &end.0).into()),
    }
}

async fn turn(cx: &CallContext) -> Result<SemaphorePermit<'static>, ToolError> {
    if let Ok(turn) = TURNS.try_acquire() {
        return Ok(turn);
    }
    let _waits = cx.waits.begin();
    tokio::select! {
        biased;
        () = cx.stop.cancelled() => Err(Failure::cancelled().unsent().into()),
        turn = TURNS.acquire() => turn.map_err(|_| Failure::cancelled().unsent().into()),
    }
}

fn ended(tool: &str, limit: Duration, ours: Option<Failure>, watch: &Watch) -> Failure {
    let cancelled = ours.filter(|ours| ours.kind == ErrorKind::Cancelled);
    cancelled.unwrap_or_else(|| {
        let mut failure = super::timed_out(tool, limit);
        if watch.locked.load(Ordering::Relaxed) {
            failure.message += "; another program keeps the database locked";
        }
        failure
    })
}
