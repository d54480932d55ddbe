//! The flow in `graphs/modes`: each mode has the nodes that it needs and no others, and all modes speak one contract of events.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

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

/// Lines that the command prints, as JSON.
fn lines(args: &[&str]) -> Vec<Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_graphc"))
        .current_dir(folder())
        .args(args)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let values = text.lines().map(serde_json::from_str);
    values.collect::<Result<_, _>>().unwrap()
}

/// Graphs of the flow by name, as in its IR.
fn graphs() -> BTreeMap<String, Value> {
    let output = Command::new(env!("CARGO_BIN_EXE_graphc"))
        .current_dir(folder())
        .args(["build", "modes.graph", "-o", "-"])
        .output()
        .unwrap();
    let ir: Value = serde_json::from_slice(&output.stdout).unwrap();
    let graphs = ir["graphs"].as_array().unwrap().iter();
    graphs
        .map(|graph| (graph["name"].as_str().unwrap().to_owned(), graph.clone()))
        .collect()
}

#[test]
fn each_mode_has_the_nodes_that_it_needs() {
    let graphs = graphs();
    let nodes = |mode: &str| {
        let nodes = graphs[mode]["nodes"].as_array().unwrap().iter();
        let names: Vec<&str> = nodes.map(|node| node["name"].as_str().unwrap()).collect();
        names.join(" ")
    };
    let manual = "validate_tenant load_agent retrieve";
    let automatic = "validate_tenant list_agents select_agent retrieve";
    let answer = "execute format_output";
    assert_eq!(nodes("Mode1"), format!("{manual} {answer}"));
    assert_eq!(nodes("Mode2"), format!("{automatic} {answer}"));
    assert_eq!(
        nodes("Mode3"),
        format!("{automatic} make_plan research {answer}")
    );
    assert_eq!(
        nodes("Mode4"),
        format!("{manual} make_plan research {answer}")
    );
    // What a mode doesn't need is no part of the flow that runs, not even where it is skipped.
    assert!(!graphs.contains_key("Ask"));
}

/// Scenarios of a mode, of all files that are about it. All of them pass.
fn scenarios(mode: usize) -> Vec<String> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with(".test.yaml"))
        .collect();
    files.sort();
    let graph = format!("graph: Mode{mode}");
    files.retain(|path| {
        let text = std::fs::read_to_string(path).unwrap();
        text.lines().any(|line| line == graph)
    });
    let names = files.iter().flat_map(|file| {
        let played = lines(&["test", &file.to_string_lossy(), "--format", "json"]);
        played.into_iter().map(|scenario| {
            assert_eq!(scenario["passed"], true, "{scenario}");
            scenario["name"].as_str().unwrap().to_owned()
        })
    });
    names.collect()
}

/// What a page is told in a scenario: the `data` of each custom event.
fn told(mode: usize, scenario: &str) -> Vec<Value> {
    let graph = format!("Mode{mode}");
    let events = lines(&[
        "run",
        "modes.graph",
        "--graph",
        &graph,
        "--scenario",
        scenario,
        "--store",
        "memory",
        "--stream",
        "custom",
    ]);
    let custom = events.iter().filter(|event| event["type"] == "custom");
    custom.map(|event| event["data"].clone()).collect()
}

/// Whether what is told in order is a whole answer: chunks that add up to the response, and nothing behind `final`.
fn ends_whole(events: &[Value]) -> bool {
    let Some((last, before)) = events.split_last() else {
        return false;
    };
    let chunks = before
        .iter()
        .filter(|event| event["name"] == "content_chunk");
    let words: String = chunks
        .map(|event| event["payload"]["content"].as_str().unwrap())
        .collect();
    last["name"] == "final"
        && last["payload"]["response"] == *words
        && before.iter().all(|event| event["name"] != "final")
}

/// What every event must fit.
fn contract() -> jsonschema::Validator {
    let schema = std::fs::read(folder().join("events.schema.json")).unwrap();
    let options = jsonschema::options().should_validate_formats(true);
    options
        .build(&serde_json::from_slice(&schema).unwrap())
        .unwrap()
}

/// Types of reasoning, and whether there were steps, over all scenarios of a mode.
fn kinds(mode: usize) -> (BTreeSet<String>, bool) {
    let contract = contract();
    let (mut reasoning, mut steps, mut whole) = (BTreeSet::new(), false, 0);
    for scenario in scenarios(mode) {
        let events = told(mode, &scenario);
        for event in &events {
            let wrong: Vec<String> = contract.iter_errors(event).map(|e| e.to_string()).collect();
            assert!(wrong.is_empty(), "{scenario}: {event}: {wrong:?}");
            steps |= event["name"] == "workflow_step";
            let kind = event["payload"]["reasoning_type"].as_str();
            reasoning.extend(kind.map(str::to_owned));
        }
        whole += usize::from(ends_whole(&events));
        let ended = events.iter().any(|event| event["name"] == "final");
        assert_eq!(ended, ends_whole(&events), "{scenario}: {events:?}");
    }
    assert!(whole > 0, "no scenario of mode {mode} answers");
    (reasoning, steps)
}

fn set(kinds: &[&str]) -> BTreeSet<String> {
    kinds.iter().map(|kind| (*kind).to_owned()).collect()
}

#[test]
fn modes_that_answer_at_once_keep_to_the_contract_without_steps() {
    for mode in [1, 2] {
        assert_eq!(kinds(mode), (set(&REASONING[..4]), false), "mode {mode}");
    }
}

#[test]
fn autonomous_modes_keep_to_the_contract_with_steps() {
    for mode in [3, 4] {
        assert_eq!(kinds(mode), (set(&REASONING), true), "mode {mode}");
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
