//! Calls that must not be made twice and were cut off: the question says how, and a fork that knows nothing of them is told.

use std::time::Duration;

use graphc::run::engine::{Fork, RunOptions, fork_in_doubt};
use graphc::run::interrupt::Answer;
use graphc::run::store::{Effects, RunState};
use serde_json::json;

use super::flow::{Tool, begin_with, engine};

/// A flow whose call `pay` takes longer than it may.
fn flow(of_node: &str, of_call: &str) -> String {
    format!(
        "
tool pay(x: int) -> int @idempotent(false)
graph Main {{
  state {{ out got: int = 0 }}
  start -> inner
  node inner: subgraph Inner -> end {{ {of_call} }}
}}
graph Inner {{
  state {{ out got: int = 0 }}
  start -> w
  node w: call pay(x: 1) -> end {{ {of_node} set {{ got: result }} }}
}}
"
    )
}

/// What is asked about the call once it was cut off.
async fn asked(of_node: &str, of_call: &str, timeout: Option<Duration>) -> String {
    let text = flow(of_node, of_call);
    let tool = Tool::new(move |call| async move {
        let again = call.args["x"] != json!(1);
        let wait = if again { 0 } else { 60 };
        tokio::time::sleep(Duration::from_secs(wait)).await;
        Ok(json!(7))
    });
    let (engine, graph) = engine(&text, None, Some(tool));
    let options = RunOptions {
        timeout,
        ..RunOptions::default()
    };
    let run = begin_with(&engine, graph, options).await;
    assert_eq!(run.state, RunState::Failed);
    let store = engine.store.clone().unwrap();
    let fork = |effects| Fork {
        from: "t",
        at: 1,
        to: "f",
        effects,
    };
    let told = fork_in_doubt(&store, &fork(Effects::Before)).await;
    assert_eq!(told.unwrap(), ["pay"]);
    let told = fork_in_doubt(&store, &fork(Effects::All)).await;
    assert!(told.unwrap().is_empty());
    let afresh = engine.fork(&fork(Effects::Before)).await.unwrap();
    assert!(afresh.life.is_some());
    let waits = engine.resume("t", &[], RunOptions::default()).await;
    let waits = waits.unwrap();
    let ask = &waits.interrupts[0].ask;
    let question = ask["question"].as_str().unwrap().to_owned();
    let happened = [Answer {
        interrupt: None,
        value: json!({ "happened": true, "result": 9 }),
    }];
    let done = engine.resume("t", &happened, RunOptions::default()).await;
    assert_eq!(done.unwrap().output["got"], 9);
    question
}

#[tokio::test]
async fn the_question_says_what_has_cut_a_call_off() {
    let says = |why: &str| {
        format!("a call of `pay` has failed ({why}), and it must not be made twice: did it happen?")
    };
    let of_node = asked("timeout 80ms,", "", None).await;
    assert_eq!(of_node, says("node `w` took longer than 80ms"));
    let of_call = asked("", "timeout 80ms", None).await;
    assert_eq!(of_call, says("node `inner` took longer than 80ms"));
    let of_run = asked("", "", Some(Duration::from_millis(80))).await;
    assert_eq!(of_run, says("the run took longer than 80ms"));
}
