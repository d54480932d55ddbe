//! Runs: every scenario of `tests/run/NAME.test.yaml` is played straight, stopped and resumed after
//! every super-step by a fresh engine, and with the order in which calls finish shuffled, each on the
//! store in memory, on SQLite and on a PostgreSQL server. What the scenario expects must hold every time, and all must
//! agree: in the result, in the state, in what was called and asked, and in every event of every mode and its order
//! (`told`). One with a `crash` is first played with it, in processes of its own on a file; then as the others, without.
//!
//! `CASE=name cargo test --test runtime run::` plays the files whose name contains `name`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::{Arc, Mutex};

use serde_json::Value as Json;
use similar::TextDiff;

use graphc::base::SourceMap;
use graphc::compile::compile;
use graphc::diag::render::{Style, human};
use graphc::project::bindings::Bindings;
use graphc::project::config;
use graphc::project::scenario::{self, Scenario, Suite};
use graphc::run::plan::plan;
use graphc::run::store::Store;
use graphc::scenario::crash::{Launcher, TempFolder};
use graphc::scenario::group::{self, Bench, Group, answers_left, groups, open_store, stage};
use graphc::scenario::judge::judge;
use graphc::scenario::play::{How, OpenStore};
use graphc::scenario::{Finding, Observed, Tape};

use crate::cluster;
use crate::event_log::{EventLog, Ran};

/// Groups that are played at the same time.
const AT_ONCE: usize = 4;

struct Case {
    name: String,
    sources: SourceMap,
    bench: Bench,
    /// The same without crashes.
    calm: Bench,
    /// Whether it keeps what is of no thread: results of nodes (`cache`), or memory.
    outlives: bool,
}

/// Where a thread is kept.
#[derive(Debug, Clone, Copy, PartialEq)]
enum On {
    Memory,
    Sqlite,
    Postgres,
}

/// How a scenario is played.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    Straight,
    /// Stopped behind each super-step, and resumed by an engine of its own.
    Stopped,
    /// Calls that are made at the same time end in an order that follows from the number.
    Shuffled(u64),
    Both(u64),
}

type Manner = (On, Way);

const STRAIGHT: Manner = (On::Memory, Way::Straight);

const OTHERS: [Manner; 9] = [
    (On::Memory, Way::Stopped),
    (On::Memory, Way::Shuffled(1)),
    (On::Sqlite, Way::Straight),
    (On::Sqlite, Way::Stopped),
    (On::Sqlite, Way::Shuffled(2)),
    (On::Postgres, Way::Straight),
    (On::Postgres, Way::Stopped),
    (On::Postgres, Way::Shuffled(3)),
    (On::Memory, Way::Both(4)),
];

impl Way {
    fn stop_after_steps(self) -> Option<u64> {
        matches!(self, Way::Stopped | Way::Both(_)).then_some(1)
    }

    fn shuffle(self) -> Option<u64> {
        match self {
            Way::Shuffled(seed) | Way::Both(seed) => Some(seed),
            Way::Straight | Way::Stopped => None,
        }
    }
}

/// What one thread plays on: a schema of the server's, emptied behind each group. Its connections last, since making them takes
/// longer than a run; a file is opened anew by each engine.
struct Seat(Arc<dyn Store>);

impl Seat {
    fn new() -> Seat {
        let url = cluster::shared().url();
        Seat(graphc::store::open(&url, Path::new(".")).unwrap())
    }

    /// A store with nothing in it.
    fn store(&self, on: On, room: &TempFolder) -> OpenStore {
        match on {
            On::Memory => open_store(None),
            On::Sqlite => open_store(Some(room.path().join("threads.db"))),
            On::Postgres => {
                let store = Arc::clone(&self.0);
                Arc::new(move || Ok(Arc::clone(&store)))
            }
        }
    }

    async fn clear(&self) {
        for thread in self.0.threads().await.unwrap() {
            assert!(self.0.delete(&thread.thread_id).await.unwrap());
        }
    }
}

