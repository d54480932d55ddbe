//! The scenarios that share a thread, played in order.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::backend::scenario::{Script, Start};
use crate::ir::{GraphId, Tool};
use crate::project::bindings::Bindings;
use crate::project::run_secrets::lacking_secret;
use crate::project::scenario::{Answers, Scenario, Suite};
use crate::project::yaml::Path;
use crate::run::plan::Plan;
use crate::run::store::Store;
use crate::store::{self, MemoryStore};

use super::answers::{Pending, Used};
use super::crash::{Job, Launcher, TempFolder, play_apart};
use super::judge::{Finding, judge};
use super::observed::Observed;
use super::play::{How, OpenStore, Stage, play};
use super::sighting::{Log, Sighting};

/// One file of scenarios and the flow that they are of.
#[derive(Clone)]
pub struct Bench {
    /// The scenarios.
    pub suite: Arc<Suite>,
    /// Path of their file, for processes of their own.
    pub file: PathBuf,
    /// The flow.
    pub plan: Arc<Plan>,
    /// What serves the tools that scenarios have really called.
    pub bindings: Bindings,
    /// How such processes are started.
    pub launcher: Launcher,
    /// Whether recorded scenarios are recorded anew.
    pub record: bool,
}

/// Scenarios that share a thread, or one that has its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Positions in the file, in order, of all that must be played.
    pub scenarios: Vec<usize>,
    /// Those of them that are asked for; the others make what these go on with.
    pub wanted: Vec<usize>,
}

impl Group {
    /// Whether any of its scenarios reaches what graphc.yaml binds.
    pub fn calls_for_real(&self, suite: &Suite, record: bool) -> bool {
        let mut all = self.scenarios.iter();
        all.any(|index| {
            let scenario = suite.scenarios.get(*index);
            scenario.is_some_and(|scenario| scenario.calls_for_real(record))
        })
    }
}

/// What came of one scenario.
#[derive(Debug, Clone)]
pub struct Verdict {
    /// Position in the file.
    pub index: usize,
    /// Its name.
    pub name: String,
    /// All that is not as expected; empty where it passed.
    pub findings: Vec<Finding>,
    /// How long it took.
    pub took: Duration,
    /// The graph that ran, and what each process told.
    pub seen: Option<(GraphId, Vec<Vec<Sighting>>)>,
}

/// The groups of a file that hold a wanted scenario.
pub fn groups(suite: &Suite, wanted: impl Fn(&Scenario) -> bool) -> Vec<Group> {
    let mut groups: Vec<(Option<&str>, Group)> = Vec::new();
    for (index, scenario) in suite.scenarios.iter().enumerate() {
        let thread = scenario.thread.as_deref();
        let same = thread.and_then(|_| groups.iter().position(|(other, _)| *other == thread));
        let place = same.unwrap_or_else(|| {
            let group = Group {
                scenarios: Vec::new(),
                wanted: Vec::new(),
            };
            groups.push((thread, group));
            groups.len() - 1
        });
        if let Some((_, group)) = groups.get_mut(place) {
            group.scenarios.push(index);
            if wanted(scenario) {
                group.wanted.push(index);
            }
        }
    }
    let groups = groups.into_iter().map(|(_, group)| group);
    groups
        .filter_map(|mut group| {
            let last = *group.wanted.last()?;
            group.scenarios.retain(|index| *index <= last);
            Some(group)
        })
        .collect()
}

