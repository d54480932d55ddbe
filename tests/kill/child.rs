//! The process that is killed: it gets a thread on until it is done, or does one thing to it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use graphc::compile::compile;
use graphc::diag::render::{Style, human};
use graphc::ir::Tool;
use graphc::run::ambient::{Ambient, SystemAmbient};
use graphc::run::backends::Backends;
use graphc::run::engine::{Engine, RunOptions, RunResult, StartError, open_interrupts};
use graphc::run::journal::Durability;
use graphc::run::model::ChatModel;
use graphc::run::plan::plan;
use graphc::run::store::{RunState, StoreError, ThreadInfo};
use graphc::run::tool::ToolBackend;
use graphc::store::{Options, Sync, open_with};
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use super::deed::Deed;
use super::doom::{Doom, DoomedStore};
use super::world::{Still, World};

/// The variable that says what to do.
pub const JOB: &str = "GRAPHC_KILL_JOB";

/// The thread.
pub const THREAD: &str = "t";

/// What a process is to do.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Job {
    /// A file of tests/crash.
    pub flow: String,
    pub input: String,
    pub durability: String,
    pub url: String,
    /// What the world notes.
    pub log: PathBuf,
    pub doom: Option<Doom>,
    /// What is done to the thread, in place of getting it on.
    pub deed: Option<Deed>,
}

impl Job {
    fn options(&self) -> RunOptions {
        RunOptions {
            durability: match self.durability.as_str() {
                "sync" => Durability::Sync,
                "exit" => Durability::Exit,
                _ => Durability::Async,
            },
            ..RunOptions::default()
        }
    }
}

/// One that does jobs.
pub struct Hand {
    pub engine: Engine,
    pub job: Job,
    /// Things done to the store.
    done: Arc<AtomicU64>,
    drain: CancellationToken,
    cancel: CancellationToken,
}

impl Hand {
    /// One whose clock stands.
    pub fn still(job: Job) -> Self {
        Self::new(job, Arc::new(Still))
    }

    fn new(job: Job, ambient: Arc<dyn Ambient>) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/crash");
        let text = std::fs::read_to_string(folder.join(format!("{}.graph", job.flow))).unwrap();
        let files: BTreeMap<String, String> = [("flow.graph".to_owned(), text)].into();
        let compiled = compile("flow.graph", &files);
        let shown = human(&compiled.diagnostics, &compiled.sources, Style::PLAIN);
        let flow = compiled.flow.unwrap_or_else(|| panic!("{shown}"));
        let plan = Arc::new(plan(Arc::new(flow)).unwrap());
        let log = || World {
            log: job.log.clone(),
        };
        let model = |_| Arc::new(log()) as Arc<dyn ChatModel>;
        // Long-term memory is the store's own, all other tools are the world's.
        let tool = |tool: &Tool| {
            let world = || Arc::new(log()) as Arc<dyn ToolBackend>;
            tool.module.is_none().then(world)
        };
        let options = match job.durability.as_str() {
            "sync" => Options {
                sync: Sync::Full,
                ..Options::default()
            },
            _ => Options::default(),
        };
        let done = Arc::new(AtomicU64::new(0));
        let (drain, cancel) = (CancellationToken::new(), CancellationToken::new());
        let store = DoomedStore {
            inner: open_with(&job.url, Path::new(""), options).unwrap(),
            doom: job.doom,
            log: job.log.clone(),
            done: done.clone(),
            drain: drain.clone(),
            cancel: cancel.clone(),
        };
        let engine = Engine {
            backends: Backends {
                models: plan.flow.models.iter().map(model).collect(),
                tools: plan.flow.tools.iter().map(tool).collect(),
                externs: BTreeMap::new(),
            },
            plan,
            store: Some(Arc::new(store)),
            ambient,
        };
        Self {
            engine,
            job,
            done,
            drain,
            cancel,
        }
    }

    /// Starts the thread, and stops after so many super-steps.
    pub async fn start(&self, stop_after_steps: Option<u64>) -> Result<RunResult, StartError> {
        let graph = self.engine.plan.flow.graph("Main").unwrap();
        let input = serde_json::from_str(&self.job.input).unwrap();
        let options = RunOptions {
            stop_after_steps,
            drain: self.drain.clone(),
            cancel: self.cancel.clone(),
            ..self.job.options()
        };
        self.engine.start(graph, THREAD, &input, options).await
    }

    /// Starts, resumes or answers, as the thread stands.
    async fn get_on(
        &self,
        thread_id: &str,
        thread: Option<ThreadInfo>,
    ) -> Result<RunResult, StartError> {
        let Some(thread) = thread else {
            return self.start(None).await;
        };
        let open = open_interrupts(&thread.status).unwrap();
        let world = World {
            log: self.job.log.clone(),
        };
        let answer = open.first().map(|open| world.answer(thread_id, open));
        let answers: Vec<_> = answer.into_iter().collect();
        let options = RunOptions {
            drain: self.drain.clone(),
            cancel: self.cancel.clone(),
            ..self.job.options()
        };
        self.engine.resume(thread_id, &answers, options).await
    }

    /// Gets a thread on until it is done, and gives its state; `None` where it was asked to stop.
    pub async fn to_the_end(&self, thread_id: &str) -> Option<Json> {
        let store = self.engine.store.clone().unwrap();
        loop {
            let thread = store.thread(thread_id).await.unwrap();
            let is_done = |thread: &&ThreadInfo| thread.status.state == RunState::Done;
            if let Some(thread) = thread.as_ref().filter(is_done) {
                let state = store.state(thread_id, "", thread.checkpoint).await.unwrap();
                let state = state.into_iter().map(|(k, v)| (k, v.to_json()));
                return Some(Json::Object(state.collect()));
            }
            match self.get_on(thread_id, thread).await {
                Ok(result) if result.state == RunState::Cancelled => return None,
                Ok(result) => assert_eq!(result.error, None),
                // A server needs a moment to see that the process before has died.
                Err(StartError::Store(StoreError::Busy { .. })) => {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// Does the work named by the environment; none in the suite's own process.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child() {
    let Ok(job) = std::env::var(JOB) else { return };
    let job: Job = serde_json::from_str(&job).unwrap();
    let hand = match job.deed {
        Some(_) => Hand::still(job),
        None => Hand::new(job, Arc::new(SystemAmbient)),
    };
    let state = match &hand.job.deed {
        Some(deed) => {
            deed.act(&hand.engine).await.unwrap();
            None
        }
        None => hand.to_the_end(THREAD).await,
    };
    let told = json!({ "state": state, "done": hand.done.load(Ordering::SeqCst) });
    println!("\ndone {told}");
}
