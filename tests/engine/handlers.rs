//! Failures: what is made again behind them, and what is not.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::stream;
use graphc::ir::ErrorKind;
use graphc::run::engine::{Engine, RunOptions};
use graphc::run::event::{EventKind, Mode};
use graphc::run::model::{ChatDelta, FinishReason, ToolCallRequest};
use graphc::run::store::RunState;
use graphc::run::stream::channel;
use graphc::run::tool::ToolError;
use serde_json::json;

use super::flow::{Model, Tool, begin, engine};

fn router(condition: &str) -> String {
    format!(
        "
tool fetch(id: string) -> string
graph Main {{
  state {{ out log: list<string> via append }}
  start -> get
  node get: call fetch(id: \"x\") {{
    set {{ log: [result] }}
    goto {{ when {condition} -> big else -> end }}
  }}
  node big: update -> end {{ set {{ log: [\"big\"] }} }}
}}
"
    )
}

/// Row 16 of `tests/matrix`: a router raises, the run is resumed. The route is taken then, by a
/// version in which it can be; the node's work is not done again, and nothing of it was committed before.
#[tokio::test]
async fn row_16_a_router_that_raises_is_retried_without_its_node() {
    let tool = Tool::new(|_| async { Ok(json!("ten")) });
    let (first, graph) = engine(&router("int(result) > 9"), None, Some(Arc::clone(&tool)));
    let run = begin(&first, graph);
    let run = run.await;
    assert_eq!(run.error.unwrap().kind, ErrorKind::Expression);
    assert_eq!(run.values["log"], json!([]));
    let again = first.resume("t", &[], RunOptions::default()).await.unwrap();
    assert_eq!(again.state, RunState::Failed);
    assert_eq!(again.values["log"], json!([]));
    let (second, _) = engine(&router("result == \"ten\""), None, Some(Arc::clone(&tool)));
    let second = Engine {
        store: first.store.clone(),
        ..second
    };
    let done = second.resume("t", &[], RunOptions::default()).await;
    assert_eq!(done.unwrap().values["log"], json!(["ten", "big"]));
    assert_eq!(tool.calls().len(), 1);
}

const HANDLED: &str = "
event handled { id: string }
tool fetch(id: string) -> string
tool other(id: string) -> string
graph Main {
  state { out log: list<string> via append }
  start -> [get, beside]
  node get: call fetch(id: \"x\") {
    on_error -> late { set { log: [error.kind + \" \" + uuid()] } emit handled { id: uuid() } }
    set { log: [result] }
  }
  node beside: call other(id: \"y\") { set { log: [result] } }
  [get, beside] -> end
  node late: update -> end {}
}
";

/// Row 17 of `tests/matrix`: an error handler ran, a sibling failed, the run is resumed. What failed is not tried again, and the handler's
/// effects are answered from the journal.
#[tokio::test]
async fn row_17_a_handler_that_ran_beside_a_failure_is_not_run_anew() {
    let fails = Arc::new(AtomicBool::new(true));
    let failing = Arc::clone(&fails);
    let tool = Tool::new(move |call| {
        let fail = call.tool == "fetch" || failing.load(Ordering::SeqCst);
        async move {
            if call.tool == "other" {
                // The handler comes first.
                tokio::time::sleep(Duration::from_millis(30)).await;
            }
            match fail {
                true => Err(ToolError::new(ErrorKind::ToolError, "no")),
                false => Ok(json!(call.tool)),
            }
        }
    });
    let (engine, graph) = engine(HANDLED, None, Some(Arc::clone(&tool)));
    let watched = || {
        let (sink, events) = channel([Mode::Custom]);
        let options = RunOptions {
            events: Some(sink),
            ..RunOptions::default()
        };
        (options, events)
    };
    let (options, mut events) = watched();
    let run = engine.start(graph, "t", &json!({}), options).await.unwrap();
    assert_eq!(run.error.unwrap().path.as_deref(), Some("beside"));
    let first = events.next().await.unwrap();
    fails.store(false, Ordering::SeqCst);
    let (options, mut events) = watched();
    let done = engine.resume("t", &[], options).await.unwrap();
    assert_eq!(done.state, RunState::Done, "{:?}", done.error);
    let again = events.next().await.unwrap();
    assert!(matches!(again.kind, EventKind::Custom { .. }));
    assert_eq!((&first.id, &first.kind), (&again.id, &again.kind));
    let calls = tool.calls();
    let fetched = calls.iter().filter(|call| call.starts_with("fetch"));
    assert_eq!(fetched.count(), 1);
    assert_eq!(calls.len(), 3);
}

const TIMED: &str = "
model m = \"local/m\"
tool note(text: string) -> string { set { log: [text] } return \"noted\" }
tool slow(text: string) -> string
graph Main {
  state { out log: list<string> via append }
  start -> talk
  node talk: agent -> end {
    model m
    prompt \"go\"
    tools [note, slow]
    timeout 100ms
    on_error { when error.kind == \"timeout\" -> late { set { log: [error.kind] } } else -> fail }
  }
  node late: update -> end { set { log: [\"late\"] } }
}
";

/// Ports `timeout_discards_pre_timeout_writes`: what a task has written before its time was up is not in the state, and
/// what it was at is over.
#[tokio::test]
async fn a_timeout_discards_what_was_written_before_it() {
    let tool = Tool::new(|_| async {
        tokio::time::sleep(Duration::from_secs(60)).await;
        Ok(json!("late"))
    });
    let model = Model(Box::new(|_| {
        let call = |name: &str| {
            Ok(ChatDelta::ToolCall(ToolCallRequest {
                id: name.to_owned(),
                name: name.to_owned(),
                arguments: "{\"text\": \"written\"}".to_owned(),
            }))
        };
        let finish = Ok(ChatDelta::Finish(FinishReason::ToolCalls));
        Ok(Box::pin(stream::iter([call("note"), call("slow"), finish])))
    }));
    let (engine, graph) = engine(TIMED, Some(model), Some(Arc::clone(&tool)));
    let run = begin(&engine, graph);
    let run = run.await;
    assert_eq!(run.state, RunState::Done, "{:?}", run.error);
    assert_eq!(run.values["log"], json!(["timeout", "late"]));
    assert_eq!(tool.calls().len(), 1);
}

const CANCELLED: &str = "
tool work(n: int) -> string
graph Main {
  state { out log: list<string> via append }
  start -> [a, b] -> end
  node a: call work(n: 1) { set { log: [result] } }
  node b: call work(n: 2) { set { log: [result] } }
}
";

/// Ports `test_pregel_user_raised_cancellederror_fails_run`: what a tool says is no word of whoever runs it. The task
/// beside it is stopped, as by any failure, and the run can be resumed.
#[tokio::test]
async fn a_tool_that_says_cancelled_fails_the_run() {
    let fails = Arc::new(AtomicBool::new(true));
    let failing = Arc::clone(&fails);
    let tool = Tool::new(move |call| {
        // The second: what it stops comes before it.
        let fail = failing.load(Ordering::SeqCst) && call.args["n"] == 2;
        async move {
            if !fail {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            match fail {
                true => Err(ToolError::new(ErrorKind::Cancelled, "I was told to stop")),
                false => Ok(json!("done")),
            }
        }
    });
    let (engine, graph) = engine(CANCELLED, None, Some(Arc::clone(&tool)));
    let run = begin(&engine, graph).await;
    assert_eq!(run.state, RunState::Failed);
    let error = run.error.unwrap();
    assert_eq!(
        (error.kind, error.path.as_deref()),
        (ErrorKind::Cancelled, Some("b"))
    );
    fails.store(false, Ordering::SeqCst);
    let done = engine.resume("t", &[], RunOptions::default()).await;
    assert_eq!(done.unwrap().values["log"], json!(["done", "done"]));
}

const SWALLOWED: &str = "
tool slow(n: int) -> string
graph Main {
  state { out log: list<string> via append }
  start -> a
  node a: call slow(n: 1) -> end { on_error -> late { set { log: [error.kind] } } set { log: [result] } }
  node late: update -> end {}
}
";

/// Ports `timeout_cannot_be_swallowed`: the time of a run is not the flow's to handle.
#[tokio::test]
async fn the_timeout_of_a_run_is_not_handled_by_its_flow() {
    let tool = Tool::new(|_| async {
        tokio::time::sleep(Duration::from_secs(60)).await;
        Ok(json!("late"))
    });
    let (engine, graph) = engine(SWALLOWED, None, Some(tool));
    let options = RunOptions {
        timeout: Some(Duration::from_millis(60)),
        ..RunOptions::default()
    };
    let run = engine.start(graph, "t", &json!({}), options).await.unwrap();
    assert_eq!(run.state, RunState::Failed);
    assert_eq!(run.error.unwrap().kind, ErrorKind::Timeout);
    assert_eq!(run.values["log"], json!([]));
}
