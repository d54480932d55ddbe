//! `graphc` under the workloads of this folder: a workload's name on stdin, its seconds on stdout.
//!
//! `benches/compare/run` starts it beside drivers of the same form for LangGraph.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    missing_docs
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use async_trait::async_trait;
use futures_util::future::join_all;
use futures_util::stream;
use graphc::compile::compile;
use graphc::diag::render::{Style, human};
use graphc::run::ambient::SystemAmbient;
use graphc::run::backends::Backends;
use graphc::run::engine::{Engine, RunOptions, RunResult};
use graphc::run::event::{EventKind, Mode};
use graphc::run::interrupt::Answer;
use graphc::run::model::{
    CallContext, ChatDelta, ChatModel, ChatRequest, ChatStream, FinishReason, ModelError,
};
use graphc::run::plan::plan;
use graphc::run::store::{RunState, Store};
use graphc::run::stream::channel;
use graphc::store::{MemoryStore, SqliteStore};
use serde_json::{Value as Json, json};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A model that says 10,000 tokens.
struct Fake;

#[async_trait]
impl ChatModel for Fake {
    async fn stream(&self, _: ChatRequest, _: &CallContext) -> Result<ChatStream, ModelError> {
        let tokens = (0..10_000).map(|_| ChatDelta::Text("a ".to_owned()));
        let end = [ChatDelta::Finish(FinishReason::Stop)];
        Ok(Box::pin(stream::iter(tokens.chain(end).map(Ok))))
    }
}

fn engine(source: &str, store: Option<Arc<dyn Store>>) -> Engine {
    let files: BTreeMap<String, String> = [("main.graph".to_owned(), source.to_owned())].into();
    let compiled = compile("main.graph", &files);
    let shown = human(&compiled.diagnostics, &compiled.sources, Style::PLAIN);
    let flow = compiled.flow.unwrap_or_else(|| panic!("{shown}"));
    let plan = Arc::new(plan(Arc::new(flow)).unwrap());
    let models = plan.flow.models.iter();
    let models = models.map(|_| Arc::new(Fake) as Arc<dyn ChatModel>);
    Engine {
        backends: Backends {
            models: models.collect(),
            ..Backends::default()
        },
        plan,
        store,
        ambient: Arc::new(SystemAmbient),
    }
}

fn of_file(name: &str, store: Option<Arc<dyn Store>>) -> Engine {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/compare/flows");
    let text = std::fs::read_to_string(format!("{folder}/{name}.graph")).unwrap();
    engine(&text, store)
}

/// A SQLite store in a folder of its own, which goes with it.
struct OnFile(PathBuf);

