//! Runs: every scenario of `tests/run/NAME.test.yaml` is played straight, stopped and resumed after
//! every super-step by a fresh engine, and with the order in which calls finish shuffled, each on the
//! store in memory and on SQLite. What the scenario expects must hold every time, and all must agree.
//!
//! `CASE=name cargo test --test run` plays the files whose name contains `name`.

#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value as Json;

use graphc::backend::scenario::{self, Scenario};
use graphc::base::SourceMap;
use graphc::compile::compile;
use graphc::diag::render::{Style, human};
use graphc::run::plan::plan;
use graphc::scenario::crash::{Launcher, TempFolder};
use graphc::scenario::group::{self, Bench, Group, answers_left, groups, open_store, stage};
use graphc::scenario::judge::judge;
use graphc::scenario::play::How;
use graphc::scenario::{Finding, Observed};

struct Case {
    name: String,
    sources: SourceMap,
    bench: Bench,
}

/// A way of playing a scenario.
#[derive(Clone, Copy)]
struct Manner {
    name: &'static str,
    disk: bool,
    stop_after_steps: Option<u64>,
    shuffle: Option<u64>,
}

const fn manner(
    name: &'static str,
    disk: bool,
    stop_after_steps: Option<u64>,
    shuffle: Option<u64>,
) -> Manner {
    Manner {
        name,
        disk,
        stop_after_steps,
        shuffle,
    }
}

const STRAIGHT: Manner = manner("straight", false, None, None);

const OTHERS: [Manner; 7] = [
    manner("straight, sqlite", true, None, None),
    manner("stopped", false, Some(1), None),
    manner("stopped, sqlite", true, Some(1), None),
    manner("shuffled 1", false, None, Some(1)),
    manner("shuffled 2", false, None, Some(2)),
    manner("shuffled, sqlite", true, None, Some(3)),
    manner("stopped and shuffled, sqlite", true, Some(1), Some(4)),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run")
}

fn cases() -> Vec<Case> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        files.insert(name, std::fs::read_to_string(&path).unwrap());
    }
    let only = std::env::var("CASE").unwrap_or_default();
    let names = files.keys().filter_map(|name| name.strip_suffix(".graph"));
    let names = names.filter(|name| name.contains(&only));
    names.map(|name| case(name, &files)).collect()
}

fn case(name: &str, files: &BTreeMap<String, String>) -> Case {
    let compiled = compile(&format!("{name}.graph"), files);
    let findings = human(&compiled.diagnostics, &compiled.sources, Style::PLAIN);
    let flow = compiled
        .flow
        .unwrap_or_else(|| panic!("{name}: {findings}"));
    let file = format!("{name}.test.yaml");
    let text = files
        .get(&file)
        .unwrap_or_else(|| panic!("{file} is missing"));
    let mut sources = SourceMap::new();
    let id = sources.add(&file, text);
    let suite = scenario::load(&sources, id)
        .unwrap_or_else(|found| panic!("{}", human(&found, &sources, Style::PLAIN)));
    let bench = Bench {
        suite: Arc::new(suite),
        file: folder().join(file),
        plan: Arc::new(plan(Arc::new(flow)).unwrap()),
        launcher: Launcher {
            program: env!("CARGO_BIN_EXE_graphc").into(),
            args: vec!["play-scenario".into()],
        },
    };
    Case {
        name: name.to_owned(),
        sources,
        bench,
    }
}

/// What must be the same however a scenario is played.
#[derive(Debug, PartialEq)]
struct Outcome {
    status: Json,
    output: Json,
    values: Json,
    error: Option<Json>,
    path: Vec<String>,
    events: Vec<Json>,
    interrupts: Vec<Json>,
    calls: BTreeMap<String, u64>,
    asked: BTreeMap<String, usize>,
}

impl Outcome {
    fn of(observed: &Observed) -> Outcome {
        let ended = observed.ended.clone().unwrap();
        Outcome {
            status: serde_json::to_value(ended.status).unwrap(),
            output: Json::Object(ended.output),
            values: Json::Object(ended.values),
            error: ended.error.and_then(|error| error.get("kind").cloned()),
            path: observed.path.clone(),
            events: observed.events.clone(),
            interrupts: observed.interrupts.clone(),
            calls: observed.calls.clone(),
            asked: observed
                .asked
                .iter()
                .map(|(node, calls)| (node.clone(), calls.len()))
                .collect(),
        }
    }
}

