//! Which backend serves what.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use graphc::backend::bind::bind;
use graphc::backend::limit::REQUESTS;
use graphc::backend::scenario::{Script, Start};
use graphc::base::SourceMap;
use graphc::ir::{Flow, Model, Tool, ToolBody};
use graphc::project::config::{Config, load};
use graphc::project::scenario;
use graphc::run::backends::Backends;
use graphc::run::model::{ChatRequest, ToolChoice};
use graphc::run::tool::ToolCall;
use graphc::value::List;
use serde_json::json;

use super::context::{call, context};
use super::server::{Reply, Server, json as answer};

fn flow(models: &[(&str, &str)], tools: &[(&str, bool)]) -> Flow {
    let model = |(name, provider): &(&str, &str)| -> Model {
        serde_json::from_value(json!({ "name": name, "provider": provider, "model": "m" })).unwrap()
    };
    let tool = |(name, body): &(&str, bool)| -> Tool {
        let at = json!({ "file": 0, "line": 12, "column": 1, "offset": 0 });
        let tool = json!({ "name": name, "params": [], "at": at });
        let mut tool: Tool = serde_json::from_value(tool).unwrap();
        tool.body = body.then(ToolBody::default);
        tool
    };
    Flow {
        format: 1,
        files: vec!["a.graph".into()],
        types: Default::default(),
        functions: Vec::new(),
        secrets: Vec::new(),
        marks: Vec::new(),
        events: Default::default(),
        reducers: Default::default(),
        models: models.iter().map(model).collect(),
        tools: tools.iter().map(tool).collect(),
        graphs: Default::default(),
        entry: None,
        parametric: Vec::new(),
    }
}

fn config(yaml: &str) -> Config {
    let mut sources = SourceMap::new();
    let file = sources.add("graphc.yaml", yaml);
    load(&sources, file, None, &|_| None).unwrap()
}

fn messages(result: Result<Backends, graphc::diag::Diagnostics>) -> Vec<String> {
    let found = result.err().expect("errors");
    found
        .iter()
        .map(|finding| finding.message.clone())
        .collect()
}

#[test]
fn all_that_is_missing_is_said_at_once() {
    let flow = flow(
        &[
            ("writer", "openai"),
            ("backup", "opnai"),
            ("small", "local"),
        ],
        &[("run", false), ("own", true), ("find", false)],
    );
    let config = config(
        "providers: { local: { kind: openai, base_url: 'http://${HOST}' } }\ntools: { find: { command: [x, '${A}'] } }",
    );
    assert_eq!(
        messages(bind(&flow, &config, None, Path::new("."))),
        [
            "nothing says how to reach the provider `opnai` of model `backup`",
            "tool `run` (a.graph:12) has no body and is bound to nothing",
            "the environment variable `HOST` is not set, which `providers.local.base_url` needs",
            "the environment variable `A` is not set, which `tools.find.command[1]` needs",
        ]
    );
}

#[test]
fn what_is_not_used_may_miss_its_variables() {
    let flow = flow(&[("writer", "openai")], &[]);
    let config = config("providers: { local: { kind: openai, base_url: 'http://${HOST}' } }");
    assert!(bind(&flow, &config, None, Path::new(".")).is_ok());
    assert!(bind(&flow, &Config::empty(&|_| None), None, Path::new(".")).is_ok());
}

#[test]
fn scripted_models_need_a_scenario() {
    let flow = flow(&[("writer", "openai")], &[]);
    let config = config("default_profile: dev\nprofiles: { dev: { models: { '*': scripted } } }");
    assert_eq!(
        messages(bind(&flow, &config, None, Path::new("."))),
        ["the models are scripted in profile `dev`, and there is no scenario"]
    );
}

#[test]
fn a_request_uses_parameters_that_there_are() {
    let flow = flow(&[], &[("find", false)]);
    let config = config("tools: { find: { http: { url: 'http://x/{{ args.q }}' } } }");
    assert_eq!(
        messages(bind(&flow, &config, None, Path::new("."))),
        ["tool `find` has no parameter `q`, used in `http://x/{{ args.q }}`"]
    );
}

#[tokio::test]
async fn a_scenario_plays_the_models_and_the_tools_it_names() {
    let flow = flow(
        &[("writer", "nowhere")],
        &[
            ("own", true),
            ("played", true),
            ("real", false),
            ("absent", false),
        ],
    );
    let config = config("tools: { real: { script: [{ result: 1 }] } }");
    let mut sources = SourceMap::new();
    let yaml = "scenarios: [{ name: s, models: { n: [{ text: hi }] }, tools: { played: [{ result: 2 }] } }]";
    let file = sources.add("a.test.yaml", yaml);
    let suite = scenario::load(&sources, file).unwrap();
    let script = Script::new(&suite, 0, Start::Run).unwrap();
    let backends = bind(&flow, &config, Some(&script), Path::new(".")).unwrap();
    let tools: Vec<_> = backends.tools.iter().collect();
    assert!(tools[0].is_none());
    for (tool, name, result) in [
        (tools[1], "played", Some(2)),
        // What graphc.yaml binds stays out: a scenario is all of the world.
        (tools[2], "real", None),
        (tools[3], "absent", None),
    ] {
        let made = ToolCall {
            tool: name.into(),
            args: Default::default(),
        };
        let given = tool.as_ref().unwrap().call(made, &call("n", 0)).await;
        assert_eq!(given.ok(), result.map(|n| json!(n)), "{name}");
        assert_eq!(script.calls()[name], 1);
    }
    let model = backends.models.iter().next().unwrap();
    assert!(model.stream(asks(), &call("n", 0)).await.is_ok());
}

fn asks() -> ChatRequest {
    ChatRequest {
        model_name: "writer".into(),
        model: "m".into(),
        messages: List::new(),
        tools: Vec::new(),
        tool_choice: ToolChoice::Auto,
        output: None,
        temperature: None,
        top_p: None,
        max_tokens: None,
        thinking_budget: None,
        reasoning_effort: None,
        seed: None,
        stream: false,
    }
}

/// Calls that wait for their own provider keep no place that those of another could take.
#[tokio::test]
async fn a_provider_with_few_places_holds_up_no_other() {
    let slow = Server::start(vec![Reply::Silence]).await;
    let said = r#"{"choices":[{"message":{"content":"ok"},"finish_reason":"stop"}]}"#;
    let fast = Server::start(vec![answer(200, said)]).await;
    let yaml = format!(
        "providers:\n  slow: {{ kind: openai, base_url: '{}', max_concurrency: 1 }}\n  fast: {{ kind: openai, base_url: '{}' }}\n",
        slow.url, fast.url
    );
    let flow = flow(&[("a", "slow"), ("b", "fast")], &[]);
    let bound = bind(&flow, &config(&yaml), None, Path::new(".")).unwrap();
    let [waits, other]: [_; 2] = bound
        .models
        .iter()
        .cloned()
        .collect::<Vec<_>>()
        .try_into()
        .ok()
        .unwrap();
    for _ in 0..=REQUESTS {
        let model = Arc::clone(&waits);
        tokio::spawn(async move { model.stream(asks(), &context()).await.map(|_| ()) });
    }
    // All of them have asked for their places by then.
    while slow.asked().is_empty() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let cx = context();
    let other = tokio::time::timeout(Duration::from_secs(20), other.stream(asks(), &cx));
    assert!(other.await.expect("it has its place").is_ok());
}
