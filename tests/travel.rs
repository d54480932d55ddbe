//! Time travel over all that `tests/run` plays: a thread that has ended is forked at each of its checkpoints, those inside of calls
//! too. With the results that came later, the fork comes to the same state and calls nothing; afresh, with the same replies, it comes
//! to the same state by calling again what lies behind the checkpoint. The same holds for what is left when the thread is compacted.
//!
//! `CASE=name cargo test --test runtime travel::` forks the threads of the files whose name contains `name`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use graphc::backend::bind::bind;
use graphc::backend::scenario::{Script, Start, in_turns};
use graphc::base::SourceMap;
use graphc::compile::compile;
use graphc::diag::render::{Style, human};
use graphc::project::bindings::Bindings;
use graphc::project::config::Config;
use graphc::project::scenario;
use graphc::run::engine::{Engine, Fork, RunOptions, fork};
use graphc::run::permission::PERMISSIONS;
use graphc::run::plan::plan;
use graphc::run::schedule;
use graphc::run::store::{CheckpointInfo, Effects, Keep, RunState, Source, Store};
use graphc::scenario::ambient::StillAmbient;
use graphc::scenario::crash::{Launcher, TempFolder};
use graphc::scenario::group::{self, Bench, groups, open_store, stage};
use graphc::scenario::play::How;
use graphc::value::Value;

/// Cases that are not called afresh. In some replies are taken out of their order, by what they fit: how many were taken before a
/// checkpoint doesn't say which. In others calls find what they have written before: memory outlasts threads.
const NOT_AFRESH: [&str; 2] = ["subgraphs_in_parallel", "memory"];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/run")
}

fn benches() -> Vec<(String, Bench)> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        files.insert(name, std::fs::read_to_string(&path).unwrap());
    }
    let only = std::env::var("CASE").unwrap_or_default();
    let names = files.keys().filter_map(|name| name.strip_suffix(".graph"));
    let names = names.filter(|name| name.contains(&only));
    names
        .map(|name| (name.to_owned(), bench(name, &files)))
        .collect()
}

fn bench(name: &str, files: &BTreeMap<String, String>) -> Bench {
    let compiled = compile(&format!("{name}.graph"), files);
    let findings = human(&compiled.diagnostics, &compiled.sources, Style::PLAIN);
    let flow = compiled
        .flow
        .unwrap_or_else(|| panic!("{name}: {findings}"));
    let file = format!("{name}.test.yaml");
    let mut sources = SourceMap::new();
    let id = sources.add(&file, &files[&file]);
    let suite = scenario::load(&sources, id)
        .unwrap_or_else(|found| panic!("{}", human(&found, &sources, Style::PLAIN)));
    Bench {
        record: false,
        suite: Arc::new(suite),
        file: folder().join(file),
        plan: Arc::new(plan(Arc::new(flow)).unwrap()),
        bindings: Bindings::none(),
        launcher: Launcher {
            program: env!("CARGO_BIN_EXE_graphc").into(),
            args: vec!["play-scenario".into()],
            env: Vec::new(),
        },
    }
}

/// A run of a thread that has ended, from its input to its last checkpoint.
struct Ended {
    /// `seq` of its checkpoints.
    checkpoints: Vec<u64>,
    state: BTreeMap<String, Value>,
}

/// The runs of a thread that have ended.
async fn ended(store: &Arc<dyn Store>, thread: &str) -> Vec<Ended> {
    let mut history: Vec<CheckpointInfo> = store.history(thread, None, 9999).await.unwrap();
    history.reverse();
    let mut runs: Vec<Vec<&CheckpointInfo>> = Vec::new();
    for info in &history {
        // What a compaction has left may begin within a run.
        if runs.is_empty() || (info.frame.is_empty() && info.source == Source::Input) {
            runs.push(Vec::new());
        }
        runs.last_mut().unwrap().push(info);
    }
    let mut ended = Vec::new();
    for run in runs {
        let root = run.iter().rfind(|info| info.frame.is_empty()).unwrap();
        if schedule::is_finished(&root.schedule) {
            ended.push(Ended {
                checkpoints: run.iter().map(|info| info.seq).collect(),
                state: state(store, thread, root.seq).await,
            });
        }
    }
    ended
}

/// The state that a caller sees, without what calls have left inside. What a fork does by what the thread had done uses up no permission.
async fn state(store: &Arc<dyn Store>, thread: &str, seq: u64) -> BTreeMap<String, Value> {
    let mut state = store.state(thread, "", seq).await.unwrap();
    state.retain(|name, _| !name.starts_with('@') && name != PERMISSIONS);
    state
}

/// Resumes a thread, with replies from where it stands.
async fn resume(bench: &Bench, index: usize, store: &Arc<dyn Store>, thread: &str) -> Said {
    let script = Script::new(&bench.suite, index, Start::Resume).unwrap();
    let config = Config::empty(&|_| None);
    let backends = bind(&bench.plan.flow, &config, Some(&script), Path::new(".")).unwrap();
    let engine = Engine {
        plan: Arc::clone(&bench.plan),
        backends,
        store: Some(Arc::clone(store)),
        ambient: Arc::new(StillAmbient::new(script.scenario().clock)),
    };
    let options = RunOptions::default();
    let at_the_store = Arc::clone(&options.at_the_store);
    let run = engine.resume(thread, &[], options);
    let result = in_turns(&script, &at_the_store, || false, run).await;
    let calls = script.calls().values().sum::<u64>() + script.journal().len() as u64;
    match result {
        Ok(result) => Said {
            state: Some(result.state),
            error: result.error.map(|error| error.message),
            calls,
        },
        Err(error) => Said {
            state: None,
            error: Some(error.to_string()),
            calls,
        },
    }
}

