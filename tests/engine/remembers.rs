//! Long-term memory in a program: an embedder of its own, and what a resume pays for again.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use graphc::compile::compile;
use graphc::embed::{
    CallContext, Embedder, Embedding, EngineBuilder, ErrorKind, MemorySettings, MemoryStore,
    RunOptions, RunState, Store, ToolBackend, ToolCall, ToolError,
};
use graphc::run::engine::Engine;
use graphc::run::memory::{Access, MAX_VALUE, MOST_FOUND, MemoryTool, NewItem, Space, Write};
use serde_json::{Value as Json, json};

const FLOW: &str = r#"
import { memory_put, memory_search } from "std/memory"
tool flaky() -> string
graph Main {
  state { in text: string, out near: list<string> = [], out said: string = "" }
  start -> keep
  node keep: call memory_put(space: ["a"], key: state.text, value: state.text) -> wait
  node wait: call flaky() -> find { set { said: result } }
  node find: call memory_search(space: ["a"], query: "long", limit: 2) -> end { set { near: result.map(item, item.key) } }
}
"#;

/// Texts are alike that are equally long.
struct Lengths(Arc<AtomicU64>);

#[async_trait]
impl Embedder for Lengths {
    fn name(&self) -> &str {
        "lengths"
    }

    async fn embed(&self, texts: &[String], _: &CallContext) -> Result<Vec<Vec<f32>>, ToolError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        let vectors = texts.iter().map(|text| vec![1.0, text.len() as f32]);
        Ok(vectors.collect())
    }
}

/// Fails at first.
struct Flaky(AtomicU64);

#[async_trait]
impl ToolBackend for Flaky {
    async fn call(&self, _: ToolCall, _: &CallContext) -> Result<Json, ToolError> {
        match self.0.fetch_add(1, Ordering::SeqCst) {
            0 => Err(ToolError::new(ErrorKind::Network, "not yet")),
            _ => Ok(json!("now")),
        }
    }
}

#[tokio::test]
async fn what_is_kept_is_not_made_into_vectors_again() {
    let files: BTreeMap<String, String> = [("flow.graph".to_owned(), FLOW.to_owned())].into();
    let flow = Arc::new(compile("flow.graph", &files).flow.unwrap());
    let (asked, store) = (Arc::new(AtomicU64::new(0)), Arc::new(MemoryStore::new()));
    let engine = |flaky: u64| {
        let embedding = Embedding {
            embedder: Arc::new(Lengths(asked.clone())),
            fields: Vec::new(),
        };
        let settings = MemorySettings {
            embedding: Some(embedding),
            ..MemorySettings::default()
        };
        let store: Arc<dyn Store> = store.clone();
        EngineBuilder::new(flow.clone())
            .tool("flaky", Flaky(AtomicU64::new(flaky)))
            .memory(settings)
            .shared_store(store)
            .build()
            .unwrap()
    };
    let first = engine(0);
    let graph = first.graph("Main").unwrap();
    let input = json!({ "text": "longer than that" });
    let failed = first.start(graph, "t", &input, RunOptions::default()).await;
    assert_eq!(failed.unwrap().state, RunState::Failed);
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    let done = first.resume("t", &[], RunOptions::default()).await.unwrap();
    assert_eq!(done.output["near"], json!(["longer than that"]));
    // Once for what was put, once for the query.
    assert_eq!(asked.load(Ordering::SeqCst), 2);
    // Another thread, and another engine, find what the first has kept.
    let second = engine(1);
    let input = json!({ "text": "lang" });
    let done = second
        .start(graph, "u", &input, RunOptions::default())
        .await;
    assert_eq!(
        done.unwrap().output["near"],
        json!(["lang", "longer than that"])
    );
    assert_eq!(asked.load(Ordering::SeqCst), 4);
    // No memory without a store.
    let bare = EngineBuilder::new(flow).tool("flaky", Flaky(AtomicU64::new(1)));
    let bare = bare.build().unwrap();
    let failed = bare.start(graph, "v", &input, RunOptions::default()).await;
    assert_eq!(failed.unwrap().error.unwrap().kind, ErrorKind::Store);
}

const LARGE: &str = r#"
import { memory_search } from "std/memory"
graph Main {
  state { in limit: int, in from: int, out found: list<string> = [] }
  start -> find
  node find: call memory_search(space: [], limit: state.limit, offset: state.from) -> end { set { found: result.map(item, item.key) } }
}
"#;

fn plain(text: &str, store: &Arc<MemoryStore>) -> Engine {
    let files: BTreeMap<String, String> = [("flow.graph".to_owned(), text.to_owned())].into();
    let flow = Arc::new(compile("flow.graph", &files).flow.unwrap());
    let store: Arc<dyn Store> = store.clone();
    let builder = EngineBuilder::new(flow).shared_store(store);
    builder.build().unwrap()
}

