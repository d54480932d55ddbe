//! What the compiler promises of a program that it finds nothing wrong with, held against runs of it: random
//! programs are compiled, those that are clean are run with random inputs, and no run may come to what the
//! compiler should have reported: two writers of one field, a read before a write, an `out` field without a value.

mod structured;
mod unstructured;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use graphc::compile::compile;
use graphc::diag::Level;
use graphc::ir::{Channel, ErrorKind};
use graphc::run::ambient::Ambient;
use graphc::run::backends::Backends;
use graphc::run::engine::{Engine, RunOptions, RunResult};
use graphc::run::interrupt::Answer;
use graphc::run::plan::Plan;
use graphc::run::store::RunState;
use graphc::store::MemoryStore;
use jiff::Timestamp;
use serde_json::{Value as Json, json};

use crate::dice::Dice;

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
fn broken(result: &RunResult, may_stop: bool) -> Option<String> {
    if let Some(error) = &result.error {
        // No expression of these programs fails but by a value that is not there or is null, and every route covers all.
        let meant = matches!(
            error.kind,
            ErrorKind::Require | ErrorKind::Fail | ErrorKind::ToolError | ErrorKind::RecursionLimit
        );
        let meant = meant && !error.message.contains("both wrote");
        return (!meant).then(|| format!("{:?}: {}", error.kind, error.message));
    }
    let missing = !may_stop && result.state == RunState::Done && !result.output.contains_key("o");
    missing.then(|| format!("no `o` in {:?}", result.output))
}

