//! The way of events from a run to one reader.
//!
//! Owner: the run holds the [`EventSink`], the reader the [`EventStream`]; dropping the sink ends the
//! stream, dropping the stream makes the sink drop what it is given. What waits is bounded ([`queue`]), whatever the
//! reader does; how long a run waits for its reader is bounded too ([`patience`]).

pub mod patience;
mod queue;
mod weight;

use std::collections::BTreeSet;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::ambient::readers_clock;
use super::event::{Event, Mode};

pub use patience::PATIENCE;
use patience::Patience;
use queue::Queue;
pub use queue::{BYTES, EVENTS, HARD};
pub use weight::weight;

struct Shared {
    modes: BTreeSet<Mode>,
    queue: Mutex<Queue>,
    /// Something has come, for the reader.
    wake: Notify,
    /// Something was read, for the run.
    room: Notify,
}

impl Shared {
    // A panic while the lock is held can't leave the queue half changed.
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The run's end. Clones share one stream.
#[derive(Clone)]
pub struct EventSink(Arc<SinkEnd>);

struct SinkEnd(Arc<Shared>);

impl Drop for SinkEnd {
    fn drop(&mut self) {
        self.0.lock().end();
        self.0.wake.notify_one();
    }
}

/// The reader's end.
pub struct EventStream(Arc<Shared>);

/// A stream of the events of these modes.
pub fn channel(modes: impl IntoIterator<Item = Mode>) -> (EventSink, EventStream) {
    patient(modes, PATIENCE)
}

/// The same for a run that waits no longer than that at once for a reader who takes nothing.
pub fn patient(
    modes: impl IntoIterator<Item = Mode>,
    patience: Duration,
) -> (EventSink, EventStream) {
    let shared = Arc::new(Shared {
        modes: modes.into_iter().collect(),
        queue: Mutex::new(Queue::new(Patience::new(readers_clock(), patience))),
        wake: Notify::new(),
        room: Notify::new(),
    });
    (
        EventSink(Arc::new(SinkEnd(shared.clone()))),
        EventStream(shared),
    )
}

impl EventSink {
    /// Whether anybody wants events of that mode: what would be costly to make is made only then.
    pub fn wants(&self, mode: Mode) -> bool {
        self.0.0.modes.contains(&mode)
    }

    /// Sends an event where its mode is wanted. Never waits: who can, calls [`EventSink::room`] before.
    pub fn send(&self, event: Event) {
        let shared = &self.0.0;
        if !event.kind.mode().is_none_or(|mode| self.wants(mode)) {
            return;
        }
        shared.lock().push(event);
        shared.wake.notify_one();
    }

    /// Whether [`EventSink::room`] would go on at once.
    pub fn has_room(&self) -> bool {
        self.0.0.lock().goes_on()
    }

    /// Waits until the reader has made room, but no longer than a run waits for a reader.
    pub async fn room(&self) {
        self.wait(Queue::waits_until).await;
    }

    /// Waits until the reader has dealt with all that was sent so far, where it has asked for that ([`EventStream::pace`]), but no
    /// longer than a run waits for a reader.
    pub async fn dealt_with(&self) {
        let shared = &self.0.0;
        let position = shared.lock().position();
        self.wait(|queue, now| queue.commits_at(position, now))
            .await;
    }

    /// Waits as long as the queue says, which is asked again whenever something was read.
    async fn wait(&self, until: impl Fn(&mut Queue, Instant) -> Option<Instant>) {
        let shared = &self.0.0;
        loop {
            let read = shared.room.notified();
            tokio::pin!(read);
            // Listens before it looks, so that nothing is read unheard in between.
            read.as_mut().enable();
            let Some(until) = until(&mut shared.lock(), readers_clock()) else {
                return;
            };
            tokio::select! {
                () = read => {}
                () = tokio::time::sleep_until(until) => {}
            }
        }
    }
}

impl EventStream {
    /// Has a graph begin and each super-step commit only when this reader has dealt with what was told before, which it says by asking for the next
    /// event: so that what it had not dealt with when the process is killed is told again by a resume. The run waits no longer for it
    /// than for any reader ([`PATIENCE`]). Not for who reads only when the run has ended: it would wait in vain.
    pub fn pace(&mut self) {
        self.0.lock().pace();
    }

    /// The next event, numbered; `None` once the run has ended and all are read.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            let woken = self.0.wake.notified();
            {
                let mut queue = self.0.lock();
                if let Some(event) = queue.pop(readers_clock()) {
                    drop(queue);
                    self.0.room.notify_waiters();
                    return Some(event);
                }
                if queue.is_ended() {
                    return None;
                }
            }
            // The last one is dealt with.
            self.0.room.notify_waiters();
            woken.await;
        }
    }

    /// Keeps the last `events` that were read, for [`EventStream::rewind`]. None are kept where this is not called.
    pub fn keep(&mut self, events: usize) {
        self.0.lock().keep(events);
    }

    /// Goes back to behind the event of that number, for a reader that has lost what came since. Where some of it is not
    /// kept any more, the next event says how much ([`EventKind::Dropped`](super::event::EventKind::Dropped)).
    pub fn rewind(&mut self, after: u64) {
        self.0.lock().rewind(after);
        self.0.wake.notify_one();
    }

    /// How many events wait, and about how many bytes they hold.
    pub fn waiting(&self) -> (usize, usize) {
        self.0.lock().size()
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        self.0.lock().close();
        self.0.room.notify_waiters();
    }
}

/// Lets others go first, once. Unlike the one of `tokio`, it says at once that it can go on.
pub async fn yielded() {
    let mut before = false;
    poll_fn(|cx| match std::mem::replace(&mut before, true) {
        true => Poll::Ready(()),
        false => {
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    })
    .await;
}
