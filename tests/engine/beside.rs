//! What becomes of a task that runs beside one that fails, asks or is stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::stream;
use graphc::ir::ErrorKind;
use graphc::run::engine::{Engine, RunOptions, RunResult};
use graphc::run::interrupt::Answer;
use graphc::run::journal::Durability;
use graphc::run::model::{ChatDelta, FinishReason};
use graphc::run::store::{RunState, Store};
use graphc::run::tool::ToolError;
use serde_json::{Value as Json, json};
use tokio_util::sync::CancellationToken;

use super::flow::{Model, Tool, begin, begin_with, engine};

/// `bad` fails for as long as that is set, a while after the others have finished; all others give their names.
fn failing() -> (Arc<Tool>, Arc<AtomicBool>) {
    let fails = Arc::new(AtomicBool::new(true));
    let failing = Arc::clone(&fails);
    let tool = Tool::new(move |call| {
        let fail = call.tool == "bad" && failing.load(Ordering::SeqCst);
        async move {
            if call.tool == "bad" {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            match fail {
                true => Err(ToolError::new(ErrorKind::Network, "no")),
                false => Ok(json!(call.tool)),
            }
        }
    });
    (tool, fails)
}

const TOOLS: &str = "
tool first(n: int) -> string
tool good(n: int) -> string
tool bad(n: int) -> string
";

const PENDING: &str = "
graph Main {
  state { out log: list<string> via append }
  start -> zero -> [one, two, three] -> end
  node zero: call first(n: 0) { set { log: [result] } }
  node one: call good(n: 1) { set { log: [result] } }
  node two: call bad(n: 2) { set { log: [result] } }
  node three: call good(n: 3) { set { log: [result] } }
}
";

async fn resume(engine: &Engine, durability: Durability) -> RunResult {
    let options = RunOptions {
        durability,
        ..RunOptions::default()
    };
    engine.resume("t", &[], options).await.unwrap()
}

/// Of a step in which one task fails: what the others have called is kept and not called again, only the failed one is made again, however
/// often; while it fails there is no new checkpoint and the state is that of the step before.
#[tokio::test]
async fn what_finished_beside_a_failure_is_kept() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let (tool, fails) = failing();
        let (engine, graph) = engine(&format!("{TOOLS}{PENDING}"), None, Some(tool.clone()));
        let store = engine.store.clone().unwrap();
        let options = RunOptions {
            durability,
            ..RunOptions::default()
        };
        let mut run = begin_with(&engine, graph, options).await;
        let checkpoint = store.thread("t").await.unwrap().unwrap().checkpoint;
        for made in [4, 5, 6] {
            assert_eq!(run.error.unwrap().path.as_deref(), Some("two"));
            assert_eq!(run.values["log"], json!(["first"]));
            assert_eq!(tool.calls().len(), made);
            let info = store.thread("t").await.unwrap().unwrap();
            assert_eq!(info.checkpoint, checkpoint);
            let now = store.state("t", "", checkpoint).await.unwrap();
            assert_eq!(now["log"].to_json(), json!(["first"]));
            // Results of two tasks are there beside the checkpoint.
            let image = store.load("t").await.unwrap().unwrap();
            let kept = image.effects.iter();
            let kept = kept.filter(|effect| effect.outcome.get("ok").is_some());
            assert_eq!(kept.count(), 2);
            fails.store(made < 5, Ordering::SeqCst);
            run = resume(&engine, durability).await;
            if run.state == RunState::Done {
                break;
            }
        }
        assert_eq!(run.values["log"], json!(["first", "good", "bad", "good"]));
        assert_eq!(tool.calls().len(), 6);
    }
}

