//! What the compiler promises of a program that it finds nothing wrong with, held against runs of it: random
//! programs are compiled, those that are clean are run with random inputs, and no run may come to what the
//! compiler should have reported: two writers of one field, a read before a write, an `out` field without a value.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    missing_docs
)]

mod dice;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use graphc::compile::compile;
use graphc::ir::Channel;
use graphc::run::ambient::Ambient;
use graphc::run::backends::Backends;
use graphc::run::engine::{Engine, RunOptions, RunResult};
use graphc::run::interrupt::Answer;
use graphc::run::store::RunState;
use graphc::store::MemoryStore;
use jiff::Timestamp;
use serde_json::{Map, Value as Json, json};

use dice::Dice;

impl Dice {
    fn condition(&mut self) -> String {
        match self.below(3) {
            0 => format!("state.k{}", self.below(3)),
            1 => format!("!state.k{}", self.below(3)),
            _ => format!("state.n % {} == 0", 2 + self.below(2)),
        }
    }
}

/// What the programs call: tools and graphs that write always, sometimes, or leave.
const CALLED: &str = r#"
tool note(text: string) -> string { set { f0: text } return text }
tool note_and_go(text: string) -> string { set { f1: text } goto n1 return text }

graph Always {
  state { in k0: bool, out f0: string }
  start { when state.k0 -> a  else -> b }
  node a: update -> end { set { f0: "a" } }
  node b: update -> end { set { f0: "b" } }
}

graph Sometimes {
  state { in k0: bool, in k1: bool, out f1: string = "" }
  start { when state.k0 -> a  when state.k1 -> end  else -> fail("no") }
  node a: update -> end { set { f1: "a" } }
}

graph Leaves leaves [n1] {
  state { in k0: bool, in k1: bool, out f0: string, out log: list<string> via append }
  start { when state.k0 -> parent.n1 { set { f0: "left" } }  when state.k1 -> [a, b]  else -> a }
  node a: update -> end { set { f0: "a" } }
  node b: update -> end { set { log: ["b"] } }
}
"#;

struct Program<'a> {
    dice: &'a mut Dice,
    count: usize,
    /// Fields are written by jumps: of joins, branches, caps and the entry, hardly by nodes.
    jumpy: bool,
}

