//! What `graphc diff` promises, held against runs: random programs are changed at random. Where the diff says that all is
//! compatible, a thread that waits under the old version goes on under the new one and loses nothing; where it says
//! that nothing changes, both give the same. `VERSIONS` sets how many pairs are tried, `VERSIONS_SEED` which.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    missing_docs
)]

mod dice;
#[path = "versions/kept.rs"]
mod kept;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use graphc::compile::compile;
use graphc::ir::Flow;
use graphc::ir::diff::{Group, diff};
use graphc::run::ambient::SystemAmbient;
use graphc::run::backends::Backends;
use graphc::run::engine::{Engine, RunOptions, RunResult};
use graphc::run::interrupt::Answer;
use graphc::run::model::CallContext;
use graphc::run::store::{RunState, Store};
use graphc::run::tool::{ToolBackend, ToolCall, ToolError};
use graphc::store::MemoryStore;
use serde_json::{Value as Json, json};

use dice::Dice;

#[derive(Clone, PartialEq)]
enum Work {
    Update,
    Call(usize),
    Ask,
}

#[derive(Clone)]
struct Node {
    name: String,
    work: Work,
    writes: Option<usize>,
    reads: Option<usize>,
}

#[derive(Clone, Default)]
struct Field {
    default: bool,
    untracked: bool,
}

/// Stages one after the other; the nodes of one run side by side and are joined.
#[derive(Clone)]
struct Program {
    fields: Vec<Field>,
    nodes: Vec<Node>,
    stages: Vec<Vec<String>>,
    tools: Vec<[&'static str; 2]>,
}

const TOOLS: [&str; 3] = ["one", "two", "three"];

impl Program {
    fn random(dice: &mut Dice) -> Self {
        let fields = (0..3).map(|_| Field {
            default: !dice.one_in(3),
            untracked: dice.one_in(6),
        });
        let fields = fields.collect();
        let mut program = Self {
            fields,
            nodes: Vec::new(),
            stages: Vec::new(),
            tools: vec![["name", "more"]; TOOLS.len()],
        };
        let asks = dice.below(3);
        for stage in 0..3 + dice.below(2) {
            let mut names = Vec::new();
            for of in 0..1 + dice.below(5) / 3 {
                let name = format!("n{stage}{of}");
                let work = match dice.below(3) {
                    _ if stage == asks && of == 0 => Work::Ask,
                    0 => Work::Update,
                    _ => Work::Call(dice.below(TOOLS.len())),
                };
                program.nodes.push(Node {
                    name: name.clone(),
                    work,
                    writes: dice.one_in(3).then(|| dice.below(3)),
                    reads: dice.one_in(3).then(|| dice.below(3)),
                });
                names.push(name);
            }
            program.stages.push(names);
        }
        program
    }

    /// Changes one thing.
    fn change(&mut self, dice: &mut Dice) {
        let (field, stage) = (dice.below(3), dice.below(self.stages.len()));
        let node = dice.below(self.nodes.len());
        let other = dice.below(self.nodes.len());
        match dice.below(12) {
            0 => self.fields[field].default = !self.fields[field].default,
            1 => {
                self.fields[field].default = false;
                self.nodes[0].writes = Some(field);
            }
            2 => self.fields[field].untracked = !self.fields[field].untracked,
            3 => {
                if let Work::Call(tool) = &mut self.nodes[node].work {
                    *tool = dice.below(TOOLS.len());
                }
            }
            4 | 5 => self.nodes.swap(node, other),
            6 => self.stages[stage].reverse(),
            7 if self.stages[stage].len() > 1 => {
                let last = self.stages[stage].pop().unwrap();
                self.stages.insert(stage + 1, vec![last]);
            }
            7 | 8 => {
                if stage + 1 < self.stages.len() {
                    let next = self.stages.remove(stage + 1);
                    self.stages[stage].extend(next);
                }
            }
            9 => {
                let name = format!("new{}", self.nodes.len());
                self.stages.push(vec![name.clone()]);
                self.nodes.push(Node {
                    name,
                    work: Work::Update,
                    writes: None,
                    reads: Some(field),
                });
            }
            10 => self.tools[field].reverse(),
            _ => {
                let gone = self.nodes.remove(node).name;
                for stage in &mut self.stages {
                    stage.retain(|name| *name != gone);
                }
                self.stages.retain(|stage| !stage.is_empty());
            }
        }
    }

