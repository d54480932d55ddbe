//! A run from the command line: what it stands on, and its way through interrupts to an end.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value as Json;
use tokio::runtime::{Handle, Runtime};
use tokio::task::spawn_blocking;

use crate::backend::bind::bind;
use crate::backend::scenario::{Scenario, Script, Start, in_turns, seed};
use crate::base::{SourceMap, name};
use crate::ir::{Flow, GraphId};
use crate::run::ambient::{Ambient, SystemAmbient};
use crate::run::engine::{self, Engine, Gone, RunResult, StartError, open_interrupts};
use crate::run::interrupt::Answer;
use crate::run::memory::Access;
use crate::run::plan::plan;
use crate::run::store::{RunState, Store};
use crate::scenario::ambient::StillAmbient;
use crate::scenario::answers::{Pending, Used};

use super::super::pasted::Pasted;
use super::super::{Context, Exit, Failure, files, flow, settings, storage, threads};
use super::answers::{Answers, Reply};
use super::hint::Hint;
use super::remedy::{not_begun, remedy};
use super::scene;
use super::signals::Signals;
use super::snippet;
use super::stops::known_nodes;
use super::watch::Watch;
use super::{Durability, RunOptions};

/// The system's user, as the environment names them.
fn user() -> Option<String> {
    let names = ["USER", "LOGNAME", "USERNAME"].into_iter();
    let mut names = names.filter_map(|name| std::env::var(name).ok());
    names.find(|name| !name.trim().is_empty())
}

/// Stack of the threads that run tasks: expressions nest.
const STACK_BYTES: usize = 16 << 20;

/// What the command line asks for.
#[derive(Debug)]
pub struct Wanted {
    /// The flow.
    pub file: PathBuf,
    /// How the run goes.
    pub how: RunOptions,
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

/// One stretch of a run, from where it begins to its end or the next interrupt.
#[derive(Debug)]
pub enum Leg {
    /// A new run.
    Start {
        /// Of this graph.
        graph: GraphId,
        /// Its input.
        input: Json,
        /// Its context.
        constants: Json,
    },
    /// On from where the thread stands.
    Resume(Vec<Answer>),
}

/// A run that is ready to start.
pub struct Session<'a> {
    engine: Engine,
    store: Arc<dyn Store>,
    script: Option<Arc<Script>>,
    thread: String,
    options: engine::RunOptions,
    answers: Answers,
    hint: Hint,
    watch: Watch,
    /// Whether the thread outlives this process.
    keeps: bool,
    /// The flow's: places are relative to its folder.
    file: PathBuf,
    context: &'a Context,
}