const ASKING: &str = "
graph Main {
  state { out log: list<string> via append }
  start -> [ask, one, two] -> end
  node ask: interrupt { ask \"?\" expect string set { log: [answer] } }
  node one: call good(n: 1) { set { log: [result] } }
  node two: call bad(n: 2) { set { log: [result] } }
}
";

/// A question beside a failure: the run has failed, and the question is asked, under the same id each time, once nothing fails.
#[tokio::test]
async fn a_question_beside_a_failure_is_asked_by_a_resume() {
    let (tool, fails) = failing();
    let (engine, graph) = engine(&format!("{TOOLS}{ASKING}"), None, Some(tool.clone()));
    let failed = begin(&engine, graph).await;
    assert_eq!(failed.state, RunState::Failed);
    assert_eq!(failed.interrupts, []);
    fails.store(false, Ordering::SeqCst);
    let asked = resume(&engine, Durability::Async).await;
    assert_eq!(asked.interrupts[0].path, "ask");
    let again = resume(&engine, Durability::Async).await;
    assert_eq!(again.interrupts, asked.interrupts);
    let answer = Answer {
        interrupt: None,
        value: json!("yes"),
    };
    let options = RunOptions::default();
    let done = engine.resume("t", &[answer], options).await.unwrap();
    assert_eq!(done.values["log"], json!(["yes", "good", "bad"]));
    assert_eq!(tool.calls().len(), 3);
}

const SPEAKING: &str = "
model m = \"local/m\"
graph Main {
  state { out log: list<string> via append }
  start -> [outer, two] -> end
  node outer: subgraph Middle
  node two: call bad(n: 2) { set { log: [result] } }
}
graph Middle {
  state { out log: list<string> via append }
  start -> inner -> end
  node inner: subgraph Inner
}
graph Inner {
  state { out log: list<string> via append }
  start -> speak -> next -> end
  node speak: llm { model m prompt \"go\" set { log: [reply.text] } }
  node next: call good(n: 9) { set { log: [result] } }
}
";

/// A model that never says anything as long as that is set.
fn silent(silent: Arc<AtomicBool>) -> Model {
    Model(Box::new(move |_| {
        if silent.load(Ordering::SeqCst) {
            return Ok(Box::pin(stream::pending()));
        }
        let said = [
            Ok(ChatDelta::Text("said".to_owned())),
            Ok(ChatDelta::Finish(FinishReason::Stop)),
        ];
        Ok(Box::pin(stream::iter(said)))
    }))
}

/// A failure stops what runs beside it, also three graphs deep in a model's reply, and nothing more begins there; a resume goes on
/// inside.
#[tokio::test]
async fn a_failure_stops_what_runs_beside_it_at_any_depth() {
    let (tool, fails) = failing();
    let quiet = Arc::new(AtomicBool::new(true));
    let text = format!("{TOOLS}{SPEAKING}");
    let (engine, graph) = engine(&text, Some(silent(quiet.clone())), Some(tool.clone()));
    let run = tokio::time::timeout(Duration::from_secs(10), begin(&engine, graph)).await;
    let failed = run.expect("the model is not waited for");
    assert_eq!(failed.error.unwrap().path.as_deref(), Some("two"));
    assert_eq!(tool.calls().len(), 1);
    quiet.store(false, Ordering::SeqCst);
    fails.store(false, Ordering::SeqCst);
    let done = resume(&engine, Durability::Async).await;
    assert_eq!(done.values["log"], json!(["said", "good", "bad"]));
    assert_eq!(tool.calls().len(), 3);
}

/// Whoever runs a flow stops it from outside while a model three graphs deep is speaking: at once, with all that has finished.
#[tokio::test]
async fn a_run_is_cancelled_three_graphs_deep() {
    let (tool, fails) = failing();
    fails.store(false, Ordering::SeqCst);
    let quiet = Arc::new(AtomicBool::new(true));
    let text = format!("{TOOLS}{SPEAKING}");
    let (engine, graph) = engine(&text, Some(silent(quiet.clone())), Some(tool.clone()));
    let cancel = CancellationToken::new();
    let options = RunOptions {
        cancel: cancel.clone(),
        ..RunOptions::default()
    };
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(80)).await;
        cancel.cancel();
    });
    let run = begin_with(&engine, graph, options);
    let run = tokio::time::timeout(Duration::from_secs(10), run).await;
    let run = run.expect("it stops");
    assert_eq!(run.state, RunState::Cancelled);
    assert_eq!(run.values["log"], json!([]));
    quiet.store(false, Ordering::SeqCst);
    let done = resume(&engine, Durability::Async).await;
    assert_eq!(done.values["log"], json!(["said", "good", "bad"]));
    // The call beside it had finished and is not made again.
    assert_eq!(tool.calls().len(), 2);
}