/// All of `tests/run`, and what of the matrix of silent failures shows itself in a run.
fn cases() -> Vec<Case> {
    let mut cases = in_folder("tests/run", |_| true);
    cases.extend(in_folder("tests/matrix", |path| {
        path.with_extension("test.yaml").exists()
    }));
    cases
}

fn in_folder(folder: &str, wanted: impl Fn(&Path) -> bool) -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        files.insert(name, std::fs::read_to_string(&path).unwrap());
    }
    let only = std::env::var("CASE").unwrap_or_default();
    let names = files.keys().filter_map(|name| name.strip_suffix(".graph"));
    let names = names.filter(|name| name.contains(&only));
    let names = names.filter(|name| wanted(&folder.join(format!("{name}.graph"))));
    names.map(|name| case(name, &folder, &files)).collect()
}

fn case(name: &str, folder: &Path, files: &BTreeMap<String, String>) -> Case {
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
    let settings = folder.join(format!("{name}.graphc.yaml"));
    let args: Vec<OsString> = match settings.exists() {
        true => vec![
            "--config".into(),
            (&settings).into(),
            "play-scenario".into(),
        ],
        false => vec!["play-scenario".into()],
    };
    let bench = Bench {
        record: false,
        suite: Arc::new(suite),
        file: folder.join(file),
        plan: Arc::new(plan(Arc::new(flow)).unwrap()),
        bindings: bindings(folder, files.get(&format!("{name}.graphc.yaml"))),
        launcher: Launcher {
            program: env!("CARGO_BIN_EXE_graphc").into(),
            args,
            env: Vec::new(),
        },
    };
    let mut suite = Suite::clone(&bench.suite);
    for scenario in &mut suite.scenarios {
        scenario.crash = None;
    }
    let calm = Bench {
        suite: Arc::new(suite),
        ..bench.clone()
    };
    let text = &files[&format!("{name}.graph")];
    Case {
        name: name.to_owned(),
        sources,
        bench,
        calm,
        outlives: text.contains("cache ") || text.contains("std/memory"),
    }
}