/// Plays a group on a fresh store. Gives a verdict for each wanted scenario.
pub async fn run(bench: &Bench, group: &Group) -> Vec<Verdict> {
    let all = group.scenarios.iter();
    let scenarios: Vec<(usize, &Scenario)> = all
        .filter_map(|index| Some((*index, bench.suite.scenarios.get(*index)?)))
        .collect();
    let apart = scenarios
        .iter()
        .any(|(_, scenario)| scenario.crash.is_some());
    let room = match apart {
        true => TempFolder::new().map(Some),
        false => Ok(None),
    };
    let mut verdicts = Vec::new();
    match room {
        Err(error) => verdicts.extend(scenarios.iter().map(|(index, scenario)| {
            let message = format!("a folder for the store can't be made: {error}");
            let findings = vec![Finding::new(&scenario.at, message)];
            verdict(*index, scenario, findings)
        })),
        Ok(room) => {
            let file = room.as_ref().map(|room| room.path().join("threads.db"));
            let store = open_store(file.clone());
            for (index, scenario) in scenarios {
                verdicts.push(one(bench, index, scenario, file.as_ref(), &store).await);
            }
        }
    }
    verdicts.retain(|verdict| group.wanted.contains(&verdict.index));
    verdicts
}

fn verdict(index: usize, scenario: &Scenario, findings: Vec<Finding>) -> Verdict {
    Verdict {
        index,
        name: scenario.name.clone(),
        findings,
        took: Duration::ZERO,
        seen: None,
    }
}

/// Opens the store on disk, or gives the one in memory.
pub fn open_store(file: Option<PathBuf>) -> OpenStore {
    match file {
        Some(file) => Arc::new(move || {
            let url = format!("sqlite:{}", file.display());
            store::open(&url, std::path::Path::new("."))
        }),
        None => {
            let store: Arc<dyn Store> = Arc::new(MemoryStore::new());
            Arc::new(move || Ok(Arc::clone(&store)))
        }
    }
}

/// What is said where a tool that is called needs a secret that is not there.
fn lacks_secret<'t>(
    bindings: &'t Bindings,
    called: impl Iterator<Item = &'t Tool>,
) -> Option<String> {
    let (tool, name) = lacking_secret(&bindings.config, called, &bindings.secrets)?;
    Some(format!(
        "tool `{tool}` needs the secret `{name}` of the run: set the variable `{name}`"
    ))
}

/// What a scenario is played on.
///
/// # Errors
/// Where the flow has no such graph, or none that runs where the scenario names none; where its profile isn't there.
pub fn stage(
    scenario: &Scenario,
    plan: &Arc<Plan>,
    bindings: &Bindings,
    store: &OpenStore,
) -> Result<Stage, Finding> {
    let flow = &plan.flow;
    let names = || flow.graphs.iter().map(|graph| graph.name.as_str());
    let graph = match &scenario.graph {
        Some(name) => flow.graph(name).ok_or_else(|| {
            if let Some(instances) = flow.instances_of(name) {
                let hint = match instances.is_empty() {
                    true => String::new(),
                    false => format!(": {}", crate::base::name::list(instances)),
                };
                return format!(
                    "graph `{name}` has parameters, so only an instance of it can run{hint}"
                );
            }
            let hint = match crate::base::name::closest(name, names()) {
                Some(near) => format!("; did you mean `{near}`?"),
                None => format!("; it has {}", crate::base::name::list(names())),
            };
            format!("the flow has no graph `{name}`{hint}")
        }),
        None => flow.entry.ok_or_else(|| {
            let names = crate::base::name::list(names());
            format!("name the `graph` that runs, one of {names}")
        }),
    };
    let graph = graph.map_err(|message| Finding::new(&scenario.at, message))?;
    let profile = scenario.profile.as_ref();
    let bindings = bindings.under(profile.map(|profile| profile.value.as_str()));
    let bindings =
        bindings.ok_or_else(|| Finding::new(&scenario.at, "graphc.yaml has no such profile"))?;
    let real = flow
        .tools
        .iter()
        .filter(|tool| scenario.is_real(&tool.name));
    if let Some(message) = lacks_secret(&bindings, real) {
        return Err(Finding::new(&scenario.at, message));
    }
    Ok(Stage {
        plan: Arc::clone(plan),
        graph,
        bindings: Arc::new(bindings),
        thread_id: thread(scenario).to_owned(),
        store: Arc::clone(store),
    })
}

fn thread(scenario: &Scenario) -> &str {
    scenario.thread.as_deref().unwrap_or(&scenario.name)
}

