//! Super-steps: runs a frame's tasks together, commits, keeps the checkpoint, until nothing is left.
//!
//! Tasks of one step share one future: pure nodes run in place, the others side by side. Owner of
//! everything under way is [`run_frame`]'s caller; dropping its future cancels all of it.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use futures_util::stream::{FuturesUnordered, StreamExt};
use tokio_util::sync::CancellationToken;

use crate::ir::ErrorKind;

use super::context::RunContext;
use super::effect::EffectScope;
use super::error::RunError;
use super::frame::Frame;
use super::interrupt::OpenInterrupt;
use super::limit::{TaskLimit, count_step};
use super::plan::{GraphPlan, NodePlan, WorkPlan};
use super::store::Source;
use super::task::{Next, Outcome, Output, Surroundings, Task, TaskRun, join_path};
use super::turns::Turn;
use super::work;

mod checkpoint;
mod stops;
mod task_events;
mod trail;

use stops::stops_before;
use task_events::{finished, started};
use trail::Trail;

pub use checkpoint::{keep, kept_context, tell_again, values};
pub use stops::{ANY, BEFORE};

/// How a frame came to rest.
pub enum FrameEnd {
    /// Nothing is left to do.
    Done,
    /// It was left for nodes of the caller, by these names.
    Left(Vec<Arc<str>>),
    /// It waits for answers.
    Interrupted(Vec<OpenInterrupt>),
    /// It failed; the step can be made again.
    Failed(RunError),
}

/// Makes super-steps until the frame comes to rest. Boxed, since a subgraph's frame runs inside a task.
pub fn run_frame<'a>(
    cx: &'a RunContext,
    frame: &'a mut Frame,
    stop: &'a CancellationToken,
) -> Pin<Box<dyn Future<Output = FrameEnd> + Send + 'a>> {
    Box::pin(async move {
        let mut trail = Trail::default();
        while !frame.is_finished() {
            if let Err(end) = one_step(cx, frame, stop, &mut trail).await {
                return end;
            }
        }
        if frame.agenda.leaves.is_empty() {
            FrameEnd::Done
        } else {
            FrameEnd::Left(frame.agenda.leaves.clone())
        }
    })
}

async fn one_step(
    cx: &RunContext,
    frame: &mut Frame,
    stop: &CancellationToken,
    trail: &mut Trail,
) -> Result<(), FrameEnd> {
    // What waits for nothing lets others run now and then, among them the clock of a `timeout`.
    tokio::task::consume_budget().await;
    if frame.key.is_empty() {
        cx.journal.enter_root_step(frame.step);
    }
    if stop.is_cancelled() {
        return Err(FrameEnd::Failed(super::effect::cancelled()));
    }
    if cx.is_drained() {
        let error = match cx.drain.is_cancelled() {
            true => super::effect::drained("behind the super-step under way"),
            false => RunError::new(
                ErrorKind::Cancelled,
                "the run stopped after as many super-steps as it was asked to make",
            ),
        };
        return Err(FrameEnd::Failed(error));
    }
    let plan = cx.plan.clone();
    let graph = &plan.graphs[frame.graph];
    stops_before(cx, graph, frame)?;
    if let Err(error) = count_step(cx, &frame.limits) {
        let error = trail.explain(cx, error, graph, frame).await;
        return Err(FrameEnd::Failed(error));
    }
    trail.note(frame);
    let mut outputs = match run_tasks(cx, graph, frame, stop).await {
        Ok(outputs) => outputs,
        Err(end) => return Err(trail.explain_call(cx, end, graph, frame).await),
    };
    let called = outputs.iter_mut().filter_map(|output| output.called.take());
    let called: Vec<_> = called.collect();
    let changes = frame.commit(cx, outputs).map_err(FrameEnd::Failed)?;
    let left = called.into_iter();
    let left: Vec<_> = left.filter_map(|called| frame.ended(*called)).collect();
    cx.persisted.commit(frame, left);
    keep(cx, &plan, frame, changes, Source::Step)
        .await
        .map_err(FrameEnd::Failed)
}

