//! `graph` tools: a call runs another flow, as a run of its own on a thread of its own.
//!
//! The thread's id is made of the call's key, so that a call that is tried again or comes again after a crash goes on with what the one
//! before has done. Whether a graph fits the tool is seen before anything runs ([`fit`](crate::project::spec::graph::fit)).

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::future::join_all;
use serde_json::{Map as JsonMap, Value as Json};
use sha2::{Digest, Sha256};

use crate::ir::{ErrorKind, GraphId};
use crate::project::spec::graph::GraphSpec;
use crate::project::spec::graph::fit::ResultShape;
use crate::run::backends::Backends;
use crate::run::engine::{Engine, RunOptions, RunResult, StartError};
use crate::run::event::{EventKind, Mode};
use crate::run::model::CallContext;
use crate::run::nested::Nested;
use crate::run::plan::Plan;
use crate::run::probe::Probed;
use crate::run::report::Reports;
use crate::run::store::{RunState, StoreError};
use crate::run::stream::{self, EventStream};
use crate::run::tool::{ToolBackend, ToolCall, ToolError};

/// How long a thread that another run still holds is waited for: one that was dropped gives it back in a moment.
const HELD: Duration = Duration::from_secs(10);
/// Between two looks at it.
const PAUSE: Duration = Duration::from_millis(50);

/// A graph with all that it needs to run but a store.
pub struct Runnable {
    /// The flow.
    pub plan: Arc<Plan>,
    /// Its models and tools.
    pub backends: Backends,
    /// The graph.
    pub graph: GraphId,
}

/// A graph as a tool.
pub struct GraphTool {
    spec: GraphSpec,
    runs: Arc<Runnable>,
    gives: ResultShape,
    /// Name of the event that its reports are sent as: events of the graph of that name are reports.
    event: Option<String>,
}

impl GraphTool {
    /// A graph that fits a tool.
    pub fn new(
        spec: GraphSpec,
        runs: Arc<Runnable>,
        gives: ResultShape,
        event: Option<String>,
    ) -> Self {
        Self {
            spec,
            runs,
            gives,
            event,
        }
    }

    async fn run(&self, call: ToolCall, cx: &CallContext) -> Result<Json, ToolError> {
        let Some(nested) = &cx.nested else {
            let message = "a tool that runs a graph is called in runs alone";
            return Err(ToolError::new(ErrorKind::ToolError, message));
        };
        let engine = Engine {
            plan: Arc::clone(&self.runs.plan),
            backends: self.runs.backends.clone(),
            store: nested.store.clone(),
            ambient: Arc::clone(&nested.ambient),
        };
        let thread = thread_id(&call.tool, cx);
        let (options, events) = self.options(nested, cx);
        let run = self.begin_or_go_on(&engine, &thread, call.args, options);
        let result = self.heard(run, events, cx).await?;
        *nested.usage.lock().unwrap_or_else(PoisonError::into_inner) = result.usage;
        self.result(result, &thread)
    }

    /// How the graph is run: as the calling run is, and stopped with it.
    fn options(&self, nested: &Nested, cx: &CallContext) -> (RunOptions, Option<EventStream>) {
        let (sink, events) = match (&self.event, &cx.reports) {
            (Some(_), Some(_)) => {
                let (sink, events) = stream::channel([Mode::Custom]);
                (Some(sink), Some(events))
            }
            _ => (None, None),
        };
        let options = RunOptions {
            durability: nested.durability,
            timeout: self.spec.timeout,
            events: sink,
            observed: nested.observed.clone(),
            // At once, also where the call must not be made twice: the run's own journal has what it did.
            cancel: cx.stop.clone(),
            cancel_grace: Some(nested.cancel_grace),
            secrets: Arc::clone(&cx.secrets),
            ..RunOptions::default()
        };
        (options, events)
    }

