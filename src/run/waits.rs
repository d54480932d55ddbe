//! Time that a task waits for others to be done, which is none of its own: a place among the calls that a provider takes
//! at a time.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::ambient::readers_clock;

/// The waiting of one task, of all of its calls, or of one of these. Clones are of the same.
///
/// Made when first asked for: most tasks make no calls.
#[derive(Debug, Default)]
pub struct Waits(OnceLock<Arc<Shared>>);

impl Clone for Waits {
    fn clone(&self) -> Self {
        Self(Arc::clone(self.shared()).into())
    }
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Notify,
    /// Of a call: the task's.
    task: Option<Arc<Shared>>,
}

#[derive(Debug, Default)]
struct State {
    /// Calls that wait now.
    waiting: u32,
    /// When the first of them began to.
    since: Option<Instant>,
    /// Time waited before that.
    before: Duration,
}

/// Counts as waiting until it is dropped.
pub struct Waiting<'w>(&'w Shared);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self) {
        let mut state = self.state();
        state.waiting += 1;
        state.since.get_or_insert_with(readers_clock);
        drop(state);
        self.changed.notify_waiters();
        if let Some(task) = &self.task {
            task.begin();
        }
    }

    fn end(&self) {
        let mut state = self.state();
        state.waiting = state.waiting.saturating_sub(1);
        if state.waiting == 0
            && let Some(since) = state.since.take()
        {
            state.before += since.elapsed();
        }
        drop(state);
        self.changed.notify_waiters();
        if let Some(task) = &self.task {
            task.end();
        }
    }

    /// Time waited so far, and whether that goes on.
    fn waited(&self, now: Instant) -> (Duration, bool) {
        let state = self.state();
        let since = state
            .since
            .map(|since| now.saturating_duration_since(since));
        (state.before + since.unwrap_or_default(), since.is_some())
    }
}

impl Waits {
    fn shared(&self) -> &Arc<Shared> {
        self.0.get_or_init(Arc::default)
    }

    /// The waiting of one of a task's calls: it is the task's as well, and not that of the calls beside it.
    pub fn of_call(&self) -> Self {
        let shared = Shared {
            task: Some(Arc::clone(self.shared())),
            ..Shared::default()
        };
        Self(Arc::new(shared).into())
    }

    /// A call begins to wait: limits of it and of its task stand still until the result is dropped.
    pub fn begin(&self) -> Waiting<'_> {
        let shared = self.shared();
        shared.begin();
        Waiting(shared)
    }

    /// Waits for `work`, but not for longer than `limit`, time of waiting left out; `None` where that is over, and `work` is
    /// dropped then.
    pub async fn limited<F: Future>(
        &self,
        limit: Duration,
        work: Pin<Box<F>>,
    ) -> Option<F::Output> {
        let mut work = work;
        let shared = self.shared();
        let began = readers_clock();
        let (before, _) = shared.waited(began);
        loop {
            let changed = shared.changed.notified();
            tokio::pin!(changed);
            // Listens before it looks: a change in between is not missed.
            changed.as_mut().enable();
            let now = readers_clock();
            let (waited, waits) = shared.waited(now);
            let own = now
                .saturating_duration_since(began)
                .saturating_sub(waited.saturating_sub(before));
            let left = limit.saturating_sub(own);
            let over = async {
                match waits {
                    true => std::future::pending().await,
                    false => tokio::time::sleep(left).await,
                }
            };
            tokio::select! {
                biased;
                done = &mut work => return Some(done),
                () = changed => {}
                () = over => return None,
            }
        }
    }
}