async fn run_tasks(
    cx: &RunContext,
    graph: &GraphPlan,
    frame: &Frame,
    stop: &CancellationToken,
) -> Result<Vec<Output>, FrameEnd> {
    let around = frame.surroundings(cx, graph, 1);
    let tasks = &frame.agenda.tasks;
    // Of several tasks the first that fails stops the others. A task that is alone shares the token of
    // what is around it, which is not its to cancel: its failure may be handled there.
    let siblings = (tasks.len() > 1).then(|| stop.child_token());
    let stop = siblings.as_ref().unwrap_or(stop);
    let mut outcomes = Outcomes::new(cx, tasks.len());
    let mut waiting = Vec::new();
    for (index, task) in tasks.iter().enumerate() {
        let node = &graph.nodes[task.node];
        let send = task.send.as_ref().map(|(index, _)| *index);
        let effects = EffectScope::new(frame.task_key(&node.name, send), stop.clone());
        let effects = effects.ranked(&frame.rank, task.node);
        if node.pure {
            cx.room().await;
            tokio::task::consume_budget().await;
            let outcome = run_pure(&around, frame, node, task, &effects);
            let outcome = outcomes.hold(outcome, node, frame);
            stop_others(cx, &outcome, siblings.as_ref());
            outcomes.put(index, outcome);
        } else {
            waiting.push((index, task, effects));
        }
    }
    if waiting.is_empty() {
        return gather(outcomes.all.into_iter().flatten());
    }
    let turns = waiting.iter();
    // All of them before any runs: who comes first doesn't depend on who is faster.
    let turns: Vec<_> = turns
        .map(|(_, task, effects)| cx.turns.note(&graph.nodes[task.node], effects))
        .collect();
    let mut futures = Vec::with_capacity(waiting.len());
    for ((index, task, effects), turn) in waiting.into_iter().zip(turns) {
        futures.push(run_indexed(&around, frame, (index, task), effects, turn));
    }
    let mut running: FuturesUnordered<_> = futures.into_iter().collect();
    while let Some((index, node, outcome)) = running.next().await {
        let outcome = outcomes.hold(outcome, node, frame);
        stop_others(cx, &outcome, siblings.as_ref());
        outcomes.put(index, outcome);
    }
    drop(running);
    gather(outcomes.all.into_iter().flatten())
}

/// What the tasks of a step came to, by position.
struct Outcomes {
    all: Vec<Option<Outcome>>,
    /// Tasks that they lead to.
    sent: usize,
    limit: TaskLimit,
}

impl Outcomes {
    fn new(cx: &RunContext, tasks: usize) -> Self {
        let mut all = Vec::new();
        all.resize_with(tasks, || None);
        Self {
            all,
            sent: 0,
            limit: cx.tasks,
        }
    }

    /// The outcome, or that the tasks so far lead to more than a step may have: before all of them have been made.
    fn hold(&mut self, outcome: Outcome, node: &NodePlan, frame: &Frame) -> Outcome {
        let Outcome::Done(output) = &outcome else {
            return outcome;
        };
        let sends = output.next.iter();
        self.sent += sends.filter(|next| matches!(next, Next::Send(..))).count();
        match self.limit.hold_sent(self.sent, &node.name) {
            Ok(()) => outcome,
            Err(error) => Outcome::Failed(located(error, frame, node)),
        }
    }

    fn put(&mut self, index: usize, outcome: Outcome) {
        if let Some(place) = self.all.get_mut(index) {
            *place = Some(outcome);
        }
    }
}

/// A task with its position and node.
async fn run_indexed<'a>(
    around: &Surroundings<'a>,
    frame: &Frame,
    (index, task): (usize, &Task),
    effects: EffectScope,
    turn: Option<Turn<'_>>,
) -> (usize, &'a NodePlan, Outcome) {
    let node = &around.graph.nodes[task.node];
    let outcome = run_task(around, frame, task, &effects).await;
    drop(turn);
    (index, node, outcome)
}

/// A failure stops the other tasks of the step before their next effect. A call that was drained does not: the others
/// may finish what they are at.
fn stop_others(cx: &RunContext, outcome: &Outcome, siblings: Option<&CancellationToken>) {
    let (Outcome::Failed(error), Some(siblings)) = (outcome, siblings) else {
        return;
    };
    if error.kind != ErrorKind::Cancelled || !cx.is_drained() {
        siblings.cancel();
    }
}

