//! The process that is killed: it gets a thread on until it is done.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use graphc::compile::compile;
use graphc::ir::Tool;
use graphc::run::ambient::SystemAmbient;
use graphc::run::backends::Backends;
use graphc::run::engine::{Engine, RunOptions, RunResult, StartError, open_interrupts};
use graphc::run::interrupt::Answer;
use graphc::run::journal::Durability;
use graphc::run::model::ChatModel;
use graphc::run::plan::plan;
use graphc::run::store::{RunState, StoreError, ThreadInfo};
use graphc::run::tool::ToolBackend;
use graphc::store::{Options, Sync, open_with};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::doom::{Doom, DoomedStore};
use super::world::World;

/// The variable that says what to do.
pub const JOB: &str = "GRAPHC_KILL_JOB";

const THREAD: &str = "t";

/// What a process is to do.
#[derive(Debug, Serialize, Deserialize)]
pub struct Job {
    /// A file of tests/crash.
    pub flow: String,
    pub input: String,
    pub durability: String,
    pub url: String,
    /// What the world notes.
    pub log: PathBuf,
    pub doom: Option<Doom>,
}

fn engine(job: &Job, done: &Arc<AtomicU64>) -> Engine {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/crash");
    let text = std::fs::read_to_string(folder.join(format!("{}.graph", job.flow))).unwrap();
    let files: BTreeMap<String, String> = [("flow.graph".to_owned(), text)].into();
    let flow = compile("flow.graph", &files).flow.unwrap();
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
    let store = DoomedStore {
        inner: open_with(&job.url, Path::new(""), options).unwrap(),
        doom: job.doom,
        log: job.log.clone(),
        done: done.clone(),
    };
    Engine {
        backends: Backends {
            models: plan.flow.models.iter().map(model).collect(),
            tools: plan.flow.tools.iter().map(tool).collect(),
            externs: BTreeMap::new(),
        },
        plan,
        store: Some(Arc::new(store)),
        ambient: Arc::new(SystemAmbient),
    }
}

/// Starts, resumes or answers, as the thread stands.
async fn get_on(
    engine: &Engine,
    job: &Job,
    thread: Option<ThreadInfo>,
) -> Result<RunResult, StartError> {
    let options = RunOptions {
        durability: match job.durability.as_str() {
            "sync" => Durability::Sync,
            _ => Durability::Async,
        },
        ..RunOptions::default()
    };
    let Some(thread) = thread else {
        let graph = engine.plan.flow.graph("Main").unwrap();
        let input = serde_json::from_str(&job.input).unwrap();
        return engine.start(graph, THREAD, &input, options).await;
    };
    // The answer depends on the question alone.
    let open = open_interrupts(&thread.status).unwrap();
    let answers: Vec<Answer> = open.first().map_or(Vec::new(), |open| {
        let value = json!({ "go": true, "note": format!("noted {}", open.ask["n"]) });
        vec![Answer {
            interrupt: Some(open.id.clone()),
            value,
        }]
    });
    engine.resume(THREAD, &answers, options).await
}

/// Does the work named by the environment; none in the suite's own process.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child() {
    let Ok(job) = std::env::var(JOB) else { return };
    let job: Job = serde_json::from_str(&job).unwrap();
    let done = Arc::new(AtomicU64::new(0));
    let engine = engine(&job, &done);
    let store = engine.store.clone().unwrap();
    loop {
        let thread = store.thread(THREAD).await.unwrap();
        if let Some(thread) = thread
            .as_ref()
            .filter(|thread| thread.status.state == RunState::Done)
        {
            let state = store.state(THREAD, "", thread.checkpoint).await.unwrap();
            let state: BTreeMap<String, _> =
                state.into_iter().map(|(k, v)| (k, v.to_json())).collect();
            let told = json!({ "state": state, "done": done.load(Ordering::SeqCst) });
            println!("\ndone {told}");
            return;
        }
        match get_on(&engine, &job, thread).await {
            Ok(result) => assert_eq!(result.error, None),
            // A server needs a moment to see that the process before has died.
            Err(StartError::Store(StoreError::Busy { .. })) => {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            Err(error) => panic!("{error}"),
        }
    }
}
