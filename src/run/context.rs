//! What all tasks of a run share.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::base::secret::RunSecrets;
use crate::ir::GraphId;

use super::ambient::Ambient;
use super::backends::Backends;
use super::cut_off::CutOff;
use super::error::RunError;
use super::event::{Event, EventKind, Mode};
use super::exchange::Watcher;
use super::former::FormerNames;
use super::journal::Journal;
use super::limit::TaskLimit;
use super::model::Usage;
use super::observe::{Asked, CallKey, CallUnderWay, Observed, RunKey, RunStart, RunUnderWay};
use super::permission::Lasting;
use super::persisted::PersistedStates;
use super::plan::Plan;
use super::slots::Slots;
use super::store::{ForkedFrom, FrameImage, Store};
use super::stream::{EventSink, yielded};
use super::turns::Turns;

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
    /// Who observes it from outside.
    pub observed: Option<Observed>,
    /// What they are told of its end by, from its beginning on.
    pub under_way: Option<RunUnderWay>,
    /// Who watches its model calls.
    pub calls: Option<Watcher>,
    /// Secrets that the run was given; kept nowhere.
    pub secrets: Arc<RunSecrets>,
    /// The thread.
    pub thread_id: Arc<str>,
    /// The run.
    pub run_id: Arc<str>,
    /// What the thread's keys are told from those of another life of its id by ([`ThreadStatus::life`](super::store::ThreadStatus::life)).
    pub life: Option<Arc<str>>,
    /// Calls that were cut off, until it is kept by what.
    pub cut_off: CutOff,
    /// Cancelled from outside.
    pub cancel: CancellationToken,
    /// How long it waits for calls of tools once it is cancelled.
    pub cancel_grace: Duration,
    /// Asked to stop once the super-steps under way are committed.
    pub drain: CancellationToken,
    /// Places for tasks that work at the same time; `None` where there is one for each.
    pub slots: Option<Slots>,
    /// Tasks that one super-step may have.
    pub tasks: TaskLimit,
    /// Nodes that the run stops before, by name or path.
    pub interrupt_before: Vec<String>,
    /// Super-steps that the run may make, those of subgraphs included.
    pub step_limit: u64,
    /// The same, where it was told: resumes hold to it.
    pub told_limit: Option<u64>,
    /// What serves it, as its thread keeps it.
    pub served_by: BTreeMap<String, String>,
    /// Super-steps made, in processes before this one too.
    pub steps: AtomicU64,
    /// Super-steps after which the run stops, those of subgraphs included.
    pub stop_after_steps: Option<u64>,
    /// Super-steps committed.
    pub committed: AtomicU64,
    /// Tokens used, in processes before this one too.
    pub usage: Mutex<Usage>,
    /// Whether the process before has died in the middle of the run: what it had resumed with may count replies of the step that is
    /// open, which are counted as they are answered; and what it kept last it may not have told.
    pub was_killed: bool,
    /// States of called graphs that last from call to call.
    pub persisted: PersistedStates,
    /// Frames of subgraph calls that an earlier process had under way, by key.
    pub images: Mutex<BTreeMap<String, FrameImage>>,
    /// What the thread was forked from, where it was.
    pub forked_from: Option<Box<ForkedFrom>>,
    /// The run's graph.
    pub root: GraphId,
    /// Names that nodes had when the run began.
    pub former: FormerNames,
    /// What changes permissions whatever becomes of the task that does so.
    pub permitting: Lasting,
    /// Whose turn it is to use one.
    pub turns: Turns,
    /// Whether this process has kept a checkpoint.
    pub has_kept: AtomicBool,
    /// What people are told of the run beside its outcome, by what it is about: the first of each.
    pub warnings: Mutex<BTreeMap<String, String>>,
    /// Tools whose calls failed in a way that a model was told of and nobody else: how often, and why the first did.
    pub failed_tools: Failures<String>,
    /// Models in whose place another was asked, with that: how often, and why the first had failed.
    pub fallbacks: Failures<(String, String)>,
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

    /// Notes what people are told of the run, once of each thing.
    pub fn warn(&self, about: &str, message: String) {
        let mut warnings = self.warnings.lock().unwrap_or_else(PoisonError::into_inner);
        warnings.entry(about.to_owned()).or_insert(message);
    }

    /// Counts a call whose failure is no answer of the tool itself, and goes to a model or is passed over.
    pub fn count_failed_tool(&self, tool: &str, error: &RunError) {
        count(&self.failed_tools, tool.to_owned(), error);
    }

    /// Counts that a model was asked in place of one that has failed.
    pub fn count_fallback(&self, model: &str, fallback: &str, error: &RunError) {
        let models = (model.to_owned(), fallback.to_owned());
        count(&self.fallbacks, models, error);
    }

    /// What was noted so.
    pub fn take_warnings(&self) -> Vec<String> {
        let failed = taken(&self.failed_tools).into_iter();
        let failed = failed.map(|(tool, (count, why))| match count {
            1 => format!("a call of tool `{tool}` failed, and the run went on: {why}"),
            _ => format!(
                "{count} calls of tool `{tool}` failed, and the run went on; the first: {why}"
            ),
        });
        let passed = taken(&self.fallbacks).into_iter();
        let passed = passed.map(|((model, fallback), (count, why))| match count {
            1 => format!("model `{model}` failed, and `{fallback}` was asked instead: {why}"),
            _ => format!(
                "model `{model}` failed {count} times, and `{fallback}` was asked instead; the first: {why}"
            ),
        });
        let noted = taken(&self.warnings).into_values();
        noted.chain(failed).chain(passed).collect()
    }

    /// Whether anybody wants events of that mode.
    pub fn wants(&self, mode: Mode) -> bool {
        let reader = self.events.as_ref();
        reader.is_some_and(|events| events.wants(mode))
            || (mode == Mode::Tasks && self.observed.is_some())
    }

    /// What an observer knows the run by.
    pub fn run_key(&self) -> RunKey {
        RunKey {
            thread_id: Arc::clone(&self.thread_id),
            run_id: Arc::clone(&self.run_id),
        }
    }

    /// Tells observers that the run begins, or goes on. They are told of its end by what is kept in `under_way`.
    pub fn observe_start(&mut self, resumed: bool) {
        if let Some(observed) = &self.observed {
            let start = RunStart {
                plan: &self.plan,
                graph: self.root,
                resumed,
                within: observed.call(),
                secrets: &self.secrets,
            };
            self.under_way = Some(RunUnderWay::begin(observed, self.run_key(), &start));
        }
    }

    /// What an observer knows a call by.
    pub fn call_key(&self, task: &str, effect: &str) -> CallKey {
        CallKey {
            run: self.run_key(),
            task: task.to_owned(),
            effect: effect.to_owned(),
        }
    }

    /// Tells an observer that a call begins, where there is one.
    pub fn call_started(
        &self,
        (task, effect): (&str, &str),
        asked: &Asked<'_>,
    ) -> Option<CallUnderWay> {
        let observed = self.observed.as_ref()?;
        let key = self.call_key(task, effect);
        Some(CallUnderWay::begin(observed, key, asked))
    }

    /// Sends an event, where anybody wants it.
    pub fn send(&self, ns: &str, step: u64, node: Option<&str>, id: String, kind: EventKind) {
        let observed = self.observed.as_ref();
        let observed = observed.filter(|_| kind.mode() == Some(Mode::Tasks));
        if self.events.is_none() && observed.is_none() {
            return;
        }
        let event = Event {
            seq: 0,
            id,
            ns: ns.to_owned(),
            step,
            node: node.map(str::to_owned),
            skipped: 0,
            thread_id: self.thread_id.clone(),
            run_id: self.run_id.clone(),
            kind,
        };
        if let Some(observed) = observed {
            let run = self.run_key();
            observed.by().for_each(|by| by.event(&run, &event));
        }
        if let Some(events) = &self.events {
            events.send(event);
        }
    }

    /// Waits for whoever reads the events, where that falls behind, for as long as a run does.
    pub async fn room(&self) {
        if let Some(events) = &self.events
            && !events.has_room()
        {
            let _waits = self.journal.waits();
            events.room().await;
        }
    }

    /// Whether whoever reads the events takes another one now. Where there is no room it may go first, but is not waited for.
    pub async fn reader_keeps_up(&self) -> bool {
        let Some(events) = &self.events else {
            return true;
        };
        if !events.has_room() {
            yielded().await;
        }
        events.has_room()
    }

    /// Waits until whoever reads the events has dealt with those before a commit, where it wants that.
    pub async fn dealt_with(&self) {
        if let Some(events) = &self.events {
            let _waits = self.journal.waits();
            events.dealt_with().await;
        }
    }

    /// Super-steps kept of a subgraph call that an earlier process had under way, those of calls in it counted in.
    pub fn steps_within(&self, key: &str) -> u64 {
        let images = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        let within = images.range(key.to_owned()..);
        let within = within.take_while(|(inner, _)| inner.starts_with(key));
        within
            .map(|(_, image)| super::schedule::steps(&image.schedule))
            .sum()
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

    /// A task's key, or a node's path, by the names that its nodes had when the run began: what the outside knows it by.
    pub fn former_name<'k>(&self, key: &'k str) -> Cow<'k, str> {
        self.former.name(&self.plan.flow, self.root, key)
    }

    /// Whether this is the first checkpoint that this process keeps; notes that it is kept.
    pub fn is_first_kept(&self) -> bool {
        !self.has_kept.swap(true, Ordering::Relaxed)
    }

    /// Counts a committed super-step.
    pub fn note_commit(&self) {
        self.committed.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether the run is to make no further super-step: it was asked to stop, or has made as many as it was asked to make. Commits count, not
    /// beginnings, so that a run that is resumed again and again always gets on.
    pub fn is_drained(&self) -> bool {
        let made = self.committed.load(Ordering::Relaxed);
        self.drain.is_cancelled() || self.stop_after_steps.is_some_and(|most| made >= most)
    }

    /// Whether the run was asked to stop, in either way.
    pub fn is_stopped(&self) -> bool {
        self.cancel.is_cancelled() || self.is_drained()
    }

    /// Super-steps that are left behind `made`.
    pub fn remaining_steps(&self, made: u64) -> u64 {
        self.step_limit.saturating_sub(made)
    }
}

/// Failures by what has failed: how many, and what the first was.
pub type Failures<K> = Mutex<BTreeMap<K, (u64, String)>>;

fn count<K: Ord>(failures: &Failures<K>, of: K, error: &RunError) {
    let mut failures = failures.lock().unwrap_or_else(PoisonError::into_inner);
    let first = || (0, format!("{}: {}", error.kind.word(), error.message));
    failures.entry(of).or_insert_with(first).0 += 1;
}

fn taken<T: Default>(noted: &Mutex<T>) -> T {
    std::mem::take(&mut *noted.lock().unwrap_or_else(PoisonError::into_inner))
}
