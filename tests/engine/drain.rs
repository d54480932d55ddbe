//! A run that is asked to stop behind the super-steps under way.

use std::sync::Arc;
use std::time::{Duration, Instant};

use graphc::ir::ErrorKind;
use graphc::run::engine::{Engine, RunOptions, RunResult};
use graphc::run::journal::Durability;
use graphc::run::store::RunState;
use graphc::run::tool::ToolError;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::flow::{Tool, engine};

/// A tool of which a call of `stop` asks the run to stop; a call of `slow` takes a while.
fn stopping() -> (Arc<Tool>, CancellationToken) {
    let drain = CancellationToken::new();
    let token = drain.clone();
    let tool = Tool::new(move |call| {
        let token = token.clone();
        async move {
            match call.tool.as_str() {
                "stop" => token.cancel(),
                "slow" => tokio::time::sleep(Duration::from_millis(50)).await,
                _ => {}
            }
            Ok(json!(call.tool))
        }
    });
    (tool, drain)
}

const TOOLS: &str = "
tool stop(n: int) -> string
tool slow(n: int) -> string
tool next(n: int) -> string
";

async fn drained(text: &str, durability: Durability) -> (Engine, Arc<Tool>, RunResult) {
    let (tool, drain) = stopping();
    let (engine, graph) = engine(&format!("{TOOLS}{text}"), None, Some(Arc::clone(&tool)));
    let options = RunOptions {
        drain,
        durability,
        ..RunOptions::default()
    };
    let run = engine.start(graph, "t", &json!({}), options).await.unwrap();
    (engine, tool, run)
}

const STEPS: &str = "
graph Main {
  state { out log: list<string> via append }
  start -> [a, b]
  node a: call stop(n: 1) { set { log: [result] } }
  node b: call slow(n: 2) { set { log: [result] } }
  [a, b] -> c
  node c: call next(n: 3) -> end { set { log: [result] } }
}
";

/// Ports `test_run_control_request_drain_stops_future_steps` and
/// `test_drain_with_exit_durability_persists_resume_checkpoint`: the step is finished, whole, and committed; the next one
/// is made by a resume, and no call twice.
#[tokio::test]
async fn drain_stops_future_steps_and_keeps_the_one_under_way() {
    for durability in [Durability::Async, Durability::Sync, Durability::Exit] {
        let (engine, tool, run) = drained(STEPS, durability).await;
        assert_eq!(run.state, RunState::Cancelled);
        let error = run.error.unwrap();
        assert_eq!(error.kind, ErrorKind::Cancelled);
        assert!(error.message.contains("asked to stop"), "{}", error.message);
        assert_eq!(run.values["log"], json!(["stop", "slow"]));
        assert_eq!(tool.calls().len(), 2);
        let done = engine
            .resume("t", &[], RunOptions::default())
            .await
            .unwrap();
        assert_eq!(done.state, RunState::Done);
        assert_eq!(done.values["log"], json!(["stop", "slow", "next"]));
        assert_eq!(tool.calls().len(), 3);
    }
}

const LAST: &str = "
graph Main {
  state { out log: list<string> via append }
  start -> a
  node a: call stop(n: 1) -> end { set { log: [result] } }
}
";

/// Ports `test_drain_requested_in_terminal_step_finishes_normally`.
#[tokio::test]
async fn drain_in_the_last_step_finishes_normally() {
    let (_, _, run) = drained(LAST, Durability::Async).await;
    assert_eq!(run.state, RunState::Done, "{:?}", run.error);
    assert_eq!(run.output["log"], json!(["stop"]));
}

const INSIDE: &str = "
graph Main {
  state { out log: list<string> via append }
  start -> [sub, beside]
  node sub: subgraph Inner
  node beside: call slow(n: 1) { set { log: [result] } }
  [sub, beside] -> end
}
graph Inner {
  state { out log: list<string> via append }
  start -> a -> b -> end
  node a: call stop(n: 2) { set { log: [result] } }
  node b: call next(n: 3) { set { log: [result] } }
}
";

/// Ports `test_drain_from_subgraph_can_resume_parent`: the subgraph stops behind its own step; what runs beside it is
/// finished and kept.
#[tokio::test]
async fn drain_inside_a_subgraph_stops_behind_its_step() {
    let (engine, tool, run) = drained(INSIDE, Durability::Async).await;
    assert_eq!(run.state, RunState::Cancelled);
    assert_eq!(run.error.unwrap().path.as_deref(), Some("sub"));
    assert_eq!(run.values["log"], json!([]));
    let mut calls = tool.calls();
    calls.sort();
    assert_eq!(calls, ["slow {\"n\":1}", "stop {\"n\":2}"]);
    let done = engine
        .resume("t", &[], RunOptions::default())
        .await
        .unwrap();
    assert_eq!(done.state, RunState::Done, "{:?}", done.error);
    assert_eq!(done.values["log"], json!(["stop", "next", "slow"]));
    assert_eq!(tool.calls().len(), 3);
    assert_eq!(tool.calls()[2], "next {\"n\":3}");
}

const PAUSE: &str = "
tool busy(n: int) -> string
tool slow(n: int) -> string
retry patient = { attempts 2, initial 1m, max 5m, on [rate_limit] }
graph Main {
  state { out log: list<string> via append }
  start -> [a, b]
  node a: call busy(n: 1) { retry patient set { log: [result] } }
  node b: call slow(n: 2) { set { log: [result] } }
  [a, b] -> end
}
";

/// A pause before another attempt is nothing under way: the run does not wait for its end. What runs beside it is finished
/// and kept, the attempt that has failed counts, and a resume makes the next.
#[tokio::test]
async fn drain_ends_a_pause_between_attempts() {
    // Before the failure, and in the pause.
    for first in [true, false] {
        let drain = CancellationToken::new();
        let token = drain.clone();
        let tool = Tool::new(move |call| {
            let token = token.clone();
            async move {
                if call.tool == "slow" {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    token.cancel();
                } else if first {
                    token.cancel();
                }
                match call.tool.as_str() {
                    "busy" => Err(ToolError::new(ErrorKind::RateLimit, "later")),
                    _ => Ok(json!(call.tool)),
                }
            }
        });
        let (engine, graph) = engine(PAUSE, None, Some(Arc::clone(&tool)));
        let options = || RunOptions {
            drain: drain.clone(),
            ..RunOptions::default()
        };
        let began = Instant::now();
        let run = engine
            .start(graph, "t", &json!({}), options())
            .await
            .unwrap();
        assert!(began.elapsed() < Duration::from_secs(20));
        assert_eq!(run.state, RunState::Cancelled, "{:?}", run.error);
        assert_eq!(tool.calls().len(), 2);
        let message = run.error.unwrap().message;
        assert!(message.contains("asked to stop"), "{message}");

        let run = engine.resume("t", &[], options()).await.unwrap();
        assert_eq!(run.state, RunState::Cancelled, "{:?}", run.error);
        assert_eq!(tool.calls().len(), 2);
        // The second attempt is the last, and the other call was kept.
        let run = engine
            .resume("t", &[], RunOptions::default())
            .await
            .unwrap();
        assert_eq!(run.error.unwrap().kind, ErrorKind::RateLimit);
        assert_eq!(tool.calls().len(), 3);
    }
}
