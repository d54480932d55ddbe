//! What a thread waits for, where it can't be read.

use graphc::run::engine::{RunOptions, open_interrupts};
use graphc::run::interrupt::Answer;
use graphc::run::store::{Record, RunState};
use serde_json::json;

use super::flow::{begin, engine};

const ASKS: &str = "
graph Main {
  state { out a: bool = false, out b: bool = false }
  start -> [one, two]
  node one: interrupt { ask \"one?\" expect bool set { a: answer } }
  node two: interrupt { ask \"two?\" expect bool set { b: answer } }
  [one, two] -> end
}
";

/// A question that can't be read is no question that has gone: the thread is refused, and stays as it was.
#[tokio::test]
async fn a_question_that_cannot_be_read_is_not_passed_over() {
    let (engine, graph) = engine(ASKS, None, None);
    let run = begin(&engine, graph).await;
    assert_eq!(run.interrupts.len(), 2);
    let store = engine.store.clone().unwrap();
    let info = store.thread("t").await.unwrap().unwrap();
    assert_eq!(open_interrupts(&info.status).unwrap(), run.interrupts);
    let kept = info.status.clone();
    let mut status = info.status;
    status.interrupts[1] = json!({ "of": "a later version" });
    let lease = store.acquire("t").await.unwrap();
    let broken = [Record::Status(status.clone())];
    store.append(&lease, &broken).await.unwrap();
    store.release(lease).await.unwrap();
    let answer = |id: &str| {
        let interrupt = Some(id.to_owned());
        vec![Answer {
            interrupt,
            value: json!(true),
        }]
    };
    for answers in [
        Vec::new(),
        answer(&run.interrupts[0].id),
        answer(&run.interrupts[1].id),
    ] {
        let refused = engine.resume("t", &answers, RunOptions::default()).await;
        let why = refused.unwrap_err().to_string();
        assert!(
            why.starts_with("a question that the thread waits for can't be read"),
            "{why}"
        );
    }
    let now = store.thread("t").await.unwrap().unwrap();
    assert_eq!(now.status, status);

    let lease = store.acquire("t").await.unwrap();
    store.append(&lease, &[Record::Status(kept)]).await.unwrap();
    store.release(lease).await.unwrap();
    for open in &run.interrupts {
        let answers = answer(&open.id);
        let run = engine
            .resume("t", &answers, RunOptions::default())
            .await
            .unwrap();
        assert!(run.error.is_none(), "{:?}", run.error);
    }
    let done = store.thread("t").await.unwrap().unwrap();
    assert_eq!(done.status.state, RunState::Done);
}
