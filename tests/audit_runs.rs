//! No run exceeds what `graphc audit` says: random programs with sends, joins, branches, deferred nodes, loops and called
//! graphs are run, and their super-steps, model calls and tokens held against the sheet. `AUDITS` sets how many
//! programs are tried, `AUDITS_SEED` which.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use futures_util::stream;
use graphc::audit::{Bound, Services, Sheet, audit};
use graphc::compile::compile;
use graphc::ir::{ErrorKind, Flow};
use graphc::run::ambient::SystemAmbient;
use graphc::run::backends::Backends;
use graphc::run::engine::{Engine, RunOptions};
use graphc::run::model::{
    CallContext, ChatDelta, ChatModel, ChatRequest, ChatStream, FinishReason, ModelError,
};
use serde_json::json;

use crate::dice::Dice;

/// A graph that makes two or three calls of a model, and one that sends.
const CALLED: &str = r#"
graph Loop {
  state { in k: bool, out n: int via add = 0 }
  start -> a
  node a: llm -> b { model m prompt "x" set { n: 1 } max_visits 2 -> end }
  node b: update { set { n: 1 } goto { when state.n < 4 -> a else -> end } }
}

graph Sends {
  state { in k: bool, out n: int via add = 0 }
  start { when state.k -> each x in [1, 2, 3] -> a with { x: x } else -> last }
  node a: llm -> last { input { x: int } model m prompt "{{ input.x }}" set { n: 1 } }
  node last: update -> end { set { n: 1 } }
}
"#;

struct Program<'a> {
    dice: &'a mut Dice,
    count: usize,
}

impl Program<'_> {
    fn text(&mut self) -> String {
        let mut text = "model m = \"openai/gpt\" { max_tokens 10, timeout 9s }\n".to_owned();
        text += "graph Main {\n  state { in k: bool, in j: bool, out n: int via add = 0 }\n";
        writeln!(text, "  start -> {}", self.several(0)).unwrap();
        let mut joined = Vec::new();
        for _ in 0..self.dice.below(3) {
            let (a, b) = (self.dice.below(self.count), self.dice.below(self.count));
            if a != b && !joined.contains(&a) && !joined.contains(&b) {
                let to = self.jump(a.max(b) + 1);
                writeln!(text, "  [n{a}, n{b}] -> {to}").unwrap();
                joined.extend([a, b]);
            }
        }
        for at in 0..self.count {
            text += &self.node(at, joined.contains(&at));
        }
        let last = match self.dice.below(3) {
            0 => "each y in [1, 2, 3] -> v with { x: y }".to_owned(),
            1 => "v".to_owned(),
            _ => self.target(self.count / 2),
        };
        let cap = self.cap(self.count / 2);
        let kind = self.kind(false);
        writeln!(
            text,
            "  node w: {kind} -> {last} {{ {} input {{ x: int = 0 }} {cap} }}",
            body(&kind)
        )
        .unwrap();
        text += "  node v: llm -> end { input { x: int = 0 } model m prompt \"{{ input.x }}\" set { n: 1 } }\n";
        text + "}\n" + CALLED
    }

    fn kind(&mut self, any: bool) -> String {
        match self.dice.below(8) {
            0..=2 => "llm",
            3 if any => "subgraph Loop",
            4 if any => "subgraph Sends",
            5 if any => "branch",
            _ => "update",
        }
        .to_owned()
    }

    fn cap(&mut self, behind: usize) -> String {
        match self.dice.below(5) {
            0 => String::new(),
            limit => {
                let to = match self.dice.below(3) {
                    0 => self.jump(behind),
                    _ => "end".to_owned(),
                };
                format!("max_visits {limit} -> {to}")
            }
        }
    }

    /// A node behind that number, mostly one of the next, the end, or at times one before.
    fn target(&mut self, behind: usize) -> String {
        let at = match self.dice.below(8) {
            0 | 1 => self.dice.below(self.count),
            2 => self.count,
            3 => behind + 1,
            _ => behind,
        };
        match at < self.count {
            true => format!("n{at}"),
            false => "end".to_owned(),
        }
    }

    fn several(&mut self, behind: usize) -> String {
        let (a, b) = (self.target(behind), self.target(behind + 1));
        match a == b || self.dice.one_in(2) {
            true => a,
            false => format!("[{a}, {b}]"),
        }
    }

    fn jump(&mut self, behind: usize) -> String {
        let worker = ["w", "w", "v"][self.dice.below(3)];
        let elements = ["1, 2", "1, 2, 3", "1", "1, 2, 3, 4"][self.dice.below(4)];
        let send = format!("each x in [{elements}] -> {worker} with {{ x: x }}");
        match self.dice.below(8) {
            0 => send,
            1 => format!("[{}, {send}]", self.target(behind)),
            2 | 3 => self.several(behind),
            _ => self.target(behind),
        }
    }

    fn condition(&mut self) -> String {
        match self.dice.below(4) {
            0 => "state.k".to_owned(),
            1 => "!state.j".to_owned(),
            2 => format!("state.n < {}", 2 + self.dice.below(12)),
            _ => format!("state.n % {} == 0", 2 + self.dice.below(3)),
        }
    }

    fn arms(&mut self, behind: usize) -> String {
        let (first, second, last) = (self.jump(behind), self.jump(behind), self.jump(behind + 1));
        let (a, b) = (self.condition(), self.condition());
        match self.dice.one_in(2) {
            true => format!("{{ when {a} -> {first} else -> {last} }}"),
            false => format!("{{ when {a} -> {first} when {b} -> {second} else -> {last} }}"),
        }
    }

    fn node(&mut self, at: usize, joined: bool) -> String {
        let behind = at + 1;
        let kind = self.kind(!joined);
        let mut text = format!("  node n{at}: {kind}");
        let mut lines = vec![body(&kind)];
        match (joined, self.dice.one_in(2) || kind == "branch") {
            (true, _) => {}
            (false, true) => lines.push(format!("goto {}", self.arms(behind))),
            (false, false) => text += &format!(" -> {}", self.jump(behind)),
        }
        if kind != "branch" {
            lines.push(self.cap(behind));
            if self.dice.one_in(5) {
                lines.push("defer".to_owned());
            }
            if self.dice.one_in(8) {
                let (when, to) = (self.condition(), self.jump(behind));
                lines.push(format!("skip when {when} -> {to}"));
            }
            if self.dice.one_in(8) {
                let (when, to) = (self.condition(), self.jump(behind));
                lines.push(format!("require {when}\n    on_error -> {to}"));
            }
        }
        lines.retain(|line| !line.is_empty());
        text + &format!(" {{\n    {}\n  }}\n", lines.join("\n    "))
    }
}

