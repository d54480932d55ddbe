//! The journal: what of a run is kept, when, and what is answered from it.
//!
//! One journal serves one run. It holds the effects that an earlier process has finished in the
//! current super-step, so that a task that runs again gets their results and repeats none, and it
//! passes new records to the store, in order, through one writer task that owns the lease.
//!
//! Invariant: before an effect on the outside begins, every effect that finished before it is kept
//! ([`Journal::barrier`]), except under [`Durability::Exit`]. `tests/processes.rs` holds it.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::request;
use super::store::{EffectRecord, Lease, Record, Store, StoreError, ThreadImage};

mod writer;

use writer::{MOST_BYTES, Writer};

/// When records reach the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Durability {
    /// Each effect and each super-step is kept before the run goes on.
    Sync,
    /// In order, behind the run: a super-step may be lost and is then run again, but an effect on
    /// the outside begins only when all that finished before it are kept.
    #[default]
    Async,
    /// At the end, at an interrupt and on an error; before a call that must not be made twice or uses a permission for one call; and where
    /// what is to be kept would take too much memory.
    Exit,
}

/// What a script counts calls by: the kind of effect, and the node's path or the tool's name.
type Subject = (String, String);

#[derive(Default)]
struct State {
    /// Records that the writer has not been given yet.
    held: Vec<Record>,
    /// About how many bytes they are.
    held_bytes: usize,
    /// Whether records wait for the next checkpoint, to be kept with it or not at all.
    holding: bool,
    counts: BTreeMap<Subject, u64>,
}

/// The journal of a run. Shared by its tasks.
pub struct Journal {
    durability: Durability,
    writer: Option<Writer>,
    /// Effects of the current root step that an earlier process finished, by task and id.
    finished: HashMap<(String, String), Finished>,
    /// Step of the root from which ids name what effects are of; before it they number them.
    named_from: u64,
    /// Of a fork: its life, by which it knows what it has come to itself.
    fork: Option<String>,
    /// Step of the root, which effects and checkpoints of nested frames belong to.
    root_step: AtomicU64,
    next_seq: AtomicU64,
    /// Position of the latest checkpoint that the store has kept.
    kept_seq: Arc<AtomicU64>,
    /// Tasks that wait for the store.
    waiting: Arc<AtomicUsize>,
    state: Mutex<State>,
}

/// An effect that an earlier process finished.
#[derive(Debug)]
pub struct Finished {
    /// What it was.
    pub kind: String,
    /// The node's path or the tool's name.
    pub subject: String,
    /// Its result.
    pub outcome: Json,
}

/// Counted as long as a task waits for the store.
pub struct AtTheStore<'a>(&'a AtomicUsize);

impl<'a> AtTheStore<'a> {
    /// Counts one more there, until the result is dropped.
    pub fn count(waiting: &'a AtomicUsize) -> Self {
        waiting.fetch_add(1, Ordering::Acquire);
        Self(waiting)
    }
}

impl Drop for AtTheStore<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Release);
    }
}

impl Journal {
    /// A journal that keeps nothing: for a run without a store.
    pub fn none() -> Self {
        Self {
            durability: Durability::Exit,
            writer: None,
            finished: HashMap::new(),
            named_from: 0,
            fork: None,
            root_step: AtomicU64::new(0),
            next_seq: AtomicU64::new(1),
            kept_seq: Arc::default(),
            waiting: Arc::default(),
            state: Mutex::default(),
        }
    }

    /// A journal over a store, going on where `image` stands.
    pub fn open(
        store: Arc<dyn Store>,
        lease: Lease,
        durability: Durability,
        image: Option<&ThreadImage>,
    ) -> Self {
        let kept_seq = Arc::new(AtomicU64::new(image.map_or(0, |image| image.last_seq)));
        let effects = image
            .map(|image| image.effects.as_slice())
            .unwrap_or_default();
        let finished = effects
            .iter()
            .map(|e| {
                let finished = Finished {
                    kind: e.kind.clone(),
                    subject: e.of().to_owned(),
                    outcome: e.outcome.clone(),
                };
                ((e.task.clone(), e.id.clone()), finished)
            })
            .collect();
        let counts = image.map(|image| image.counts.clone()).unwrap_or_default();
        Self {
            durability,
            writer: Some(Writer::start(store, lease, kept_seq.clone())),
            finished,
            named_from: 0,
            fork: image.and_then(|image| {
                let status = &image.status;
                status.life.clone().filter(|_| status.forked_from.is_some())
            }),
            root_step: AtomicU64::new(0),
            next_seq: AtomicU64::new(image.map_or(1, |image| image.last_seq + 1)),
            kept_seq,
            waiting: Arc::default(),
            state: Mutex::new(State {
                counts,
                ..State::default()
            }),
        }
    }

    /// Counts what waits for the store there.
    pub fn counted(mut self, waiting: Arc<AtomicUsize>) -> Self {
        self.waiting = waiting;
        self
    }

    /// Effects up to that step of the root are those of a thread that an earlier version of the program kept.
    pub fn named_from(mut self, step: u64) -> Self {
        self.named_from = step;
        self
    }

    /// Step of the root from which ids name what effects are of.
    pub fn first_named(&self) -> u64 {
        self.named_from
    }

