//! Logs of runs: what an observer of runs is told, as events of the crate `tracing`.
//!
//! They hold names, ids, kinds of errors, times and counts, but no prompts, replies, arguments, results or texts of errors. Where they
//! go is said by the subscriber of the program around.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::Value as Json;
use tracing::{debug, error, info, warn};

use crate::base::log::RUN;
use crate::run::engine::RunResult;
use crate::run::event::{Event, EventKind};
use crate::run::observe::{Asked, CallEnd, CallKey, Observed, Observer, RunKey, RunStart};
use crate::run::store::RunState;

/// Logs of the runs that it observes: [`RunOptions::observed`](crate::run::engine::RunOptions::observed).
pub fn logs() -> Observed {
    Observed::new(Arc::new(Logs::default()))
}

/// When what is under way began.
#[derive(Default)]
struct Logs {
    runs: Mutex<BTreeMap<RunKey, OpenRun>>,
}

struct OpenRun {
    began: Instant,
    /// By key.
    tasks: BTreeMap<String, Instant>,
    calls: BTreeMap<CallKey, OpenCall>,
}

struct OpenCall {
    began: Instant,
    /// `model` or `tool`.
    kind: &'static str,
    /// Its name in the flow.
    name: String,
}

impl Logs {
    // No update of it has a middle.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<RunKey, OpenRun>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets a run; how long it took.
    fn took(&self, run: &RunKey) -> Option<u64> {
        let open = self.lock().remove(run);
        open.map(|open| millis(open.began))
    }
}