/// What `NAME.graphc.yaml` binds.
fn bindings(folder: &Path, settings: Option<&String>) -> Bindings {
    let Some(text) = settings else {
        return Bindings::none();
    };
    let mut sources = SourceMap::new();
    let file = sources.add("graphc.yaml", text);
    Bindings {
        config: config::load(&sources, file, None, &|_| None).unwrap(),
        folder: folder.to_owned(),
        sources: std::sync::Arc::new(sources),
        secrets: std::sync::Arc::default(),
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
    told: Vec<String>,
}

impl Outcome {
    fn of(observed: &Observed, told: Vec<String>) -> Outcome {
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
            told,
        }
    }

    /// What is another thing than in `other`, a line each.
    fn differs(&self, other: &Outcome) -> String {
        let (this, other) = (format!("{self:#?}"), format!("{other:#?}"));
        let diff = TextDiff::from_lines(&this, &other);
        diff.unified_diff().context_radius(2).to_string()
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
    async fn play(
        &self,
        seat: &Seat,
        group: &Group,
        manner: Manner,
    ) -> Result<Vec<Outcome>, Vec<String>> {
        let room = TempFolder::new().unwrap();
        let (on, way) = manner;
        let own = (on == On::Postgres && self.outlives).then(Seat::new);
        let seat = own.as_ref().unwrap_or(seat);
        let store = seat.store(on, &room);
        let mut outcomes = Vec::new();
        let mut wrong = Vec::new();
        let crashes = self.crashes(group);
        for index in &group.scenarios {
            let scenario = &self.calm.suite.scenarios[*index];
            let what = format!("{}, {manner:?}", scenario.name);
            let stage = stage(scenario, &self.calm.plan, &self.calm.bindings, &store)
                .map_err(|finding| self.shown(&what, &[finding]))?;
            let tape = Arc::new(Tape::default());
            let how = How {
                stop_after_steps: way.stop_after_steps(),
                shuffle: way.shuffle(),
                tape: Some(Arc::clone(&tape)),
                ..How::default()
            };
            let seen = group::alone(&self.calm, *index, &stage, how).await;
            let (seen, _) =
                seen.map_err(|error| vec![format!("{}: {what}: {error}", self.name)])?;
            let flow = &self.bench.plan.flow;
            let graph = stage.graph;
            let told = EventLog::of(Ran { flow, graph }, &tape.processes());
            let faults = told.faults.into_iter();
            wrong.extend(faults.map(|fault| format!("{}: {what}: {fault}", self.name)));
            let observed = Observed::of(flow, graph, &seen);
            let left = answers_left(&scenario.answers, &seen);
            if !crashes {
                let findings = judge(scenario, flow, graph, &observed, &left);
                wrong.extend(self.shown(&what, &findings));
            }
            outcomes.push(Outcome::of(&observed, told.lines));
        }
        if on == On::Postgres {
            seat.clear().await;
        }
        match wrong.is_empty() {
            true => Ok(outcomes),
            false => Err(wrong),
        }
    }

    /// Whether any of a group is killed on its way: what it expects then need not hold without that. A call that was cut off is made
    /// again, or asked about.
    fn crashes(&self, group: &Group) -> bool {
        let scenarios = &self.bench.suite.scenarios;
        let mut of_group = group.scenarios.iter();
        of_group.any(|index| scenarios[*index].crash.is_some())
    }

    async fn agree(&self, seat: &Seat, group: &Group) -> Vec<String> {
        let scenarios = group.scenarios.iter();
        let scenarios = scenarios.map(|index| &self.bench.suite.scenarios[*index]);
        let scenarios: Vec<&Scenario> = scenarios.collect();
        if self.crashes(group) {
            let verdicts = group::run(&self.bench, group).await;
            let verdicts = verdicts.iter();
            let wrong = verdicts.flat_map(|verdict| self.shown(&verdict.name, &verdict.findings));
            let wrong: Vec<String> = wrong.collect();
            if !wrong.is_empty() {
                return wrong;
            }
        }
        let straight = match self.play(seat, group, STRAIGHT).await {
            Ok(outcomes) => outcomes,
            Err(wrong) => return wrong,
        };
        let mut wrong = Vec::new();
        for manner in OTHERS {
            match self.play(seat, group, manner).await {
                Err(more) => wrong.extend(more),
                Ok(outcomes) => {
                    let both = straight.iter().zip(&outcomes).zip(&scenarios);
                    wrong.extend(both.filter(|((one, other), _)| one != other).map(
                        |((one, other), scenario)| {
                            let what = format!("{}: {}", self.name, scenario.name);
                            format!(
                                "{what}: not as straight: {manner:?}\n{}",
                                one.differs(other)
                            )
                        },
                    ));
                }
            }
        }
        wrong
    }
}

/// The groups of all cases, taken by threads of their own: much of playing one is waiting for a store.
#[test]
fn every_manner_agrees() {
    let cases = cases();
    let groups = cases.iter().flat_map(|case| {
        let groups = groups(&case.bench.suite, |_| true).into_iter();
        groups.map(move |group| (case, group))
    });
    let groups = Mutex::new(groups.collect::<Vec<_>>().into_iter());
    let wrong = Mutex::new(Vec::new());
    let play = || {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.enable_all().build().unwrap();
        let seat = Seat::new();
        loop {
            let next = groups.lock().unwrap().next();
            let Some((case, group)) = next else { break };
            let found = runtime.block_on(case.agree(&seat, &group));

            wrong.lock().unwrap().extend(found);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            let thread = std::thread::Builder::new().stack_size(16 << 20);
            thread.spawn_scoped(scope, play).unwrap();
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