impl Program<'_> {
    fn text(&mut self) -> String {
        let first = |dice: &mut Dice| match dice.one_in(2) {
            true => " = \"\"",
            false => "",
        };
        let mut text = format!(
            "graph Main {{\n  state {{ in k0: bool, in k1: bool, in k2: bool, in xs: list<int>, n: int via add = 0, f0: string{}, f1: string{}, out o: string{}, out log: list<string> via append }}\n",
            first(self.dice),
            first(self.dice),
            if self.jumpy { " = \"\"" } else { "" },
        );
        if self.dice.one_in(6) {
            let rounds = 1 + self.dice.below(3);
            writeln!(text, "  exit when state.n > {rounds}").unwrap();
        }
        let start = match self.jumpy {
            true => self.jump(0),
            false => self.several(0),
        };
        writeln!(text, "  start -> {start}").unwrap();
        let mut joined = Vec::new();
        for _ in 0..self.dice.below(3) {
            let (a, b) = (self.dice.below(self.count), self.dice.below(self.count));
            if a != b && !joined.contains(&a) && !joined.contains(&b) {
                let to = match self.jumpy {
                    true => self.jump(a.max(b) + 1),
                    false => self.target(a.max(b) + 1),
                };
                writeln!(text, "  [n{a}, n{b}] -> {to}").unwrap();
                joined.extend([a, b]);
            }
        }
        for at in 0..self.count {
            let node = self.node(at, joined.contains(&at));
            text += &node;
        }
        text + "}\n"
    }

    /// A node behind that number, mostly one of the next, the end, or at times one before.
    fn target(&mut self, behind: usize) -> String {
        let at = match self.dice.below(10) {
            // Few of the others are clean: what goes round, or is not come to, is an error.
            0 | 1 | 3.. if self.jumpy => behind,
            0 => self.dice.below(self.count),
            1 => self.count,
            2 => behind + 1,
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

    fn arms(&mut self, behind: usize) -> String {
        let first = self.jump(behind);
        let condition = self.dice.condition();
        let second = self.jump(behind + 1);
        format!("{{ when {condition} -> {first} else -> {second} }}")
    }

    fn jump(&mut self, behind: usize) -> String {
        let to = match self.dice.below(8) {
            0 if self.count > 2 && !self.jumpy => {
                let then = match self.dice.one_in(2) {
                    true => format!(" then {}", self.several(behind + 1)),
                    false => String::new(),
                };
                format!("each x in state.xs -> n2 with {{ x: x }}{then}")
            }
            1 => self.several(behind),
            _ if self.jumpy => self.several(behind),
            _ => self.target(behind),
        };
        let often = if self.jumpy { 3 } else { 6 };
        // `then` takes no update; a list as a whole does.
        let to = match to.contains(" then ") {
            true => format!("[{to}]"),
            false => to,
        };
        match self.dice.one_in(often) {
            true if self.jumpy => format!("{to} {{ set {{ f{}: \"x\" }} }}", self.dice.below(2)),
            true => format!("{to} {{ set {{ {} }} }}", self.write()),
            false => to,
        }
    }

    fn write(&mut self) -> String {
        let kind = match self.jumpy && !self.dice.one_in(8) {
            true => 8,
            false => self.dice.below(9),
        };
        match kind {
            0 => "f0: \"x\"".to_owned(),
            1 => "f1: \"x\"".to_owned(),
            2 => "o: \"x\"".to_owned(),
            3 | 4 => format!("log: [state.f{}]", self.dice.below(2)),
            _ => "n: 1".to_owned(),
        }
    }

    fn node(&mut self, at: usize, joined: bool) -> String {
        let behind = at + 1;
        let last = at + 1 == self.count;
        let kind = match self.dice.below(16) {
            _ if last => "update".to_owned(),
            0 if !joined => "branch".to_owned(),
            8..=9 if self.jumpy && !joined => "branch".to_owned(),
            1..=5 if self.jumpy => "update".to_owned(),
            1 => "call note(text: \"x\")".to_owned(),
            2 => "call note_and_go(text: \"x\")".to_owned(),
            3 => "subgraph Always".to_owned(),
            4 => "subgraph Sometimes".to_owned(),
            5 => "subgraph Leaves".to_owned(),
            6 | 7 if !joined => "interrupt".to_owned(),
            _ => "update".to_owned(),
        };
        let (branch, asks) = (kind == "branch", kind == "interrupt");
        let mut text = format!("  node n{at}: {kind}");
        let on = match () {
            () if joined => String::new(),
            () if branch => format!("goto {}", self.arms(behind)),
            () if asks && self.dice.one_in(2) => {
                let (yes, no) = (self.jump(behind), self.jump(behind + 1));
                format!("goto {{ when answer -> {yes} else -> {no} }}")
            }
            () if self.dice.one_in(3) => format!("goto {}", self.arms(behind)),
            () => {
                text += &format!(" -> {}", self.several(behind));
                String::new()
            }
        };
        let mut lines = vec![on];
        if asks {
            lines.push("ask \"go on?\" expect bool".to_owned());
            if self.dice.one_in(2) {
                lines.push(format!("timeout 7d -> {}", self.jump(behind)));
            }
        }
        if kind.contains("note_and_go") || kind.contains("Leaves") {
            let all: Vec<String> = (0..self.count).map(|at| format!("n{at}")).collect();
            lines.push(format!("ends [{}, end]", all.join(", ")));
        }
        if !branch {
            if at == 2 {
                lines.push("input { x: int = 0 }".to_owned());
            }
            if last {
                lines.push("set { o: \"x\", log: [\"x\"] }".to_owned());
            } else if self.dice.one_in(2) {
                lines.push(format!("set {{ {} }}", self.write()));
            }
            if self.dice.one_in(6) {
                let to = match self.dice.one_in(2) {
                    true => format!(" -> {}", self.jump(behind)),
                    false => String::new(),
                };
                lines.push(format!("skip when {}{to}", self.dice.condition()));
            }
            if self.dice.one_in(6) {
                lines.push(format!("require {}", self.dice.condition()));
                if self.dice.one_in(2) {
                    lines.push(format!("on_error -> {}", self.jump(behind)));
                }
            }
            if self.dice.one_in(if self.jumpy { 2 } else { 5 }) {
                let limit = 1 + self.dice.below(2);
                lines.push(format!("max_visits {limit} -> {}", self.jump(behind)));
            }
            if self.dice.one_in(8) {
                lines.push("defer".to_owned());
            }
        }
        let lines: Vec<String> = lines.into_iter().filter(|l| !l.is_empty()).collect();
        if !lines.is_empty() {
            text += &format!(" {{\n    {}\n  }}", lines.join("\n    "));
        }
        text + "\n"
    }
}

/// A clock that goes a month on whenever nobody answers.
#[derive(Default)]
struct Months(AtomicI64);

impl Ambient for Months {
    fn now(&self) -> Timestamp {
        let months = self.0.load(Ordering::Relaxed);
        Timestamp::from_second(1_700_000_000 + months * 2_600_000).unwrap()
    }

    fn uuid(&self, ordinal: u64) -> String {
        ordinal.to_string()
    }

    fn random(&self, _: u64) -> f64 {
        0.5
    }
}

/// Answers what a run asks, or lets the time for it go by, until it asks no more.
async fn answered(
    engine: &Engine,
    (clock, dice): (&Months, &mut Dice),
    mut result: RunResult,
    options: &RunOptions,
) -> RunResult {
    for _ in 0..12 {
        if result.state != RunState::Interrupted {
            break;
        }
        let mut answers = Vec::new();
        for open in &result.interrupts {
            if !dice.one_in(3) {
                answers.push(Answer {
                    interrupt: Some(open.id.clone()),
                    value: json!(dice.one_in(2)),
                });
            }
        }
        if answers.len() < result.interrupts.len() {
            clock.0.fetch_add(1, Ordering::Relaxed);
        }
        result = engine.resume("t", &answers, options.clone()).await.unwrap();
    }
    result
}

/// What a run came to that the compiler should have said.
fn broken(
    state: RunState,
    error: &str,
    output: &Map<String, Json>,
    may_stop: bool,
) -> Option<String> {
    if error.contains("both wrote") {
        return Some(error.to_owned());
    }
    if error.contains("no value yet") {
        return Some(error.to_owned());
    }
    let missing = !may_stop && state == RunState::Done && !output.contains_key("o");
    missing.then(|| format!("no `o` in {output:?}"))
}

/// Flows in which jumps write `t` in one super-step, and who is named.
const CLASHES: [(&str, &str); 5] = [
    (
        "the join of `a` and `b` and the join of `c` and `d` both wrote field `t`",
        r#"start -> [a, b, c, d]
           node a: update { set { u: ["a"] } }  node b: update { set { u: ["b"] } }
           node c: update { set { u: ["c"] } }  node d: update { set { u: ["d"] } }
           [a, b] -> end { set { t: "ab" } }    [c, d] -> end { set { t: "cd" } }"#,
    ),
    (
        "`a` and the join of `a` and `b` both wrote field `t`",
        r#"start -> [a, b]
           node a: update { set { t: "a" } }  node b: update { set { u: ["b"] } }
           [a, b] -> end { set { t: "ab" } }"#,
    ),
    (
        "`max_visits` of `a` and `max_visits` of `b` both wrote field `t`",
        r#"start -> s
           node s: update -> [a, b] { set { u: ["s"] } }
           node a: update -> s { max_visits 1 -> end { set { t: "a" } } set { u: ["a"] } }
           node b: update -> s { max_visits 1 -> end { set { t: "b" } } set { u: ["b"] } }"#,
    ),
    (
        "`p` and `q` both wrote field `t`",
        r#"start -> [p, q]
           node p: branch { goto { when state.k -> x { set { t: "p" } } else -> end } }
           node q: branch { goto { when state.k -> x { set { t: "q" } } else -> end } }
           node x: update -> end { set { u: ["x"] } }"#,
    ),
    (
        "",
        r#"start -> a
           node a: update -> b { set { t: "a", u: ["a"] } }
           node b: update { max_visits 1 -> p { set { t: "full" } } set { t: "b" } goto { when state.k -> a else -> end } }
           node p: branch { goto { when state.k -> end { set { t: "p" } } else -> end } }"#,
    ),
];

#[tokio::test]
async fn no_write_of_a_jump_is_lost_without_a_word() {
    for (who, body) in CLASHES {
        let text = format!(
            "graph Main {{ state {{ in k: bool, out t: string = \"\" via any_last, out u: list<string> via append }}\n{body} }}\n"
        );
        let files = BTreeMap::from([("main.graph".to_owned(), text)]);
        let compiled = compile("main.graph", &files);
        let mut flow = compiled.flow.expect(body);
        // As the compiler would refuse it.
        let graph = flow.graph("Main").unwrap();
        for field in flow.graphs.get_mut(graph).unwrap().fields.iter_mut() {
            if matches!(field.channel, Channel::AnyLast) {
                field.channel = Channel::Last;
            }
        }
        let plan = Arc::new(graphc::run::plan::plan(Arc::new(flow)).unwrap());
        let engine = Engine {
            backends: Backends {
                models: plan.flow.models.iter().map(|_| unreachable!()).collect(),
                tools: plan.flow.tools.iter().map(|_| None).collect(),
                externs: BTreeMap::new(),
            },
            plan,
            store: Some(Arc::new(MemoryStore::new())),
            ambient: Arc::new(Months::default()),
        };
        let input = json!({ "k": true });
        let result = engine.start(graph, "t", &input, RunOptions::default());
        let result = result.await.unwrap();
        let error = result
            .error
            .map_or(String::new(), |error| error.message.clone());
        assert!(
            error.contains(who) && error.is_empty() == who.is_empty(),
            "{error}\n{body}"
        );
    }
}

#[tokio::test]
async fn clean_programs_keep_what_is_promised() {
    let rounds = std::env::var("PROMISES").map_or(600, |rounds| rounds.parse().unwrap());
    let mut dice = Dice(11);
    let (mut clean, mut done, mut asked) = (0, 0, 0);
    let mut codes: BTreeMap<&str, usize> = BTreeMap::new();
    for round in 0..rounds {
        let count = 3 + dice.below(4);
        let main = Program {
            dice: &mut dice,
            count,
            jumpy: round % 3 > 0,
        }
        .text();
        let text = format!("{main}{CALLED}");
        let files = BTreeMap::from([("main.graph".to_owned(), text)]);
        let compiled = compile("main.graph", &files);
        let Some(flow) = compiled.flow else {
            for found in compiled.diagnostics.iter() {
                *codes.entry(found.code.slug).or_default() += 1;
            }
            continue;
        };
        let warned: Vec<&str> = compiled.diagnostics.iter().map(|d| d.code.slug).collect();
        clean += 1;
        let plan = Arc::new(graphc::run::plan::plan(Arc::new(flow)).unwrap());
        let clock = Arc::new(Months::default());
        let mut engine = Engine {
            backends: Backends {
                models: plan.flow.models.iter().map(|_| unreachable!()).collect(),
                tools: plan.flow.tools.iter().map(|_| None).collect(),
                externs: BTreeMap::new(),
            },
            plan: plan.clone(),
            store: Some(Arc::new(MemoryStore::new())),
            ambient: clock.clone(),
        };
        let graph = plan.flow.graph("Main").unwrap();
        for input in 0..16 {
            let xs: &[i64] = if input & 8 == 0 { &[1, 2] } else { &[] };
            let bit = |of: u32| input & (1 << of) != 0;
            let input = json!({ "k0": bit(0), "k1": bit(1), "k2": bit(2), "xs": xs });
            let options = RunOptions {
                // Sends in a circle double the tasks with each round.
                recursion_limit: Some(9),
                ..RunOptions::default()
            };
            engine.store = Some(Arc::new(MemoryStore::new()));
            let result = engine.start(graph, "t", &input, options.clone()).await;
            let result = answered(&engine, (&clock, &mut dice), result.unwrap(), &options).await;
            asked += usize::from(result.state == RunState::Interrupted);
            let error = result
                .error
                .as_ref()
                .map_or(String::new(), |e| e.message.clone());
            done += usize::from(result.state == RunState::Done);
            if let Some(broken) = broken(
                result.state,
                &error,
                &result.output,
                // Where a list is empty nothing is sent: a way ends there.
                xs.is_empty(),
            ) {
                panic!("round {round}, input {input}: {broken}\nwarned: {warned:?}\n{main}");
            }
        }
    }
    println!("{codes:?}");
    println!("{clean} of {rounds} clean, {done} runs done, {asked} left open");
    assert!(
        clean * 100 > rounds && done > clean,
        "{clean} clean, {done} runs done"
    );
}
