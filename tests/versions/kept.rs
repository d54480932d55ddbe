//! Graphs that call graphs, each with fields of many types and bounds, some waiting for a person, some keeping their state
//! from call to call; changed at random, with `migrate` blocks and without. Wherever a thread is when the version
//! changes: what `diff` calls compatible goes on, what is refused is as it was, and what goes on has lost nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use graphc::ir::Flow;
use graphc::ir::diff::{Finding, Group, diff};
use graphc::run::engine::{Engine, RunOptions, RunResult, StartError};
use graphc::run::interrupt::Answer;
use graphc::run::store::RunState;
use graphc::store::MemoryStore;
use serde_json::{Value as Json, json};

use super::{Calls, compiled, engine, number};
use crate::dice::Dice;

/// A declaration, the value that it begins with, and what is written to it.
const TYPES: [[&str; 3]; 7] = [
    ["int", " = 0", "state.# + 1"],
    ["float", " = 0.0", "state.# + 1.0"],
    ["string", " = \"\"", "state.# + \"x\""],
    ["list<int> via append", "", "[1]"],
    ["list<float> via append", "", "[1.0]"],
    ["list<Item> via append", "", "[Item { n: 1 }]"],
    [
        "Item?",
        "",
        "Item { n: (state.# == null ? 0 : state.#.n) + 1 }",
    ],
];

#[derive(Clone)]
struct Field {
    /// What stays where the name changes.
    id: usize,
    name: String,
    ty: usize,
    bound: Option<usize>,
    writes: bool,
}

impl Field {
    fn random(dice: &mut Dice, id: usize) -> Self {
        Self {
            id,
            name: format!("f{id}"),
            ty: dice.below(TYPES.len()),
            bound: dice.one_in(3).then(|| 2 + dice.below(6)),
            writes: !dice.one_in(4),
        }
    }

    fn text(&self) -> String {
        let [ty, default, _] = TYPES[self.ty];
        let bound = match (self.bound, self.ty) {
            (Some(most), 0 | 1) => format!(" @max({most})"),
            (Some(most), 2..=5) => format!(" @len(0, {most})"),
            _ => String::new(),
        };
        format!("{}: {ty}{default}{bound}", self.name)
    }
}

/// A graph: `first`, `ask` where it waits, `sub` where it calls the next, `last`.
#[derive(Clone)]
struct Level {
    fields: Vec<Field>,
    waits: bool,
    lasts: bool,
    nodes: [String; 4],
    migrate: Vec<String>,
    /// Fields that `migrate` has values for.
    given: BTreeSet<usize>,
}

#[derive(Clone)]
struct Program {
    levels: Vec<Level>,
    item: &'static str,
    /// Whether a graph begins otherwise than it did, or not as it did.
    forgets: bool,
    /// Whether calls are gone, by what the flow says.
    lets_go: bool,
    next_id: usize,
}

const ITEMS: [&str; 4] = [
    "n: int",
    "n: int, u: string = \"kg\"",
    "n: int @max(2)",
    "n: int, u: string?",
];

impl Program {
    fn random(dice: &mut Dice) -> Self {
        let depth = 1 + dice.below(3);
        let mut next_id = 0;
        let mut levels = Vec::new();
        for level in 0..depth {
            let fields = (0..1 + dice.below(2)).map(|_| {
                next_id += 1;
                Field::random(dice, next_id)
            });
            levels.push(Level {
                fields: fields.collect(),
                waits: dice.one_in(2),
                lasts: !dice.one_in(3),
                nodes: ["first", "ask", "sub", "last"].map(|name| format!("{name}{level}")),
                migrate: Vec::new(),
                given: BTreeSet::new(),
            });
        }
        let waits = dice.below(depth);
        levels[waits].waits = true;
        // A block of an earlier change may have stayed.
        if dice.one_in(4) {
            let level = &mut levels[waits];
            let field = level.fields[0].clone();
            level.give(&field);
        }
        Self {
            levels,
            item: ITEMS[0],
            forgets: false,
            lets_go: false,
            next_id,
        }
    }