impl Case {
    fn shown(&self, what: &str, findings: &[Finding]) -> Vec<String> {
        let shown = findings.iter().map(|finding| {
            let span = self.bench.suite.span(&finding.at);
            let line = self.sources.location(span).line;
            format!(
                "{}.test.yaml:{line}: {what}: {}\n{}",
                self.name, finding.message, finding.detail
            )
        });
        shown.collect()
    }

    /// Plays the scenarios of a group in that manner, on one thread.
    async fn play(&self, group: &Group, manner: Manner) -> Result<Vec<Outcome>, Vec<String>> {
        let room = TempFolder::new().unwrap();
        let file = manner.disk.then(|| room.path().join("threads.db"));
        let store = open_store(file);
        let mut outcomes = Vec::new();
        let mut wrong = Vec::new();
        for index in &group.scenarios {
            let scenario = &self.bench.suite.scenarios[*index];
            let what = format!("{}, {}", scenario.name, manner.name);
            let stage = stage(scenario, &self.bench.plan, &store)
                .map_err(|finding| self.shown(&what, &[finding]))?;
            let how = How {
                stop_after_steps: manner.stop_after_steps,
                shuffle: manner.shuffle,
                ..How::default()
            };
            let told = group::alone(&self.bench, *index, &stage, how).await;
            let told = told.map_err(|error| vec![format!("{}: {what}: {error}", self.name)])?;
            let flow = &self.bench.plan.flow;
            let observed = Observed::of(flow, stage.graph, &told);
            let left = answers_left(&scenario.answers, &told);
            let findings = judge(scenario, flow, stage.graph, &observed, &left);
            wrong.extend(self.shown(&what, &findings));
            outcomes.push(Outcome::of(&observed));
        }
        match wrong.is_empty() {
            true => Ok(outcomes),
            false => Err(wrong),
        }
    }

    async fn agree(&self, group: &Group) -> Vec<String> {
        let scenarios = group.scenarios.iter();
        let scenarios = scenarios.map(|index| &self.bench.suite.scenarios[*index]);
        let scenarios: Vec<&Scenario> = scenarios.collect();
        if scenarios.iter().any(|scenario| scenario.crash.is_some()) {
            let verdicts = group::run(&self.bench, group).await;
            let wrong = verdicts.iter();
            return wrong
                .flat_map(|verdict| self.shown(&verdict.name, &verdict.findings))
                .collect();
        }
        let straight = match self.play(group, STRAIGHT).await {
            Ok(outcomes) => outcomes,
            Err(wrong) => return wrong,
        };
        let mut wrong = Vec::new();
        for manner in OTHERS {
            // Which cycle a run is in is known to the process that has gone round it.
            if manner.stop_after_steps.is_some() && scenarios.iter().any(|s| names_a_cycle(s)) {
                continue;
            }
            match self.play(group, manner).await {
                Err(more) => wrong.extend(more),
                Ok(outcomes) if outcomes == straight => {}
                Ok(outcomes) => wrong.push(format!(
                    "{}: {}: {}\nstraight: {straight:#?}\n{}: {outcomes:#?}",
                    self.name, scenarios[0].name, manner.name, manner.name
                )),
            }
        }
        wrong
    }
}

fn names_a_cycle(scenario: &Scenario) -> bool {
    let message = scenario
        .expect
        .error
        .as_ref()
        .map(|error| &error.value["message"]);
    let message = message.and_then(Json::as_str);
    message.is_some_and(|message| message.contains("it goes round"))
}

#[test]
fn every_manner_agrees() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .thread_stack_size(16 << 20)
        .enable_all()
        .build()
        .unwrap();
    let mut wrong = Vec::new();
    for case in cases() {
        for group in groups(&case.bench.suite, |_| true) {
            wrong.extend(runtime.block_on(case.agree(&group)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
