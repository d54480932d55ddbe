//! Playing one scenario: the input, then answers, until the run ends or nothing is left to answer.

use std::sync::Arc;

use futures_util::FutureExt;
use serde_json::{Value as Json, json};

use crate::backend::bind::bind;
use crate::backend::scenario::{Script, in_turns, remembered, seed};
use crate::base::SourceMap;
use crate::diag::Diagnostics;
use crate::ir::GraphId;
use crate::project::bindings::Bindings;
use crate::project::scenario::Scenario;
use crate::run::ambient::Ambient;
use crate::run::engine::{Engine, RunOptions, RunResult, StartError};
use crate::run::event::{Event, EventKind, Mode};
use crate::run::interrupt::{Answer, OpenInterrupt};
use crate::run::memory::Access;
use crate::run::model::ChatModel;
use crate::run::permission::Permission;
use crate::run::plan::Plan;
use crate::run::store::{RunState, Store, StoreError};
use crate::run::stream::{self, EventSink, EventStream};

use super::ambient::StillAmbient;
use super::answers::{Given, Pending, Used};
use super::doom::{Doom, DoomedStore};
use super::sighting::{Ended, Log, Sighting};
use super::tape::Tape;
use super::watch::Watch;

/// Opens the store of a thread; each engine of a scenario opens it anew.
pub type OpenStore = Arc<dyn Fn() -> Result<Arc<dyn Store>, StoreError> + Send + Sync>;

/// What a scenario is played on.
#[derive(Clone)]
pub struct Stage {
    /// The flow.
    pub plan: Arc<Plan>,
    /// The graph that runs.
    pub graph: GraphId,
    /// What serves the tools that the scenario has really called.
    pub bindings: Arc<Bindings>,
    /// The thread.
    pub thread_id: String,
    /// Where it is kept.
    pub store: OpenStore,
}

/// How a scenario is played: straight where nothing is said.
#[derive(Clone, Default)]
pub struct How {
    /// Stops after so many super-steps and goes on with a new engine, again and again.
    pub stop_after_steps: Option<u64>,
    /// Shuffles the order in which calls finish.
    pub shuffle: Option<u64>,
    /// Ends the process.
    pub doom: Option<Arc<Doom>>,
    /// Goes on with a run that another process has begun, with the answers that it has used.
    pub resume: Option<Used>,
    /// Takes down all events, of every mode.
    pub tape: Option<Arc<Tape>>,
    /// Stands before each model of the scenario, for who tries how replies come through.
    pub relay: Option<Relay>,
}

/// Makes a model of one that is scripted.
pub type Relay = Arc<dyn Fn(Arc<dyn ChatModel>) -> Arc<dyn ChatModel> + Send + Sync>;

/// Times that a run is stopped and resumed before it is given up: it would never end.
const MOST_STOPS: u32 = 10_000;

/// Plays a scenario. All that is seen is told to `log`.
///
/// # Errors
/// Where the scenario can't be played at all, in words.
pub async fn play(
    stage: &Stage,
    script: &Arc<Script>,
    how: How,
    log: &Arc<Log>,
) -> Result<(), String> {
    let watch = Watch {
        log: Arc::clone(log),
        script: Arc::clone(script),
        doom: how.doom.clone(),
        shuffle: how.shuffle,
    };
    let player = Player {
        stage,
        script,
        how,
        log,
        watch,
    };
    Box::pin(player.play()).await?;
    player.watch.settle();
    Ok(())
}

struct Player<'a> {
    stage: &'a Stage,
    script: &'a Arc<Script>,
    how: How,
    log: &'a Arc<Log>,
    watch: Watch,
}

