//! Places for the tasks that work at the same time (`max_concurrency`).

use std::collections::BTreeSet;
use std::future::Future;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio_util::sync::CancellationToken;

use super::effect::cancelled;
use super::error::RunError;

/// The places of a run, and which tasks have one.
#[derive(Debug)]
pub struct Slots {
    free: Semaphore,
    /// Tasks that have a place, by their ids.
    taken: Mutex<BTreeSet<String>>,
}

/// A task's place, until it is dropped.
#[derive(Debug)]
pub struct Slot<'s> {
    slots: &'s Slots,
    task: String,
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.slots.release(&self.task);
    }
}

impl Slots {
    /// So many places, one at least.
    pub fn new(count: usize) -> Self {
        Self {
            free: Semaphore::new(count.clamp(1, Semaphore::MAX_PERMITS)),
            taken: Mutex::default(),
        }
    }

    fn taken(&self) -> MutexGuard<'_, BTreeSet<String>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn take(&self, task: &str) {
        // The semaphore is never closed.
        if let Ok(place) = self.free.acquire().await {
            SemaphorePermit::forget(place);
            self.taken().insert(task.to_owned());
        }
    }

    /// Gives the task's place free; whether it had one.
    fn release(&self, task: &str) -> bool {
        let had = self.taken().remove(task);
        if had {
            self.free.add_permits(1);
        }
        had
    }

    /// Waits for a place for the task.
    ///
    /// # Errors
    /// Kind `cancelled`, where the task is stopped before there is a place.
    pub async fn occupy(&self, task: &str, stop: &CancellationToken) -> Result<Slot<'_>, RunError> {
        tokio::select! {
            biased;
            () = stop.cancelled() => return Err(cancelled()),
            () = self.take(task) => {}
        }
        Ok(Slot {
            slots: self,
            task: task.to_owned(),
        })
    }

    /// Runs `waiting` while others may have the task's place, and then waits for a place again.
    pub async fn lend<T>(&self, task: &str, waiting: impl Future<Output = T>) -> T {
        let had = self.release(task);
        let done = waiting.await;
        if had {
            self.take(task).await;
        }
        done
    }
}