fn body(kind: &str) -> String {
    match kind {
        "llm" => "model m prompt \"x\" set { n: 1 }",
        "update" => "set { n: 1 }",
        _ => "",
    }
    .to_owned()
}

/// Counts calls; after so many that no sheet of these tests allows them, it fails.
#[derive(Default)]
struct Counter {
    calls: AtomicU64,
    most: u64,
}

#[async_trait]
impl ChatModel for Counter {
    async fn stream(&self, _: ChatRequest, _: &CallContext) -> Result<ChatStream, ModelError> {
        if self.calls.fetch_add(1, Ordering::Relaxed) > self.most {
            return Err(ModelError::new(ErrorKind::Auth, "enough"));
        }
        let deltas = [
            ChatDelta::Text("x".to_owned()),
            ChatDelta::Finish(FinishReason::Stop),
        ];
        Ok(Box::pin(stream::iter(deltas.map(Ok))))
    }
}

fn compiled(text: &str) -> Option<Flow> {
    let files = BTreeMap::from([("main.graph".to_owned(), text.to_owned())]);
    compile("main.graph", &files).flow
}

fn most(bound: &Bound) -> Option<u64> {
    match bound {
        Bound::AtMost(most) => Some(*most),
        Bound::Unbounded(_) => None,
    }
}