impl Player<'_> {
    async fn play(&self) -> Result<(), String> {
        let scenario = self.script.scenario();
        let mut answers = Pending::new(
            &scenario.answers,
            self.how.resume.clone().unwrap_or_default(),
        );
        let waiting = self.waiting().await?;
        if self.how.resume.is_none() && !scenario.memory.is_empty() {
            seed(self.script, self.memory()?, &self.stage.thread_id).await?;
        }
        let first = if self.how.resume.is_some() {
            self.resume(&[]).await?
        } else if waiting.is_empty() || !scenario.input.is_empty() {
            let input = Json::Object(scenario.input.clone());
            self.run(async |engine, options| {
                let stage = self.stage;
                engine
                    .start(stage.graph, &stage.thread_id, &input, options)
                    .await
            })
            .await?
        } else {
            let given = answers.next(&waiting);
            self.give(&given).await?
        };
        let mut open = waiting;
        let mut next = Some(first);
        let mut stops = 0;
        while let Some(result) = next.take() {
            match result {
                Ok(result) if result.state == RunState::Cancelled => {
                    stops += 1;
                    if self.how.stop_after_steps.is_none() || stops > MOST_STOPS {
                        self.end(&result);
                    } else {
                        next = Some(self.resume(&[]).await?);
                    }
                    continue;
                }
                Ok(result) => {
                    self.end(&result);
                    open = result.interrupts;
                }
                Err(refused) => self.refused(&refused, &open),
            }
            let given = answers.next(&open);
            if !given.is_empty() {
                next = Some(self.give(&given).await?);
            }
        }
        if scenario.expect.memory.is_some() {
            let held = remembered(&self.memory()?, &self.stage.thread_id).await;
            let held = held.map_err(|error| error.to_string())?;
            self.log.tell(Sighting::Remembered(held));
        }
        Ok(())
    }

    /// The memory of the thread, at the scenario's time.
    fn memory(&self) -> Result<Access, String> {
        let store = (self.stage.store)().map_err(|error| error.to_string())?;
        let now = self.ambient().now().as_millisecond();
        Ok(Access::new(Some(store), Arc::default(), now, Json::Null))
    }

    fn ambient(&self) -> StillAmbient {
        StillAmbient::new(self.scenario().clock)
    }

    /// The interrupts that the thread waits at before the scenario begins.
    async fn waiting(&self) -> Result<Vec<OpenInterrupt>, String> {
        let store = (self.stage.store)().map_err(|error| error.to_string())?;
        let image = store.load(&self.stage.thread_id).await;
        let image = image.map_err(|error| error.to_string())?;
        let open = image.map(|image| crate::run::engine::open_interrupts(&image.status));
        let open = open.transpose().map_err(|error| error.to_string())?;
        Ok(open.unwrap_or_default())
    }

    /// Gives answers. One that is refused is told with its place.
    async fn give(&self, given: &[Given]) -> Result<Result<RunResult, StartError>, String> {
        for Given { node, .. } in given {
            self.log.tell(Sighting::Answered { node: node.clone() });
        }
        let answers = given.iter().map(|given| Answer {
            interrupt: Some(given.interrupt.clone()),
            value: given.answer.value.clone(),
        });
        let result = self.resume(&answers.collect::<Vec<_>>()).await?;
        if let (Err(StartError::Refused { message }), Some(first)) = (&result, given.first()) {
            self.log.tell(Sighting::Refused {
                at: first.answer.at.clone(),
                message: message.clone(),
            });
        }
        Ok(result)
    }

    async fn resume(&self, answers: &[Answer]) -> Result<Result<RunResult, StartError>, String> {
        self.run(async |engine, options| {
            engine.resume(&self.stage.thread_id, answers, options).await
        })
        .await
    }

    /// Lets an engine of its own do something, and watches it.
    async fn run(
        &self,
        act: impl AsyncFnOnce(&Engine, RunOptions) -> Result<RunResult, StartError>,
    ) -> Result<Result<RunResult, StartError>, String> {
        let engine = self.engine()?;
        let modes: &[Mode] = match &self.how.tape {
            Some(tape) => {
                tape.begin();
                &Mode::ALL
            }
            None => &[Mode::Custom, Mode::Tasks, Mode::Debug],
        };
        let (sink, stream) = stream::channel(modes.iter().copied());
        let options = self.options(sink);
        let at_the_store = Arc::clone(&options.at_the_store);
        let doom = self.how.doom.as_ref();
        let ended = || doom.is_some_and(|doom| doom.has_struck());
        let run = in_turns(
            self.script,
            &at_the_store,
            ended,
            Box::pin(act(&engine, options)),
        );
        Ok(self.watch_events(run, stream).await)
    }

    fn engine(&self) -> Result<Engine, String> {
        let stage = self.stage;
        let Bindings {
            config,
            folder,
            sources,
            ..
        } = &*stage.bindings;
        let bound = bind(&stage.plan.flow, config, Some(self.script), folder);
        let mut backends = bound.map_err(|found| first(&found, sources))?;
        if let Some(relay) = &self.how.relay {
            let models = backends.models.iter();
            backends.models = models.map(|model| relay(Arc::clone(model))).collect();
        }
        let mut store = (stage.store)().map_err(|error| error.to_string())?;
        if let Some(doom) = &self.how.doom {
            store = Arc::new(DoomedStore {
                store,
                doom: Arc::clone(doom),
            });
        }
        Ok(Engine {
            plan: Arc::clone(&stage.plan),
            backends: self.watch.over(backends),
            store: Some(store),
            ambient: Arc::new(self.ambient()),
        })
    }

    fn scenario(&self) -> &Scenario {
        self.script.scenario()
    }

    fn options(&self, sink: EventSink) -> RunOptions {
        RunOptions {
            stop_after_steps: self.how.stop_after_steps,
            context: Json::Object(self.scenario().context.clone()),
            events: Some(sink),
            may_leave: true,
            by: Some(SCENARIO.to_owned()),
            secrets: Arc::clone(&self.stage.bindings.secrets),
            ..RunOptions::default()
        }
    }

    /// Waits for a run and tells what it sends meanwhile. Where the process is to end, all that was
    /// sent before is told first.
    async fn watch_events<T>(&self, run: impl Future<Output = T>, mut stream: EventStream) -> T {
        let mut run = std::pin::pin!(run);
        let end = async {
            match &self.how.doom {
                Some(doom) => doom.struck().await,
                None => std::future::pending().await,
            }
        };
        let mut end = std::pin::pin!(end);
        loop {
            tokio::select! {
                biased;
                () = &mut end => {
                    while let Some(Some(event)) = stream.next().now_or_never() {
                        self.saw(event);
                    }
                    self.log.tell(Sighting::Dying);
                    std::future::pending::<()>().await;
                }
                result = &mut run => {
                    while let Some(Some(event)) = stream.next().now_or_never() {
                        self.saw(event);
                    }
                    return result;
                }
                Some(event) = stream.next() => self.saw(event),
            }
        }
    }

    fn saw(&self, event: Event) {
        if let Some(tape) = &self.how.tape {
            tape.note(event.clone());
        }
        let seen = match event.kind {
            EventKind::TaskStarted { .. } => Sighting::Visit { task: event.id },
            EventKind::Custom {
                name,
                payload,
                during,
            } => Sighting::Custom {
                id: during.map_or(event.id, |of| of.key()),
                name,
                payload,
            },
            EventKind::Routed { route, arm } => Sighting::Route {
                ns: event.ns,
                node: event.node,
                route,
                arm,
            },
            EventKind::Interpreted { tool } => Sighting::Interpreted { id: event.id, tool },
            _ => return,
        };
        self.log.tell(seen);
    }

    fn end(&self, result: &RunResult) {
        for interrupt in &result.interrupts {
            let mut seen = json!({
                "id": interrupt.id,
                "node": interrupt.path,
                "path": interrupt.path,
                "ask": interrupt.ask,
                "permits": interrupt.permits,
            });
            let place = interrupt.place();
            if let (true, Some(entries)) = (place != interrupt.path, seen.as_object_mut()) {
                entries.insert("place".to_owned(), json!(place));
            }
            self.log.tell(Sighting::Interrupt(seen));
        }
        self.log.tell(Sighting::Ended(Ended {
            status: result.state,
            left: result.left.clone(),
            output: result.output.clone(),
            values: result.values.clone(),
            error: result.error.as_ref().map(|error| error.to_json()),
            permitted: result.permissions.iter().map(whole).collect(),
            usage: json!(result.usage),
            open: result.interrupts.iter().map(|i| self.open(i)).collect(),
        }));
    }

    fn open(&self, interrupt: &OpenInterrupt) -> (String, Json, String) {
        let types = &self.stage.plan.flow.types;
        let expects = interrupt.expect.as_ref();
        let expects = expects.map_or_else(String::new, |ty| types.describe(ty));
        (interrupt.path.clone(), interrupt.ask.clone(), expects)
    }

    /// A run that did not start failed before it began; one that waits goes on waiting.
    fn refused(&self, error: &StartError, open: &[OpenInterrupt]) {
        let kind = match error {
            StartError::Refused { .. } => "invalid_input",
            StartError::Store(_) => "store",
            StartError::Version { .. } => "version",
        };
        let seen = self.log.all().into_iter().rev();
        let before = seen.filter_map(|sighting| match sighting {
            Sighting::Ended(ended) => Some(ended),
            _ => None,
        });
        let before = before.take(1).next();
        self.log.tell(Sighting::Ended(Ended {
            error: Some(json!({ "kind": kind, "message": error.to_string() })),
            ..before.unwrap_or(Ended {
                status: match open {
                    [] => RunState::Failed,
                    _ => RunState::Interrupted,
                },
                left: Vec::new(),
                output: Default::default(),
                values: Default::default(),
                error: None,
                permitted: Vec::new(),
                usage: Json::Null,
                open: open.iter().map(|open| self.open(open)).collect(),
            })
        }));
    }
}

/// A permission with what is left out of one for all calls: it is not for one, and never used up.
fn whole(permission: &Permission) -> Json {
    let mut json = permission.to_json();
    if let Some(entries) = json.as_object_mut() {
        for name in ["once", "used"] {
            entries.entry(name).or_insert(false.into());
        }
    }
    json
}

/// Who answers in a scenario.
const SCENARIO: &str = "scenario";

fn first(found: &Diagnostics, sources: &SourceMap) -> String {
    let Some(finding) = found.iter().next() else {
        return String::new();
    };
    let message = &finding.message;
    let place = finding.labels.first().map(|label| label.span);
    match place.filter(|span| sources.file(span.file).is_some()) {
        Some(span) => {
            let at = sources.location(span);
            let name = sources.name(span.file);
            format!("{message} ({name}:{}:{})", at.line, at.column)
        }
        None => message.clone(),
    }
}
