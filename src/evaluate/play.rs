//! Playing a row: its input, then its answers, until the run ends or nothing is left to answer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use async_trait::async_trait;
use futures_util::FutureExt;
use serde::{Deserialize, Serialize};
use serde_json::{Map as JsonMap, Value as Json, json};
use tokio_util::sync::CancellationToken;

use crate::backend::bind::{bind, bind_beside};
use crate::backend::given::Given;
use crate::backend::scenario::{Script, in_turns, seed};
use crate::base::secret::RunSecrets;
use crate::diag::Diagnostics;
use crate::ir::{ErrorKind, Flow, GraphId, ModelId, ToolId, Work};
use crate::project::bindings::Bindings;
use crate::project::config::ModelBinding;
use crate::project::fit::nodes;
use crate::project::scenario::Row;
use crate::run::ambient::{Ambient, SystemAmbient};
use crate::run::backends::Backends;
use crate::run::engine::{Engine, RunOptions, RunResult, StartError};
use crate::run::event::{Event, EventKind, Mode};
use crate::run::exchange::Watcher;
use crate::run::interrupt::Answer;
use crate::run::memory::{self, Access};
use crate::run::model::{CallContext, ChatModel, ChatRequest, ChatStream, ModelError, Usage};
use crate::run::observe::Observed;
use crate::run::plan::Plan;
use crate::run::store::{RunState, Store};
use crate::run::stream::{self, EventStream};
use crate::run::tool::{ToolBackend, ToolCall, ToolError};
use crate::scenario::ambient::StillAmbient;
use crate::scenario::answers::{Pending, Used};
use crate::store::MemoryStore;

use super::alone::{GIVES, PARENT};
use super::sheet::Call;
use super::stage::Stage;

/// What is outside of a row's own replies.
#[derive(Clone)]
pub struct Outside {
    /// The settings, which say what serves models and tools.
    pub bindings: Arc<Bindings>,
    /// Who observes runs that ask these. Those that play all of their models are observed by nobody.
    pub observed: Option<Observed>,
}

impl Outside {
    /// Whether the settings have some model of a flow scripted: then rows play all of them.
    pub fn is_scripted(&self, flow: &Flow) -> bool {
        let models = flow.models.iter();
        let bound = models.map(|model| self.bindings.config.model(&model.name));
        bound
            .flatten()
            .any(|entry| matches!(entry.value, ModelBinding::Scripted))
    }

    /// What serves a row that plays itself: nothing else is reached but the tools that it has really called.
    ///
    /// # Errors
    /// What the settings lack for those.
    pub fn play(&self, flow: &Flow, script: &Arc<Script>) -> Result<Backends, Diagnostics> {
        let of = &self.bindings;
        bind(flow, &of.config, Some(script), &of.folder)
    }

    /// What serves rows that play no models, below a graph. Tools of these names are the rows' own.
    ///
    /// # Errors
    /// All that the settings lack for what is used there.
    pub fn reach(
        &self,
        flow: &Flow,
        graph: GraphId,
        played: &[&str],
    ) -> Result<Backends, Diagnostics> {
        let (models, tools) = used(flow, graph);
        let mut given = Given::default();
        for (id, model) in flow.models.entries() {
            if !models.contains(&id) {
                let unserved: Arc<dyn ChatModel> = Arc::new(UnboundTool);
                given.models.insert(model.name.clone(), unserved);
            }
        }
        for (id, tool) in flow.tools.entries() {
            let needless = played.contains(&tool.name.as_str()) || !tools.contains(&id);
            let tools = &self.bindings.config.tools;
            let bound = tools.contains_key(&tool.name) || tool.body.is_some();
            if needless && !bound && !tool.is_of(memory::MODULE) {
                let unserved: Arc<dyn ToolBackend> = Arc::new(UnboundTool);
                given.tools.insert(tool.name.clone(), unserved);
            }
        }
        let of = &self.bindings;
        bind_beside(&given, flow, &of.config, &of.folder)
    }
}

/// Models and tools that nodes below a graph use.
fn used(flow: &Flow, graph: GraphId) -> (BTreeSet<ModelId>, BTreeSet<ToolId>) {
    let (mut models, mut tools) = (BTreeSet::new(), BTreeSet::new());
    for (_, node) in nodes::all(flow, graph) {
        match &node.work {
            Work::Llm(call) | Work::Agent { call, .. } => {
                models.insert(call.model);
                let model = flow.models.get(call.model);
                models.extend(
                    model
                        .iter()
                        .flat_map(|model| model.fallback.iter().copied()),
                );
                tools.extend(call.tools.iter().copied());
            }
            Work::Tools { tools: of, .. } => tools.extend(of.iter().copied()),
            Work::Call { tool, .. } => {
                tools.insert(*tool);
            }
            _ => {}
        }
    }
    (models, tools)
}

