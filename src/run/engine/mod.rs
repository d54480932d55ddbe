//! Runs of a flow on threads: starting and resuming.
//!
//! What can be refused is refused before anything runs: inputs and threads in `prepare`, contexts in
//! `constants`, answers in `answers` and `asker`. Threads of another version become this one's in `take_over`: `live` (what of them
//! counts), `migrate` and `names` (what they are called now), `one_name` (no two things the same), `fit` (whether it fits). What a run came to is in `result`, and kept in `finish`. `edit`
//! changes what a thread has from outside of any run, `fork` makes a new one of an old one's past.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value as Json;
use tokio_util::sync::CancellationToken;

use crate::base::cancel;
use crate::base::secret::RunSecrets;
use crate::ir::flow::RECURSION_LIMIT;
use crate::ir::{ErrorKind, GraphId};

use super::ambient::Ambient;
use super::backends::Backends;
use super::context::RunContext;
use super::cut_off::CutOff;
use super::error::RunError;
use super::exchange::Watcher;
use super::former::FormerNames;
use super::frame::Frame;
use super::grace::CANCEL_GRACE;
use super::interrupt::Answer;
use super::journal::{Durability, Journal};
use super::limit::{MAX_TASKS, TaskLimit};
use super::model::Usage;
use super::observe::Observed;
use super::permission::Lasting;
use super::persisted::PersistedStates;
use super::plan::Plan;
use super::slots::Slots;
use super::step::{FrameEnd, keep, run_frame, tell_again};
use super::store::{Record, RunState, Source, Store, ThreadImage};
use super::stream::EventSink;
use super::turns::Turns;
use super::view::short_hash;
use super::work::in_doubt;

mod answers;
mod asker;
mod constants;
mod edit;
mod finish;
mod fit;
mod fork;
mod lease;
mod left_behind;
mod live;
mod migrate;
mod names;
mod one_name;
mod prepare;
mod result;
mod stops;
mod take_over;

pub use answers::open_interrupts;
pub use edit::{Edit, Edited, Written, path as frame_path};
pub use fork::{Fork, fork, fork_in_doubt};
pub use live::{live, under_way};
pub use result::{Gone, RunResult, StartError};

use lease::HeldLease;
use prepare::{Begun, Resumed};

/// A flow with all it needs to run.
#[derive(Clone)]
pub struct Engine {
    /// The flow.
    pub plan: Arc<Plan>,
    /// Models and tools.
    pub backends: Backends,
    /// Where threads are kept; `None` keeps nothing, and an interrupt can't be answered then.
    pub store: Option<Arc<dyn Store>>,
    /// Clock and chance.
    pub ambient: Arc<dyn Ambient>,
}

/// Choices for one run.
#[derive(Clone, Default)]
pub struct RunOptions {
    /// When records are kept.
    pub durability: Durability,
    /// Most super-steps of the run, those of subgraphs and of earlier processes included. Where left out, a resume has what the run
    /// was told earlier, else the graph's own limit holds, or [`RECURSION_LIMIT`].
    pub recursion_limit: Option<u64>,
    /// Tasks of the run that may work at the same time, those of subgraphs included; all where left out. One that waits
    /// for the graph that it calls does not count.
    pub max_concurrency: Option<usize>,
    /// Most tasks of one super-step; [`MAX_TASKS`] where left out.
    pub max_tasks: Option<usize>,
    /// Super-steps to commit, those of subgraphs included, before the run stops as if it had been
    /// cancelled: a clean stop that a resume goes on from.
    pub stop_after_steps: Option<u64>,
    /// Longest time of the run.
    pub timeout: Option<Duration>,
    /// Constants of the run, an object of the graph's `context`; null stands for none. A resume has
    /// those that the run began with.
    pub context: Json,
    /// Secrets for this process's part of the run, by name: tools and providers may use them. They are kept nowhere, so a resume
    /// gives them again.
    pub secrets: Arc<RunSecrets>,
    /// Whether a thread of an earlier version of the flow is changed as its `migrate` blocks say.
    pub migrate: bool,
    /// Nodes to stop before, by name or path, or `*` for each. A resume also stops before those that the run was told of earlier.
    pub interrupt_before: Vec<String>,
    /// Whether a graph that leaves for nodes of its caller may run by itself: the run is done where it leaves.
    pub may_leave: bool,
    /// Who answers: `answered.by` behind the questions, and who is said to have permitted calls.
    pub by: Option<String>,
    /// Lets go of the nodes that the run was told of earlier to stop before.
    pub drop_stops: bool,
    /// What serves the run, by options such as `profile`: kept with the thread, for whoever shows how to go on with it.
    pub served_by: BTreeMap<String, String>,
    /// Who watches.
    pub events: Option<EventSink>,
    /// Who observes it from outside.
    pub observed: Option<Observed>,
    /// Who watches model calls.
    pub calls: Option<Watcher>,
    /// Cancels the run: it stops before its next effect.
    pub cancel: CancellationToken,
    /// How long a cancelled run waits for the calls of tools that are under way, before it ends them; [`CANCEL_GRACE`] where left
    /// out.
    pub cancel_grace: Option<Duration>,
    /// Drains the run: the super-steps under way are finished and committed, then it stops as one that was cancelled.
    /// A run that is done with them is done.
    pub drain: CancellationToken,
    /// Counts the tasks that wait for the store, for who must know whether any can go on by itself.
    pub at_the_store: Arc<AtomicUsize>,
}