    /// Whether effects have their position in the task as their id, as earlier versions of the program gave it: in the
    /// step that the thread stood at when this one took it over.
    pub fn numbers_effects(&self) -> bool {
        self.root_step() < self.named_from
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether anything is kept at all.
    pub fn keeps(&self) -> bool {
        self.writer.is_some()
    }

    /// The result of an effect that an earlier process finished.
    pub fn finished(&self, task: &str, id: &str) -> Option<&Json> {
        Some(&self.entry(task, id)?.outcome)
    }

    /// The same, with what it was of: under another version of the flow, a task may do something else there.
    pub fn entry(&self, task: &str, id: &str) -> Option<&Finished> {
        if self.finished.is_empty() {
            return None;
        }
        self.finished.get(&(task.to_owned(), id.to_owned()))
    }

    /// Whether an earlier process has finished any effect of the current root step.
    pub fn is_resumed(&self) -> bool {
        !self.finished.is_empty()
    }

    /// Step of the root that effects and nested frames belong to from now on.
    pub fn enter_root_step(&self, step: u64) {
        self.root_step.store(step, Ordering::Relaxed);
    }

    /// Step of the root.
    pub fn root_step(&self) -> u64 {
        self.root_step.load(Ordering::Relaxed)
    }

    /// The next position in the thread.
    pub fn take_seq(&self) -> u64 {
        self.next_seq.fetch_add(1, Ordering::Relaxed)
    }

    /// The position that was taken last.
    pub fn last_seq(&self) -> u64 {
        self.next_seq.load(Ordering::Relaxed) - 1
    }

    /// Where the position of the latest checkpoint stands that the store has kept, 0 where it has none; also once the journal is closed.
    pub fn kept_seq(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.kept_seq)
    }

    /// How many effects of that kind and subject the thread has had, this one not counted; counts it.
    pub fn count(&self, kind: &str, subject: &str) -> u64 {
        let mut state = self.state();
        let count = state
            .counts
            .entry((kind.to_owned(), subject.to_owned()))
            .or_default();
        *count += 1;
        *count - 1
    }

    /// Keeps an effect or a failed attempt at one.
    pub fn effect(&self, task: &str, id: String, kind: &str, subject: &str, outcome: Json) {
        if !self.keeps() {
            return;
        }
        let outcome = match &self.fork {
            Some(life) => request::own(outcome, life),
            None => outcome,
        };
        self.append(vec![Record::Effect(EffectRecord {
            task: task.to_owned(),
            id,
            root_step: self.root_step(),
            kind: kind.to_owned(),
            subject: subject.to_owned(),
            outcome,
        })]);
    }

    /// Keeps back what is appended from now on, until a checkpoint goes with it.
    pub fn hold_until_checkpoint(&self) {
        self.state().holding = true;
    }

    /// Forgets what is kept back.
    pub fn drop_held(&self) {
        let mut state = self.state();
        state.held.clear();
        state.held_bytes = 0;
    }

    /// Passes records on, all or none, behind those before them.
    pub fn append(&self, records: Vec<Record>) {
        let Some(writer) = &self.writer else { return };
        let records = {
            let mut state = self.state();
            if records.iter().any(|r| matches!(r, Record::Checkpoint(_))) {
                state.holding = false;
            }
            state.held_bytes += writer::size(&records);
            state.held.extend(records);
            let at_the_end = self.durability == Durability::Exit && state.held_bytes < MOST_BYTES;
            if at_the_end || state.holding {
                return;
            }
            state.held_bytes = 0;
            std::mem::take(&mut state.held)
        };
        writer.append(records);
    }

    /// When records reach the store.
    pub fn durability(&self) -> Durability {
        self.durability
    }

    /// Waits until all records so far are kept, where the durability asks for it before an effect on
    /// the outside.
    ///
    /// # Errors
    /// The store's first error since the last barrier.
    pub async fn barrier(&self) -> Result<(), StoreError> {
        match self.durability {
            Durability::Exit => Ok(()),
            Durability::Sync | Durability::Async => self.settle().await,
        }
    }

    /// Waits until a committed super-step is kept, where the durability asks for it.
    ///
    /// # Errors
    /// The store's first error, also where nothing is waited for: no run goes on for long unkept.
    pub async fn committed(&self) -> Result<(), StoreError> {
        match self.durability {
            Durability::Sync => self.settle().await,
            Durability::Async | Durability::Exit => {
                let Some(writer) = &self.writer else {
                    return Ok(());
                };
                if writer.is_far_behind() {
                    let _waits = self.waits();
                    writer.few().await;
                }
                writer.failed()
            }
        }
    }

    /// Waits until all records so far are kept, whatever the durability: ahead of what must never be done without a trace.
    ///
    /// # Errors
    /// As of [`Journal::barrier`].
    pub async fn keep(&self) -> Result<(), StoreError> {
        if let Some(writer) = &self.writer {
            let mut state = self.state();
            if !state.holding && !state.held.is_empty() {
                state.held_bytes = 0;
                let held = std::mem::take(&mut state.held);
                // Sent under the lock: no later record goes ahead of it.
                writer.append(held);
            }
        }
        self.settle().await
    }

    async fn settle(&self) -> Result<(), StoreError> {
        let Some(writer) = &self.writer else {
            return Ok(());
        };
        let _waits = self.waits();
        writer.barrier().await
    }

    /// Counts a task as one that waits for the store, until the result is dropped.
    pub fn waits(&self) -> AtTheStore<'_> {
        AtTheStore::count(&self.waiting)
    }

    /// Where tasks are counted that wait for the store.
    pub fn at_the_store(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.waiting)
    }

    /// Keeps all that is still held and gives the thread back.
    ///
    /// # Errors
    /// The store's first error.
    pub async fn close(self) -> Result<(), StoreError> {
        let held = std::mem::take(&mut self.state().held);
        let Some(writer) = self.writer else {
            return Ok(());
        };
        if !held.is_empty() {
            writer.append(held);
        }
        writer.close().await
    }
}