const INHERITED: &str = "
tool look(records: int) -> string
graph Main {
  state { out log: list<string> via append }
  start -> a -> inner -> end
  node a: call look(records: 0) { set { log: [result] } }
  node inner: subgraph Inner
}
graph Inner {
  state { out log: list<string> via append }
  start -> b -> c -> end
  node b: call look(records: 0) { set { log: [result] } }
  node c: call look(records: 0) { set { log: [result] } }
}
";

/// A called graph keeps its records when the run does: under `exit` nothing is there before the end, also not from inside; else each call
/// finds what finished before it.
#[tokio::test]
async fn durability_is_that_of_the_run_in_called_graphs_too() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        let store: Arc<dyn Store> = Arc::new(graphc::store::MemoryStore::new());
        let looked = Arc::clone(&store);
        let seen: Arc<std::sync::Mutex<Vec<usize>>> = Arc::default();
        let noted = Arc::clone(&seen);
        let tool = Tool::new(move |_| {
            let (store, seen) = (Arc::clone(&looked), Arc::clone(&noted));
            async move {
                let image = store.load("t").await.unwrap();
                let kept = image.map_or(0, |image| image.effects.len() + image.frames.len());
                seen.lock().unwrap().push(kept);
                Ok(json!("x"))
            }
        });
        let (engine, graph) = engine(INHERITED, None, Some(tool));
        let engine = Engine {
            store: Some(Arc::clone(&store)),
            ..engine
        };
        let options = RunOptions {
            durability,
            ..RunOptions::default()
        };
        let done = begin_with(&engine, graph, options).await;
        assert_eq!(done.values["log"], json!(["x", "x", "x"]));
        let seen = seen.lock().unwrap().clone();
        match durability {
            Durability::Exit => assert_eq!(seen, [0, 0, 0]),
            _ => assert!(seen[0] >= 1 && seen[1] >= 2 && seen[2] >= 3, "{seen:?}"),
        }
        let thread = store.thread("t").await.unwrap().unwrap();
        assert_eq!(thread.status.state, RunState::Done);
        let now = store.state("t", "", thread.checkpoint).await.unwrap();
        assert_eq!(now["log"].to_json(), json!(["x", "x", "x"]));
    }
}

const CACHED: &str = "
tool good(n: int) -> string
graph Main {
  state { out log: list<string> via append }
  start -> a -> b -> end
  node a: call good(n: 1) { cache { key \"k\" } set { log: [result] } }
  node b: call good(n: 2) { set { log: [result] } }
}
";

/// A result that is taken of the cache is not written to it again, and its task leaves no record of a call.
#[tokio::test]
async fn a_result_of_the_cache_is_kept_once() {
    let tool = Tool::new(|call| async move { Ok(json!(format!("{}", call.args["n"]))) });
    let (engine, graph) = engine(CACHED, None, Some(tool.clone()));
    begin(&engine, graph).await;
    assert_eq!(tool.calls().len(), 2);
    let options = RunOptions {
        stop_after_steps: Some(1),
        ..RunOptions::default()
    };
    let second = engine.start(graph, "u", &json!({}), options).await.unwrap();
    assert_eq!(second.values["log"], json!(["1"]));
    assert_eq!(tool.calls().len(), 2);
    let store = engine.store.clone().unwrap();
    let image = store.load("u").await.unwrap().unwrap();
    let calls = image.effects.iter().filter(|effect| effect.kind == "tool");
    let calls: Vec<&Json> = calls.map(|effect| &effect.outcome).collect();
    assert!(calls.is_empty(), "{calls:?}");
    let options = RunOptions::default();
    let done = engine.resume("u", &[], options).await.unwrap();
    assert_eq!(done.values["log"], json!(["1", "2"]));
    assert_eq!(tool.calls().len(), 3);
}
