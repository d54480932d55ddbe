//! What is refused before there is an engine, and what a program brings goes before what the settings say.

use std::path::PathBuf;

use graphc::embed::{
    BuildError, EngineBuilder, ErrorKind, ExternCall, ExternNode, LoadError, RunOptions, RunState,
    ToolBackend, ToolCall, ToolError, async_trait, load,
};
use graphc::run::model::CallContext;
use serde_json::{Map, Value as Json, json};

const FLOW: &str = "
import { memory_put } from \"std/memory\"
model m = \"local/m\"
tool find(key: string) -> string @effect(read)
graph Main {
  state { out n: int = 0 }
  start -> a
  node a: extern one -> b { writes [n] }
  node b: call find(key: \"k\") -> c
  node c: llm -> d { model m prompt \"go on\" }
  node d: call memory_put(space: [\"a\"], key: \"b\", value: 1) -> end
}
";

/// A folder of this test's, with those files.
fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
        .join("built")
        .join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    for (file, text) in files {
        std::fs::write(folder.join(file), text).unwrap();
    }
    folder
}

struct One;

#[async_trait]
impl ExternNode for One {
    async fn run(&self, _: ExternCall, _: &CallContext) -> Result<Map<String, Json>, ToolError> {
        Ok(json!({ "n": 1 }).as_object().unwrap().clone())
    }
}

struct Refuses;

#[async_trait]
impl ToolBackend for Refuses {
    async fn call(&self, _: ToolCall, _: &CallContext) -> Result<Json, ToolError> {
        Err(ToolError::new(ErrorKind::ToolError, "the program's own"))
    }
}

#[test]
fn all_that_is_missing_is_said_at_once() {
    let folder = folder("missing", &[("main.graph", FLOW)]);
    let flow = load(folder.join("main.graph")).unwrap();
    let error = EngineBuilder::new(flow).build().err().unwrap();
    assert_eq!(
        error.to_string(),
        "nothing was given for `extern` node `one`, model `m`, tool `find`"
    );
}

#[test]
fn a_name_that_the_flow_does_not_have_is_refused() {
    let folder = folder("unknown", &[("main.graph", FLOW)]);
    let flow = load(folder.join("main.graph")).unwrap();
    let builder = EngineBuilder::new(flow).extern_node("one", One);
    let error = builder.tool("fnd", Refuses).build().err().unwrap();
    assert_eq!(
        error.to_string(),
        "the flow has no tool `fnd`; did you mean `find`?"
    );
}

#[test]
fn a_wrong_flow_is_shown_as_check_shows_it() {
    let wrong = FLOW.replace("call find(", "call fnd(");
    let folder = folder("wrong", &[("main.graph", &wrong)]);
    let error = load(folder.join("main.graph")).err().unwrap();
    let LoadError::Flow(refused) = &error else {
        panic!("{error}");
    };
    assert!(refused.diagnostics.has_errors());
    let shown = error.to_string();
    assert!(shown.contains("main.graph:"), "{shown}");
    assert!(shown.contains("fnd"), "{shown}");
    let gone = load(folder.join("gone.graph")).err().unwrap();
    assert!(matches!(gone, LoadError::File(_)), "{gone}");
    let no_ir = folder.join("flow.json");
    std::fs::write(&no_ir, "{ \"format\": 99 }").unwrap();
    let error = load(&no_ir).err().unwrap().to_string();
    assert!(error.contains("it has format 99"), "{error}");
}

#[tokio::test]
async fn settings_serve_what_the_program_does_not_bring() {
    let settings =
        "models: { \"*\": scripted }\ntools: { find: { script: [{ result: scripted }] } }\n";
    let flow = "
tool find(key: string) -> string
tool own() -> string
graph Main {
  state { out log: list<string> via append }
  start -> a
  node a: call find(key: \"k\") -> b { set { log: [result] } }
  node b: call own() -> end { set { log: [result] } on_error -> end { set { log: [error.message] } } }
}
";
    let folder = folder(
        "settings",
        &[("main.graph", flow), ("graphc.yaml", settings)],
    );
    let flow = load(folder.join("main.graph")).unwrap();
    let bare = EngineBuilder::new(flow.clone()).settings(&folder, None);
    let unbound = bare.build().err().unwrap();
    assert!(matches!(unbound, BuildError::Settings(_)), "{unbound}");
    assert!(unbound.to_string().contains("tool `own`"), "{unbound}");
    let builder = EngineBuilder::new(flow).settings(&folder, None);
    let engine = builder.tool("own", Refuses).build().unwrap();
    let graph = engine.entry().unwrap();
    let options = RunOptions::default();
    let result = engine.start(graph, "t", &json!({}), options).await.unwrap();
    assert_eq!(result.state, RunState::Done, "{:?}", result.error);
    assert_eq!(
        result.output["log"],
        json!(["scripted", "the program's own"])
    );
}
