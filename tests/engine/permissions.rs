//! What permissions cover, and what takes them back.

use std::sync::Arc;
use std::time::Duration;

use graphc::run::engine::RunOptions;
use graphc::run::interrupt::Answer;
use graphc::run::permission::{Change, Permission, Permissions, digest};
use graphc::run::store::RunState;
use serde_json::{Value as Json, json};
use tokio::sync::Barrier;

use super::flow::{Tool, engine};

fn given(args: Option<Json>, question: &str, at: &str) -> Change {
    Change::Given(Box::new(Permission {
        tool: "wipe".to_owned(),
        pins: digest(&json!([args])),
        args,
        once: false,
        question: question.to_owned(),
        answer: format!("0:{question}#{at}"),
        index: 0,
        by: "ann".to_owned(),
        at: at.to_owned(),
        life: None,
        used: None,
        inherited: false,
    }))
}

#[test]
fn the_same_question_takes_its_earlier_yes_back() {
    let args = json!({ "id": "a" });
    let mut all = Permissions::default();
    all.apply(&given(Some(args.clone()), "ask", "1"));
    all.apply(&given(Some(json!({ "id": "b" })), "ask", "2"));
    all.apply(&given(Some(args.clone()), "other", "3"));
    assert_eq!(all.covering("wipe", &args).len(), 2);
    all.apply(&Change::Answered {
        question: "ask".to_owned(),
        pins: digest(&json!([{ "id": "a" }])),
    });
    let left: Vec<&str> = all.all().iter().map(|one| one.at.as_str()).collect();
    assert_eq!(left, ["3", "2"]);
}

#[test]
fn what_is_shared_stays_as_it_is() {
    let args = json!({ "id": "a" });
    let mut outer = Permissions::default();
    outer.apply(&given(Some(args.clone()), "ask", "1"));
    let outer = Arc::new(outer);
    let mut inner = Permissions::over(Arc::clone(&outer));
    inner.apply(&given(Some(args.clone()), "other", "2"));
    assert_eq!(inner.covering("wipe", &args).len(), 2);
    inner.apply(&Change::Answered {
        question: "ask".to_owned(),
        pins: digest(&json!([{ "id": "a" }])),
    });
    let left: Vec<&str> = inner.all().iter().map(|one| one.at.as_str()).collect();
    assert_eq!(left, ["2"]);
    assert_eq!(inner.covering("wipe", &args).len(), 1);
    assert_eq!(outer.covering("wipe", &args).len(), 1);
}

#[test]
fn without_arguments_it_covers_any() {
    let mut all = Permissions::default();
    all.apply(&given(None, "ask", "1"));
    assert_eq!(all.covering("wipe", &json!({ "id": "a" })).len(), 1);
    assert!(all.covering("pay", &json!({})).is_empty());
}

const WIPING: &str = "
/// Deletes an account.
tool wipe(id: string) -> string @effect(destructive)
graph Main {
  state { in ids: list<string>, out log: list<string> via append }
  start -> ask
  node ask: interrupt -> spread {
    ask    { ids: state.ids }
    expect bool
    permit once each id in state.ids -> wipe(id: id) when answer
  }
  node spread: branch { goto { when size(state.ids) > 0 -> each id in state.ids -> work with { id: id }  else -> end } }
  node work: call wipe(id: input.id) -> end { input { id: string }  set { log: [result] } }
}
";

/// Two calls that may not use each other's permission are made side by side: here each ends only when the other has begun.
#[tokio::test]
async fn only_calls_that_may_use_the_same_permission_wait() {
    let both = Arc::new(Barrier::new(2));
    let tool = Tool::new(move |call| {
        let both = Arc::clone(&both);
        async move {
            both.wait().await;
            Ok(call.args["id"].clone())
        }
    });
    let (engine, graph) = engine(WIPING, None, Some(tool));
    let input = json!({ "ids": ["a", "b"] });
    let asked = engine.start(graph, "t", &input, RunOptions::default());
    assert_eq!(asked.await.unwrap().state, RunState::Interrupted);
    let yes = Answer {
        interrupt: None,
        value: json!(true),
    };
    let answers = [yes];
    let run = engine.resume("t", &answers, RunOptions::default());
    let run = tokio::time::timeout(Duration::from_secs(60), run).await;
    let run = run.expect("no call waits for the other").unwrap();
    assert_eq!(run.values["log"], json!(["a", "b"]), "{:?}", run.error);
}