/// A thread that is held, and what is known of it.
struct Held {
    lease: Option<HeldLease>,
    image: Option<ThreadImage>,
}

impl Engine {
    /// The graph of that name: what [`start`](Self::start) is asked to run.
    pub fn graph(&self, name: &str) -> Option<GraphId> {
        self.plan.flow.graph(name)
    }

    /// The flow's entry: its only graph that no other calls.
    pub fn entry(&self) -> Option<GraphId> {
        self.plan.flow.entry
    }

    /// Runs a graph with an input, on a new thread or after what a known one has.
    ///
    /// # Errors
    /// [`StartError`]; then nothing has run and the thread is as it was.
    pub async fn start(
        &self,
        graph: GraphId,
        thread_id: &str,
        input: &Json,
        options: RunOptions,
    ) -> Result<RunResult, StartError> {
        let held = self.hold(thread_id).await?;
        let prepared = self.prepare(graph, held.image.as_ref(), input, &options);
        let Begun {
            mut frame,
            input,
            taken,
            left_behind,
        } = match prepared {
            Ok(prepared) => prepared,
            Err(error) => return Err(self.give_up(held, error).await),
        };
        // The last run's effects must not answer this run's.
        let image = taken.as_ref().map(|taken| ThreadImage {
            effects: Vec::new(),
            ..taken.image.clone()
        });
        let journal = self.journal(held.lease, &options, image.as_ref());
        let run_id = self.ambient.uuid(u64::MAX);
        let mut cx = self.context(graph, thread_id, run_id, journal, &options);
        cx.life = match &image {
            Some(image) => image.status.life.as_deref().map(Arc::from),
            // A run that keeps nothing before its end is begun anew where its process dies, and its calls have the same keys then.
            None if options.durability == Durability::Exit => None,
            None => Some(life(&cx.run_id).into()),
        };
        let forked = image.as_ref().map(|image| &image.status.forked_from);
        cx.forked_from = forked.cloned().flatten();
        let kept = image.as_ref().map(|image| image.frames.as_slice());
        cx.persisted.load(kept.unwrap_or_default());
        cx.journal.enter_root_step(frame.step);
        cx.observe_start(false);
        // The status goes with the input: a run whose input is not kept has never begun.
        cx.journal.hold_until_checkpoint();
        let status = self.status(&cx, &frame, RunState::Running, &[], None);
        cx.journal.append(vec![status]);
        let mut tells = true;
        let entered = match frame.enter(&cx, input) {
            Ok(changes) => {
                let taken = taken.into_iter().flat_map(|taken| taken.checkpoints);
                let taken = taken.flat_map(|checkpoint| checkpoint.writes);
                let plan = &self.plan.graphs[graph];
                let changes = left_behind.writes(&frame, plan, taken.collect(), changes);
                keep(&cx, &self.plan, &frame, changes, Source::Input).await
            }
            Err(error) => {
                // What the thread waits for, it still does; only a new thread tells of the failure.
                cx.journal.drop_held();
                tells = held.image.is_none();
                Err(error)
            }
        };
        let begun = entered.is_ok();
        let end = match entered {
            Ok(()) => self.begin(&cx, &mut frame, &options).await,
            Err(error) => FrameEnd::Failed(error),
        };
        let mut result = self.finish(cx, graph, frame, end, tells).await;
        result.begun = begun;
        if tells {
            result.in_doubt = held.image.as_ref().map(left_in_doubt).unwrap_or_default();
        }
        Ok(result)
    }

