//! Makes spans of what an observer of runs is told.
//!
//! A trace is one run, over all its resumes; each stretch of it has a span of its own at the top. Below it are the spans of
//! tasks, below these those of their calls, and of the tasks of the graphs that they call.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use crate::backend::secret::Secrets;
use crate::ir::GraphId;
use crate::run::engine::RunResult;
use crate::run::event::{Event, EventKind};
use crate::run::observe::{Asked, CallEnd, CallKey, Observer, RunKey, RunStart};
use crate::run::plan::{Plan, WorkPlan};
use crate::run::store::RunState;

use super::convention;
use super::export::{Exporter, now};
use super::span::{Attr, Attribute, Span, SpanEvent};

/// Spans of runs under way.
pub struct Traces {
    exporter: Arc<Exporter>,
    /// Whether messages, arguments, results and the texts of errors are told.
    content: bool,
    secrets: Secrets,
    runs: Mutex<BTreeMap<RunKey, OpenRun>>,
}

/// A run under way.
struct OpenRun {
    span: Span,
    plan: Arc<Plan>,
    graph: GraphId,
    /// By key.
    tasks: BTreeMap<String, Span>,
    calls: BTreeMap<CallKey, Span>,
    /// What must not be told.
    secrets: Secrets,
}

impl Traces {
    /// Hands finished spans to the exporter.
    pub fn new(exporter: Arc<Exporter>, content: bool, secrets: Secrets) -> Self {
        Self {
            exporter,
            content,
            secrets,
            runs: Mutex::default(),
        }
    }

    // No update of it has a middle.
    fn lock(&self) -> MutexGuard<'_, BTreeMap<RunKey, OpenRun>> {
        self.runs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends a span and hands it over. `error`: kind and message.
    fn end(&self, mut span: Span, error: Option<(&str, &str)>, secrets: &Secrets) {
        span.end = now();
        if let Some((kind, message)) = error {
            span.attributes.push(("error.type", Attr::from(kind)));
            let told = self.content.then(|| message.to_owned());
            span.error = Some(told.unwrap_or_default());
        }
        let texts = span
            .error
            .iter_mut()
            .chain(
                span.attributes
                    .iter_mut()
                    .filter_map(|(_, value)| match value {
                        Attr::Text(text) => Some(text),
                        _ => None,
                    }),
            );
        texts.for_each(|text| *text = secrets.scrub(text));
        self.exporter.send(span);
    }

    /// Ends a run's span and those in it that are open. `error`: kind and message.
    fn end_run(&self, key: &RunKey, status: &str, error: Option<(&str, &str)>) {
        let Some(mut run) = self.lock().remove(key) else {
            return;
        };
        // What a timeout has cut off has told no end.
        let open = run.calls.into_values().chain(run.tasks.into_values());
        for span in open {
            self.end(span, Some(("cancelled", "")), &run.secrets);
        }
        let status = ("graphc.run.status", Attr::from(status));
        run.span.attributes.push(status);
        self.end(run.span, error, &run.secrets);
    }

    fn task_started(&self, run: &mut OpenRun, event: &Event, send: Option<u32>) {
        let key = event.task();
        let node = event.node.as_deref().unwrap_or_default();
        let kind = kind_of(&run.plan, run.graph, &event.ns, node);
        let around = key.rsplit_once('/').map(|(around, _)| around);
        let around = around.and_then(|around| run.tasks.get(around));
        let mut span = begun(&run.span, around.unwrap_or(&run.span).id);
        let path = match event.ns.as_str() {
            "" => node.to_owned(),
            ns => format!("{ns}/{node}"),
        };
        span.name = match kind {
            "agent" => format!("invoke_agent {node}"),
            _ => format!("task {node}"),
        };
        if kind == "agent" {
            span.attributes = vec![
                ("gen_ai.operation.name", Attr::from("invoke_agent")),
                ("gen_ai.agent.name", Attr::from(node)),
            ];
        }
        span.attributes.extend([
            ("graphc.node", Attr::Text(path)),
            ("graphc.node.kind", Attr::from(kind)),
            ("graphc.step", Attr::from(event.step)),
        ]);
        let send = send.map(|send| ("graphc.send", Attr::Int(send.into())));
        span.attributes.extend(send);
        span.attributes.push(conversation(&event.thread_id));
        run.tasks.insert(key.to_owned(), span);
    }