fn engine(plan: Arc<Plan>, ambient: Arc<Months>) -> Engine {
    Engine {
        backends: Backends {
            models: plan.flow.models.iter().map(|_| unreachable!()).collect(),
            tools: plan.flow.tools.iter().map(|_| None).collect(),
            externs: BTreeMap::new(),
        },
        plan,
        store: Some(Arc::new(MemoryStore::new())),
        ambient,
    }
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
        let engine = engine(plan, Arc::new(Months::default()));
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

/// A program of a round: its text, the forms in it, and how it was made.
fn generated(round: u64) -> (String, BTreeSet<&'static str>, Origin) {
    let mut dice = Dice(round.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    if round % 4 < 3 {
        let made = structured::program(&mut dice, round % 4 == 2);
        let origin = match made.mutated {
            true => Origin::Mutated,
            false => Origin::Structured,
        };
        return (made.text, made.features, origin);
    }
    let count = 3 + dice.below(4);
    let main = unstructured::Program {
        dice: &mut dice,
        count,
        jumpy: round % 12 > 3,
    }
    .text();
    let text = format!("{main}{}", unstructured::CALLED);
    (text, BTreeSet::new(), Origin::Unstructured)
}

/// How a program was made: right by construction, with a slip in it, or without a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    Structured,
    Mutated,
    Unstructured,
}

/// What the rounds came to.
#[derive(Default)]
struct Tally {
    rounds: BTreeMap<Origin, usize>,
    clean: BTreeMap<Origin, usize>,
    states: BTreeMap<String, usize>,
    codes: BTreeMap<(Origin, &'static str), usize>,
    features: BTreeMap<&'static str, usize>,
    wrong: Vec<String>,
}

impl Tally {
    fn add(&mut self, other: Self) {
        fn sum<K: Ord>(into: &mut BTreeMap<K, usize>, from: BTreeMap<K, usize>) {
            for (key, count) in from {
                *into.entry(key).or_default() += count;
            }
        }
        sum(&mut self.rounds, other.rounds);
        sum(&mut self.clean, other.clean);
        sum(&mut self.states, other.states);
        sum(&mut self.codes, other.codes);
        sum(&mut self.features, other.features);
        self.wrong.extend(other.wrong);
    }

    fn clean(&self) -> usize {
        self.clean.values().sum()
    }

    /// Compiles the program of a round, and runs it where it is clean.
    async fn round(&mut self, round: u64) {
        let (text, features, origin) = generated(round);
        *self.rounds.entry(origin).or_default() += 1;
        let files = BTreeMap::from([("main.graph".to_owned(), text.clone())]);
        let compiled = compile("main.graph", &files);
        let Some(flow) = compiled.flow else {
            let errors = compiled.diagnostics.iter();
            for found in errors.filter(|found| found.level == Level::Error) {
                *self.codes.entry((origin, found.code.slug)).or_default() += 1;
            }
            return;
        };
        *self.clean.entry(origin).or_default() += 1;
        for feature in features {
            *self.features.entry(feature).or_default() += 1;
        }
        let warned: Vec<&str> = compiled.diagnostics.iter().map(|d| d.code.slug).collect();
        let plan = Arc::new(graphc::run::plan::plan(Arc::new(flow)).unwrap());
        let clock = Arc::new(Months::default());
        let mut engine = engine(plan.clone(), clock.clone());
        let graph = plan.flow.graph("Main").unwrap();
        let mut dice = Dice(round);
        for _ in 0..RUNS {
            let input = input(&mut dice, origin);
            let options = RunOptions {
                // Sends in a circle double the tasks with each round.
                recursion_limit: Some(if origin == Origin::Unstructured {
                    9
                } else {
                    60
                }),
                ..RunOptions::default()
            };
            engine.store = Some(Arc::new(MemoryStore::new()));
            let result = engine.start(graph, "t", &input, options.clone()).await;
            let result = answered(&engine, (&clock, &mut dice), result.unwrap(), &options).await;
            *self
                .states
                .entry(format!("{:?}", result.state))
                .or_default() += 1;
            // Where a list is empty nothing is sent: a way ends there.
            let empty = input["xs"].as_array().is_some_and(Vec::is_empty);
            let may_stop = origin == Origin::Unstructured && empty;
            if let Some(broken) = broken(&result, may_stop) {
                self.wrong.push(format!(
                    "round {round} ({origin:?}), input {input}: {broken}\nwarned: {warned:?}\n{text}"
                ));
                return;
            }
        }
    }
}

/// The input of a run, by chance.
fn input(dice: &mut Dice, origin: Origin) -> Json {
    let xs = [json!([]), json!([1]), json!([1, 2])][dice.below(3)].clone();
    let mut bit = || dice.one_in(2);
    let mut input = json!({ "k0": bit(), "k1": bit(), "k2": bit(), "xs": xs });
    if origin != Origin::Unstructured {
        let fields = input.as_object_mut().unwrap();
        let color = ["red", "green", "blue"][dice.below(3)];
        let opt = [json!(null), json!("o")][dice.below(2)].clone();
        let union = [json!({ "url": "u" }), json!({ "body": "b", "note": "n" })];
        fields.insert("e".to_owned(), json!(color));
        fields.insert("opt".to_owned(), opt);
        fields.insert("u".to_owned(), union[dice.below(2)].clone());
    }
    input
}

/// How many inputs each clean program is run with.
const RUNS: usize = 5;

/// `PROMISES=100000 CARGO_PROFILE_DEV_OPT_LEVEL=1 cargo test --test compiler promises:: -- --nocapture` runs so many clean programs; `PROMISES_ROUND=N` one round again.
#[test]
fn clean_programs_keep_what_is_promised() {
    let number = |name| std::env::var(name).ok().map(|text| text.parse().unwrap());
    let wanted = number("PROMISES").unwrap_or(2_000);
    let only: Option<usize> = number("PROMISES_ROUND");
    let threads = std::thread::available_parallelism().map_or(2, usize::from) as u64;
    let mut total = Tally::default();
    let mut first = 0;
    while total.clean() < wanted && total.wrong.is_empty() {
        let batch = |thread: u64| {
            let runtime = tokio::runtime::Builder::new_current_thread();
            let runtime = { runtime }.enable_all().build().unwrap();
            let mut tally = Tally::default();
            for round in (first + thread..first + BATCH).step_by(threads as usize) {
                if only.is_none_or(|only| only as u64 == round) {
                    runtime.block_on(tally.round(round));
                }
            }
            tally
        };
        std::thread::scope(|scope| {
            let all: Vec<_> = (0..threads)
                .map(|t| scope.spawn(move || batch(t)))
                .collect();
            all.into_iter()
                .for_each(|one| total.add(one.join().unwrap()));
        });
        first += BATCH;
        if first % (40 * BATCH) == 0 {
            println!("{first} programs, {} clean", total.clean());
        }
        if only.is_some_and(|only| (only as u64) < first) {
            break;
        }
    }
    let shares = structured::shares(&total.features, total.clean());
    println!(
        "rounds {:?}\nclean {:?}\nruns {:?}\nrefused {:?}\nforms: {shares}",
        total.rounds, total.clean, total.states, total.codes
    );
    assert!(total.wrong.is_empty(), "{}", total.wrong.join("\n\n"));
    if only.is_none() {
        let of = |counts: &BTreeMap<Origin, usize>| counts[&Origin::Structured];
        let (clean, rounds) = (of(&total.clean), of(&total.rounds));
        assert!(
            clean * 100 >= rounds * 98,
            "{clean} of {rounds} are clean by construction"
        );
        assert_eq!(total.features.len(), structured::FEATURES, "{shares}");
    }
}

/// Rounds at a time.
const BATCH: u64 = 256;