    /// Starts the graph, or goes on with what an earlier attempt at the call has left.
    async fn begin_or_go_on(
        &self,
        engine: &Engine,
        thread: &str,
        args: JsonMap<String, Json>,
        options: RunOptions,
    ) -> Result<RunResult, StartError> {
        let known = match &engine.store {
            Some(store) => store.thread(thread).await?,
            None => None,
        };
        let known = known.filter(|known| known.checkpoint > 0);
        let waited = tokio::time::Instant::now();
        loop {
            let options = options.clone();
            let ran = match known.as_ref().map(|known| known.status.state) {
                None => {
                    // What is null is left out: the graph's own default stands then.
                    let given = args.iter().filter(|(_, value)| !value.is_null());
                    let given = given.map(|(name, value)| (name.clone(), value.clone()));
                    let input = Json::Object(given.collect());
                    engine.start(self.runs.graph, thread, &input, options).await
                }
                Some(RunState::Done) => engine.done(self.runs.graph, thread).await,
                Some(_) => engine.resume(thread, &[], options).await,
            };
            match ran {
                Err(StartError::Store(StoreError::Busy { .. })) if waited.elapsed() < HELD => {
                    tokio::time::sleep(PAUSE).await;
                }
                ran => return ran,
            }
        }
    }

    /// Waits for the run, and reports its events meanwhile.
    async fn heard(
        &self,
        run: impl Future<Output = Result<RunResult, StartError>>,
        events: Option<EventStream>,
        cx: &CallContext,
    ) -> Result<RunResult, ToolError> {
        let refused = |error: StartError| {
            let kind = match error {
                StartError::Store(_) => ErrorKind::Store,
                StartError::Version { .. } => ErrorKind::Version,
                StartError::Refused { .. } => ErrorKind::InvalidInput,
            };
            ToolError::new(kind, error.to_string())
        };
        let (Some(mut events), Some(reports)) = (events, &cx.reports) else {
            return run.await.map_err(refused);
        };
        let mut run = std::pin::pin!(run);
        let result = loop {
            tokio::select! {
                biased;
                Some(event) = events.next() => self.report(event.kind, reports).await,
                result = &mut run => break result,
            }
        };
        while let Some(Some(event)) = futures_util::FutureExt::now_or_never(events.next()) {
            self.report(event.kind, reports).await;
        }
        result.map_err(refused)
    }

    async fn report(&self, event: EventKind, reports: &Reports) {
        if let EventKind::Custom { name, payload, .. } = event
            && Some(&name) == self.event.as_ref()
        {
            reports.send(Ok(payload)).await;
        }
    }

    /// What the run came to, as the tool's result.
    fn result(&self, result: RunResult, thread: &str) -> Result<Json, ToolError> {
        let graph = self.runs.plan.flow.graphs.get(self.runs.graph);
        let graph = graph.map_or("", |graph| graph.name.as_str());
        match (result.state, result.error) {
            (RunState::Done, _) => Ok(self.gives.of(result.output)),
            (RunState::Interrupted, _) => Err(ToolError::new(
                ErrorKind::ToolError,
                format!(
                    "graph `{graph}` asks a person on thread `{thread}`, which a tool can't pass on: answer it there, then go on"
                ),
            )),
            (_, Some(error)) if error.kind != ErrorKind::Cancelled => {
                let node = error.path.as_deref().or(error.node.as_deref());
                let node = node.map(|node| format!(" in `{node}`")).unwrap_or_default();
                let message = format!("graph `{graph}` failed{node}: {}", error.message);
                Err(ToolError::new(error.kind, message))
            }
            _ => {
                // A call that is made again goes on with the thread.
                let message = format!("graph `{graph}` was stopped");
                Err(ToolError::new(ErrorKind::Cancelled, message).unsent())
            }
        }
    }
}

/// The id of the thread that a call runs on: the same for each attempt at it, another for every other call.
fn thread_id(tool: &str, cx: &CallContext) -> String {
    let hash = Sha256::digest(cx.idempotency_key.as_bytes());
    let hash = hash.iter().take(8).map(|byte| format!("{byte:02x}"));
    format!("{tool}-{}", hash.collect::<String>())
}

#[async_trait]
impl ToolBackend for GraphTool {
    async fn call(&self, call: ToolCall, cx: &CallContext) -> Result<Json, ToolError> {
        self.run(call, cx).await
    }

    async fn probe(&self) -> Probed {
        let tools = self.runs.backends.tools.iter().flatten();
        let tried = join_all(tools.map(|tool| tool.probe())).await;
        let mut problems = Vec::new();
        for probed in tried {
            if let Probed::Problems(found) = probed {
                problems.extend(found);
            }
        }
        match problems.is_empty() {
            true => Probed::Ok(format!("`{}` fits the tool", self.spec.file)),
            false => Probed::Problems(problems),
        }
    }

    async fn close(&self) {
        self.runs.backends.close().await;
    }
}