async fn one(
    bench: &Bench,
    index: usize,
    scenario: &Scenario,
    file: Option<&PathBuf>,
    store: &OpenStore,
) -> Verdict {
    let began = Instant::now();
    let stage = match stage(scenario, &bench.plan, &bench.bindings, store) {
        Ok(stage) => stage,
        Err(finding) => return verdict(index, scenario, vec![finding]),
    };
    let records = bench.record && scenario.recorded;
    let mut script = None;
    let told = match (&scenario.crash, file) {
        (Some(_), Some(file)) if !records => {
            let job = Job {
                file: bench.file.clone(),
                scenario: index,
                store: file.clone(),
                thread: stage.thread_id.clone(),
                resume: None,
            };
            play_apart(&bench.launcher, job).await
        }
        _ => {
            let played = alone(bench, index, &stage, How::default()).await;
            played.map(|(told, played)| {
                script = Some(played);
                told
            })
        }
    };
    let mut findings = Vec::new();
    let mut seen = None;
    match told {
        Ok(told) => {
            findings.extend(survived(scenario, &told).filter(|_| !records));
            let left = answers_left(&scenario.answers, &told);
            let flow = &bench.plan.flow;
            let observed = Observed::of(flow, stage.graph, &told);
            findings.extend(judge(scenario, flow, stage.graph, &observed, &left));
            seen = Some((stage.graph, told));
        }
        Err(message) => {
            let (message, detail) = message.split_once('\n').unwrap_or((&message, ""));
            findings.push(Finding::new(&scenario.at, message).detail(detail));
        }
    }
    // A scenario that fails leaves the cassette as it was.
    if let Some(script) = script.filter(|_| findings.is_empty())
        && let Err(why) = script.save_recording(&bench.file)
    {
        findings.push(Finding::new(&scenario.at, why));
    }
    findings.sort_by_key(|finding| (!finding.cause, bench.suite.span(&finding.at).start));
    Verdict {
        took: began.elapsed(),
        seen,
        ..verdict(index, scenario, findings)
    }
}

/// Plays a scenario in this process: what was seen, and the script with what it has recorded.
///
/// # Errors
/// As [`play`]; where it is to be recorded and a tool needs a secret that is not there.
pub async fn alone(
    bench: &Bench,
    index: usize,
    stage: &Stage,
    how: How,
) -> Result<(Vec<Vec<Sighting>>, Arc<Script>), String> {
    let script = Script::new(&bench.suite, index, Start::Run);
    let script = script.ok_or("there is no such scenario")?;
    if script.scenario().recorded {
        match bench.record {
            true => {
                let tools = stage.plan.flow.tools.iter();
                let replies = &script.scenario().tools;
                let called = tools.filter(|tool| replies.iter().all(|(of, _)| *of != tool.name));
                if let Some(message) = lacks_secret(&stage.bindings, called) {
                    return Err(message);
                }
                let mut secrets = stage.bindings.config.secrets();
                secrets.add_all(stage.bindings.secrets.all());
                script.record(secrets);
            }
            false => script.play_from_file(&bench.file)?,
        }
    }
    let log = Arc::new(Log::default());
    play(stage, &script, how, &log).await?;
    Ok((vec![log.all()], script))
}

/// A process that was to be killed and never came to that point.
fn survived(scenario: &Scenario, told: &[Vec<Sighting>]) -> Option<Finding> {
    let crash = scenario.crash.as_ref().filter(|_| told.len() < 2)?;
    let message = "the run never came to this point, so nothing crashed";
    Some(Finding::new(&crash.at, message))
}

/// Where the answers are written that nothing asked for.
pub fn answers_left(answers: &Answers, told: &[Vec<Sighting>]) -> Vec<Path> {
    let mut used = Used::new();
    for sighting in told.iter().flatten() {
        if let Sighting::Answered { node } = sighting {
            *used.entry(node.clone()).or_default() += 1;
        }
    }
    Pending::new(answers, used).left()
}