    fn change(&mut self, dice: &mut Dice) {
        let says = !dice.one_in(3);
        self.next_id += 1;
        // The flow must not fail by a bound that no thread has kept to.
        let new = Field {
            bound: None,
            ..Field::random(dice, self.next_id)
        };
        let level = dice.below(self.levels.len());
        let level = &mut self.levels[level];
        let field = dice.below(level.fields.len());
        let node = dice.below(4);
        match dice.below(12) {
            0..=2 => {
                let field = &mut level.fields[field];
                let old = field.name.clone();
                field.name += "r";
                if says {
                    let line = format!("rename field {old} -> {}", field.name);
                    level.migrate.push(line);
                }
            }
            3 => {
                let old = level.nodes[node].clone();
                level.nodes[node] += "r";
                // What calls of a node have left that is no more, `--migrate` lets go.
                self.lets_go |= node == 2 && !says;
                let there = [true, level.waits, true, true][node];
                if says && there {
                    let line = format!("rename node {old} -> {}", level.nodes[node]);
                    level.migrate.push(line);
                }
            }
            4 | 5 => {
                let field = &mut level.fields[field];
                field.bound = match (field.bound, dice.below(3)) {
                    (Some(most), 0) => Some(most + 1),
                    (Some(most), 1) => Some(most - 1),
                    (Some(_), _) => None,
                    (None, more) => Some(2 + more),
                };
            }
            6 => {
                let ty = dice.below(TYPES.len());
                level.fields[field].ty = ty;
                if says {
                    let field = level.fields[field].clone();
                    level.give(&field);
                }
            }
            7 => self.item = ITEMS[dice.below(ITEMS.len())],
            8 => {
                let gone = level.fields.remove(field);
                if says {
                    level.migrate.push(format!("drop field {}", gone.name));
                }
                level.fields.push(new);
            }
            9 => {
                if dice.one_in(2) {
                    level.give(&new);
                }
                level.fields.push(new);
            }
            10 => {
                let field = level.fields[field].clone();
                level.give(&field);
            }
            _ => {
                self.forgets = true;
                level.lasts = !level.lasts;
            }
        }
    }

    fn text(&self) -> String {
        let mut text = format!("type Ok {{ ok: bool }}\ntype Item {{ {} }}\n", self.item);
        for (at, level) in self.levels.iter().enumerate() {
            let name = ["Main", "Inner", "Deep"][at];
            writeln!(text, "graph {name} {{").unwrap();
            if !level.migrate.is_empty() {
                writeln!(text, "  migrate {{ {} }}", level.migrate.join(", ")).unwrap();
            }
            text += "  state {\n    out log: list<string> via append\n";
            if at == 0 {
                text += "    rounds: int = 0\n";
            }
            let mut writes = String::new();
            let mut dump = format!("\"{at}\"");
            for field in &level.fields {
                writeln!(text, "    {}", field.text()).unwrap();
                let value = TYPES[field.ty][2].replace('#', &field.name);
                if field.writes {
                    write!(writes, "{}: {value}, ", field.name).unwrap();
                }
                let (id, name) = (field.id, &field.name);
                write!(dump, " + \";{id}=\" + json_encode(state.{name})").unwrap();
            }
            let [first, ask, sub, last] = &level.nodes;
            let next = self.levels.get(at + 1);
            let to_sub = if next.is_some() { sub } else { last };
            let to = if level.waits { ask } else { to_sub };
            let set = format!("set {{ {writes} }}");
            writeln!(
                text,
                "  }}\n  start -> {first}\n  node {first}: update -> {to} {{ {set} }}"
            )
            .unwrap();
            if level.waits {
                writeln!(
                    text,
                    "  node {ask}: interrupt -> {to_sub} {{ ask \"?\" expect Ok {set} }}"
                )
                .unwrap();
            }
            if let Some(next) = next {
                let lasts = if next.lasts {
                    " { persist thread }"
                } else {
                    ""
                };
                let called = ["Inner", "Deep"][at];
                writeln!(text, "  node {sub}: subgraph {called} -> {last}{lasts}").unwrap();
            }
            let (round, goto) = match at {
                0 => (
                    ", rounds: state.rounds + 1",
                    format!("goto {{ when state.rounds % 2 == 1 -> {first} else -> end }}"),
                ),
                _ => ("", "goto end".to_owned()),
            };
            writeln!(
                text,
                "  node {last}: update {{ set {{ log: [{dump}]{round} }} {goto} }}\n}}"
            )
            .unwrap();
        }
        text
    }