    /// Goes on with a thread: after an interrupt with answers, after a crash, a failure or a
    /// cancellation without.
    ///
    /// # Errors
    /// [`StartError`]; then nothing has run and the thread is as it was.
    pub async fn resume(
        &self,
        thread_id: &str,
        answers: &[Answer],
        options: RunOptions,
    ) -> Result<RunResult, StartError> {
        let held = self.hold(thread_id).await?;
        let migrates = options.migrate;
        let prepared = self.prepare_resume(
            thread_id,
            held.image.as_ref(),
            (answers, options.by.as_deref()),
            migrates,
        );
        let Resumed {
            graph,
            mut frame,
            taken,
            answered,
        } = match prepared {
            Ok(prepared) => prepared,
            Err(error) => return Err(self.give_up(held, error).await),
        };
        let stops = match self.stops(graph, &taken.image.status, &options) {
            Ok(stops) => stops,
            Err(error) => return Err(self.give_up(held, error).await),
        };
        let permitting = Lasting::default();
        if let Err(error) = permitting.load(&taken.image.effects) {
            return Err(self.give_up(held, error.into()).await);
        }
        let status = &taken.image.status;
        let options = RunOptions {
            recursion_limit: options.recursion_limit.or(status.recursion_limit),
            ..options
        };
        let mut image = taken.image.clone();
        image.effects.extend(answered.iter().cloned());
        // A thread that an earlier version of the program kept has its ids until its step is done.
        let step = frame.step.saturating_add(1);
        let named_from = image.status.named_from.unwrap_or(step);
        let journal = self.journal(held.lease, &options, Some(&image));
        let journal = journal.named_from(named_from);
        let mut cx = self.context(
            graph,
            thread_id,
            image.status.run_id.clone(),
            journal,
            &options,
        );
        cx.usage = Mutex::new(used_before(&image));
        cx.forked_from = image.status.forked_from.clone();
        cx.life = image.status.life.as_deref().map(Arc::from);
        cx.interrupt_before = stops;
        cx.was_killed = image.status.state == RunState::Running;
        cx.former = taken.former();
        cx.persisted.load(&image.frames);
        cx.permitting = permitting;
        let made = image.frames.iter();
        let made = made.map(|frame| super::schedule::steps(&frame.schedule));
        cx.steps = AtomicU64::new(made.sum());
        let seq = image.frames.first().map_or(0, |root| root.seq);
        let nested = image
            .frames
            .into_iter()
            .filter(|frame| !frame.frame.is_empty());
        cx.images = Mutex::new(nested.map(|frame| (frame.frame.clone(), frame)).collect());
        cx.journal.enter_root_step(frame.step);
        cx.observe_start(true);
        // Together, so that no answer is there while its interrupt still counts as open.
        let mut records = taken.records(|| cx.journal.take_seq());
        records.extend(answered.into_iter().map(Record::Effect));
        records.push(self.status(&cx, &frame, RunState::Running, &[], None));
        cx.journal.append(records);
        tell_again(&cx, &self.plan.graphs[graph], &frame, seq);
        let end = self.begin(&cx, &mut frame, &options).await;
        Ok(self.finish(cx, graph, frame, end, true).await)
    }

    async fn hold(&self, thread_id: &str) -> Result<Held, StartError> {
        let Some(store) = &self.store else {
            return Ok(Held {
                lease: None,
                image: None,
            });
        };
        let lease = HeldLease::new(store, store.acquire(thread_id).await?);
        match store.load(thread_id).await {
            Ok(image) => Ok(Held {
                lease: Some(lease),
                image,
            }),
            Err(error) => {
                lease.give_back().await;
                Err(error.into())
            }
        }
    }

    async fn give_up(&self, held: Held, error: StartError) -> StartError {
        if let Some(lease) = held.lease {
            lease.give_back().await;
        }
        error
    }

    fn journal(
        &self,
        lease: Option<HeldLease>,
        options: &RunOptions,
        image: Option<&ThreadImage>,
    ) -> Journal {
        let durability = options.durability;
        let journal = match (&self.store, lease.and_then(HeldLease::take)) {
            (Some(store), Some(lease)) => Journal::open(store.clone(), lease, durability, image),
            _ => Journal::none(),
        };
        journal.counted(Arc::clone(&options.at_the_store))
    }