    /// Something that happened to a task, told at its call where there is one of that name.
    fn note(&self, run: &mut OpenRun, event: &Event, noted: SpanEvent) {
        let task = event.task();
        let of_task = event.id.split_once('#').map_or("", |(_, effect)| effect);
        let call = CallKey {
            run: RunKey {
                thread_id: Arc::clone(&event.thread_id),
                run_id: Arc::clone(&event.run_id),
            },
            task: task.to_owned(),
            effect: of_task
                .rsplit_once('!')
                .map_or(of_task, |(effect, _)| effect)
                .to_owned(),
        };
        let span = match run.calls.get_mut(&call) {
            Some(call) => Some(call),
            None => run.tasks.get_mut(task),
        };
        if let Some(span) = span {
            span.events.push(noted);
        }
    }
}

impl Observer for Traces {
    fn run_started(&self, key: &RunKey, start: &RunStart<'_>) {
        let graph = start.plan.graphs.get(start.graph);
        let name = graph.map_or("", |graph| &graph.name);
        let mut runs = self.lock();
        // A run that a call makes is a part of the trace of that call.
        let within = start.within.and_then(|call| {
            let around = runs.get(&call.run)?;
            let call = around.calls.get(call).unwrap_or(&around.span);
            Some((call.trace_id, call.id))
        });
        let mut secrets = self.secrets.clone();
        secrets.add_all(start.secrets.all());
        let (trace_id, parent) = match within {
            Some((trace, call)) => (trace, Some(call)),
            None => (trace_id(key), None),
        };
        let span = Span {
            trace_id,
            id: new_id(),
            parent,
            name: format!("invoke_workflow {name}"),
            client: false,
            start: now(),
            end: 0,
            attributes: vec![
                ("gen_ai.operation.name", Attr::from("invoke_workflow")),
                ("gen_ai.agent.name", Attr::from(name)),
                conversation(&key.thread_id),
                ("graphc.run.id", Attr::from(&*key.run_id)),
                ("graphc.run.resumed", Attr::Flag(start.resumed)),
            ],
            events: Vec::new(),
            error: None,
        };
        let run = OpenRun {
            span,
            plan: Arc::clone(start.plan),
            graph: start.graph,
            tasks: BTreeMap::new(),
            calls: BTreeMap::new(),
            secrets,
        };
        runs.insert(key.clone(), run);
    }

    fn run_finished(&self, key: &RunKey, result: &RunResult) {
        let error = result.error.as_ref();
        let error = error.map(|error| (error.kind.word(), error.message.as_str()));
        self.end_run(key, result.state.word(), error);
    }

    fn run_dropped(&self, key: &RunKey) {
        self.end_run(key, RunState::Cancelled.word(), Some(("cancelled", "")));
    }

    fn event(&self, key: &RunKey, event: &Event) {
        let mut runs = self.lock();
        let Some(run) = runs.get_mut(key) else {
            return;
        };
        let mut ended = |error: Option<&Json>, more: Option<Attribute>| {
            let Some(mut span) = run.tasks.remove(event.task()) else {
                return;
            };
            span.attributes.extend(more);
            let text = |name: &str| error?.get(name)?.as_str();
            let error = text("kind").map(|kind| (kind, text("message").unwrap_or_default()));
            self.end(span, error, &run.secrets);
        };
        match &event.kind {
            EventKind::TaskStarted { send } => self.task_started(run, event, *send),
            EventKind::TaskFinished { error, .. } => ended(error.as_ref(), None),
            EventKind::TaskInterrupted { .. } => {
                ended(None, Some(("graphc.interrupted", Attr::Flag(true))));
            }
            EventKind::Retrying {
                attempt,
                error,
                wait_ms,
                ..
            } => {
                let kind = error.get("kind").and_then(Json::as_str);
                let attributes = vec![
                    ("error.type", Attr::from(kind.unwrap_or_default())),
                    ("graphc.attempt", Attr::Int((*attempt).into())),
                    ("graphc.wait_ms", Attr::from(*wait_ms)),
                ];
                self.note(run, event, happened("graphc.retry", attributes));
            }
            EventKind::Fallback {
                model,
                fallback,
                error,
                ..
            } => {
                let kind = error.get("kind").and_then(Json::as_str);
                let attributes = vec![
                    ("error.type", Attr::from(kind.unwrap_or_default())),
                    ("graphc.model", Attr::from(model.as_str())),
                    ("graphc.fallback", Attr::from(fallback.as_str())),
                ];
                self.note(run, event, happened("graphc.fallback", attributes));
            }
            EventKind::Repaired { of, repairs, .. } => {
                let attributes = vec![
                    ("graphc.repaired", Attr::from(of.as_str())),
                    ("graphc.repairs", Attr::from(repairs.len() as u64)),
                ];
                self.note(run, event, happened("graphc.repair", attributes));
            }
            _ => {}
        }
    }

