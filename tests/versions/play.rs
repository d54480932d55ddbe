//! Plays a case: versions of a flow, each with what is done under it and what must come of that.
//!
//! Lines of a script: what the first version begins with (`input JSON`; `hang`: its first call never ends); the verdict on the
//! change (`diff GROUP`, `found CODE..`); what is done (`resume`, `migrate`, either with `NODE JSON` to answer, `answer NODE JSON`,
//! `run JSON`: a new run; `cut`, with `NODE JSON` to answer, and `cut-migrated`: a resume whose process dies in its call, the first under
//! `--durability exit`); what is refused for the version, the thread being as it was (`refuse NODE JSON`, `refused REASON`,
//! `not-migrated REASON`); what has come of it (`waits NODES`, `output`, `fails`, `calls`, `models`, `keys`).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream;
use graphc::compile::compile;
use graphc::diag::render::{Style, human};
use graphc::ir::Flow;
use graphc::ir::diff::{Group, diff};
use graphc::run::ambient::SystemAmbient;
use graphc::run::backends::Backends;
use graphc::run::engine::{Engine, RunOptions, RunResult, StartError};
use graphc::run::interrupt::Answer;
use graphc::run::journal::Durability;
use graphc::run::model::{
    CallContext, ChatDelta, ChatModel, ChatRequest, ChatStream, FinishReason, ModelError,
    ToolCallRequest,
};
use graphc::run::store::{RunState, Store};
use graphc::run::tool::{ToolBackend, ToolCall, ToolError};
use graphc::store::MemoryStore;
use serde_json::{Value as Json, json};

/// What the flow's tools and models were asked, over all versions.
#[derive(Default)]
struct World {
    hangs: Mutex<bool>,
    keys: Mutex<Vec<String>>,
    models: Mutex<usize>,
}

/// Gives its argument `q` back, or never ends.
struct Echo(Arc<World>);

#[async_trait]
impl ToolBackend for Echo {
    async fn call(&self, call: ToolCall, cx: &CallContext) -> Result<Json, ToolError> {
        self.0.keys.lock().unwrap().push(cx.idempotency_key.clone());
        if *self.0.hangs.lock().unwrap() {
            std::future::pending::<()>().await;
        }
        Ok(call.args["q"].clone())
    }
}

/// Calls the first tool that it is shown, then says something.
struct Caller(Arc<World>);

#[async_trait]
impl ChatModel for Caller {
    async fn stream(
        &self,
        request: ChatRequest,
        _: &CallContext,
    ) -> Result<ChatStream, ModelError> {
        *self.0.models.lock().unwrap() += 1;
        let last = request.messages.iter().last();
        let role = last.and_then(|message| message.get("role")?.as_str().map(str::to_owned));
        let deltas = match request.tools.first() {
            Some(tool) if role.as_deref() == Some("user") => vec![
                ChatDelta::ToolCall(ToolCallRequest {
                    id: "1".into(),
                    name: tool.name.clone(),
                    arguments: json!({ "q": "a" }).to_string(),
                }),
                ChatDelta::Finish(FinishReason::ToolCalls),
            ],
            _ => vec![
                ChatDelta::Text("said".into()),
                ChatDelta::Finish(FinishReason::Stop),
            ],
        };
        Ok(Box::pin(stream::iter(deltas.into_iter().map(Ok))))
    }
}

/// One thread of a case.
struct Played<'c> {
    /// Where the case stands, for people.
    at: String,
    store: &'c Arc<MemoryStore>,
    world: Arc<World>,
    last: Option<RunResult>,
}

