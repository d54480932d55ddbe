//! An engine over a flow in text, with one backend for all models and one for all tools.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use graphc::compile::compile;
use graphc::diag::render::{Style, human};
use graphc::ir::GraphId;
use graphc::run::ambient::SystemAmbient;
use graphc::run::backends::Backends;
use graphc::run::engine::{Engine, RunOptions, RunResult};
use graphc::run::model::{CallContext, ChatModel, ChatRequest, ChatStream, ModelError};
use graphc::run::plan::plan;
use graphc::run::store::Store;
use graphc::run::tool::{ToolBackend, ToolCall, ToolError};
use graphc::store::MemoryStore;
use serde_json::{Value as Json, json};

/// What a tool does with a call.
pub type Act =
    dyn Fn(ToolCall) -> Pin<Box<dyn Future<Output = Result<Json, ToolError>> + Send>> + Send + Sync;

/// A tool that does that; keeps which calls have reached it.
pub struct Tool {
    act: Box<Act>,
    pub calls: Mutex<Vec<String>>,
    keys: Mutex<Vec<String>>,
}

impl Tool {
    pub fn new<F>(act: impl Fn(ToolCall) -> F + Send + Sync + 'static) -> Arc<Self>
    where
        F: Future<Output = Result<Json, ToolError>> + Send + 'static,
    {
        Arc::new(Self {
            act: Box::new(move |call| Box::pin(act(call))),
            calls: Mutex::default(),
            keys: Mutex::default(),
        })
    }

    /// The tools that were called, with their arguments, in order.
    pub fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }

    /// The idempotency keys that it was called under, in order.
    pub fn keys(&self) -> Vec<String> {
        self.keys.lock().unwrap().clone()
    }
}

#[async_trait]
impl ToolBackend for Tool {
    async fn call(&self, call: ToolCall, cx: &CallContext) -> Result<Json, ToolError> {
        let key = cx.idempotency_key.clone();
        self.keys.lock().unwrap().push(key);
        let shown = format!("{} {}", call.tool, Json::Object(call.args.clone()));
        self.calls.lock().unwrap().push(shown);
        (self.act)(call).await
    }
}

/// What a model says to a request.
pub struct Model(pub Box<Say>);

/// The same as a type.
pub type Say = dyn Fn(&CallContext) -> Result<ChatStream, ModelError> + Send + Sync;

#[async_trait]
impl ChatModel for Model {
    async fn stream(&self, _: ChatRequest, cx: &CallContext) -> Result<ChatStream, ModelError> {
        (self.0)(cx)
    }
}

/// An engine over a flow; its graph is `Main`.
pub fn engine(text: &str, model: Option<Model>, tool: Option<Arc<Tool>>) -> (Engine, GraphId) {
    let files: BTreeMap<String, String> = [("main.graph".to_owned(), text.to_owned())].into();
    let compiled = compile("main.graph", &files);
    let shown = human(&compiled.diagnostics, &compiled.sources, Style::PLAIN);
    let flow = compiled.flow.unwrap_or_else(|| panic!("{shown}"));
    let plan = Arc::new(plan(Arc::new(flow)).unwrap());
    let model: Option<Arc<dyn ChatModel>> = model.map(|model| Arc::new(model) as _);
    let models = plan.flow.models.iter();
    let models = models.map(|_| Arc::clone(model.as_ref().unwrap()));
    let tools = plan.flow.tools.iter();
    let tools = tools.map(|declared| {
        let tool = tool.clone().filter(|_| declared.body.is_none());
        tool.map(|tool| tool as Arc<dyn ToolBackend>)
    });
    let graph = plan.flow.graph("Main").unwrap();
    let backends = Backends {
        models: models.collect(),
        tools: tools.collect(),
        ..Backends::default()
    };
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let engine = Engine {
        plan,
        backends,
        store: Some(store),
        ambient: Arc::new(SystemAmbient),
    };
    (engine, graph)
}

/// Runs without an input on thread `t`.
pub async fn begin(engine: &Engine, graph: GraphId) -> RunResult {
    begin_with(engine, graph, RunOptions::default()).await
}

/// The same with options.
pub async fn begin_with(engine: &Engine, graph: GraphId, options: RunOptions) -> RunResult {
    let input = json!({});
    engine.start(graph, "t", &input, options).await.unwrap()
}