    /// Whether the last values that were told are of the types that the fields have. Of graphs that are called, where
    /// `all` says that this version has told them.
    fn typed(&self, told: &[(String, BTreeMap<usize, Json>)], all: bool) -> Result<(), String> {
        let levels = self.levels.iter().enumerate();
        for (at, level) in levels.filter(|(at, _)| all || *at == 0) {
            let mut lines = told.iter().rev();
            let line = lines.find(|(level, _)| *level == at.to_string());
            for field in &level.fields {
                let value = line.and_then(|(_, values)| values.get(&field.id));
                let fits = |of: fn(&Json) -> bool| {
                    let list = value.and_then(Json::as_array);
                    list.is_some_and(|list| list.iter().all(of))
                };
                let item = |value: &Json| value["n"].is_i64();
                let right = match field.ty {
                    0 | 1 => value.is_some_and(Json::is_number),
                    2 => value.is_some_and(Json::is_string),
                    3 | 4 => fits(Json::is_number),
                    5 => fits(|value| value["n"].is_i64()),
                    _ => value.is_some_and(|value| value.is_null() || item(value)),
                };
                if !right {
                    let ty = TYPES[field.ty][0];
                    return Err(format!("field {} of type {ty} is {value:?}", field.id));
                }
            }
        }
        Ok(())
    }

    /// Fields whose values are those of the old version, by what stays of them.
    fn same(&self, old: &Self) -> BTreeSet<usize> {
        let fields = |program: &Self| -> BTreeMap<usize, usize> {
            let fields = program.levels.iter().flat_map(|level| &level.fields);
            fields.map(|field| (field.id, field.ty)).collect()
        };
        let given = self.levels.iter().flat_map(|level| level.given.clone());
        let given: BTreeSet<usize> = given.collect();
        let (old, new) = (fields(old), fields(self));
        let same = new.into_iter().filter(|(id, is)| {
            let was = old.get(id);
            // What is written by a wider type is the same.
            let wider = matches!((was, is), (Some(0), 1) | (Some(3), 4));
            (was == Some(is) || wider) && !given.contains(id)
        });
        same.map(|(id, _)| id).collect()
    }
}

impl Level {
    fn give(&mut self, field: &Field) {
        let of_type = ["7", "7.0", "\"7\"", "[7]", "[7.0]", "[]", "null"];
        let line = format!("default {} = {}", field.name, of_type[field.ty]);
        let stale = format!("default {} =", field.name);
        self.migrate.retain(|line| !line.starts_with(&stale));
        self.migrate.push(line);
        self.given.insert(field.id);
    }
}

/// Where a thread is when the version changes.
#[derive(Clone, Copy)]
enum At {
    /// At a question, behind so many answers.
    Question(usize),
    /// Behind its end.
    End,
}

/// What is on the threads of a run.
struct Threads {
    store: Arc<MemoryStore>,
    calls: Arc<Calls>,
}

impl Threads {
    fn new() -> Self {
        Self {
            store: Arc::default(),
            calls: Arc::default(),
        }
    }

    fn engine(&self, flow: &Flow) -> Engine {
        engine(flow, &self.store, &self.calls)
    }