impl<'a> Session<'a> {
    /// Reads the flow, its settings and the scenario, and opens the store. Nothing has run when it fails.
    pub fn open(wanted: Wanted, context: &'a Context) -> Result<Self, Failure> {
        let loaded = flow::load(&wanted.file, context)?;
        let flow = loaded.flow;
        let mut sources = SourceMap::new();
        let config = settings::load(&loaded.project, context, &mut sources)?;
        let script = match &wanted.scenario {
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
        let store = place.open(how.durability == Durability::Sync)?;
        if let (true, Some(thread)) = (wanted.resumes, &wanted.thread) {
            let pasted = Pasted::new(how.store.as_deref(), context);
            needs_thread(&store, thread, &place, &pasted)?;
        }
        let profile = script
            .as_ref()
            .and_then(|script| script.scenario().profile.as_ref());
        let served = profile.and_then(|profile| config.under(&profile.value));
        let served = served.as_ref().unwrap_or(&config);
        let backends = bind(&flow, served, script.as_ref(), &loaded.project.home)
            .map_err(|found| settings::say(&found, &sources, context, Exit::Unusable))?;
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
                backends,
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
                migrate: how.migrate,
                interrupt_before: wanted.interrupt_before,
                drop_stops: wanted.no_stops,
                by: wanted.by.or_else(user),
                ..engine::RunOptions::default()
            },
            watch: Watch::new(&how.stream, wanted.after, context),
            answers,
            hint,
            script,
            keeps: place.keeps(),
            file: wanted.file,
            context,
        })
    }

    /// The flow.
    pub fn flow(&self) -> &Flow {
        &self.engine.plan.flow
    }

    /// The scenario that is played, where one is.
    pub fn scenario(&self) -> Option<&Scenario> {
        self.script.as_ref().map(|script| script.scenario())
    }

    /// Runs to an end, or to an interrupt that nobody answers, and prints what it came to.
    pub fn run(self, first: Leg) -> Result<Exit, Failure> {
        runtime()?.block_on(self.go(first))
    }

    /// Keeps what the scenario says that memory holds when it begins.
    async fn remember(&self) -> Result<(), Failure> {
        let Some(script) = &self.script else {
            return Ok(());
        };
        let now = self.engine.ambient.now().as_millisecond();
        let access = Access::new(
            Some(Arc::clone(&self.store)),
            Arc::default(),
            now,
            Json::Null,
        );
        let kept = seed(script, access, &self.thread).await;
        kept.map_err(Failure::unusable)
    }

    async fn go(mut self, first: Leg) -> Result<Exit, Failure> {
        if let Leg::Start { graph, .. } = &first
            && self.engine.entry() != Some(*graph)
        {
            let graph = self.engine.plan.flow.graphs.get(*graph);
            let name = graph.map(|graph| graph.name.clone());
            name.iter().for_each(|name| self.hint.of_graph(name));
        }
        let signals = Signals::listen(match self.keeps {
            true => format!("go on with: {}", self.hint.resume()),
            false => IN_MEMORY.to_owned(),
        });
        self.options.cancel = signals.cancel.clone();
        self.options.drain = signals.drain.clone();
        if matches!(first, Leg::Start { .. }) {
            self.remember().await?;
        }
        let dropped = match first {
            Leg::Start { .. } => self.what_is_dropped().await?,
            Leg::Resume(_) => None,
        };
        let mut next = match first {
            Leg::Resume(answers) if answers.is_empty() => self.asked_first(&signals).await?,
            given => given,
        };
        let mut begun = true;
        let mut before: Option<RunResult> = None;
        let mut in_doubt = Vec::new();
        let mut result = loop {
            let result = match (self.leg(next).await, before) {
                (Ok(result), _) => result,
                // The thread stands where the leg before has left it.
                (Err(refused), Some(result)) => {
                    refused.say();
                    break result;
                }
                (Err(failure), None) => return Err(failure),
            };
            begun &= result.begun;
            in_doubt.extend(result.in_doubt.iter().cloned());
            if result.state != RunState::Interrupted || signals.is_heard() {
                break result;
            }
            signals.asking(true);
            let reply = self
                .answers
                .to(&result.interrupts, &self.engine.plan.flow.types);
            signals.asking(false);
            match reply {
                Reply::GoOn(answers) => next = Leg::Resume(answers),
                Reply::Leave => break result,
            }
            before = Some(result);
        };
        if let Some(note) = dropped.filter(|_| begun) {
            self.context.say(&note);
        }
        for tool in &in_doubt {
            self.context.say(&threads::edit::in_doubt(tool));
        }
        // Of whichever leg: the first is the one that takes the place of anything.
        result.in_doubt = in_doubt;
        if let Some(note) = self.answers.unused() {
            self.context.say(&note);
        }
        for call in self.script.iter().flat_map(|script| script.unmatched()) {
            self.context.say(&format!("warning: {call}"));
        }
        let printed = self.watch.result(&result, self.context);
        self.say(&result);
        if let Err(failure) = printed {
            if result.state == RunState::Done {
                return Err(failure);
            }
            failure.say();
        }
        Ok(match result.state {
            RunState::Done | RunState::Running | RunState::Ready => Exit::Done,
            RunState::Interrupted => Exit::Interrupted,
            RunState::Failed => Exit::Failed,
            RunState::Cancelled => Exit::Cancelled,
        })
    }

    /// A thread that waits for answers is answered before it goes on, where a person is there.
    async fn asked_first(&mut self, signals: &Signals) -> Result<Leg, Failure> {
        let known = self.store.thread(&self.thread).await.map_err(unusable)?;
        let open = known.map(|thread| open_interrupts(&thread.status));
        let open = open.transpose().map_err(unusable)?.unwrap_or_default();
        if open.is_empty() || !self.answers.person {
            return Ok(Leg::Resume(Vec::new()));
        }
        signals.asking(true);
        let reply = self.answers.to(&open, &self.engine.plan.flow.types);
        signals.asking(false);
        Ok(match reply {
            Reply::GoOn(answers) => Leg::Resume(answers),
            Reply::Leave => Leg::Resume(Vec::new()),
        })
    }

    /// Runs one leg while its events are shown. Where nobody reads them any more, it goes on all the same.
    async fn leg(&mut self, leg: Leg) -> Result<RunResult, Failure> {
        let watch = std::mem::replace(&mut self.watch, Watch::Nobody);
        let (sink, events) = watch.stream();
        let options = engine::RunOptions {
            events: Some(sink),
            ..self.options.clone()
        };
        // Writing may block, for as long as nobody reads: that must not keep the run from going on.
        let reading = Handle::current();
        let reader = spawn_blocking(move || reading.block_on(watch.follow(events)));
        let at_the_store = Arc::clone(&options.at_the_store);
        let run = async {
            match leg {
                Leg::Start {
                    graph,
                    input,
                    constants,
                } => {
                    let options = engine::RunOptions {
                        context: constants,
                        ..options
                    };
                    let start = self.engine.start(graph, &self.thread, &input, options);
                    start.await
                }
                Leg::Resume(answers) => self.engine.resume(&self.thread, &answers, options).await,
            }
        };
        let ended = match &self.script {
            Some(script) => in_turns(script, &at_the_store, || false, run).await,
            None => run.await,
        };
        self.watch = reader
            .await
            .map_err(|error| Failure::unusable(format!("could not show the run: {error}")))?;
        match ended {
            Ok(result) => Ok(result),
            Err(error) => {
                let migrates = self.options.migrate;
                let hint = self.hint_of_thread().await;
                Err(not_started(error, &self.engine.plan.flow, migrates, &hint))
            }
        }
    }

    /// The hint, with the thread's graph where a new run has to name it.
    async fn hint_of_thread(&self) -> Hint {
        let mut hint = self.hint.clone();
        let flow = &self.engine.plan.flow;
        let entry = self.engine.entry().and_then(|entry| flow.graphs.get(entry));
        if let Ok(Some(thread)) = self.store.thread(&self.thread).await
            && entry.is_none_or(|entry| entry.name != thread.status.graph)
        {
            hint.of_graph(&thread.status.graph);
        }
        hint
    }

    /// A new input on a thread that has something left to do lets go of that.
    async fn what_is_dropped(&self) -> Result<Option<String>, Failure> {
        let known = self.store.thread(&self.thread).await.map_err(unusable)?;
        let known = known.filter(|thread| thread.checkpoint > 0);
        let state = match known.map(|thread| thread.status.state) {
            None | Some(RunState::Done) => return Ok(None),
            Some(RunState::Interrupted) => "was interrupted",
            Some(RunState::Failed) => "had failed",
            Some(RunState::Cancelled) => "was cancelled",
            Some(RunState::Running) => "was cut off",
            Some(RunState::Ready) => "was forked or edited",
        };
        Ok(Some(format!(
            "note: thread `{}` {state}; what it left undone is dropped (`{}` would have gone on with it)",
            self.thread,
            self.hint.resume(),
        )))
    }

    /// Says on stderr why it failed, or how to go on.
    fn say(&self, result: &RunResult) {
        match (result.state, &result.error) {
            (RunState::Interrupted | RunState::Cancelled, _) if !self.keeps => {
                self.context.say(IN_MEMORY);
            }
            (RunState::Interrupted, _) => {
                let flow = &self.engine.plan.flow;
                self.context.say(&self.hint.interrupted(result, flow));
            }
            (RunState::Failed, Some(error)) => {
                let node = error.path.as_ref().map(|path| format!(" in `{path}`"));
                let place = error.place.as_ref();
                let place =
                    place.map(|at| format!(" ({})", flow::file_name(&self.file, &at.to_string())));
                let around: String = [node, place].into_iter().flatten().collect();
                let kind = error.kind.word();
                let style = self.context.terminal.style;
                let place = error.place.as_ref();
                let lines = place.and_then(|place| snippet::of(place, &self.file, style));
                let failure = Failure::unusable(format!("{kind}{around}: {}", error.message));
                let failure = failure.lines(lines);
                match self.keeps {
                    true if !result.begun => failure.help(not_begun(error, &self.hint)),
                    true => failure.help(remedy(error, &self.hint).unwrap_or_else(|| {
                        format!("when its cause is gone, go on with: {}", self.hint.resume())
                    })),
                    false => failure,
                }
                .say();
            }
            (RunState::Cancelled, _) => {
                let command = self.hint.resume();
                self.context
                    .say(&format!("cancelled; go on with: {command}"));
            }
            (RunState::Done, _) => {
                for half in &result.half_joins {
                    let missing = name::list(half.missing.iter().map(String::as_str));
                    let half = half.shown();
                    self.context
                        .say(&format!("note: {half} was left waiting for {missing}"));
                }
            }
            _ => {}
        }
    }
}