impl OnFile {
    fn new() -> Self {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let (process, count) = (std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let folder = std::env::temp_dir().join(format!("compare-{process}-{count}"));
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn store(&self) -> Option<Arc<dyn Store>> {
        Some(Arc::new(SqliteStore::open(self.0.join("t.db")).unwrap()))
    }
}

impl Drop for OnFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

async fn run(engine: &Engine, thread: &str, input: &Json, options: RunOptions) -> RunResult {
    let graph = engine.plan.flow.graph("Main").unwrap();
    let options = RunOptions {
        recursion_limit: Some(1_000_000),
        ..options
    };
    engine.start(graph, thread, input, options).await.unwrap()
}

async fn done(engine: &Engine, thread: &str, input: &Json) -> Json {
    let result = run(engine, thread, input, RunOptions::default()).await;
    assert_eq!(result.state, RunState::Done, "{:?}", result.error);
    Json::Object(result.output)
}

async fn chain() -> f64 {
    let mut source = String::from("graph Main {\n  state { in out n: int }\n  start -> n0\n");
    for i in 0..100 {
        let next = match i {
            99 => "end".to_owned(),
            _ => format!("n{}", i + 1),
        };
        let _ = writeln!(
            source,
            "  node n{i}: update -> {next} {{ set {{ n: state.n + 1 }} }}"
        );
    }
    let engine = engine(&(source + "}\n"), None);
    let begin = Instant::now();
    for _ in 0..10 {
        assert_eq!(done(&engine, "t", &json!({ "n": 0 })).await["n"], 100);
    }
    begin.elapsed().as_secs_f64()
}

async fn messages() -> f64 {
    let place = OnFile::new();
    let engine = of_file("messages", place.store());
    let input = json!({ "turns": 200, "text": "x".repeat(1024), "messages": [] });
    let begin = Instant::now();
    let output = done(&engine, "t", &input).await;
    assert_eq!(output["messages"].as_array().unwrap().len(), 200);
    begin.elapsed().as_secs_f64()
}

async fn fan_out() -> f64 {
    let engine = of_file("fan_out", None);
    let input = json!({ "items": (0..1000).collect::<Vec<_>>() });
    let begin = Instant::now();
    assert_eq!(done(&engine, "t", &input).await["doubled"][999], 1998);
    begin.elapsed().as_secs_f64()
}

async fn subgraphs() -> f64 {
    let engine = of_file("subgraphs", None);
    let input = json!({ "items": (0..200).collect::<Vec<_>>() });
    let begin = Instant::now();
    assert_eq!(done(&engine, "t", &input).await["sums"][199], 202);
    begin.elapsed().as_secs_f64()
}

async fn wide() -> f64 {
    let fields: String = (0..200)
        .map(|i| format!("    out f{i}: int = 0\n"))
        .collect();
    let writes: String = (0..20).map(|i| format!(", f{i}: state.n")).collect();
    let source = format!(
        "graph Main {{\n  state {{\n    in out n: int\n{fields}  }}\n  start -> step\n  node step: update {{\n    set {{ n: state.n + 1{writes} }}\n    goto {{ when state.n < 100 -> step  else -> end }}\n  }}\n}}\n"
    );
    let engine = engine(&source, Some(Arc::new(MemoryStore::new())));
    let begin = Instant::now();
    let output = done(&engine, "t", &json!({ "n": 0 })).await;
    assert_eq!((&output["f19"], &output["f20"]), (&json!(99), &json!(0)));
    begin.elapsed().as_secs_f64()
}

async fn threads() -> f64 {
    let place = OnFile::new();
    let engine = of_file("count", place.store());
    let begin = Instant::now();
    let all = (0..1000).map(|i| {
        let engine = engine.clone();
        tokio::spawn(async move { done(&engine, &i.to_string(), &json!({ "n": 0 })).await })
    });
    for output in join_all(all).await {
        assert_eq!(output.unwrap()["n"], 10);
    }
    begin.elapsed().as_secs_f64()
}

async fn interrupts() -> f64 {
    let place = OnFile::new();
    let engine = of_file("ask", place.store());
    let begin = Instant::now();
    for i in 0..100 {
        let thread = i.to_string();
        let asked = run(&engine, &thread, &json!({}), RunOptions::default()).await;
        assert_eq!(asked.state, RunState::Interrupted);
        let answer = Answer {
            interrupt: None,
            value: json!(true),
        };
        let options = RunOptions::default();
        let said = engine.resume(&thread, &[answer], options).await.unwrap();
        assert_eq!(said.output["said"], "yes");
    }
    begin.elapsed().as_secs_f64()
}

async fn tokens() -> f64 {
    let engine = of_file("tokens", None);
    let begin = Instant::now();
    let (sink, mut events) = channel([Mode::Messages]);
    let options = RunOptions {
        events: Some(sink),
        ..RunOptions::default()
    };
    let running = tokio::spawn(async move { run(&engine, "t", &json!({}), options).await });
    let mut length = 0;
    while let Some(event) = events.next().await {
        if let EventKind::Token { text, .. } = event.kind {
            length += text.len();
        }
    }
    assert_eq!(length, 20_000);
    running.await.unwrap();
    begin.elapsed().as_secs_f64()
}

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    for line in std::io::stdin().lines() {
        let seconds = runtime.block_on(async {
            match line.unwrap().trim() {
                "chain" => chain().await,
                "messages" => messages().await,
                "fan_out" => fan_out().await,
                "subgraphs" => subgraphs().await,
                "wide" => wide().await,
                "threads" => threads().await,
                "interrupts" => interrupts().await,
                "tokens" => tokens().await,
                unknown => panic!("no workload `{unknown}`"),
            }
        });
        println!("{seconds}");
    }
}
