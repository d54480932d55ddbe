//! Stops before nodes that the caller of a run wants: they take no answer, and any resume goes on.

use graphc::run::engine::{Engine, RunOptions, RunResult};
use graphc::run::interrupt::Answer;
use graphc::run::store::RunState;
use serde_json::{Value as Json, json};

use super::flow::{Tool, begin_with, engine};

const FLOW: &str = "
tool look(at: string) -> string
graph Main {
  state { out log: list<string> via append }
  start -> [a, inner] -> b
  node a: call look(at: \"a\") { set { log: [result] } }
  node inner: subgraph Inner
  node b: update { goto each n in [1, 2] -> work with { n: n } }
  node work: call look(at: \"work\") -> ask { input { n: int } set { log: [result + string(input.n)] } }
  node ask: interrupt -> end { ask \"?\" expect string set { log: [answer] } }
}
graph Inner {
  state { out log: list<string> via append }
  start -> before -> deep -> end
  node before: call look(at: \"before\") { set { log: [result] } }
  node deep: call look(at: \"deep\") { set { log: [result] } }
}
";

fn stopping(at: &[&str]) -> RunOptions {
    RunOptions {
        interrupt_before: at.iter().map(|node| (*node).to_owned()).collect(),
        ..RunOptions::default()
    }
}

fn open(result: &RunResult) -> Vec<&str> {
    assert_eq!(result.state, RunState::Interrupted, "{:?}", result.error);
    let open = result.interrupts.iter();
    open.map(|open| open.path.as_str()).collect()
}

async fn resume(engine: &Engine, at: &[&str], answers: &[Answer]) -> RunResult {
    engine.resume("t", answers, stopping(at)).await.unwrap()
}

/// Each boundary stops the run once: at nodes by name and by path, in called graphs, at each task of an `each`; nothing is
/// called twice, and what the nodes before it have written is there.
#[tokio::test]
async fn a_stop_is_made_once_and_passed_by_a_resume() {
    let tool = Tool::new(|call| async move { Ok(call.args["at"].clone()) });
    let (engine, graph) = engine(FLOW, None, Some(tool.clone()));
    let at = ["a", "inner/deep", "work", "ask"];
    let run = begin_with(&engine, graph, stopping(&at)).await;
    assert_eq!(open(&run), ["a"]);
    assert_eq!(run.interrupts[0].expect, None);
    assert_eq!(tool.calls().len(), 0);
    let run = resume(&engine, &at, &[]).await;
    assert_eq!(open(&run), ["inner/deep"]);
    assert_eq!(tool.calls().len(), 2);
    let run = resume(&engine, &at, &[]).await;
    assert_eq!(open(&run), ["work", "work"]);
    assert_ne!(run.interrupts[0].id, run.interrupts[1].id);
    assert_eq!(run.values["log"], json!(["a", "before", "deep"]));
    let run = resume(&engine, &at, &[]).await;
    assert_eq!(open(&run), ["ask"]);
    assert_eq!(run.interrupts[0].ask, Json::Null);
    // Behind the stop the node asks its own question, of another id.
    let asks = resume(&engine, &at, &[]).await;
    assert_eq!(asks.interrupts[0].ask, "?");
    assert_ne!(asks.interrupts[0].id, run.interrupts[0].id);
    let answer = Answer {
        interrupt: None,
        value: json!("yes"),
    };
    let done = resume(&engine, &at, &[answer]).await;
    assert_eq!(done.state, RunState::Done, "{:?}", done.error);
    let log = json!(["a", "before", "deep", "work1", "work2", "yes"]);
    assert_eq!(done.output["log"], log);
    assert_eq!(tool.calls().len(), 5);
}

/// Stops are those of the process that goes on: one that names others stops there, one that names none nowhere.
#[tokio::test]
async fn stops_are_what_this_call_wants() {
    let tool = Tool::new(|call| async move { Ok(call.args["at"].clone()) });
    let (engine, graph) = engine(FLOW, None, Some(tool));
    let run = begin_with(&engine, graph, stopping(&["deep"])).await;
    assert_eq!(open(&run), ["inner/deep"]);
    let run = resume(&engine, &["b"], &[]).await;
    assert_eq!(open(&run), ["b"]);
    let run = resume(&engine, &[], &[]).await;
    assert_eq!(run.interrupts[0].ask, "?");
}

/// A stop beside a question: an answer to the question goes on from the stop too, and a resume without one leaves the
/// question open.
#[tokio::test]
async fn a_stop_beside_a_question() {
    let text = "
graph Main {
  state { out log: list<string> via append }
  start -> [inner, ask] -> end
  node inner: subgraph Inner
  node ask: interrupt { ask \"?\" expect string set { log: [answer] } }
}
graph Inner {
  state { out log: list<string> via append }
  start -> deep
  node deep: update -> end { set { log: [\"deep\"] } }
}
";
    let (engine, graph) = engine(text, None, None);
    let run = begin_with(&engine, graph, stopping(&["deep"])).await;
    assert_eq!(open(&run), ["inner/deep", "ask"]);
    // The stop takes no answer.
    let wrong = Answer {
        interrupt: Some(run.interrupts[0].id.clone()),
        value: json!("x"),
    };
    let refused = engine.resume("t", &[wrong], stopping(&[])).await;
    assert!(
        refused
            .unwrap_err()
            .to_string()
            .contains("no open interrupt")
    );
    let run = resume(&engine, &["deep"], &[]).await;
    assert_eq!(open(&run), ["ask"]);
    let answer = Answer {
        interrupt: None,
        value: json!("yes"),
    };
    let done = resume(&engine, &["deep"], &[answer]).await;
    assert_eq!(done.output["log"], json!(["deep", "yes"]));
}
