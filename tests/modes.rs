//! The flow in `graphs/modes`: each mode has the nodes that it needs and no others, and all modes speak one contract of events.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

const REASONING: [&str; 7] = [
    "rag_retrieval_start",
    "rag_retrieval_observation",
    "agent_execution_start",
    "agent_execution_complete",
    "react_thought",
    "react_action",
    "react_observation",
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("graphs/modes")
}

fn graphc(args: &[&str]) -> Vec<u8> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_graphc"));
    command.current_dir(folder()).args(args);
    let output = command.stdin(Stdio::null()).output().unwrap();
    // A scenario may well fail, but never without its result on stdout.
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(!output.stdout.is_empty(), "{args:?}: {said}");
    output.stdout
}

#[test]
fn each_mode_has_the_nodes_that_it_needs() {
    let ir: Value = serde_json::from_slice(&graphc(&["build", "modes.graph", "-o", "-"])).unwrap();
    let graphs = ir["graphs"].as_array().unwrap().iter();
    let nodes: BTreeMap<&str, String> = graphs
        .map(|graph| {
            let nodes = graph["nodes"].as_array().unwrap().iter();
            let names: Vec<&str> = nodes.map(|node| node["name"].as_str().unwrap()).collect();
            (graph["name"].as_str().unwrap(), names.join(" "))
        })
        .collect();
    let manual = "validate_tenant load_agent retrieve";
    let automatic = "validate_tenant list_agents select_agent retrieve";
    let alone = "make_plan research";
    let answer = "execute format_output";
    assert_eq!(nodes["Mode1"], format!("{manual} {answer}"));
    assert_eq!(nodes["Mode2"], format!("{automatic} {answer}"));
    assert_eq!(nodes["Mode3"], format!("{automatic} {alone} {answer}"));
    assert_eq!(nodes["Mode4"], format!("{manual} {alone} {answer}"));
    // The base itself is no part of the flow that runs.
    assert!(!nodes.contains_key("Ask"));
}

/// A file of scenarios.
#[derive(serde::Deserialize)]
struct Scenarios {
    graph: String,
    scenarios: Vec<Scenario>,
}

#[derive(serde::Deserialize)]
struct Scenario {
    name: String,
    thread: Option<String>,
    /// One that ends its process is for `graphc test` alone.
    crash: Option<Value>,
}

/// The scenarios about a mode, of all files.
fn scenarios(graph: &str) -> Vec<Scenario> {
    let files = std::fs::read_dir(folder()).unwrap();
    let mut paths: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.to_string_lossy().ends_with(".test.yaml"));
    paths.sort();
    let texts = paths
        .iter()
        .map(|path| std::fs::read_to_string(path).unwrap());
    texts
        .map(|text| serde_yaml::from_str::<Scenarios>(&text).unwrap())
        .filter(|file| file.graph == graph)
        .flat_map(|file| file.scenarios)
        .filter(|scenario| scenario.crash.is_none())
        .collect()
}

/// What a page is told in a scenario: the `data` of each custom event.
fn told(graph: &str, scenario: &Scenario, stores: &Path) -> Vec<Value> {
    let thread = scenario.thread.as_ref().unwrap_or(&scenario.name);
    let thread = thread.replace(' ', "-");
    let store = format!("sqlite:{}/{thread}.db", stores.display());
    let run = ["run", "modes.graph", "--graph", graph, "--scenario"];
    let how = ["--store", &store, "--thread", &thread, "--stream", "custom"];
    let output = graphc(&[&run[..], &[&scenario.name], &how].concat());
    let lines = std::str::from_utf8(&output).unwrap().lines();
    let mut events: Vec<Value> = lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let result = events.pop().unwrap();
    assert_eq!(result["type"], "result", "{}", scenario.name);
    events
        .iter()
        .map(|event| {
            assert_eq!(event["type"], "custom");
            event["data"].clone()
        })
        .collect()
}

/// What every event must fit.
fn contract() -> jsonschema::Validator {
    let schema = std::fs::read(folder().join("events.schema.json")).unwrap();
    let options = jsonschema::options().should_validate_formats(true);
    options
        .build(&serde_json::from_slice(&schema).unwrap())
        .unwrap()
}

/// Whether `final` is there; it comes last, once, and the chunks add up to its response.
fn ends_whole(events: &[Value]) -> bool {
    let named =
        |name: &'static str| move |event: &&Value| -> bool { event["name"].as_str() == Some(name) };
    let Some(last) = events.iter().find(named("final")) else {
        return false;
    };
    let chunks = events.iter().filter(named("content_chunk"));
    let words: String = chunks
        .map(|event| event["payload"]["content"].as_str().unwrap())
        .collect();
    assert_eq!(last["payload"]["response"], *words, "{events:?}");
    assert_eq!(Some(last), events.last(), "{events:?}");
    true
}

/// Types of reasoning, and whether there were steps, over all scenarios of a mode. Every event is held to the contract.
fn kinds(graph: &str) -> (BTreeSet<String>, bool) {
    let contract = contract();
    let stores = Path::new(env!("CARGO_TARGET_TMPDIR")).join(graph);
    let _ = std::fs::remove_dir_all(&stores);
    std::fs::create_dir_all(&stores).unwrap();
    let (mut reasoning, mut steps, mut whole) = (BTreeSet::new(), false, 0);
    for scenario in scenarios(graph) {
        let events = told(graph, &scenario, &stores);
        for event in &events {
            let wrong = contract.iter_errors(event).map(|error| error.to_string());
            let wrong: Vec<String> = wrong.collect();
            assert!(wrong.is_empty(), "{}: {event}: {wrong:?}", scenario.name);
            steps |= event["name"] == "workflow_step";
            let kind = event["payload"]["reasoning_type"].as_str();
            reasoning.extend(kind.map(str::to_owned));
        }
        whole += usize::from(ends_whole(&events));
    }
    assert!(whole > 1, "{graph} answers in {whole} scenarios");
    (reasoning, steps)
}

fn set(kinds: &[&str]) -> BTreeSet<String> {
    kinds.iter().map(|kind| (*kind).to_owned()).collect()
}

#[test]
fn modes_that_answer_at_once_keep_to_the_contract_without_steps() {
    for graph in ["Mode1", "Mode2"] {
        assert_eq!(kinds(graph), (set(&REASONING[..4]), false), "{graph}");
    }
}

#[test]
fn autonomous_modes_keep_to_the_contract_with_steps() {
    for graph in ["Mode3", "Mode4"] {
        assert_eq!(kinds(graph), (set(&REASONING), true), "{graph}");
    }
}

/// The contract refuses what is no event of it, so that the tests above say something.
#[test]
fn the_contract_is_narrow() {
    let contract = contract();
    let good = r#"{"name": "langgraph_reasoning", "payload":
        {"reasoning_type": "react_thought", "content": "Hm.", "timestamp": "2026-03-02T09:00:00Z", "metadata": {}}}"#;
    assert!(contract.is_valid(&serde_json::from_str(good).unwrap()));
    for (from, to) in [
        ("react_thought", "react_dream"),
        ("langgraph_reasoning", "workflow_step"),
        ("langgraph_reasoning", "reasoning"),
        ("2026-03-02T09:00:00Z", "today"),
        ("\"Hm.\"", "7"),
        ("\"metadata\": {}", "\"metadata\": {}, \"more\": 1"),
    ] {
        let bad = serde_json::from_str(&good.replace(from, to)).unwrap();
        assert!(!contract.is_valid(&bad), "{bad}");
    }
}
