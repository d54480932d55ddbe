//! What answers a fork that keeps later results: those on the thread's own way on from the checkpoint, and no others.

use std::sync::Arc;

use graphc::ir::ErrorKind;
use graphc::run::engine::{Edit, Engine, Fork, RunOptions, RunResult, Written};
use graphc::run::store::{Effects, RunState};
use graphc::run::tool::ToolError;
use serde_json::{Value as Json, json};

use super::flow::{Tool, engine};

/// Looks things up, one after the other. `BETWEEN` stands for nodes ahead of the next round.
const FLOW: &str = "
tool lookup(key: string) -> string
graph Main {
  state { in keys: list<string>, i: int = 0, out log: list<string> via append }
  start -> look
  node look: call lookup(key: state.keys[state.i]) -> between { set { log: [state.keys[state.i] + \"=\" + result] } }
  BETWEEN
  node step: update {
    set { i: state.i + 1 }
    goto { when state.i < size(state.keys) -> look  else -> end }
  }
}
";

fn lookup() -> Arc<Tool> {
    Tool::new(|call| async move {
        let key = call.args["key"].as_str().unwrap().to_owned();
        Ok(json!(format!("value of {key}")))
    })
}

fn flow(between: &str, tool: &Arc<Tool>) -> (Engine, graphc::ir::GraphId) {
    engine(&FLOW.replace("BETWEEN", between), None, Some(tool.clone()))
}

const PLAIN: &str = "node between: update -> step";

async fn start(
    (engine, graph): &(Engine, graphc::ir::GraphId),
    keys: &[&str],
    limit: Option<u64>,
) -> RunResult {
    let options = RunOptions {
        stop_after_steps: limit,
        ..RunOptions::default()
    };
    let input = json!({ "keys": keys });
    engine.start(*graph, "t", &input, options).await.unwrap()
}

async fn fork(engine: &Engine, at: u64) {
    let wanted = Fork {
        from: "t",
        at,
        to: "f",
        effects: Effects::All,
    };
    engine.fork(&wanted).await.unwrap();
}

async fn resume(engine: &Engine, thread: &str) -> Json {
    let options = RunOptions::default();
    let result = engine.resume(thread, &[], options).await.unwrap();
    assert_eq!(result.state, RunState::Done, "{:?}", result.error);
    result.output["log"].clone()
}

/// Every thing with its own value.
fn right(keys: &[&str]) -> Json {
    let values = keys.iter().map(|key| format!("{key}=value of {key}"));
    values.collect()
}

/// What was looked up since.
fn since(tool: &Tool, before: usize) -> Vec<String> {
    tool.calls().split_off(before)
}

#[tokio::test]
async fn a_fork_replays_the_way_that_its_thread_went() {
    let tool = lookup();
    let flow = flow(PLAIN, &tool);
    let done = start(&flow, &["a", "b", "c"], None).await;
    assert_eq!(done.output["log"], right(&["a", "b", "c"]));
    fork(&flow.0, 1).await;
    assert_eq!(resume(&flow.0, "f").await, right(&["a", "b", "c"]));
    assert_eq!(tool.calls().len(), 3);
}

#[tokio::test]
async fn a_fork_of_an_unfinished_run_is_not_answered_by_the_next_one() {
    let tool = lookup();
    let flow = flow(PLAIN, &tool);
    start(&flow, &["a", "b", "c"], Some(2)).await;
    let at = flow.0.store.as_ref().unwrap();
    let at = at.thread("t").await.unwrap().unwrap().checkpoint;
    start(&flow, &["p", "q", "r"], None).await;
    let before = tool.calls().len();
    fork(&flow.0, at).await;
    assert_eq!(resume(&flow.0, "f").await, right(&["a", "b", "c"]));
    let made = since(&tool, before);
    assert_eq!(made, ["lookup {\"key\":\"b\"}", "lookup {\"key\":\"c\"}"]);
}

#[tokio::test]
async fn a_fork_from_before_an_edit_is_not_answered_by_what_followed_it() {
    let tool = lookup();
    let flow = flow(PLAIN, &tool);
    start(&flow, &["a", "b", "c", "d"], Some(3)).await;
    let store = flow.0.store.clone().unwrap();
    let at = store.thread("t").await.unwrap().unwrap().checkpoint;
    let edit = Edit {
        writes: vec![Written {
            field: "i".to_owned(),
            value: json!(2),
            replace: false,
        }],
        as_node: Some("between".to_owned()),
        ..Edit::default()
    };
    flow.0.edit("t", &edit).await.unwrap();
    assert_eq!(resume(&flow.0, "t").await, right(&["a", "d"]));
    let before = tool.calls().len();
    fork(&flow.0, at).await;
    assert_eq!(resume(&flow.0, "f").await, right(&["a", "b", "c", "d"]));
    assert_eq!(since(&tool, before).len(), 3);
}

/// Under another version of the flow, steps of the same numbers make other calls; also where the process that took the
/// thread over has died since.
#[tokio::test]
async fn a_fork_under_another_version_is_answered_by_its_own_calls_alone() {
    let tool = lookup();
    let old = flow(PLAIN, &tool);
    start(&old, &["a", "b", "c"], None).await;
    fork(&old.0, 1).await;
    let longer = "node between: update -> more  node more: update -> step";
    let (mut new, _) = flow(longer, &tool);
    new.store.clone_from(&old.0.store);
    let options = RunOptions {
        stop_after_steps: Some(1),
        ..RunOptions::default()
    };
    let before = tool.calls().len();
    new.resume("f", &[], options).await.unwrap();
    assert_eq!(since(&tool, before), [""; 0], "its first step is answered");
    assert_eq!(resume(&new, "f").await, right(&["a", "b", "c"]));
    assert_eq!(since(&tool, before).len(), 2);
}

/// Attempts that have failed are of what was asked: a fork that asks something else has all of its own.
#[tokio::test]
async fn a_fork_that_asks_something_else_has_all_attempts() {
    const FLOW: &str = "
tool lookup(key: string) -> string
graph Main {
  state { in key: string, out log: list<string> via append }
  start -> look
  node look: call lookup(key: KEY) -> end {
    retry { attempts MANY, initial 1ms, factor 1, jitter false, on [network] }
    set { log: [result] }
  }
}
";
    let flow = |key: &str, attempts: &str, tool: &Arc<Tool>| {
        let text = FLOW.replace("KEY", key).replace("MANY", attempts);
        engine(&text, None, Some(tool.clone()))
    };
    let fails = || Tool::new(|_| async { Err(ToolError::new(ErrorKind::Network, "no")) });
    let tool = fails();
    let (old, graph) = flow("state.key", "2", &tool);
    let input = json!({ "key": "a" });
    let failed = old.start(graph, "t", &input, RunOptions::default()).await;
    assert_eq!(failed.unwrap().state, RunState::Failed);
    assert_eq!(tool.calls().len(), 2);
    for (to, key, calls) in [("same", "state.key", 3), ("other", "state.key + \"!\"", 5)] {
        let tool = fails();
        let (mut new, _) = flow(key, "5", &tool);
        new.store = old.store.clone();
        let wanted = Fork {
            from: "t",
            at: 1,
            to,
            effects: Effects::All,
        };
        new.fork(&wanted).await.unwrap();
        let failed = new.resume(to, &[], RunOptions::default()).await.unwrap();
        assert_eq!(failed.state, RunState::Failed);
        assert_eq!(tool.calls().len(), calls, "{to}");
    }
}