    /// A thread under the old version; `None` where it doesn't come so far.
    async fn begin(&self, old: &Flow, at: At) -> Option<()> {
        let engine = self.engine(old);
        let mut result = start(&engine, false).await.ok()?;
        let answers = match at {
            At::Question(answers) => answers,
            At::End => usize::MAX,
        };
        for _ in 0..answers {
            if result.state != RunState::Interrupted {
                break;
            }
            result = resume(&engine, false).await.ok()?;
        }
        let wanted = match at {
            At::Question(_) => RunState::Interrupted,
            At::End => RunState::Done,
        };
        (result.state == wanted).then_some(())
    }

    /// Goes on with it to the end.
    async fn go_on(&self, flow: &Flow, at: At, migrate: bool) -> Result<RunResult, StartError> {
        let engine = self.engine(flow);
        let mut result = match at {
            At::Question(_) => resume(&engine, migrate).await?,
            At::End => start(&engine, migrate).await?,
        };
        while result.state == RunState::Interrupted {
            result = resume(&engine, false).await?;
        }
        Ok(result)
    }
}

async fn start(engine: &Engine, migrate: bool) -> Result<RunResult, StartError> {
    let graph = engine.plan.flow.graph("Main").unwrap();
    let options = RunOptions {
        migrate,
        ..RunOptions::default()
    };
    engine.start(graph, "t", &json!({}), options).await
}

async fn resume(engine: &Engine, migrate: bool) -> Result<RunResult, StartError> {
    let options = RunOptions {
        migrate,
        ..RunOptions::default()
    };
    let yes = [Answer {
        interrupt: None,
        value: json!({ "ok": true }),
    }];
    engine.resume("t", &yes, options).await
}

/// Values of fields in the order in which they were told, by what stays of a field.
fn told(result: &RunResult) -> Vec<(String, BTreeMap<usize, Json>)> {
    let log = result.output.get("log").and_then(Json::as_array);
    let lines = log.into_iter().flatten().map(|line| {
        let mut parts = line.as_str().unwrap().split(';');
        let level = parts.next().unwrap().to_owned();
        let values = parts.map(|part| {
            let (id, value) = part.split_once('=').unwrap();
            (id.parse().unwrap(), serde_json::from_str(value).unwrap())
        });
        (level, values.collect())
    });
    lines.collect()
}

/// Whether nothing of the one is missing in the other: numbers are numbers, and records may have more.
fn holds(less: &Json, more: &Json) -> bool {
    match (less, more) {
        (Json::Number(a), Json::Number(b)) => a.as_f64() == b.as_f64(),
        (Json::Array(a), Json::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| holds(a, b))
        }
        (Json::Object(a), Json::Object(b)) => a
            .iter()
            .all(|(key, a)| b.get(key).is_some_and(|b| holds(a, b))),
        (a, b) => a == b,
    }
}

fn lost(old: &RunResult, new: &RunResult, same: &BTreeSet<usize>) -> Option<String> {
    let (old, new) = (told(old), told(new));
    if old.len() != new.len() {
        return Some(format!("{old:?}\n{new:?}"));
    }
    for (old, new) in old.iter().zip(&new) {
        let same = old.1.iter().filter(|(id, _)| same.contains(id));
        for (id, value) in same {
            let now = new.1.get(id);
            if !now.is_some_and(|now| holds(value, now)) {
                return Some(format!("field {id} would be {value}, is {now:?}"));
            }
        }
    }
    None
}

/// How a thread went on.
#[derive(Debug, PartialEq, Eq, Clone, Copy, PartialOrd, Ord)]
enum Way {
    GoesOn,
    Refused,
    Fails,
}

