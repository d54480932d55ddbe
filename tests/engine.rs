//! The engine as a Rust program embeds it: a compiled flow, models of its own, a store of its own.

mod answers;
mod beside;
mod built;
mod cut_off;
mod drain;
mod earlier;
mod events;
mod flow;
mod forks;
mod handlers;
mod lasting;
mod limits;
mod lives;
mod ordinals;
mod patience;
mod permissions;
mod plain;
mod questions;
mod remembers;
mod retries;
mod rows;
mod slots;
mod stops;
mod streams;
mod unkept;
mod unreadable;
mod usage;
mod waiting;
mod waits;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures_util::stream;
use graphc::compile::compile;
use graphc::diag::render::{Style, human};
use graphc::run::ambient::SystemAmbient;
use graphc::run::backends::Backends;
use graphc::run::engine::{Engine, RunOptions};
use graphc::run::interrupt::Answer;
use graphc::run::model::{
    CallContext, ChatDelta, ChatModel, ChatRequest, ChatStream, FinishReason, ModelError,
    ToolCallRequest, Usage,
};
use graphc::run::store::{RunState, Store};
use graphc::store::MemoryStore;
use serde_json::json;

/// Replies in order, by path of the node.
struct Replies(Mutex<BTreeMap<&'static str, Vec<ChatDelta>>>);

#[async_trait]
impl ChatModel for Replies {
    async fn stream(&self, _: ChatRequest, cx: &CallContext) -> Result<ChatStream, ModelError> {
        let mut replies = self.0.lock().unwrap();
        let delta = replies
            .get_mut(cx.node.as_str())
            .expect("a node with replies")
            .remove(0);
        let deltas = [
            delta,
            ChatDelta::Usage(Usage {
                input_tokens: 5,
                output_tokens: 2,
                ..Usage::default()
            }),
            ChatDelta::Finish(FinishReason::Stop),
        ];
        Ok(Box::pin(stream::iter(deltas.map(Ok))))
    }
}

fn maestro() -> graphc::ir::Flow {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("graphs/maestro");
    let files = [
        "maestro.graph",
        "cake_man.graph",
        "prompts/maestro.md",
        "prompts/hand_over.md",
        "prompts/cake_man.md",
    ];
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let files: BTreeMap<String, String> = files.map(|name| (name.to_owned(), read(name))).into();
    let compiled = compile("maestro.graph", &files);
    let shown = human(&compiled.diagnostics, &compiled.sources, Style::PLAIN);
    compiled.flow.unwrap_or_else(|| panic!("{shown}"))
}

fn call(name: &str, args: serde_json::Value) -> ChatDelta {
    ChatDelta::ToolCall(ToolCallRequest {
        id: format!("c-{name}"),
        name: name.into(),
        arguments: args.to_string(),
    })
}

#[tokio::test]
async fn an_approval_is_asked_for_and_answered_in_another_run() {
    let plan = Arc::new(graphc::run::plan::plan(Arc::new(maestro())).unwrap());
    let replies = BTreeMap::from([
        (
            "maestro",
            vec![ChatDelta::Text("Cake Man will see to it.".into())],
        ),
        (
            "hand_over",
            vec![ChatDelta::Text(r#"{"handoff": "cake_man"}"#.into())],
        ),
        (
            "cake_man/editor",
            vec![
                call("read_docs", json!({"doc_ids": ["intro"]})),
                call(
                    "propose_edits",
                    json!({"edits": [{"doc_id": "intro", "content": "Hello, sweet world\n"}], "summary": "sweeter"}),
                ),
            ],
        ),
    ]);
    let model: Arc<dyn ChatModel> = Arc::new(Replies(Mutex::new(replies)));
    let models = plan.flow.models.iter().map(|_| model.clone()).collect();
    let tools = plan.flow.tools.iter().map(|_| None).collect();
    let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
    let engine = Engine {
        plan: plan.clone(),
        backends: Backends {
            models,
            tools,
            ..Backends::default()
        },
        store: Some(store),
        ambient: Arc::new(SystemAmbient),
    };
    let graph = plan.flow.graph("Maestro").unwrap();
    let input = json!({
        "message": "Sweeten the intro",
        "library": {"intro": {"id": "intro", "title": "Intro", "content": "Hello, world\n"}},
    });
    let asked = engine
        .start(graph, "t-1", &input, RunOptions::default())
        .await
        .unwrap();
    assert_eq!(asked.error, None);
    assert_eq!(asked.state, RunState::Interrupted);
    assert_eq!(
        asked.interrupts[0].path,
        "cake_man/review/await_approval/ask"
    );
    assert!(
        asked.interrupts[0].ask["proposal"]["diffs"]["intro"]
            .as_str()
            .unwrap()
            .contains("+Hello, sweet world")
    );

    let wrong = [Answer {
        interrupt: None,
        value: json!({"decision": "maybe"}),
    }];
    let refused = engine
        .resume("t-1", &wrong, RunOptions::default())
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("decision"), "{refused}");

    let answer = [Answer {
        interrupt: None,
        value: json!({"decision": "approve"}),
    }];
    let done = engine
        .resume("t-1", &answer, RunOptions::default())
        .await
        .unwrap();
    assert_eq!(done.error, None);
    assert_eq!(done.state, RunState::Done);
    assert_eq!(
        done.output["docs"]["intro"]["content"],
        "Hello, sweet world\n"
    );
    assert_eq!(done.output["docs"]["intro"]["updated_by"], "cake_man");
    assert_eq!(done.output["messages"].as_array().unwrap().len(), 6);
}

/// What a model is shown of a narrowed tool.
#[test]
fn where_narrows_the_schema() {
    let text = r#"
enum Phase {
  /// Before all else.
  plan
  /// In the middle.
  write
  check
}
model m = "a/b"
/// Moves on.
tool go(
  to: Phase,
  note: string?,
  lang: "en" | "de" = "en",
  limit: int = 5 @min(1) @max(20),
  share: float = 0.5,
  words: list<string> = [],
  query: string @alias("q"),
) -> string
graph Main {
  state { in out messages: list<message> via add_messages }
  tools [go where to != Phase.check]
  start -> a
  node a: agent -> end {
    model m
    messages state.messages
    tools [go where to != Phase.check && note != null && lang == "de" && limit < 4 && share > 0.5 && size(words) <= 2 && query.startsWith("x")]
    set { messages: transcript }
  }
}
"#;
    let files: BTreeMap<String, String> = [("a.graph".to_owned(), text.to_owned())].into();
    let compiled = compile("a.graph", &files);
    let shown = human(&compiled.diagnostics, &compiled.sources, Style::PLAIN);
    let flow = compiled.flow.unwrap_or_else(|| panic!("{shown}"));
    let plan = graphc::run::plan::plan(Arc::new(flow)).unwrap();
    let graph = plan.graphs.iter().next().unwrap();
    let node = graph.nodes.iter().next().unwrap();
    let spec = &node.narrowed.values().next().unwrap().spec;
    assert_eq!(
        spec.parameters,
        json!({
            "type": "object",
            "properties": {
                "to": { "type": "string", "enum": ["plan", "write"], "description": "- plan: Before all else.\n- write: In the middle." },
                "note": { "type": "string" },
                "lang": { "type": "string", "const": "de" },
                "limit": { "type": "integer", "minimum": 1, "maximum": 3 },
                "share": { "type": "number", "exclusiveMinimum": 0.5 },
                "words": { "type": "array", "items": { "type": "string" }, "default": [], "maxItems": 2 },
                "q": { "type": "string" },
            },
            "required": ["to", "q", "lang", "limit", "share"],
            "additionalProperties": false,
        })
    );
    assert!(
        spec.description
            .starts_with("Moves on.\nOnly calls with `to != Phase.check && note != null")
    );
    let within = graph.narrowed.values().next().unwrap();
    assert_eq!(
        within.spec.parameters.pointer("/properties/to/enum"),
        Some(&json!(["plan", "write"]))
    );
}

/// What the flow fixes of a tool's arguments is no part of what the model is shown, whatever is asked of it.
#[test]
fn a_fixed_argument_is_hidden_from_the_model() {
    let text = r#"
model m = "a/b"
/// Looks.
tool look(query: string, tenant: string @alias("tenantId"), k: int = 5) -> string
graph Main {
  context { tenant: string }
  state { in out messages: list<message> via add_messages }
  tools [look where tenant != "root" && size(tenant) + k < 9 && k != 0]
  start -> a
  node a: agent -> end {
    model m
    messages state.messages
    tools [look with { tenant: context.tenant, k: 3 } where query.startsWith("x")]
    set { messages: transcript }
  }
}
"#;
    let files: BTreeMap<String, String> = [("a.graph".to_owned(), text.to_owned())].into();
    let compiled = compile("a.graph", &files);
    let shown = human(&compiled.diagnostics, &compiled.sources, Style::PLAIN);
    let flow = compiled.flow.unwrap_or_else(|| panic!("{shown}"));
    let plan = graphc::run::plan::plan(Arc::new(flow)).unwrap();
    let node = plan.graphs.iter().next().unwrap().nodes.iter().next();
    let spec = &node.unwrap().narrowed.values().next().unwrap().spec;
    assert_eq!(
        spec.parameters,
        json!({
            "type": "object",
            "properties": { "query": { "type": "string" } },
            "required": ["query"],
            "additionalProperties": false,
        })
    );
    assert_eq!(
        spec.description,
        "Looks.\nOnly calls with `query.startsWith(\"x\")` are accepted."
    );
}
