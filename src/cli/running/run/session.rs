//! A run from the command line: what it stands on. Its way to an end is in [`drive`](super::drive).

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value as Json;
use tokio::runtime::Runtime;

use crate::backend::scenario::{Script, Start};
use crate::backend::service::Services;
use crate::backend::telemetry::Telemetry;
use crate::base::SourceMap;
use crate::ir::Flow;
use crate::project::scenario::Scenario;
use crate::run::ambient::{Ambient, SystemAmbient};
use crate::run::engine::{self, Engine};
use crate::run::plan::plan;
use crate::run::store::Store;
use crate::scenario::ambient::StillAmbient;
use crate::scenario::answers::{Pending, Used};

use super::super::pasted::{Pasted, quoted};
use super::super::{Context, Exit, Failure, files, flow, settings, storage};
use super::answers::Answers;
use super::hint::Hint;
use super::process::{new_thread, runtime};
use super::scene::{self, Scene};
use super::secret;
use super::served::Served;
use super::stops::known_nodes;
use super::telemetry;
use super::watch::Watch;
use super::{Durability, RunOptions, StreamMode};

/// The system's user, as the environment names them.
fn user() -> Option<String> {
    let names = ["USER", "LOGNAME", "USERNAME"].into_iter();
    let mut names = names.filter_map(|name| std::env::var(name).ok());
    names.find(|name| !name.trim().is_empty())
}

/// What the command line asks for.
#[derive(Debug)]
pub struct Wanted {
    /// The flow.
    pub file: PathBuf,
    /// How the run goes.
    pub how: RunOptions,
    /// Which events are printed.
    pub stream: Vec<StreamMode>,
    /// The scenario, and what it begins with.
    pub scenario: Option<(String, Start)>,
    /// The thread; a new one where left out.
    pub thread: Option<String>,
    /// Nodes to stop before.
    pub interrupt_before: Vec<String>,
    /// Whether those of earlier are let go of.
    pub no_stops: bool,
    /// Answers to interrupts as they open.
    pub given: Vec<Json>,
    /// Who answers; the system's user where nobody is named.
    pub by: Option<String>,
    /// Whether the scenario's answers stay out and nobody is asked.
    pub alone: bool,
    /// Whether the thread must be there: then no store is made to look for it.
    pub resumes: bool,
    /// Ids of the events that the reader of a stream has seen last.
    pub after: Vec<String>,
}

/// A run that is ready to start.
pub struct Session<'a> {
    /// What runs.
    pub(in crate::cli) engine: Engine,
    /// Where threads are kept.
    pub(in crate::cli) store: Arc<dyn Store>,
    /// The scenario that is played.
    pub(in crate::cli) script: Option<Arc<Script>>,
    /// The services that run beside it, and where they are written.
    pub(in crate::cli) services: Option<(Services, Scene)>,
    /// The threads that it runs on; the session is not the last to hold them where it ends on one of them.
    pub(in crate::cli) runtime: Arc<Runtime>,
    /// The thread.
    pub(in crate::cli) thread: String,
    /// How each stretch goes.
    pub(in crate::cli) options: engine::RunOptions,
    /// Where answers come from.
    pub(in crate::cli) answers: Answers,
    /// The command that goes on.
    pub(in crate::cli) hint: Hint,
    /// Where traces and metrics go, where that is asked for.
    pub(in crate::cli) telemetry: Option<Telemetry>,
    /// Who watches.
    pub(in crate::cli) watch: Watch,
    /// Whether the thread outlives this process.
    pub(in crate::cli) keeps: bool,
    /// The flow's: places are relative to its folder.
    pub(in crate::cli) file: PathBuf,
    /// What every command is given.
    pub(in crate::cli) context: &'a Context,
}