/// How far an error is from the one that stopped a step: a real one before what it stopped in others.
fn remoteness(error: &RunError) -> u8 {
    match error.kind {
        ErrorKind::Cancelled if error.message == super::effect::cancelled().message => 2,
        // A call that was drained, or a backend's own word.
        ErrorKind::Cancelled => 1,
        _ => 0,
    }
}

/// All outputs, or why there are not all: an error before an interrupt, a real error before the
/// cancellation that it caused in others.
fn gather(outcomes: impl Iterator<Item = Outcome>) -> Result<Vec<Output>, FrameEnd> {
    let mut outputs = Vec::new();
    let mut open = Vec::new();
    let mut failed: Option<RunError> = None;
    for outcome in outcomes {
        match outcome {
            Outcome::Done(output) => outputs.push(output),
            Outcome::Interrupted(interrupts) => open.extend(interrupts),
            Outcome::Failed(error) => {
                let nearer = |known: &RunError| remoteness(&error) < remoteness(known);
                if failed.as_ref().is_none_or(nearer) {
                    failed = Some(error);
                }
            }
        }
    }
    match (failed, open.is_empty()) {
        (Some(error), _) => Err(FrameEnd::Failed(error)),
        (None, false) => Err(FrameEnd::Interrupted(open)),
        (None, true) => Ok(outputs),
    }
}

/// A node without effects on the outside: no future, no waiting.
fn run_pure(
    around: &Surroundings<'_>,
    frame: &Frame,
    node: &NodePlan,
    task: &Task,
    effects: &EffectScope,
) -> Outcome {
    started(around, node, task, effects);
    let mut run = TaskRun::new(
        around,
        node,
        task.send.as_ref().map(|(_, input)| input),
        effects,
    );
    let done = run
        .begin(node)
        .and_then(|on| if on { run.finish(node) } else { Ok(()) });
    let outcome = match done {
        Ok(()) => Outcome::Done(run.into_output(&node.joins)),
        Err(error) => work::handle(
            around,
            node,
            task,
            effects,
            located(error, frame, node),
            false,
        ),
    };
    finished(around, node, task, effects, outcome)
}

async fn run_task(
    around: &Surroundings<'_>,
    frame: &Frame,
    task: &Task,
    effects: &EffectScope,
) -> Outcome {
    let node = &around.graph.nodes[task.node];
    // Waiting for a place is none of the node's time. A task that only waits for the graph that it calls takes none, so
    // that there is always one that gets on.
    let slots = around.cx.slots.as_ref();
    let _slot = match slots.filter(|_| !matches!(node.work, WorkPlan::Subgraph { .. })) {
        None => None,
        Some(slots) => match slots.occupy(effects.task(), &effects.stop).await {
            Ok(slot) => Some(slot),
            Err(error) => return Outcome::Failed(error),
        },
    };
    around.cx.room().await;
    started(around, node, task, effects);
    if node.on_error.is_some()
        && let Some(error) = effects.handled(around, task)
    {
        let outcome = work::handle(around, node, task, effects, error, true);
        return finished(around, node, task, effects, outcome);
    }
    // In a box: a task is as large as the largest kind of node, and callers' stacks may be small.
    let work = Box::pin(work::run(around, frame, node, task, effects));
    let done = match node.timeout {
        None => work.await,
        Some(limit) => match effects.waits.limited(limit, work).await {
            Some(done) => done,
            None => {
                let message = format!(
                    "node `{}` took longer than {}",
                    node.name,
                    crate::base::duration::show(limit)
                );
                let error = RunError::new(ErrorKind::Timeout, message);
                let cx = around.cx;
                cx.cut_off.settle(cx, Some(effects.task()), &error);
                Err(work::Stop::Failed(error))
            }
        },
    };
    let outcome = match done {
        Ok(output) => Outcome::Done(output),
        Err(work::Stop::Interrupted(open)) => Outcome::Interrupted(open),
        Err(work::Stop::Failed(error)) => work::handle(
            around,
            node,
            task,
            effects,
            located(error, frame, node),
            false,
        ),
    };
    finished(around, node, task, effects, outcome)
}

fn located(error: RunError, frame: &Frame, node: &NodePlan) -> RunError {
    let mut error = error.in_node(&node.name, &join_path(&frame.path, &node.name));
    if error.place.is_none() && matches!(error.kind, ErrorKind::Expression | ErrorKind::Require) {
        error.place = Some(Box::new(node.place.clone()));
    }
    error
}
