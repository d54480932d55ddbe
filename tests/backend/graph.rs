//! Tools that run a graph.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use graphc::backend::bind::bind;
use graphc::base::SourceMap;
use graphc::compile::compile;
use graphc::ir::{ErrorKind, Flow};
use graphc::project::config::load;
use graphc::run::ambient::SystemAmbient;
use graphc::run::journal::Durability;
use graphc::run::model::CallContext;
use graphc::run::nested::Nested;
use graphc::run::store::Store;
use graphc::run::tool::{ToolBackend, ToolCall};
use graphc::store::MemoryStore;
use serde_json::{Value as Json, json};

use super::context::call;
use super::server::{Server, events};

fn flow(text: &str) -> Flow {
    let files = BTreeMap::from([("a.graph".to_owned(), text.to_owned())]);
    let compiled = compile("a.graph", &files);
    let wrong: Vec<String> = compiled
        .diagnostics
        .iter()
        .map(|found| found.message.clone())
        .collect();
    compiled.flow.unwrap_or_else(|| panic!("{wrong:?}"))
}

const INNER: &str = r#"
graph Makes {
  state { in name: string, in count: int = 1, out id: string? }
  start -> make
  node make: update -> end { set { id: state.name + string(state.count) + uuid() } }
}
graph Fails {
  state { in name: string, out id: string? }
  start -> make
  node make: update -> end { require state.name == "" else "not for " + state.name }
}
"#;

const OUTER: &str = r#"
tool makes(name: string, count: int?) -> string? @effect(read) @timeout(10s)
tool fails(name: string) -> json @effect(read) @timeout(10s)
"#;

/// The tools.
fn tools() -> Vec<Arc<dyn ToolBackend>> {
    tools_of(INNER, OUTER, YAML)
}

const YAML: &str = "tools:\n  makes: { graph: { file: inner.graph, graph: Makes } }\n  fails: { graph: { file: inner.graph, graph: Fails } }\n";

fn tools_of(inner: &str, outer: &str, yaml: &str) -> Vec<Arc<dyn ToolBackend>> {
    let mut sources = SourceMap::new();
    let file = sources.add("graphc.yaml", yaml);
    let mut config = load(&sources, file, None, &|_| None).unwrap();
    let inner = Ok(Arc::new(flow(inner)));
    config.flows = Arc::new(BTreeMap::from([("inner.graph".to_owned(), inner)]));
    let bound = bind(&flow(outer), &config, None, ".".as_ref()).unwrap();
    bound.tools.iter().flatten().cloned().collect()
}

fn within(store: &Arc<dyn Store>, ordinal: u64) -> CallContext {
    CallContext {
        nested: Some(Nested {
            store: Some(Arc::clone(store)),
            ambient: Arc::new(SystemAmbient),
            durability: Durability::Async,
            cancel_grace: Duration::from_secs(1),
            usage: Arc::default(),
            observed: None,
        }),
        ..call("a", ordinal)
    }
}

fn of(tool: &str, args: Json) -> ToolCall {
    ToolCall {
        tool: tool.to_owned(),
        args: args.as_object().unwrap().clone(),
    }
}

#[tokio::test]
async fn a_call_that_comes_again_has_the_result_of_its_thread() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let makes = &tools()[0];
    let call = || of("makes", json!({ "name": "a", "count": null }));
    let first = makes.call(call(), &within(&store, 0)).await.unwrap();
    assert!(first.as_str().unwrap().starts_with("a1"), "{first}");
    let again = makes.call(call(), &within(&store, 0)).await.unwrap();
    assert_eq!(first, again);
    let other = makes.call(call(), &within(&store, 1)).await.unwrap();
    assert_ne!(first, other);
}

#[tokio::test]
async fn what_a_run_fails_with_is_the_error_of_the_call() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let call = of("fails", json!({ "name": "x" }));
    let error = tools()[1].call(call, &within(&store, 0)).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Require);
    assert_eq!(error.message, "graph `Fails` failed in `make`: not for x");
}

#[tokio::test]
async fn a_run_that_is_stopped_stops_that_of_its_call_which_goes_on_later() {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let makes = &tools()[0];
    let call = || of("makes", json!({ "name": "a", "count": 2 }));
    let cx = within(&store, 0);
    cx.stop.cancel();
    let error = makes.call(call(), &cx).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Cancelled);
    // A call that is made again goes on with what this one did.
    assert!(!error.in_doubt);
    let result = makes.call(call(), &within(&store, 0)).await.unwrap();
    assert!(result.as_str().unwrap().starts_with("a2"), "{result}");
}

/// Also where the call fails, or is asked for again.
#[tokio::test]
async fn tokens_of_the_run_are_the_callers_as_well() {
    let reply = || {
        events(&[
            r#"{"choices":[{"delta":{"content":"ok"},"finish_reason":"stop"}]}"#,
            r#"{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":3}}"#,
            "[DONE]",
        ])
    };
    let server = Server::start(vec![reply(), reply()]).await;
    let inner = "
model m = \"local/m\"
graph Asks {
  state { in name: string, out said: string? }
  start -> ask -> look
  node ask: llm { model m  prompt \"{{ state.name }}\"  set { said: reply.text } }
  node look: update -> end { require state.name != \"bad\" else \"bad\" }
}
";
    let yaml = format!(
        "providers: {{ local: {{ kind: openai, base_url: \"{}\" }} }}\ntools: {{ asks: {{ graph: {{ file: inner.graph }} }} }}\n",
        server.url
    );
    let outer = "tool asks(name: string) -> json @effect(read) @timeout(10s)\n";
    let asks = &tools_of(inner, outer, &yaml)[0];
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    for (ordinal, name) in [(0, "good"), (0, "good"), (1, "bad")] {
        let cx = within(&store, ordinal);
        let made = asks.call(of("asks", json!({ "name": name })), &cx).await;
        assert_eq!(made.is_ok(), name == "good", "{made:?}");
        let usage = *cx.nested.unwrap().usage.lock().unwrap();
        assert_eq!((usage.input_tokens, usage.output_tokens), (7, 3));
    }
}