    fn text(&self) -> String {
        let mut text = "type Ok { ok: bool }\n".to_owned();
        for (tool, [a, b]) in TOOLS.iter().zip(&self.tools) {
            writeln!(text, "/// Calls.\ntool {tool}({a}: string, {b}: string) -> string @effect(write) @timeout(9s)").unwrap();
        }
        text += "graph Main {\n  state {\n    out o: string = \"\"\n    out log: list<string> via append\n";
        for (at, field) in self.fields.iter().enumerate() {
            let untracked = if field.untracked { "untracked " } else { "" };
            let default = if field.default { " = \"\"" } else { "" };
            writeln!(text, "    {untracked}x{at}: string via any_last{default}").unwrap();
        }
        text += "  }\n";
        let list = |names: &[String]| match names {
            [one] => one.clone(),
            many => format!("[{}]", many.join(", ")),
        };
        let mut from = "start".to_owned();
        for stage in &self.stages {
            writeln!(text, "  {from} -> {}", list(stage)).unwrap();
            from = list(stage);
        }
        writeln!(text, "  {from} -> last").unwrap();
        for node in &self.nodes {
            let Node { name, work, .. } = node;
            let read = node.reads.map(|at| format!(" + state.x{at}"));
            let read = read.unwrap_or_default();
            let write = node.writes.map(|at| format!(", x{at}: \"{name}\""));
            let write = write.unwrap_or_default();
            let (work, value) = match work {
                Work::Update => ("update {".to_owned(), format!("\"{name}\"")),
                Work::Call(tool) => (
                    format!("call {}(name: \"{name}\", more: \"\") {{", TOOLS[*tool]),
                    "result".to_owned(),
                ),
                Work::Ask => (
                    "interrupt { ask \"?\" expect Ok".to_owned(),
                    format!("(answer.ok ? \"{name}\" : \"no\")"),
                ),
            };
            writeln!(
                text,
                "  node {name}: {work} set {{ log: [{value}{read}]{write} }} }}"
            )
            .unwrap();
        }
        text + "  node last: update -> end { set { o: \"done\" } }\n}\n"
    }
}

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

fn yes() -> [Answer; 1] {
    [Answer {
        interrupt: None,
        value: json!({ "ok": true }),
    }]
}

async fn start(engine: &Engine, thread: &str) -> RunResult {
    let graph = engine.plan.flow.graph("Main").unwrap();
    let options = RunOptions::default();
    engine
        .start(graph, thread, &json!({}), options)
        .await
        .unwrap()
}

/// What is wrong with how a thread went on.
async fn resumed(old: &Flow, new: &Flow) -> Option<String> {
    let (store, calls) = (Arc::new(MemoryStore::default()), Arc::new(Calls::default()));
    let begun = start(&engine(old, &store, &calls), "t").await;
    if begun.state != RunState::Interrupted {
        return None;
    }
    let new_engine = engine(new, &store, &calls);
    let result = match new_engine.resume("t", &yes(), RunOptions::default()).await {
        Ok(result) => result,
        Err(error) => return Some(format!("it does not go on: {error}")),
    };
    if result.state != RunState::Done || result.output.get("o") != Some(&json!("done")) {
        return Some(format!(
            "{:?} {:?} {:?}",
            result.state, result.error, result.output
        ));
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
    let mut result = start(&engine, "t").await;
    if result.state == RunState::Interrupted {
        result = engine
            .resume("t", &yes(), RunOptions::default())
            .await
            .unwrap();
    }
    json!(result.output)
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
        if resumed(&old, &old).await.is_none()
            && let Some(wrong) = resumed(&old, &new).await
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
    assert_eq!(resumed(&old, &new).await, None);
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
    assert_eq!(resumed(&old, &new).await, None);
    let found = diff(&old, &new);
    assert!(
        found
            .iter()
            .all(|finding| finding.group == Group::Compatible)
    );
}