/// What a run with this input does that the sheet says no run does; and the calls it made.
async fn exceeded(flow: &Flow, sheet: &Sheet, input: serde_json::Value) -> Result<u64, String> {
    let plan = Arc::new(graphc::run::plan::plan(Arc::new(flow.clone())).unwrap());
    let calls = most(&sheet.model_calls);
    let counter = Arc::new(Counter {
        most: calls.unwrap_or(200),
        ..Counter::default()
    });
    let models = plan.flow.models.iter();
    let engine = Engine {
        backends: Backends {
            models: models
                .map(|_| counter.clone() as Arc<dyn ChatModel>)
                .collect(),
            ..Backends::default()
        },
        plan: plan.clone(),
        store: None,
        ambient: Arc::new(SystemAmbient),
    };
    let graph = plan.flow.graph("Main").unwrap();
    let steps = most(&sheet.steps);
    let options = RunOptions {
        // Where nothing bounds a run, sends in a circle make more tasks with each round.
        recursion_limit: Some(steps.unwrap_or(9).min(150)),
        ..RunOptions::default()
    };
    let result = engine.start(graph, "t", &input, options).await.unwrap();
    let made = counter.calls.load(Ordering::Relaxed);
    if let Some(calls) = calls.filter(|calls| made > *calls) {
        return Err(format!("{made} calls are more than {calls}"));
    }
    let tokens = most(&sheet.output_tokens);
    if let Some(tokens) = tokens.filter(|tokens| made * 10 > *tokens) {
        return Err(format!("{} tokens are more than {tokens}", made * 10));
    }
    let error = result.error.as_ref();
    let ran_out = error.is_some_and(|error| {
        error.kind == ErrorKind::RecursionLimit && !error.message.contains("max_visits")
    });
    match steps.filter(|steps| ran_out && *steps <= 150) {
        Some(steps) => Err(format!("more super-steps than {steps}")),
        None => Ok(made),
    }
}

fn inputs() -> impl Iterator<Item = serde_json::Value> {
    (0..4).map(|bits| json!({ "k": bits & 1 != 0, "j": bits & 2 != 0 }))
}

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).map_or(usual, |number| number.parse().unwrap())
}

#[tokio::test]
async fn no_run_exceeds_the_sheet() {
    let mut dice = Dice(number("AUDITS_SEED", 5));
    let (mut clean, mut bounded, mut exact) = (0, 0, 0);
    let mut wrong = Vec::new();
    for round in 0..number("AUDITS", 600) {
        let count = 3 + dice.below(4);
        let text = Program {
            dice: &mut dice,
            count,
        }
        .text();
        let Some(flow) = compiled(&text) else {
            continue;
        };
        clean += 1;
        let graph = flow.graph("Main").unwrap();
        let sheet = audit(&flow, graph, &Services::default());
        if most(&sheet.steps).is_none() && most(&sheet.model_calls).is_none() {
            continue;
        }
        bounded += 1;
        let mut greatest = 0;
        for input in inputs() {
            match exceeded(&flow, &sheet, input.clone()).await {
                Ok(calls) => greatest = greatest.max(calls),
                Err(why) => {
                    let shown = text.strip_suffix(CALLED).unwrap();
                    wrong.push(format!("round {round}, input {input}: {why}\n{shown}"));
                    break;
                }
            }
        }
        exact += u64::from(Some(greatest) == most(&sheet.model_calls));
    }
    println!("{clean} clean, {bounded} with a bound, {exact} of them exact");
    let shortest = wrong.iter().min_by_key(|wrong| wrong.len());
    assert!(
        wrong.is_empty(),
        "{} wrong; {}",
        wrong.len(),
        shortest.unwrap()
    );
    assert!(bounded > 20, "{bounded} of {clean}");
}

/// The flows of tests/audit whose figures are exact: a run comes to them.
#[tokio::test]
async fn some_sheets_are_exact() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/audit");
    for name in ["send_of_sends", "sends_in_a_loop", "deferred_in_a_loop"] {
        let text = std::fs::read_to_string(folder.join(format!("{name}.graph"))).unwrap();
        let flow = compiled(&text).unwrap();
        let graph = flow.graph("Main").unwrap();
        let mut sheet = audit(&flow, graph, &Services::default());
        let calls = exceeded(&flow, &sheet, json!({})).await.unwrap();
        assert_eq!(Some(calls), most(&sheet.model_calls), "{name}");
        // One super-step less is not enough.
        sheet.steps = Bound::AtMost(most(&sheet.steps).unwrap() - 1);
        exceeded(&flow, &sheet, json!({})).await.unwrap_err();
    }
}
