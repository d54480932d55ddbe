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
