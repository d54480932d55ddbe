//! What `graphc diff` promises, held against runs: random programs are changed at random. Where the diff says that all is
//! compatible, a thread that waits under the old version goes on under the new one and loses nothing; where it says
//! that nothing changes, both give the same. `VERSIONS` sets how many pairs are tried, `VERSIONS_SEED` which.
//!
//! And what single changes come to: every `tests/versions/*.graph` is a case (`play`).

mod earlier;
mod former;
mod kept;
mod play;
mod program;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use graphc::compile::compile;
use graphc::ir::Flow;
use graphc::ir::diff::{Group, diff};
use graphc::run::ambient::SystemAmbient;
use graphc::run::backends::Backends;
use graphc::run::engine::{Engine, RunOptions, RunResult, StartError};
use graphc::run::interrupt::Answer;
use graphc::run::model::CallContext;
use graphc::run::store::{RunState, Store};
use graphc::run::tool::{ToolBackend, ToolCall, ToolError};
use graphc::store::MemoryStore;
use serde_json::{Value as Json, json};

use crate::dice::Dice;
use program::Program;

fn compiled(text: &str) -> Option<Flow> {
    let files = BTreeMap::from([("main.graph".to_owned(), text.to_owned())]);
    compile("main.graph", &files).flow
}

/// Gives the name of the node back and notes who called what.
#[derive(Default)]
struct Calls(Mutex<Vec<(String, String)>>);

#[async_trait]
impl ToolBackend for Calls {
    async fn call(&self, call: ToolCall, _: &CallContext) -> Result<Json, ToolError> {
        let node = call.args["name"].as_str().unwrap().to_owned();
        let mut calls = self.0.lock().unwrap();
        calls.push((call.tool, node.clone()));
        Ok(json!(node))
    }
}

fn engine(flow: &Flow, store: &Arc<MemoryStore>, calls: &Arc<Calls>) -> Engine {
    let plan = Arc::new(graphc::run::plan::plan(Arc::new(flow.clone())).unwrap());
    let tools = plan.flow.tools.iter();
    let tools = tools.map(|_| Some(calls.clone() as Arc<dyn ToolBackend>));
    Engine {
        backends: Backends {
            models: Default::default(),
            tools: tools.collect(),
            externs: BTreeMap::new(),
        },
        plan: plan.clone(),
        store: Some(store.clone() as Arc<dyn Store>),
        ambient: Arc::new(SystemAmbient),
    }
}

/// Yes to all that is asked, until nothing is any more.
async fn yes(engine: &Engine, mut result: RunResult) -> Result<RunResult, StartError> {
    while result.state == RunState::Interrupted {
        let answers = result.interrupts.iter().map(|open| Answer {
            interrupt: Some(open.id.clone()),
            value: json!({ "ok": true }),
        });
        let answers: Vec<Answer> = answers.collect();
        result = engine.resume("t", &answers, RunOptions::default()).await?;
    }
    Ok(result)
}

async fn start(engine: &Engine, thread: &str) -> RunResult {
    let graph = engine.plan.flow.graph("Main").unwrap();
    let options = RunOptions::default();
    engine
        .start(graph, thread, &json!({}), options)
        .await
        .unwrap()
}

/// What is wrong with how a thread went on. `same_ways`: nodes lead to the same nodes.
async fn resumed(old: &Flow, new: &Flow, same_ways: bool) -> Option<String> {
    let (store, calls) = (Arc::new(MemoryStore::default()), Arc::new(Calls::default()));
    let begun = start(&engine(old, &store, &calls), "t").await;
    if begun.state != RunState::Interrupted {
        return None;
    }
    let before_it: Vec<(String, String)> = calls.0.lock().unwrap().clone();
    let new_engine = engine(new, &store, &calls);
    let result = match yes(&new_engine, begun).await {
        Ok(result) => result,
        Err(error) => return Some(format!("it does not go on: {error}")),
    };
    if result.state != RunState::Done || result.output.get("o") != Some(&json!("done")) {
        return Some(format!(
            "{:?} {:?} {:?}",
            result.state, result.error, result.output
        ));
    }
    // What nobody leads to again is not called again.
    if same_ways {
        let all = calls.0.lock().unwrap();
        let again = before_it
            .iter()
            .find(|call| all.iter().filter(|made| made == call).count() > 1);
        if let Some(call) = again {
            return Some(format!("{call:?} was called again"));
        }
    }
    let made: BTreeSet<(String, String)> = calls.0.lock().unwrap().iter().cloned().collect();
    let graph = |flow: &Flow| flow.graphs.get(flow.entry.unwrap()).unwrap().clone();
    let before = graph(old);
    for node in graph(new).nodes.iter() {
        let graphc::ir::Work::Call { tool, .. } = &node.work else {
            continue;
        };
        let call = (
            new.tools.get(*tool).unwrap().name.clone(),
            node.name.clone(),
        );
        if before.node(&node.name).is_some() && !made.contains(&call) {
            return Some(format!("{call:?} was never called"));
        }
    }
    None
}

/// The output of a whole run.
async fn outcome(flow: &Flow) -> Json {
    let (store, calls) = (Arc::new(MemoryStore::default()), Arc::new(Calls::default()));
    let engine = engine(flow, &store, &calls);
    let begun = start(&engine, "t").await;
    json!(yes(&engine, begun).await.unwrap().output)
}

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |number| number.parse().unwrap())
}