/// A tool that some rows play, in a row that does not; models and tools that the stage does not use.
struct UnboundTool;

#[async_trait]
impl ToolBackend for UnboundTool {
    async fn call(&self, call: ToolCall, _: &CallContext) -> Result<Json, ToolError> {
        let message = format!(
            "the row has no replies for tool `{}`, and graphc.yaml binds it to nothing",
            call.tool
        );
        Err(ToolError::new(ErrorKind::ToolError, message))
    }
}

#[async_trait]
impl ChatModel for UnboundTool {
    async fn stream(
        &self,
        request: ChatRequest,
        _: &CallContext,
    ) -> Result<ChatStream, ModelError> {
        let message = format!("nothing serves model `{}`", request.model_name);
        Err(ModelError::new(ErrorKind::InvalidRequest, message))
    }
}

/// What a run of a row came to.
#[derive(Debug, Clone, Default)]
pub struct Played {
    /// What it gave: the `out` fields of a graph; of a node alone what its work gives, or the fields that it wrote.
    pub output: Json,
    /// Nodes that a node alone led to, and those of a caller that a graph left for (`parent.NAME`).
    pub next: Vec<String>,
    /// The whole state at the end.
    pub state: JsonMap<String, Json>,
    /// Events that it sent: objects with `name` and `payload`.
    pub events: Vec<Json>,
    /// `kind` and `message` of what it failed of.
    pub error: Option<Failed>,
    /// Tokens.
    pub usage: Usage,
    /// How long it took, in milliseconds.
    pub took_ms: u64,
    /// Calls of models.
    pub calls: Vec<Call>,
}

/// Why a run gave nothing that could be judged.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failed {
    /// A kind of error of the language, or `interrupted`.
    pub kind: String,
    /// What happened.
    pub message: String,
}

/// One run.
pub struct Play<'a> {
    /// What runs.
    pub stage: &'a Stage,
    /// Its plan, for this row.
    pub plan: Arc<Plan>,
    /// The row.
    pub row: &'a Row,
    /// The play of its models and tools, where it plays itself.
    pub script: Option<Arc<Script>>,
    /// Models and tools.
    pub backends: Backends,
    /// Who observes it.
    pub observed: Option<Observed>,
    /// Secrets that its tools need of a run.
    pub secrets: Arc<RunSecrets>,
    /// Ends it.
    pub cancel: CancellationToken,
}

/// Backends with the tools that a row plays over them.
pub fn with_tools(mut backends: Backends, flow: &Flow, script: &Arc<Script>) -> Backends {
    for (id, tool) in flow.tools.entries() {
        if let (Some(played), Some(place)) = (script.tool(&tool.name), backends.tools.get_mut(id)) {
            *place = Some(played);
        }
    }
    backends
}

/// What was seen of a run.
#[derive(Default)]
struct Seen {
    events: Vec<Json>,
    /// Super-steps and names of the tasks that began.
    started: Vec<(u64, String)>,
    written: BTreeMap<String, Json>,
}

