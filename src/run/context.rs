//! What all tasks of a run share.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

use super::ambient::Ambient;
use super::backends::Backends;
use super::event::{Event, EventKind, Mode};
use super::journal::Journal;
use super::kept::Kept;
use super::model::Usage;
use super::plan::Plan;
use super::store::{ForkedFrom, FrameImage, Store};
use super::stream::EventSink;

/// A run under way: its plan, its ways to the outside, and its counters.
pub struct RunContext {
    /// What is run.
    pub plan: Arc<Plan>,
    /// Models and tools.
    pub backends: Backends,
    /// What is kept of it.
    pub journal: Journal,
    /// Where results that are used again are kept; `None` keeps nothing.
    pub store: Option<Arc<dyn Store>>,
    /// Clock and chance.
    pub ambient: Arc<dyn Ambient>,
    /// Who watches, where anybody does.
    pub events: Option<EventSink>,
    /// The thread.
    pub thread_id: String,
    /// The run.
    pub run_id: String,
    /// Cancelled from outside.
    pub cancel: CancellationToken,
    /// Tasks of one super-step that may run at the same time.
    pub max_concurrency: usize,
    /// Nodes that the run stops before, by name or path.
    pub interrupt_before: Vec<String>,
    /// Super-steps that the run may make, those of subgraphs included.
    pub step_limit: u64,
    /// Super-steps made.
    pub steps: AtomicU64,
    /// Super-steps after which the run stops, those of subgraphs included.
    pub stop_after_steps: Option<u64>,
    /// Super-steps committed.
    pub committed: AtomicU64,
    /// Tokens used, in processes before this one too.
    pub usage: Mutex<Usage>,
    /// Whether replies from the journal count as used: what a killed process had not noted.
    pub count_known: bool,
    /// States of called graphs that last from call to call.
    pub kept: Kept,
    /// Frames of subgraph calls that an earlier process had under way, by key.
    pub images: Mutex<BTreeMap<String, FrameImage>>,
    /// What the thread was forked from, where it was.
    pub forked_from: Option<ForkedFrom>,
    /// Whether this process has kept a checkpoint.
    pub has_kept: AtomicBool,
}

impl RunContext {
    /// Adds to the run's usage.
    pub fn add_usage(&self, usage: Usage) {
        *self.usage.lock().unwrap_or_else(PoisonError::into_inner) += usage;
    }

    /// Tokens used so far.
    pub fn usage(&self) -> Usage {
        *self.usage.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether anybody wants events of that mode.
    pub fn wants(&self, mode: Mode) -> bool {
        self.events
            .as_ref()
            .is_some_and(|events| events.wants(mode))
    }

    /// Sends an event, where anybody wants it.
    pub fn send(&self, ns: &str, step: u64, node: Option<&str>, id: String, kind: EventKind) {
        if let Some(events) = &self.events {
            let node = node.map(str::to_owned);
            events.send(Event {
                seq: 0,
                id,
                ns: ns.to_owned(),
                step,
                node,
                kind,
            });
        }
    }

    /// The frame of a subgraph call that an earlier process had under way.
    pub fn take_image(&self, key: &str) -> Option<FrameImage> {
        self.images
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(key)
    }

    /// The thread that ids of questions are made from: of all forks of a thread that one, so that the same question has the same
    /// id in each of them.
    pub fn asking_thread(&self) -> &str {
        let forked = self.forked_from.as_ref();
        forked.map_or(&self.thread_id, |from| &from.first)
    }

    /// Whether this is the first checkpoint that this process keeps; notes that it is kept.
    pub fn is_first_kept(&self) -> bool {
        !self.has_kept.swap(true, Ordering::Relaxed)
    }

    /// Counts a committed super-step.
    pub fn note_commit(&self) {
        self.committed.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether the run has made as many super-steps as it was asked to make. Commits count, not
    /// beginnings, so that a run that is resumed again and again always gets on.
    pub fn is_drained(&self) -> bool {
        let made = self.committed.load(Ordering::Relaxed);
        self.stop_after_steps.is_some_and(|most| made >= most)
    }

    /// Super-steps that are left.
    pub fn remaining_steps(&self) -> u64 {
        self.step_limit
            .saturating_sub(self.steps.load(Ordering::Relaxed))
    }
}