struct Said {
    state: Option<RunState>,
    error: Option<String>,
    /// Calls of models and tools.
    calls: u64,
}

/// Forks a thread at each checkpoint of its runs that have ended, and says what is otherwise than it was. `when` tells the
/// forks from others.
async fn travel(
    name: &str,
    bench: &Bench,
    index: usize,
    (store, when): (&Arc<dyn Store>, &str),
) -> Tally {
    let scenario = &bench.suite.scenarios[index];
    let thread = scenario.thread.as_deref().unwrap_or(&scenario.name);
    let mut tally = Tally::default();
    if store.thread(thread).await.unwrap().is_none() {
        return tally;
    }
    let effects = store.effects(thread, None, 99_999).await.unwrap();
    let asked = effects.iter().any(|listed| listed.effect.kind == "answer");
    for run in ended(store, thread).await {
        // Behind the last one nothing is left to do.
        let (_, behind) = run.checkpoints.split_last().unwrap();
        for at in behind {
            for kept in [Effects::All, Effects::Before] {
                // Questions would be asked again.
                let plays = !asked && scenario.thread.is_none() && !NOT_AFRESH.contains(&name);
                if kept == Effects::Before && !plays {
                    continue;
                }
                let to = format!("{thread} at {at} {kept:?}{when}");
                let wanted = Fork {
                    from: thread,
                    at: *at,
                    to: &to,
                    effects: kept,
                };
                let forked = fork(store, &StillAmbient::new(None), &wanted).await;
                let forked = forked.unwrap();
                if forked.state == RunState::Done {
                    continue;
                }
                tally.forks += 1;
                let said = resume(bench, index, store, &to).await;
                let last = store.thread(&to).await.unwrap().unwrap().checkpoint;
                let now = state(store, &to, last).await;
                let right = said.state == Some(RunState::Done) && now == run.state;
                if !right || (kept == Effects::All && said.calls > 0) {
                    tally.wrong.push(format!(
                        "{name}: {to}: {:?} {:?}, {} calls\n  was {:?}\n  now {now:?}",
                        said.state, said.error, said.calls, run.state
                    ));
                }
            }
        }
    }
    tally
}

#[derive(Default)]
struct Tally {
    forks: usize,
    wrong: Vec<String>,
}

impl Tally {
    fn add(&mut self, more: Tally) {
        self.forks += more.forks;
        self.wrong.extend(more.wrong);
    }
}

/// Lets go of all but that many super-steps of every thread.
async fn compact(store: &Arc<dyn Store>, keep: u64) {
    for info in store.threads().await.unwrap() {
        let lease = store.acquire(&info.thread_id).await.unwrap();
        store.compact(&lease, Keep::Newest(keep)).await.unwrap();
        store.release(lease).await.unwrap();
    }
}

async fn all() -> Tally {
    let mut tally = Tally::default();
    for (number, (name, bench)) in benches().into_iter().enumerate() {
        let room = TempFolder::new().unwrap();
        for group in groups(&bench.suite, |_| true) {
            let scenarios = group.scenarios.iter();
            let mut scenarios = scenarios.map(|index| &bench.suite.scenarios[*index]);
            // What is really called has no replies that a fork could be given: `tests/run.rs` plays it in every manner.
            if scenarios.any(|scenario| scenario.crash.is_some() || !scenario.real.is_empty()) {
                continue;
            }
            // A file is slower than it is another store: `tests/store` shows that they agree.
            let file =
                (number % 8 == 0).then(|| room.path().join(format!("{}.db", group.scenarios[0])));
            let open = open_store(file);
            let store = open().unwrap();
            for index in &group.scenarios {
                let scenario = &bench.suite.scenarios[*index];
                let stage = stage(scenario, &bench.plan, &bench.bindings, &open).unwrap();
                let how = How::default();
                group::alone(&bench, *index, &stage, how).await.unwrap();
            }
            let last = *group.scenarios.last().unwrap();
            tally.add(travel(&name, &bench, last, (&store, "")).await);
            for keep in [5, 2] {
                compact(&store, keep).await;
                let when = format!(", {keep} kept");
                tally.add(travel(&name, &bench, last, (&store, &when)).await);
            }
        }
    }
    tally
}

#[test]
fn every_checkpoint_leads_to_the_same_end() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .thread_stack_size(16 << 20)
        .enable_all()
        .build()
        .unwrap();
    let tally = runtime.block_on(all());
    assert!(
        tally.wrong.is_empty(),
        "{} of {} forks:\n{}",
        tally.wrong.len(),
        tally.forks,
        tally.wrong.join("\n")
    );
    assert!(
        std::env::var_os("CASE").is_some() || tally.forks > 1000,
        "{}",
        tally.forks
    );
}
