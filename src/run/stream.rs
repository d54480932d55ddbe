//! The way of events from a run to one reader.
//!
//! Owner: the run holds the [`EventSink`], the reader the [`EventStream`]; dropping the sink ends the
//! stream, dropping the stream makes the sink drop what it is given. The queue is bounded for what
//! may be merged: when a reader falls behind, tokens of one message are put together and an older
//! state gives way to a newer one. Custom events and updates are never dropped.

use std::collections::{BTreeSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::event::{Event, EventKind, Mode};

/// Events that may wait before merging begins.
const CAPACITY: usize = 1024;

#[derive(Default)]
struct Queue {
    events: VecDeque<Event>,
    closed: bool,
}

struct Shared {
    modes: BTreeSet<Mode>,
    seq: AtomicU64,
    queue: Mutex<Queue>,
    wake: Notify,
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
        self.0.lock().closed = true;
        self.0.wake.notify_one();
    }
}

/// The reader's end.
pub struct EventStream(Arc<Shared>);

/// A stream of the events of these modes.
pub fn channel(modes: impl IntoIterator<Item = Mode>) -> (EventSink, EventStream) {
    let shared = Arc::new(Shared {
        modes: modes.into_iter().collect(),
        seq: AtomicU64::new(0),
        queue: Mutex::default(),
        wake: Notify::new(),
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

    /// Sends an event, numbered, where its mode is wanted.
    pub fn send(&self, mut event: Event) {
        let shared = &self.0.0;
        if !self.wants(event.kind.mode()) {
            return;
        }
        let mut queue = shared.lock();
        if queue.closed {
            return;
        }
        event.seq = shared.seq.fetch_add(1, Ordering::Relaxed) + 1;
        if queue.events.len() < CAPACITY || !merge(&mut queue.events, &event) {
            queue.events.push_back(event);
        }
        drop(queue);
        shared.wake.notify_one();
    }
}

/// Puts an event into one that already waits, where nothing but timing is lost.
fn merge(events: &mut VecDeque<Event>, event: &Event) -> bool {
    match &event.kind {
        EventKind::Token { text, by, .. } => match events.back_mut() {
            Some(Event {
                kind:
                    EventKind::Token {
                        text: waiting,
                        by: speaker,
                        ..
                    },
                ..
            }) if speaker == by => {
                waiting.push_str(text);
                true
            }
            _ => false,
        },
        EventKind::Values(_) => {
            let older = events
                .iter()
                .position(|e| e.ns == event.ns && matches!(e.kind, EventKind::Values(_)));
            if let Some(index) = older {
                events.remove(index);
            }
            false
        }
        _ => false,
    }
}

impl EventStream {
    /// The next event; `None` once the run has ended and all are read.
    pub async fn next(&mut self) -> Option<Event> {
        loop {
            let woken = self.0.wake.notified();
            {
                let mut queue = self.0.lock();
                if let Some(event) = queue.events.pop_front() {
                    return Some(event);
                }
                if queue.closed {
                    return None;
                }
            }
            woken.await;
        }
    }
}

impl Drop for EventStream {
    fn drop(&mut self) {
        let mut queue = self.0.lock();
        queue.closed = true;
        queue.events.clear();
    }
}