fn millis(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// The kind of an event's error.
fn kind(error: &Json) -> Option<&str> {
    error.get("kind")?.as_str()
}

impl Observer for Logs {
    fn run_started(&self, run: &RunKey, start: &RunStart<'_>) {
        let open = OpenRun {
            began: Instant::now(),
            tasks: BTreeMap::new(),
            calls: BTreeMap::new(),
        };
        self.lock().insert(run.clone(), open);
        let (thread_id, run_id) = (&*run.thread_id, &*run.run_id);
        let graph = start.plan.graphs.get(start.graph);
        let graph = graph.map(|graph| &*graph.name);
        let within = start.within.map(|call| &*call.run.run_id);
        match start.resumed {
            false => info!(target: RUN, thread_id, run_id, graph, within, "run started"),
            true => info!(target: RUN, thread_id, run_id, graph, within, "run resumed"),
        }
    }

    fn run_finished(&self, run: &RunKey, result: &RunResult) {
        let duration_ms = self.took(run);
        let (thread_id, run_id) = (&*run.thread_id, &*run.run_id);
        let status = result.state.word();
        let (input_tokens, output_tokens) = (result.usage.input_tokens, result.usage.output_tokens);
        let error = result.error.as_ref();
        let kind = error.map(|error| error.kind.word());
        let node = error.and_then(|error| error.path.as_deref());
        let place = error.and_then(|error| error.place.as_ref());
        let place = place.map(|place| place.to_string());
        match result.state {
            RunState::Failed => error!(
                target: RUN, thread_id, run_id, status, duration_ms, input_tokens, output_tokens,
                error = kind, node, place, "run ended"
            ),
            _ => info!(
                target: RUN, thread_id, run_id, status, duration_ms, input_tokens, output_tokens,
                error = kind, node, place, "run ended"
            ),
        }
    }

    fn run_dropped(&self, run: &RunKey) {
        let duration_ms = self.took(run);
        let (thread_id, run_id) = (&*run.thread_id, &*run.run_id);
        info!(target: RUN, thread_id, run_id, duration_ms, "run dropped");
    }

    fn event(&self, run: &RunKey, event: &Event) {
        let (thread_id, run_id) = (&*run.thread_id, &*run.run_id);
        let task = event.task();
        let node = match (&*event.ns, event.node.as_deref()) {
            ("", node) => node.map(str::to_owned),
            (ns, node) => node.map(|node| format!("{ns}/{node}")),
        };
        let took = || {
            let mut runs = self.lock();
            let began = runs.get_mut(run).and_then(|open| open.tasks.remove(task));
            began.map(millis)
        };
        match &event.kind {
            EventKind::TaskStarted { send } => {
                if let Some(open) = self.lock().get_mut(run) {
                    open.tasks.insert(task.to_owned(), Instant::now());
                }
                let step = event.step;
                debug!(target: RUN, thread_id, run_id, task, node, step, send, "task started");
            }
            EventKind::TaskFinished { error, .. } => {
                let (duration_ms, error) = (took(), error.as_ref().and_then(kind));
                debug!(target: RUN, thread_id, run_id, task, node, duration_ms, error, "task ended");
            }
            EventKind::TaskInterrupted { interrupts, .. } => {
                let (duration_ms, interrupts) = (took(), interrupts.join(","));
                info!(
                    target: RUN, thread_id, run_id, task, node, duration_ms, interrupts,
                    "task interrupted"
                );
            }
            EventKind::Retrying {
                attempt,
                error,
                wait_ms,
                ..
            } => {
                let error = kind(error);
                warn!(target: RUN, thread_id, run_id, task, node, attempt, error, wait_ms, "retrying");
            }
            EventKind::Fallback { fallback, .. } => {
                warn!(target: RUN, thread_id, run_id, task, model = fallback, "falling back");
            }
            EventKind::Repaired { of, repairs, .. } => {
                let repairs = repairs.len();
                info!(target: RUN, thread_id, run_id, task, node, of, repairs, "reply repaired");
            }
            _ => {}
        }
    }

    fn call_started(&self, call: &CallKey, asked: &Asked<'_>) {
        let (thread_id, run_id) = (&*call.run.thread_id, &*call.run.run_id);
        let (task, effect) = (&*call.task, &*call.effect);
        let (kind, name) = match *asked {
            Asked::Model {
                served_by,
                provider,
                request,
            } => {
                let model = &*request.model_name;
                let (provider, served) = served_by.unwrap_or((provider, &request.model));
                debug!(
                    target: RUN, thread_id, run_id, task, effect, model, provider, served,
                    "call started"
                );
                ("model", model)
            }
            Asked::Tool { name, .. } => {
                debug!(target: RUN, thread_id, run_id, task, effect, tool = name, "call started");
                ("tool", name)
            }
        };
        if let Some(open) = self.lock().get_mut(&call.run) {
            let began = OpenCall {
                began: Instant::now(),
                kind,
                name: name.to_owned(),
            };
            open.calls.insert(call.clone(), began);
        }
    }

    fn call_finished(&self, call: &CallKey, end: &CallEnd<'_>) {
        let open = {
            let mut runs = self.lock();
            let open = runs.get_mut(&call.run);
            open.and_then(|open| open.calls.remove(call))
        };
        let (thread_id, run_id) = (&*call.run.thread_id, &*call.run.run_id);
        let (task, effect) = (&*call.task, &*call.effect);
        let duration_ms = open.as_ref().map(|open| millis(open.began));
        let named = |kind| {
            let open = open.as_ref().filter(|open| open.kind == kind);
            open.map(|open| &*open.name)
        };
        let (model, tool) = (named("model"), named("tool"));
        let used = (end.usage.total() > 0).then_some(end.usage);
        let input_tokens = used.map(|usage| usage.input_tokens);
        let output_tokens = used.map(|usage| usage.output_tokens);
        let error = end.error.map(|error| error.kind.word());
        match error {
            None => debug!(
                target: RUN, thread_id, run_id, task, effect, model, tool, duration_ms,
                input_tokens, output_tokens, "call ended"
            ),
            Some(error) => info!(
                target: RUN, thread_id, run_id, task, effect, model, tool, duration_ms,
                input_tokens, output_tokens, error, "call failed"
            ),
        }
    }
}