impl<'a> Session<'a> {
    /// Reads the flow, its settings and the scenario, and opens the store. Nothing has run when it fails.
    pub fn open(wanted: Wanted, context: &'a Context) -> Result<Self, Failure> {
        let loaded = flow::load(&wanted.file, context)?;
        let flow = loaded.flow;
        let mut sources = SourceMap::new();
        let config = settings::load(&loaded.project, context, &mut sources)?;
        let scene = match &wanted.scenario {
            Some((name, start)) => {
                let against = (&*flow, &config);
                Some(scene::load(&wanted.file, against, name, *start, context)?)
            }
            None => None,
        };
        known_nodes(&flow, &wanted.interrupt_before)?;
        let plan = plan(Arc::clone(&flow)).map_err(|error| {
            let file = files::shown(&wanted.file);
            Failure::unusable(format!("`{file}` can't run: {error}")).exit(Exit::Errors)
        })?;
        let how = &wanted.how;
        let place = storage::Place::find(how.store.as_deref(), &config, &loaded.project)
            .map_err(|found| settings::say(&found, &sources, context, Exit::Unusable))?;
        if wanted.resumes && !place.is_there() {
            let thread = wanted.thread.as_deref().unwrap_or_default();
            let message = format!("there is no thread `{thread}`: its store does not exist");
            return Err(Failure::unusable(message)
                .help("name the store of its run with `--store`, or run the flow first"));
        }
        let runtime = Arc::new(runtime()?);
        let store = place.open(how.durability == Durability::Sync)?;
        let mut before = None;
        if let (true, Some(thread)) = (wanted.resumes, &wanted.thread) {
            let pasted = Pasted::new(how.store.as_deref(), context);
            let served_by = needs_thread(&runtime, (&store, thread), &place, &pasted)?;
            before = served_by.get("scenario").cloned();
        }
        let before = before.filter(|_| scene.is_none());
        let lacking = |failure: Failure| served_before(failure, before.as_deref());
        let secrets = secret::given(&how.secrets, &loaded.project)?;
        if scene.is_none() {
            secret::known(&flow, &config, &secrets).map_err(lacking)?;
        }
        let settings = (&loaded.project, &config, &sources);
        let served = Served::new(&flow, scene.as_ref(), settings, &runtime, context);
        let served = served.map_err(lacking)?;
        let telemetry = telemetry::start(&loaded.project, &config)
            .map_err(|found| settings::say(&found, &sources, context, Exit::Unusable))??;
        let script = scene.as_ref().map(|scene| Arc::clone(&scene.script));
        let scenario = script.as_ref().map(|script| script.scenario());
        let ambient: Arc<dyn Ambient> = match scenario {
            Some(scenario) => Arc::new(StillAmbient::outside_tests(scenario.clock)),
            None => Arc::new(SystemAmbient),
        };
        let scripted = scenario.and_then(|scenario| scenario.thread.clone());
        let thread = wanted.thread.or(scripted).unwrap_or_else(new_thread);
        if thread.trim().is_empty() {
            return Err(Failure::unusable(
                "a thread's id has at least one character",
            ));
        }
        let mut answers = Answers {
            given: wanted.given.into(),
            person: !wanted.alone && context.terminal.stdin && context.terminal.stderr,
            ..Answers::default()
        };
        if let (Some(scenario), Some((_, Start::Run)), false) =
            (scenario, &wanted.scenario, wanted.alone)
        {
            answers.scripted = Pending::new(&scenario.answers, Used::new());
        }
        let scenario = wanted.scenario.as_ref().map(|(name, _)| name.as_str());
        let served_by = [
            ("profile", context.profile.as_deref()),
            ("scenario", scenario),
        ];
        let served_by = served_by.into_iter();
        let served_by =
            served_by.filter_map(|(option, name)| Some((option.to_owned(), name?.to_owned())));
        let file = wanted.file.to_string_lossy();
        let durability = match how.durability {
            Durability::Async => None,
            Durability::Sync => Some("sync"),
            Durability::Exit => Some("exit"),
        };
        let hint = Hint::new(
            &file,
            &thread,
            &[("--scenario", scenario), ("--durability", durability)],
            how.store.as_deref(),
            context,
        );
        Ok(Self {
            engine: Engine {
                plan: Arc::new(plan),
                backends: served.backends,
                store: Some(Arc::clone(&store)),
                ambient,
            },
            store,
            thread,
            options: engine::RunOptions {
                durability: how.durability.into(),
                recursion_limit: how.recursion_limit.map(u64::from),
                max_concurrency: how.max_concurrency.map(|most| most as usize),
                max_tasks: how.max_tasks.map(|most| most as usize),
                timeout: how.timeout,
                secrets,
                migrate: how.migrate,
                interrupt_before: wanted.interrupt_before,
                drop_stops: wanted.no_stops,
                by: wanted.by.or_else(user),
                served_by: served_by.collect(),
                observed: telemetry::observed(telemetry.as_ref()),
                ..engine::RunOptions::default()
            },
            telemetry,
            watch: Watch::new(&wanted.stream, wanted.after, context),
            answers,
            hint,
            script,
            services: served.services.zip(scene),
            runtime,
            keeps: place.keeps(),
            file: wanted.file,
            context,
        })
    }

    /// The flow.
    pub fn flow(&self) -> &Flow {
        &self.engine.plan.flow
    }

    /// Ends the services, and says which had ended by themselves.
    pub(in crate::cli) async fn end_services(&mut self) {
        if let Some((services, scene)) = self.services.take() {
            for fault in services.end().await {
                scene.failure(&fault, self.context).say();
            }
        }
    }

    /// The scenario that is played, where one is.
    pub fn scenario(&self) -> Option<&Scenario> {
        self.script.as_ref().map(|script| script.scenario())
    }
}

/// What the store or the like says.
pub fn unusable(error: impl std::fmt::Display) -> Failure {
    Failure::unusable(error.to_string())
}

/// What a resume lacks, with the scenario that its thread's last run was served by.
fn served_before(failure: Failure, scenario: Option<&str>) -> Failure {
    let Some(name) = scenario else {
        return failure;
    };
    failure.say();
    Failure::unusable(format!(
        "the last run of the thread was served by the scenario `{name}`"
    ))
    .help(format!("go on with it: `--scenario {}`", quoted(name)))
    .exit(failure.exit)
}

/// Refuses a thread that isn't there, before anything is said that only a run needs.
fn needs_thread(
    runtime: &Runtime,
    (store, thread): (&Arc<dyn Store>, &str),
    place: &storage::Place,
    pasted: &Pasted,
) -> Result<BTreeMap<String, String>, Failure> {
    let known = runtime.block_on(store.thread(thread));
    match known.map_err(unusable)? {
        Some(known) => Ok(known.status.served_by),
        None => Err(
            Failure::unusable(format!("there is no thread `{thread}` in `{place}`"))
                .help(format!("`{}` lists all", pasted.command(&["threads"]))),
        ),
    }
}