/// What is found is one result, which has to be kept: there is a most, and the error says how to get the rest.
#[tokio::test]
async fn what_is_found_has_a_most() {
    let store = Arc::new(MemoryStore::new());
    for n in 0..20_u8 {
        let item = NewItem {
            space: Space::new(vec!["a".to_owned()]).unwrap(),
            key: format!("{n:02}"),
            value: json!("x".repeat(MAX_VALUE - 2)),
            ttl: None,
            vectors: Vec::new(),
            embedder: String::new(),
        };
        let memory = store.memory().unwrap();
        memory.write([n; 16], &Write::Put(item), 1).await.unwrap();
    }
    let engine = plain(LARGE, &store);
    let graph = engine.graph("Main").unwrap();
    let fits = MOST_FOUND / MAX_VALUE;
    let search = async |limit: usize, from: usize| {
        let input = json!({ "limit": limit, "from": from });
        let thread = format!("{limit}-{from}");
        let result = engine.start(graph, &thread, &input, RunOptions::default());
        result.await.unwrap()
    };
    let error = search(100, 0).await.error.unwrap();
    assert_eq!(error.kind, ErrorKind::InvalidRequest);
    let says = format!("(`limit: {fits}`), and the next begin at `offset: {fits}`");
    assert!(error.message.contains(&says), "{}", error.message);
    let keys = async |limit, from| {
        let found = search(limit, from).await.output["found"].clone();
        found.as_array().unwrap().len()
    };
    assert_eq!(keys(fits, 0).await, fits);
    assert_eq!(keys(100, fits).await, 20 - fits);
}

/// A call of `std/memory` under a key of its own.
async fn called(store: &Arc<MemoryStore>, tool: &str, args: Json) -> Result<Json, ToolError> {
    let store: Arc<dyn Store> = store.clone();
    let Json::Object(args) = args else { panic!() };
    let call = ToolCall {
        tool: tool.to_owned(),
        args,
    };
    let cx = CallContext {
        thread_id: "t".to_owned(),
        run_id: "r".to_owned(),
        node: "n".to_owned(),
        send: None,
        ordinal: 0,
        attempt: 1,
        idempotency_key: "t/0:n#tool:memory_put@0.tool@0".to_owned(),
        rank: Vec::new(),
        timeout: None,
        cancel: <_>::default(),
        stop: <_>::default(),
        memory: Some(Access::new(Some(store), <_>::default(), 1, Json::Null)),
        nested: None,
        reports: None,
        waits: <_>::default(),
        secrets: Default::default(),
    };
    MemoryTool::default().call(call, &cx).await
}

/// The same call of a step that is made again writes once; with another value it is another write.
#[tokio::test]
async fn a_write_is_known_by_what_it_writes() {
    let store = Arc::new(MemoryStore::new());
    let put = async |value: Json| {
        let args = json!({ "space": ["a"], "key": "k", "value": value });
        called(&store, "memory_put", args).await.unwrap()
    };
    let got = async || {
        let args = json!({ "space": ["a"], "key": "k" });
        called(&store, "memory_get", args).await.unwrap()["value"].clone()
    };
    assert_eq!(put(json!(1)).await, true);
    assert_eq!(put(json!(2)).await, false);
    assert_eq!(got().await, 2);
    // Known, with the result of then: what has come since stays.
    assert_eq!(put(json!(1)).await, true);
    assert_eq!(got().await, 2);
    let delete = json!({ "space": ["a"], "key": "k" });
    assert_eq!(called(&store, "memory_delete", delete).await.unwrap(), true);
    assert_eq!(got().await, Json::Null);
}

const DEEP: &str = r#"
import { memory_put, memory_search } from "std/memory"
graph Main {
  state { in value: json, out found: int = 0 }
  start -> keep
  node keep: call memory_put(space: ["a"], key: "k", value: state.value) -> find
  node find: call memory_search(space: ["a"]) -> end { set { found: size(result) } }
}
"#;

/// A value is given back inside of a list of items: one that would be too deep there is not kept.
#[tokio::test]
async fn a_value_that_is_too_deep_is_refused() {
    let store = Arc::new(MemoryStore::new());
    let engine = plain(DEEP, &store);
    let graph = engine.graph("Main").unwrap();
    for (levels, ok) in [(90, true), (91, false), (99, false)] {
        let value = (1..levels).fold(json!([]), |value, _| json!([value]));
        let thread = levels.to_string();
        let input = json!({ "value": value });
        let result = engine.start(graph, &thread, &input, RunOptions::default());
        let result = result.await.unwrap();
        match result.error {
            None => assert!(ok && result.output["found"] == 1),
            Some(error) => {
                assert!(!ok, "{}", error.message);
                assert_eq!(error.kind, ErrorKind::InvalidRequest);
                assert_eq!(error.path.as_deref(), Some("keep"));
                assert!(
                    error.message.contains("at most 90 levels"),
                    "{}",
                    error.message
                );
            }
        }
    }
}