impl Played<'_> {
    fn engine(&self, flow: &Flow) -> Engine {
        let plan = Arc::new(graphc::run::plan::plan(Arc::new(flow.clone())).unwrap());
        let tool = |_| Some(Arc::new(Echo(self.world.clone())) as Arc<dyn ToolBackend>);
        let model = |_| Arc::new(Caller(self.world.clone())) as Arc<dyn ChatModel>;
        Engine {
            backends: Backends {
                models: plan.flow.models.iter().map(model).collect(),
                tools: plan.flow.tools.iter().map(tool).collect(),
                externs: BTreeMap::new(),
            },
            plan: plan.clone(),
            store: Some(self.store.clone() as Arc<dyn Store>),
            ambient: Arc::new(SystemAmbient),
        }
    }

    async fn start(&mut self, engine: &Engine, hangs: bool, input: Json) {
        *self.world.hangs.lock().unwrap() = hangs;
        let graph = engine.plan.flow.graph("Main").unwrap();
        let run = engine.start(graph, "t", &input, RunOptions::default());
        let ended = tokio::time::timeout(Duration::from_millis(100), run).await;
        assert_eq!(ended.is_err(), hangs, "{}", self.at);
        self.last = ended.ok().map(Result::unwrap);
        *self.world.hangs.lock().unwrap() = false;
        // One that was dropped gives its thread back behind it.
        while self.store.is_held("t").await.unwrap() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    async fn resume(
        &mut self,
        engine: &Engine,
        answer: Option<(&str, &str)>,
        migrate: bool,
    ) -> Result<(), StartError> {
        let options = RunOptions {
            migrate,
            ..RunOptions::default()
        };
        let answers: Vec<Answer> = answer
            .map(|answer| self.given(answer))
            .into_iter()
            .collect();
        let result = engine.resume("t", &answers, options).await?;
        self.last = Some(result);
        Ok(())
    }

    fn given(&self, (node, value): (&str, &str)) -> Answer {
        let open = self.last.iter().flat_map(|last| &last.interrupts);
        let open = open.clone().find(|open| open.node == node);
        let open = open.unwrap_or_else(|| panic!("{}: `{node}` is not open", self.at));
        Answer {
            interrupt: Some(open.id.clone()),
            value: serde_json::from_str(value).unwrap(),
        }
    }

    /// Goes on until a call that never ends, and is given up there.
    async fn cut(&mut self, engine: &Engine, answer: Option<(&str, &str)>, migrate: bool) {
        let answers: Vec<Answer> = answer
            .map(|answer| self.given(answer))
            .into_iter()
            .collect();
        let options = RunOptions {
            migrate,
            durability: match migrate {
                true => Durability::Async,
                false => Durability::Exit,
            },
            ..RunOptions::default()
        };
        *self.world.hangs.lock().unwrap() = true;
        let run = engine.resume("t", &answers, options);
        let ended = tokio::time::timeout(Duration::from_millis(100), run).await;
        assert!(ended.is_err(), "{}: {ended:?}", self.at);
        *self.world.hangs.lock().unwrap() = false;
        while self.store.is_held("t").await.unwrap() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    /// The version is refused, with that in its reason, and the thread is as it was.
    async fn refused(
        &mut self,
        engine: &Engine,
        answer: Option<(&str, &str)>,
        migrate: bool,
        reason: &str,
    ) {
        let at = self.at.clone();
        let before = self.store.load("t").await.unwrap();
        let refused = self.resume(engine, answer, migrate).await;
        match refused {
            Err(StartError::Version { message, .. }) => {
                assert!(message.contains(reason), "{at}: {message}");
            }
            other => panic!("{at}: {other:?} {:?}", self.last),
        }
        assert_eq!(self.store.load("t").await.unwrap(), before, "{at}");
    }

    /// One line of a script.
    async fn line(&mut self, engine: &Engine, verb: &str, rest: &str) {
        let at = self.at.clone();
        let pair = || rest.split_once(' ').unwrap();
        let number = || rest.parse::<usize>().unwrap();
        match verb {
            "hang" | "diff" | "found" | "input" => {}
            "resume" | "migrate" => {
                let answer = (!rest.is_empty()).then(pair);
                let resumed = self.resume(engine, answer, verb == "migrate").await;
                resumed.unwrap_or_else(|error| panic!("{at}: {error}"));
            }
            "cut" | "cut-migrated" => {
                let answer = (!rest.is_empty()).then(pair);
                self.cut(engine, answer, verb == "cut-migrated").await;
            }
            "answer" => {
                let resumed = self.resume(engine, Some(pair()), false).await;
                resumed.unwrap_or_else(|error| panic!("{at}: {error}"));
            }
            "refuse" => self.refused(engine, Some(pair()), false, "").await,
            "refused" => self.refused(engine, None, false, rest).await,
            "not-migrated" => self.refused(engine, None, true, rest).await,
            "run" => {
                let input = serde_json::from_str(rest).unwrap();
                self.start(engine, false, input).await;
            }
            "waits" => {
                let last = self.last.as_ref().unwrap();
                let open = last.interrupts.iter().map(|open| open.node.as_str());
                let open: Vec<&str> = open.collect();
                assert_eq!(open.join(" "), rest, "{at} {:?}", last.error);
            }
            "fails" => {
                let error = self.last.as_ref().unwrap().error.as_ref();
                let error = error.unwrap_or_else(|| panic!("{at}: nothing fails"));
                assert_eq!(error.message, rest, "{at}");
            }
            "output" => {
                let last = self.last.as_ref().unwrap();
                assert_eq!(last.state, RunState::Done, "{at} {:?}", last.error);
                let output: Json = serde_json::from_str(rest).unwrap();
                assert_eq!(json!(last.output), output, "{at}");
            }
            "calls" => assert_eq!(self.world.keys.lock().unwrap().len(), number(), "{at}"),
            "models" => assert_eq!(*self.world.models.lock().unwrap(), number(), "{at}"),
            "keys" => {
                let keys = self.world.keys.lock().unwrap();
                let different: BTreeSet<&String> = keys.iter().collect();
                assert_eq!(different.len(), number(), "{at} {different:?}");
            }
            other => panic!("{at}: `{other}` is no verb"),
        }
    }
}

/// What changes: the worst of it, as it is written under `//> diff`, and the codes of all.
fn verdict(old: &Flow, new: &Flow) -> (Option<&'static str>, BTreeSet<&'static str>) {
    let found = diff(old, new);
    let worst = found.iter().map(|found| found.group).max();
    let codes = found.iter().map(|found| found.code).collect();
    (worst.map(Group::word), codes)
}

/// Plays a case. Before each version but the first, `between` may do something to the thread.
pub async fn play<F: Future<Output = ()>>(
    name: &str,
    text: &str,
    store: &Arc<MemoryStore>,
    between: impl Fn() -> F,
) {
    let mut played = Played {
        at: name.to_owned(),
        store,
        world: Arc::default(),
        last: None,
    };
    let mut before: Option<Flow> = None;
    for (number, version) in text.split("// ---- new\n").enumerate() {
        let script = version.lines().filter_map(|line| line.strip_prefix("//> "));
        let script: Vec<(&str, &str)> = script
            .map(|line| line.split_once(' ').unwrap_or((line, "")))
            .collect();
        played.at = format!("{name}, version {number}");
        let files = BTreeMap::from([("case.graph".to_owned(), version.to_owned())]);
        let compiled = compile("case.graph", &files);
        let shown = human(&compiled.diagnostics, &compiled.sources, Style::PLAIN);
        let flow = compiled.flow;
        let flow = flow.unwrap_or_else(|| panic!("{}: {shown}", played.at));
        let engine = played.engine(&flow);
        let says = |verb| script.iter().find(|(known, _)| *known == verb);
        match &before {
            None => {
                let input = says("input").map_or("{}", |(_, input)| input);
                let input = serde_json::from_str(input).unwrap();
                played.start(&engine, says("hang").is_some(), input).await;
            }
            Some(old) => {
                let wanted = says("diff").map(|(_, group)| *group);
                let (worst, codes) = verdict(old, &flow);
                assert_eq!(worst, wanted, "{} {codes:?}", played.at);
                let found = says("found").map_or("", |(_, codes)| codes);
                for code in found.split_whitespace() {
                    assert!(codes.contains(code), "{}: {code}: {codes:?}", played.at);
                }
                between().await;
            }
        }
        for (verb, rest) in script {
            played.at = format!("{name}, version {number}, `{verb} {rest}`");
            played.line(&engine, verb, rest).await;
        }
        before = Some(flow);
    }
}

/// All cases: name and text.
pub fn cases() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/versions");
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_some_and(|extension| extension == "graph")
        {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            cases.push((name, std::fs::read_to_string(&path).unwrap()));
        }
    }
    cases.sort();
    cases
}