impl Play<'_> {
    /// Runs it. `None` where it was cancelled.
    pub async fn run(&self) -> Option<Played> {
        let began = Instant::now();
        let calls: Arc<Mutex<Vec<Call>>> = Arc::default();
        let mut seen = Seen::default();
        let ended = self.to_end(&calls, &mut seen).await;
        let mut played = match ended {
            Ok(result) if result.state == RunState::Cancelled => return None,
            Ok(result) => self.played(result, seen),
            Err(message) => Played {
                error: Some(Failed {
                    kind: ErrorKind::InvalidInput.word().to_owned(),
                    message,
                }),
                ..Played::default()
            },
        };
        played.took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        played.calls = std::mem::take(&mut *calls.lock().unwrap_or_else(PoisonError::into_inner));
        Some(played)
    }

    async fn to_end(
        &self,
        calls: &Arc<Mutex<Vec<Call>>>,
        seen: &mut Seen,
    ) -> Result<RunResult, String> {
        let scenario = self.row.scenario().ok_or("the row says nothing")?;
        let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
        let ambient: Arc<dyn Ambient> = match (&self.script, scenario.clock) {
            (None, None) => Arc::new(SystemAmbient),
            // Each run that asks real services is one of its own.
            (None, clock) => Arc::new(StillAmbient::outside_tests(clock)),
            (Some(_), clock) => Arc::new(StillAmbient::new(clock)),
        };
        if let (Some(script), false) = (&self.script, scenario.memory.is_empty()) {
            let now = ambient.now().as_millisecond();
            let access = Access::new(Some(Arc::clone(&store)), Arc::default(), now, Json::Null);
            seed(script, access, &self.row.id).await?;
        }
        let engine = Engine {
            plan: Arc::clone(&self.plan),
            backends: self.backends.clone(),
            store: Some(store),
            ambient,
        };
        let input = match self.stage.node {
            Some(_) => json!({}),
            None => Json::Object(scenario.input.clone()),
        };
        let context = Json::Object(scenario.context.clone());
        let graph = self.stage.graph;
        let mut result = self
            .leg(calls, seen, async |options| {
                let options = RunOptions { context, ..options };
                engine.start(graph, &self.row.id, &input, options).await
            })
            .await?;
        let mut answers = Pending::new(&scenario.answers, Used::new());
        while result.state == RunState::Interrupted {
            let given = answers.next(&result.interrupts);
            if given.is_empty() {
                break;
            }
            let given: Vec<Answer> = (given.into_iter())
                .map(|given| Answer {
                    interrupt: Some(given.interrupt),
                    value: given.answer.value,
                })
                .collect();
            result = self
                .leg(calls, seen, async |options| {
                    engine.resume(&self.row.id, &given, options).await
                })
                .await?;
        }
        Ok(result)
    }

    /// Lets the engine do something, and watches it.
    async fn leg(
        &self,
        calls: &Arc<Mutex<Vec<Call>>>,
        seen: &mut Seen,
        act: impl AsyncFnOnce(RunOptions) -> Result<RunResult, StartError>,
    ) -> Result<RunResult, String> {
        let (sink, stream) = stream::channel([Mode::Custom, Mode::Tasks, Mode::Updates]);
        let kept = Arc::clone(calls);
        let options = RunOptions {
            events: Some(sink),
            observed: self.observed.clone(),
            cancel: self.cancel.clone(),
            by: Some("evaluation".to_owned()),
            secrets: Arc::clone(&self.secrets),
            calls: Some(Watcher::new(move |exchange| {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.push(Call::of(exchange));
            })),
            ..RunOptions::default()
        };
        let at_the_store = Arc::clone(&options.at_the_store);
        let run = async {
            match &self.script {
                Some(script) => in_turns(script, &at_the_store, || false, act(options)).await,
                None => act(options).await,
            }
        };
        let ended = self.watched(run, stream, seen).await;
        ended.map_err(|error| error.to_string())
    }

    async fn watched<T>(
        &self,
        run: impl Future<Output = T>,
        mut stream: EventStream,
        seen: &mut Seen,
    ) -> T {
        let mut run = std::pin::pin!(run);
        loop {
            tokio::select! {
                biased;
                result = &mut run => {
                    while let Some(Some(event)) = stream.next().now_or_never() {
                        self.saw(event, seen);
                    }
                    return result;
                }
                Some(event) = stream.next() => self.saw(event, seen),
            }
        }
    }

    fn saw(&self, event: Event, seen: &mut Seen) {
        let own = self.stage.node().map(|node| node.name.as_str());
        let of_root = event.ns.is_empty();
        match event.kind {
            EventKind::Custom { name, payload, .. } => {
                seen.events
                    .push(json!({ "name": name, "payload": payload }));
            }
            EventKind::TaskStarted { .. } if of_root => {
                let step = event.step;
                seen.started.extend(event.node.map(|node| (step, node)));
            }
            EventKind::Updates(Json::Object(fields)) if of_root && event.node.as_deref() == own => {
                seen.written.extend(fields);
            }
            _ => {}
        }
    }

    fn played(&self, result: RunResult, seen: Seen) -> Played {
        let mut state = result.values.clone();
        let gives = state.remove(GIVES);
        state.retain(|name, _| self.stage.fields().any(|field| field.name == *name));
        // A node that is run alone works in the first super-step, where it leads begins in the second.
        let first = seen.started.first().map_or(0, |(step, _)| *step);
        let leads = |(step, name): &(u64, String)| match self.stage.node {
            Some(_) => *step > first,
            None => name.starts_with(PARENT),
        };
        let next = seen.started.into_iter().filter(leads);
        let next = next.map(|(_, name)| name).collect();
        let failed = match (&result.error, result.interrupts.first()) {
            (Some(error), _) => Some(Failed {
                kind: error.kind.word().to_owned(),
                message: error.message.clone(),
            }),
            (None, Some(open)) => Some(Failed {
                kind: "interrupted".to_owned(),
                message: format!("it waits for an answer at `{}`", open.place()),
            }),
            (None, None) => None,
        };
        let written = || {
            let names = seen.written.iter().filter(|(name, _)| *name != GIVES);
            let values = names.map(|(name, json)| {
                let value = state.get(name).unwrap_or(json);
                (name.clone(), value.clone())
            });
            Json::Object(values.collect())
        };
        let output = match (self.stage.node.is_some(), self.stage.gives()) {
            (false, _) => Json::Object(result.output.clone()),
            (true, Some(_)) => gives.unwrap_or_default(),
            (true, None) => written(),
        };
        Played {
            output,
            next,
            events: seen.events,
            error: failed,
            usage: result.usage,
            state,
            ..Played::default()
        }
    }
}