/// What is wrong with how a thread goes on.
async fn wrong(
    (before, after): (&Program, &Program),
    (old, new): (&Flow, &Flow),
    found: &[Finding],
    at: At,
    migrate: bool,
) -> Result<Option<Way>, String> {
    let (usual, other) = (Threads::new(), Threads::new());
    if usual.begin(old, at).await.is_none() || other.begin(old, at).await.is_none() {
        return Ok(None);
    }
    // A flow that doesn't go on as it is won't go on as another.
    let expected = match usual.go_on(old, at, false).await {
        Ok(expected) if expected.state == RunState::Done => expected,
        _ => return Ok(None),
    };
    let worst = found.iter().map(|finding| finding.group).max();
    let worst = worst.unwrap_or(Group::Compatible);
    // What `migrate` says is enough where nothing else is found.
    let said = found.iter().all(|finding| {
        let says = ["field-renamed", "node-renamed", "field-gone", "field-given"];
        finding.group == Group::Compatible
            || finding.group == Group::NeedsMigration && says.contains(&finding.code)
    });
    let same = after.same(before);
    match other.go_on(new, at, migrate).await {
        Ok(result) if result.state == RunState::Done => {
            let forgets = after.forgets && worst > Group::Compatible;
            let forgets = forgets || after.lets_go && migrate;
            after.typed(&told(&result), matches!(at, At::End))?;
            match lost(&expected, &result, &same).filter(|_| !forgets) {
                Some(lost) => Err(format!("lost: {lost}")),
                None => Ok(Some(Way::GoesOn)),
            }
        }
        Ok(result) if worst == Group::Compatible || migrate && said => {
            Err(format!("{:?} {:?}", result.state, result.error))
        }
        Ok(_) => Ok(Some(Way::Fails)),
        Err(error) if worst == Group::Compatible || migrate && said => {
            Err(format!("refused: {error}"))
        }
        Err(error) => {
            let again = other.go_on(old, at, false).await;
            match again.map(|again| lost(&expected, &again, &before.same(before))) {
                Ok(None) => Ok(Some(Way::Refused)),
                again => Err(format!("refused ({error}), and not as it was: {again:?}")),
            }
        }
    }
}

#[tokio::test]
async fn what_is_kept_is_kept() {
    let mut dice = Dice(number("VERSIONS_SEED", 7));
    let mut ways: BTreeMap<(Group, bool, Way), usize> = BTreeMap::new();
    for round in 0..number("VERSIONS", 500) / 4 {
        let program = Program::random(&mut dice);
        let mut changed = program.clone();
        for _ in 0..1 + dice.below(2) {
            changed.change(&mut dice);
        }
        let at = match dice.below(4) {
            3 => At::End,
            answers => At::Question(answers),
        };
        let texts = (program.text(), changed.text());
        let (Some(old), Some(new)) = (compiled(&texts.0), compiled(&texts.1)) else {
            continue;
        };
        let found = diff(&old, &new);
        let worst = found.iter().map(|finding| finding.group).max();
        let migrate = dice.one_in(2);
        let programs = (&program, &changed);
        match wrong(programs, (&old, &new), &found, at, migrate).await {
            Ok(None) => {}
            Ok(Some(way)) => {
                let group = worst.unwrap_or(Group::Compatible);
                *ways.entry((group, migrate, way)).or_default() += 1;
            }
            Err(wrong) => {
                let found: Vec<String> = found
                    .iter()
                    .map(|f| format!("{}: {}", f.group.word(), f.message))
                    .collect();
                panic!(
                    "round {round}, migrate {migrate}: {wrong}\n{}\n{}\n---- new\n{}",
                    found.join("\n"),
                    texts.0,
                    texts.1
                );
            }
        }
    }
    println!("{ways:?}");
    for way in [
        (Group::Compatible, false, Way::GoesOn),
        (Group::NeedsMigration, false, Way::Refused),
        (Group::NeedsMigration, true, Way::GoesOn),
        (Group::Breaking, false, Way::Refused),
    ] {
        let often = ways.get(&way).copied().unwrap_or_default();
        assert!(often > 0, "{way:?}: {often} in {ways:?}");
    }
}