    fn call_started(&self, call: &CallKey, asked: &Asked<'_>) {
        let (name, attributes, client) = convention::call(asked, self.content);
        let mut runs = self.lock();
        let Some(run) = runs.get_mut(&call.run) else {
            return;
        };
        let around = run.tasks.get(&call.task).unwrap_or(&run.span);
        let mut span = begun(around, around.id);
        span.name = name;
        span.client = client;
        span.attributes = attributes;
        span.attributes.push(conversation(&call.run.thread_id));
        run.calls.insert(call.clone(), span);
    }

    fn call_finished(&self, call: &CallKey, end: &CallEnd<'_>) {
        let mut runs = self.lock();
        let Some(run) = runs.get_mut(&call.run) else {
            return;
        };
        let Some(mut span) = run.calls.remove(call) else {
            return;
        };
        let (reply, result) = (end.reply, end.result);
        span.attributes
            .extend(convention::ended(&end.usage, reply, result, self.content));
        let error = end.error;
        let error = error.map(|error| (error.kind.word(), error.message.as_str()));
        self.end(span, error, &run.secrets);
    }
}

/// A span that begins now, of the same trace.
fn begun(of: &Span, parent: u64) -> Span {
    Span {
        trace_id: of.trace_id,
        id: new_id(),
        parent: Some(parent),
        name: String::new(),
        client: false,
        start: now(),
        end: 0,
        attributes: Vec::new(),
        events: Vec::new(),
        error: None,
    }
}

fn happened(name: &'static str, attributes: Vec<Attribute>) -> SpanEvent {
    SpanEvent {
        name,
        at: now(),
        attributes,
    }
}

fn conversation(thread: &str) -> Attribute {
    ("gen_ai.conversation.id", Attr::from(thread))
}

/// The same for all stretches of a run.
fn trace_id(run: &RunKey) -> u128 {
    let digest = Sha256::digest(format!("{}\0{}", run.thread_id, run.run_id));
    let bytes = digest.iter().take(16);
    bytes.fold(0, |id, byte| id << 8 | u128::from(*byte))
}

/// The id of a span, not 0.
fn new_id() -> u64 {
    (uuid::Uuid::new_v4().as_u128() as u64).max(1)
}

/// The kind of a node: the word that declares it. `ns` is the path of its frame.
fn kind_of(plan: &Plan, root: GraphId, ns: &str, node: &str) -> &'static str {
    let work_of = |graph: GraphId, name: &str| {
        let nodes = plan.graphs.get(graph)?.nodes.iter();
        let node = nodes.into_iter().find(|node| *node.name == *name);
        node.map(|node| &node.work)
    };
    let mut graph = root;
    for part in ns.split('/').filter(|part| !part.is_empty()) {
        match work_of(graph, part) {
            Some(WorkPlan::Subgraph { graph: called, .. }) => graph = *called,
            _ => return "node",
        }
    }
    match work_of(graph, node) {
        Some(WorkPlan::Llm(_)) => "llm",
        Some(WorkPlan::Agent { .. }) => "agent",
        Some(WorkPlan::Tools { .. }) => "tools",
        Some(WorkPlan::Call { .. }) => "call",
        Some(WorkPlan::Update) => "update",
        Some(WorkPlan::Branch) => "branch",
        Some(WorkPlan::Interrupt { .. }) => "interrupt",
        Some(WorkPlan::Subgraph { .. }) => "subgraph",
        Some(WorkPlan::Extern { .. }) => "extern",
        None => "node",
    }
}