#[tokio::test]
async fn what_is_compatible_goes_on() {
    let mut dice = Dice(number("VERSIONS_SEED", 7));
    let (mut compatible, mut same, mut asked) = (0, 0, 0);
    for round in 0..number("VERSIONS", 500) {
        let program = Program::random(&mut dice);
        let mut changed = program.clone();
        for _ in 0..1 + dice.below(2) {
            changed.change(&mut dice);
        }
        let texts = (program.text(), changed.text());
        let (Some(old), Some(new)) = (compiled(&texts.0), compiled(&texts.1)) else {
            continue;
        };
        let found = diff(&old, &new);
        let shown = || {
            let found: Vec<&str> = found.iter().map(|f| f.message.as_str()).collect();
            format!(
                "round {round}: {}\n{}\n---- new\n{}",
                found.join("\n"),
                texts.0,
                texts.1
            )
        };
        if found
            .iter()
            .any(|finding| finding.group > Group::Compatible)
        {
            asked += 1;
            continue;
        }
        compatible += 1;
        // A flow that doesn't go on as it is won't go on as another.
        if resumed(&old, &old, true).await.is_none()
            && let Some(wrong) = resumed(&old, &new, program.stages == changed.stages).await
        {
            panic!("{wrong}\n{}", shown());
        }
        if found.is_empty() {
            same += 1;
            assert_eq!(outcome(&old).await, outcome(&new).await, "{}", shown());
        }
    }
    println!("{compatible} compatible, {same} of them the same, {asked} not");
    assert!(compatible > 50 && asked > 50, "{compatible} {asked}");
}

const BESIDE: &str = r#"
type Ok { ok: bool }
tool one(name: string, more: string) -> string @effect(read) @timeout(9s)
tool two(name: string, more: string) -> string @effect(write) @timeout(9s)
graph Main {
  state { out o: string = "", out log: list<string> via append }
  start -> [a, ask]
  [a, ask] -> last
  node a: call one(name: "a", more: "") { set { log: [result] } }
  node ask: interrupt { ask "?" expect Ok set { log: ["ask"] } }
  node last: update -> end { set { o: "done" } }
}
"#;

/// A call that has been made answers no call of another tool, also where the thread waits in the same super-step.
#[tokio::test]
async fn another_tool_is_called() {
    let changed = BESIDE.replace("call one", "call two");
    let (old, new) = (compiled(BESIDE).unwrap(), compiled(&changed).unwrap());
    assert_eq!(resumed(&old, &new, true).await, None);
    let found = diff(&old, &new);
    assert_eq!(found[0].group, Group::NeedsMigration);
}

/// A join is the same in whichever order its members are written.
#[tokio::test]
async fn a_join_in_another_order_is_the_same() {
    let old = BESIDE.replace("start -> [a, ask]", "start -> [a, b]\n  b -> ask");
    let old = old.replace("node last", "node b: update\n  node last");
    let new = old.replace("[a, ask] -> last", "[ask, a] -> last");
    let (old, new) = (compiled(&old).unwrap(), compiled(&new).unwrap());
    assert_eq!(resumed(&old, &new, true).await, None);
    let found = diff(&old, &new);
    assert!(
        found
            .iter()
            .all(|finding| finding.group == Group::Compatible)
    );
}

/// What is said of threads in a file of versions, by group and code.
fn said_of_threads(text: &str, all: &mut BTreeSet<(&'static str, &'static str)>) {
    let versions: Vec<Flow> = text
        .split("// ---- new\n")
        .map(|version| compiled(version).unwrap())
        .collect();
    for pair in versions.windows(2) {
        let found = diff(&pair[0], &pair[1]).into_iter();
        let found = found.filter(|found| found.side.word() == "threads");
        all.extend(found.map(|found| (found.group.word(), found.code)));
    }
}

/// Each verdict on threads that the cases of `graphc diff` have has a pair of versions in which a thread shows what it means.
#[test]
fn each_verdict_on_threads_has_its_proof() {
    let (mut known, mut shown) = (BTreeSet::new(), BTreeSet::new());
    for (_, text) in play::cases() {
        said_of_threads(&text, &mut shown);
    }
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/diff");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|end| end == "graph") {
            said_of_threads(&std::fs::read_to_string(path).unwrap(), &mut known);
        }
    }
    let lacking: Vec<_> = known.difference(&shown).collect();
    assert!(known.len() > 20 && lacking.is_empty(), "{lacking:?}");
}

/// An effect that has been made, and a person's answer, stay what they are of, whatever stands ahead of them now.
#[tokio::test]
async fn single_changes() {
    let cases = play::cases();
    assert!(cases.len() > 10);
    let only = std::env::var("CASE").unwrap_or_default();
    let mut wrong = Vec::new();
    for (name, text) in cases.into_iter().filter(|(name, _)| name.contains(&only)) {
        let case = name.clone();
        let played = tokio::spawn(async move {
            let store = Arc::new(MemoryStore::default());
            play::play(&name, &text, &store, || async {}).await;
        });
        if played.await.is_err() {
            wrong.push(case);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join(" "));
}
