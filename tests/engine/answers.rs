//! Answers that are refused, each with its reason: the thread is as it was, to the last byte, and the right answer still counts.

use std::collections::BTreeSet;

use graphc::run::engine::{Engine, RunOptions, RunResult};
use graphc::run::interrupt::{Answer, OpenInterrupt};
use graphc::run::store::RunState;
use serde_json::{Value as Json, json};

use super::flow::{Tool, begin, engine};

const ASKING: &str = "
tool send(to: string) -> string @effect(write) @approve
tool look(at: string) -> string
graph Main {
  state { out log: list<string> via append }
  start -> [once, deep, post]
  node once: interrupt { ask \"once?\" expect int set { log: [string(answer)] } }
  node deep: subgraph Middle
  node post: call send(to: \"ann\") { set { log: [result] } }
  [once, deep, post] -> again
  node again: interrupt -> end { ask \"again?\" expect string set { log: [answer] } }
}
graph Middle {
  state { out log: list<string> via append }
  start -> each n in [1, 2] -> inner with { n: n }
  node inner: subgraph Inner -> end
}
graph Inner {
  state { in n: int, out log: list<string> via append }
  interrupt sure before work { ask { n: state.n } expect bool }
  start -> work
  node work: call look(at: string(state.n)) -> end { skip when !sure set { log: [result] } }
}
";

/// A run that waits at four questions, in three graphs.
async fn asked() -> (Engine, RunResult) {
    let tool = Tool::new(|call| async move { Ok(json!(call.tool)) });
    let (engine, graph) = engine(ASKING, None, Some(tool));
    let asked = begin(&engine, graph).await;
    assert_eq!(asked.state, RunState::Interrupted, "{:?}", asked.error);
    (engine, asked)
}

fn to(interrupt: &str, value: Json) -> Answer {
    Answer {
        interrupt: Some(interrupt.to_owned()),
        value,
    }
}

fn at<'r>(result: &'r RunResult, path: &str) -> Vec<&'r OpenInterrupt> {
    let open = result.interrupts.iter();
    open.filter(|open| open.path == path).collect()
}

async fn refused(engine: &Engine, answers: &[Answer]) -> String {
    let store = engine.store.clone().unwrap();
    let before = store.load("t").await.unwrap();
    let records = store.thread("t").await.unwrap();
    let refused = engine.resume("t", answers, RunOptions::default()).await;
    assert_eq!(store.load("t").await.unwrap(), before);
    assert_eq!(store.thread("t").await.unwrap(), records);
    refused.unwrap_err().to_string()
}

async fn resume(engine: &Engine, answers: &[Answer]) -> RunResult {
    let resumed = engine.resume("t", answers, RunOptions::default()).await;
    resumed.unwrap()
}

#[tokio::test]
async fn ids_of_questions_are_unique_and_stay() {
    let (engine, asked) = asked().await;
    let ids: BTreeSet<&str> = asked.interrupts.iter().map(|i| i.id.as_str()).collect();
    assert_eq!(ids.len(), 4);
    assert_eq!(asked.interrupts.len(), 4);
    let again = resume(&engine, &[]).await;
    assert_eq!(again.interrupts, asked.interrupts);
    // The same graph on another thread asks under other ids.
    let graph = engine.plan.flow.graph("Main").unwrap();
    let input = json!({});
    let other = engine.start(graph, "u", &input, RunOptions::default());
    let other = other.await.unwrap();
    assert!(other.interrupts.iter().all(|i| !ids.contains(&*i.id)));
}

#[tokio::test]
async fn an_answer_to_nothing_is_refused() {
    let (engine, asked) = asked().await;
    let message = refused(&engine, &[to("i-000000000000", json!(1))]).await;
    assert!(message.contains("no open interrupt has the id or path `i-000000000000`"));
    for open in &asked.interrupts {
        assert!(message.contains(&open.id), "{message}");
    }
    let message = refused(&engine, &[to("deep/inner", json!(1))]).await;
    assert!(message.contains("no open interrupt has the id or path"));
    // One right answer beside it is not taken either.
    let answers = [to("once", json!(1)), to("nobody", json!(1))];
    refused(&engine, &answers).await;
    assert_eq!(resume(&engine, &[]).await.interrupts.len(), 4);
}

#[tokio::test]
async fn a_stale_answer_is_refused() {
    let (engine, asked) = asked().await;
    let once = at(&asked, "once")[0].id.clone();
    let left = resume(&engine, &[to(&once, json!(1))]).await;
    assert_eq!(left.interrupts.len(), 3);
    // It has been answered, and by its path too.
    let message = refused(&engine, &[to(&once, json!(2))]).await;
    assert!(message.contains("no open interrupt has"), "{message}");
    refused(&engine, &[to("once", json!(2))]).await;
    let rest = at(&left, "deep/inner/sure");
    let answers = [
        to(&rest[0].id, json!(true)),
        to(&rest[1].id, json!(false)),
        to("post", json!({ "decision": "approve" })),
    ];
    let next = resume(&engine, &answers).await;
    // Of a step that is over, while another question is open.
    assert_eq!(next.interrupts[0].path, "again");
    refused(&engine, &[to(&rest[0].id, json!(true))]).await;
    let done = resume(&engine, &[to("again", json!("on"))]).await;
    assert_eq!(done.output["log"], json!(["1", "look", "send", "on"]));
    // And of a thread that is done.
    let message = refused(&engine, &[to("again", json!("on"))]).await;
    assert!(message.contains("nothing to resume"), "{message}");
}

#[tokio::test]
async fn an_ambiguous_answer_is_refused() {
    let (engine, asked) = asked().await;
    let unnamed = Answer {
        interrupt: None,
        value: json!(1),
    };
    let message = refused(&engine, &[unnamed]).await;
    assert!(message.contains("several interrupts are open; name one of"));
    for open in &asked.interrupts {
        assert!(message.contains(&open.id), "{message}");
    }
    // A path that two tasks of an `each` ask at.
    let message = refused(&engine, &[to("deep/inner/sure", json!(true))]).await;
    assert!(message.contains("name one by its id"), "{message}");
    for open in at(&asked, "deep/inner/sure") {
        assert!(message.contains(&open.id), "{message}");
    }
    assert!(!message.contains(&at(&asked, "once")[0].id), "{message}");
    // With its index it is one of the two; one that there is not is none.
    let places: Vec<String> = at(&asked, "deep/inner/sure")
        .iter()
        .map(|open| open.place())
        .collect();
    assert_ne!(places[0], places[1]);
    for place in &places {
        assert!(message.contains(place), "{message}");
    }
    let message = refused(&engine, &[to("deep/inner[7]/sure", json!(true))]).await;
    assert!(message.contains("no open interrupt has"), "{message}");
    // Once one of the two is answered the path is enough.
    resume(&engine, &[to(&places[1], json!(false))]).await;
    let left = resume(&engine, &[to("deep/inner/sure", json!(true))]).await;
    assert_eq!(left.interrupts.len(), 2);
}

#[tokio::test]
async fn an_answer_of_the_wrong_type_is_refused() {
    let (engine, asked) = asked().await;
    let sure = &at(&asked, "deep/inner/sure")[1].id;
    let wrong = [
        (to("once", json!("many")), "expected int"),
        (to("once", json!(null)), "expected int"),
        (to("once", json!(1.5)), "expected int"),
        (to(sure, json!("yes")), "expected bool"),
        (to("post", json!(true)), "expected"),
        (to("post", json!({ "decision": "maybe" })), "decision"),
        (
            to("post", json!({ "decision": "edit", "args": { "to": 1 } })),
            "$.to: expected string, found 1",
        ),
        (
            to(
                "post",
                json!({ "decision": "approve", "message": "not yet" }),
            ),
            "`message` goes with the decision \"refuse\"",
        ),
        (
            to(
                "post",
                json!({ "decision": "approve", "args": { "to": "bob" } }),
            ),
            "`args` go with the decision \"edit\"",
        ),
    ];
    for (answer, reason) in wrong {
        let message = refused(&engine, std::slice::from_ref(&answer)).await;
        assert!(message.contains(reason), "{message}");
        assert!(message.contains("the thread is as it was"), "{message}");
        // A right one beside it is not taken.
        if answer.interrupt.as_deref() != Some("once") {
            refused(&engine, &[to("once", json!(1)), answer]).await;
        }
    }
    let twice = [to("once", json!(1)), to("once", json!(2))];
    let message = refused(&engine, &twice).await;
    assert!(message.contains("is answered twice"), "{message}");
    let left = resume(&engine, &[to("once", json!(1))]).await;
    assert_eq!(left.interrupts.len(), 3);
}

/// A thread that nobody has begun, and one that waits for nothing.
#[tokio::test]
async fn what_does_not_wait_takes_no_answer() {
    let (engine, graph) = engine(
        "graph Main { state { in n: int, out m: int = 0 } start -> a node a: update -> end { set { m: 10 / state.n } } }",
        None,
        None,
    );
    for answers in [vec![], vec![to("a", json!(1))]] {
        let options = RunOptions::default();
        let unknown = engine.resume("t", &answers, options).await;
        assert!(unknown.is_err());
    }
    let store = engine.store.clone().unwrap();
    assert_eq!(store.thread("t").await.unwrap(), None);
    let input = json!({ "n": 0 });
    let failed = engine.start(graph, "t", &input, RunOptions::default());
    assert_eq!(failed.await.unwrap().state, RunState::Failed);
    let message = refused(&engine, &[to("a", json!(1))]).await;
    assert!(message.contains("no interrupt is open"), "{message}");
}