/// Where no store outlives the process.
const IN_MEMORY: &str = "the thread was kept in memory only: nothing can go on with it";

/// Refuses a thread that isn't there, before anything is said that only a run needs.
fn needs_thread(
    store: &Arc<dyn Store>,
    thread: &str,
    place: &storage::Place,
    pasted: &Pasted,
) -> Result<(), Failure> {
    let known = runtime()?.block_on(store.thread(thread));
    match known.map_err(unusable)? {
        Some(_) => Ok(()),
        None => Err(
            Failure::unusable(format!("there is no thread `{thread}` in `{place}`"))
                .help(format!("`{}` lists all", pasted.command(&["threads"]))),
        ),
    }
}

/// The threads that tasks run on.
pub fn runtime() -> Result<Runtime, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .thread_stack_size(STACK_BYTES)
        .build()
        .map_err(|error| Failure::unusable(format!("could not start a thread: {error}")))
}

fn unusable(error: impl std::fmt::Display) -> Failure {
    Failure::unusable(error.to_string())
}

/// Why a run did not start, with what can be done about a thread of another version.
fn not_started(error: StartError, flow: &Flow, migrates: bool, hint: &Hint) -> Failure {
    let failure = Failure::unusable(error.to_string());
    let StartError::Version { gone, .. } = error else {
        return failure;
    };
    let says = flow.graphs.iter().any(|graph| !graph.migrate.is_empty());
    match gone {
        Gone::Other => failure.help(format!(
            "start a new run on the thread: {}",
            hint.run_again()
        )),
        Gone::OneName => failure.help(
            "give each a name of its own in the flow and in `migrate`, or go on under the version that the thread is of",
        ),
        Gone::Graph => failure.help(format!(
            "name a file that has it, or start a run on a thread of its own: {}",
            hint.run_apart()
        )),
        Gone::Question => failure.help(format!(
            "go on without an answer, as the flow is now: {}",
            hint.resume()
        )),
        Gone::Stop(old) => failure.help(format!(
            "`--no-stops` lets go of it; if the node has another name now, say so with `migrate {{ rename node {old} -> new }}` and add `--migrate`"
        )),
        Gone::Calls(old) => failure.help(format!(
            "`--migrate` lets it go; if the node has another name now, say that first: `migrate {{ rename node {old} -> new }}`"
        )),
        _ if says && !migrates => failure.help("add `--migrate`: the flow says what became of it in `migrate`"),
        Gone::Node(old) => failure.help(format!(
            "say in the graph what became of it, as in `migrate {{ rename node {old} -> new }}`, and add `--migrate`"
        )),
        Gone::Value(of) => failure.help(format!(
            "say in the graph which value it has then, as in `migrate {{ default {of} = .. }}`, and add `--migrate`"
        )),
        Gone::Field(old) => failure.help(format!(
            "say in the graph what became of it, as in `migrate {{ rename field {old} -> new }}` or `migrate {{ drop field {old} }}`, and add `--migrate`"
        )),
    }
}

/// An id that can be read out: `t-` and eight letters and digits that aren't taken for others.
pub fn new_thread() -> String {
    const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";
    let bits = uuid::Uuid::new_v4().as_u128();
    let letter = |index: u32| {
        let five = (bits >> (5 * index)) as usize & 31;
        LETTERS.get(five).copied().map_or('0', char::from)
    };
    format!("t-{}", (0..8).map(letter).collect::<String>())
}