    fn context(
        &self,
        graph: GraphId,
        thread_id: &str,
        run_id: String,
        journal: Journal,
        options: &RunOptions,
    ) -> RunContext {
        let keeps = journal.keeps();
        let own_limit = self.plan.flow.graphs[graph].recursion_limit.map(u64::from);
        RunContext {
            plan: self.plan.clone(),
            backends: self.backends.clone(),
            store: self.store.clone(),
            journal,
            ambient: self.ambient.clone(),
            events: options.events.clone(),
            observed: options.observed.clone(),
            under_way: None,
            calls: options.calls.clone(),
            secrets: Arc::clone(&options.secrets),
            thread_id: thread_id.into(),
            run_id: run_id.into(),
            cancel: options.cancel.clone(),
            cancel_grace: options.cancel_grace.unwrap_or(CANCEL_GRACE),
            drain: options.drain.clone(),
            slots: options.max_concurrency.map(Slots::new),
            tasks: TaskLimit(options.max_tasks.unwrap_or(MAX_TASKS)),
            interrupt_before: options.interrupt_before.clone(),
            told_limit: options.recursion_limit,
            served_by: options.served_by.clone(),
            step_limit: options
                .recursion_limit
                .or(own_limit)
                .unwrap_or(RECURSION_LIMIT),
            steps: AtomicU64::new(0),
            stop_after_steps: options.stop_after_steps,
            committed: AtomicU64::new(0),
            usage: Mutex::default(),
            was_killed: false,
            persisted: PersistedStates::new(keeps),
            images: Mutex::default(),
            life: None,
            cut_off: CutOff::default(),
            forked_from: None,
            root: graph,
            former: FormerNames::of(&self.plan.flow),
            permitting: Lasting::default(),
            turns: Turns::default(),
            has_kept: AtomicBool::new(false),
            warnings: Default::default(),
            fallbacks: Default::default(),
            failed_tools: Default::default(),
        }
    }

    /// Runs once the beginning is kept, where the durability asks for that.
    async fn begin(&self, cx: &RunContext, frame: &mut Frame, options: &RunOptions) -> FrameEnd {
        match cx.journal.committed().await {
            Ok(()) => self.drive(cx, frame, options).await,
            Err(error) => FrameEnd::Failed(error.into()),
        }
    }

    async fn drive(&self, cx: &RunContext, frame: &mut Frame, options: &RunOptions) -> FrameEnd {
        // An expression that computes for long is polled by nobody: it asks this one itself.
        let stop = cx.cancel.child_token();
        let run = cancel::asking(stop.clone(), run_frame(cx, frame, &cx.cancel));
        let Some(limit) = options.timeout else {
            return run.await;
        };
        let _ends_the_timer = stop.clone().drop_guard();
        tokio::spawn(stop_after(limit, stop.clone()));
        let end = tokio::time::timeout(limit, run).await;
        let is_late = stop.is_cancelled() && !cx.cancel.is_cancelled();
        match end {
            Ok(FrameEnd::Failed(error)) if is_late && error.kind == ErrorKind::Cancelled => {}
            Ok(end) => return end,
            Err(_) => {}
        }
        let message = format!(
            "the run took longer than {}",
            crate::base::duration::show(limit)
        );
        let error = RunError::new(ErrorKind::Timeout, message);
        cx.cut_off.settle(cx, None, &error);
        FrameEnd::Failed(error.lifted_by("--timeout"))
    }
}

/// Cancels a token when its time is up, unless it is cancelled before.
async fn stop_after(limit: Duration, stop: CancellationToken) {
    if tokio::time::timeout(limit, stop.cancelled()).await.is_err() {
        stop.cancel();
    }
}

/// The life of a thread that begins with a new id.
fn life(id: &str) -> String {
    short_hash("", id).trim_start_matches('-').to_owned()
}

/// Tools of which a call had begun in the step that a thread stands at, and nobody knows whether it happened.
fn left_in_doubt(image: &ThreadImage) -> Vec<String> {
    let root_step = image.frames.first().map_or(0, |root| root.step);
    let effects = image.effects.iter();
    in_doubt::open_calls(effects.filter(|effect| effect.root_step == root_step))
}

/// The latest super-step of the root that a thread has anything of: a fork may have effects of steps that it has not come to.
fn latest_step(image: &ThreadImage) -> u64 {
    let root = image.frames.first().map(|root| root.step);
    let effects = image.effects.iter().map(|effect| effect.root_step);
    effects.chain(root).max().unwrap_or_default()
}

/// Tokens that earlier processes of the run have used, as far as they had noted it: the count only grows.
fn used_before(image: &ThreadImage) -> Usage {
    // Where the process has died, what it had resumed with may count calls of the step that is open: those are counted as they are
    // answered.
    let noted = match image.status.state {
        RunState::Running => Usage::default(),
        _ => serde_json::from_value(image.status.usage.clone()).unwrap_or_default(),
    };
    let frames = image
        .frames
        .iter()
        .map(|frame| super::schedule::usage(&frame.schedule));
    let most = frames.chain([noted]).max_by_key(Usage::total);
    most.unwrap_or_default()
}
