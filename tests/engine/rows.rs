//! Rows of the matrix of silent failures (`tests/matrix/README.md`) that take more than one version of a flow, or answers of one's
//! own: what goes wrong there without a word is refused here, and the thread is as it was. Rows 16 and 17 are in `handlers`.

use graphc::run::engine::{Engine, Gone, RunOptions, StartError};
use graphc::run::interrupt::Answer;
use graphc::run::store::{RunState, ThreadImage};
use serde_json::{Value as Json, json};

use super::flow::{begin, engine};

fn answer(interrupt: &str, value: Json) -> [Answer; 1] {
    [Answer {
        interrupt: Some(interrupt.to_owned()),
        value,
    }]
}

async fn kept(engine: &Engine) -> ThreadImage {
    let store = engine.store.as_ref().unwrap();
    store.load("t").await.unwrap().unwrap()
}

async fn refused(engine: &Engine, answers: &[Answer], why: &str) {
    let before = kept(engine).await;
    let options = RunOptions::default();
    let error = engine.resume("t", answers, options).await.unwrap_err();
    assert!(matches!(error, StartError::Refused { .. }), "{error:?}");
    assert!(error.to_string().contains(why), "{error}");
    assert_eq!(kept(engine).await, before);
}

/// The same store under another version of the flow.
fn under(engine: &Engine, text: &str) -> Engine {
    let (other, _) = self::engine(text, None, None);
    Engine {
        store: engine.store.clone(),
        ..other
    }
}

const GATES: &str = "
graph Main {
  state { out log: list<string> via append }
  start -> first
  node first: interrupt -> [second, third] { ask \"1?\" expect string set { log: [answer] } }
  node second: interrupt -> end { ask \"2?\" expect string set { log: [answer] } }
  node third: interrupt -> end { ask \"3?\" expect string set { log: [answer] } }
}
";

#[tokio::test]
async fn row_18_an_id_that_is_stale_or_unknown_is_refused() {
    let (engine, graph) = engine(GATES, None, None);
    let run = begin(&engine, graph).await;
    let first = run.interrupts[0].id.clone();
    refused(
        &engine,
        &answer("i-000000000000", json!("x")),
        "no open interrupt has the id",
    )
    .await;
    let given = answer(&first, json!("one"));
    let run = engine.resume("t", &given, RunOptions::default()).await;
    let open = run.unwrap().interrupts;
    assert_eq!(open.len(), 2);
    // One that was answered before, one of two without a name, and one of the wrong type.
    refused(
        &engine,
        &answer(&first, json!("again")),
        "no open interrupt has the id",
    )
    .await;
    let unnamed = [Answer {
        interrupt: None,
        value: json!("which?"),
    }];
    refused(&engine, &unnamed, "several interrupts are open").await;
    refused(&engine, &answer(&open[0].id, json!(2)), "expected: string").await;
    // Of two, a right one is not taken without the other that is wrong.
    let both = [
        answer(&open[0].id, json!("two")),
        answer("nobody", json!("x")),
    ]
    .concat();
    refused(&engine, &both, "`nobody`").await;
    let both = [
        answer(&open[0].id, json!("two")),
        answer(&open[1].id, json!("three")),
    ]
    .concat();
    let done = engine.resume("t", &both, RunOptions::default()).await;
    assert_eq!(done.unwrap().values["log"], json!(["one", "two", "three"]));
}

fn gated(migrate: &str, gate: &str) -> String {
    format!(
        "
graph Main {{
  {migrate}
  state {{ out log: list<string> via append }}
  start -> {gate}
  node {gate}: interrupt -> end {{ ask \"?\" expect string set {{ log: [answer] }} }}
}}
"
    )
}

#[tokio::test]
async fn row_20_a_node_that_is_gone_while_a_thread_waits_before_it_is_told() {
    let (engine, graph) = engine(&gated("", "gate"), None, None);
    let open = begin(&engine, graph).await.interrupts;
    let before = kept(&engine).await;
    let other = under(&engine, &gated("", "door"));
    for answers in [Vec::new(), answer(&open[0].id, json!("x")).to_vec()] {
        let error = other.resume("t", &answers, RunOptions::default()).await;
        let StartError::Version { gone, message } = error.unwrap_err() else {
            panic!();
        };
        assert_eq!(gone, Gone::Node("gate".to_owned()), "{message}");
        assert_eq!(kept(&engine).await, before);
    }
    // The thread is lost to none: the flow may say what became of the node.
    let renamed = under(
        &engine,
        &gated("migrate { rename node gate -> door }", "door"),
    );
    let options = RunOptions {
        migrate: true,
        ..RunOptions::default()
    };
    let given = answer(&open[0].id, json!("x"));
    let done = renamed.resume("t", &given, options).await.unwrap();
    assert_eq!(done.values["log"], json!(["x"]));
}

fn chain(migrate: &str, last: &str) -> String {
    format!(
        "
graph Main {{
  {migrate}
  state {{ out log: list<string> via append }}
  start -> a
  node a: update -> b {{ set {{ log: [\"a\"] }} }}
  node b: subgraph Inner -> {last}
  node {last}: update -> end {{ set {{ log: [\"{last}\"] }} }}
}}
graph Inner {{
  state {{ out log: list<string> via append }}
  start -> in_b
  node in_b: update -> end {{ set {{ log: [\"in_b\"] }} }}
}}
"
    )
}

fn stops(nodes: &[&str]) -> RunOptions {
    RunOptions {
        interrupt_before: nodes.iter().map(|node| (*node).to_owned()).collect(),
        ..RunOptions::default()
    }
}

/// The paths of the nodes that a run has stopped before.
async fn stopped(engine: &Engine, options: RunOptions) -> Vec<String> {
    let run = engine.resume("t", &[], options).await.unwrap();
    run.interrupts.into_iter().map(|open| open.path).collect()
}

#[tokio::test]
async fn row_22_breakpoints_of_a_run_are_kept_over_a_resume() {
    let (first, graph) = engine(&chain("", "c"), None, None);
    let options = stops(&["a", "b/in_b", "c"]);
    let run = first.start(graph, "t", &json!({}), options).await.unwrap();
    assert_eq!(run.interrupts[0].path, "a");
    assert_eq!(stopped(&first, RunOptions::default()).await, ["b/in_b"]);
    let before = kept(&first).await;
    assert_eq!(stopped(&first, stops(&["c"])).await, ["c"]);
    let run = first.resume("t", &[], RunOptions::default()).await.unwrap();
    assert_eq!(run.state, RunState::Done);
    assert_eq!(run.values["log"], json!(["a", "in_b", "c"]));
    let nowhere = first
        .start(graph, "t", &json!({}), stops(&["b/nowhere"]))
        .await;
    assert!(
        matches!(nowhere, Err(StartError::Refused { .. })),
        "{nowhere:?}"
    );
    // A new run has only those that it is told of.
    let run = first.start(graph, "t", &json!({}), stops(&["c"])).await;
    assert_eq!(run.unwrap().interrupts[0].path, "c");
    let options = RunOptions {
        drop_stops: true,
        ..RunOptions::default()
    };
    assert!(stopped(&first, options).await.is_empty());
    assert_eq!(before.status.interrupt_before, ["a", "b/in_b", "c"]);
}

#[tokio::test]
async fn row_22_a_breakpoint_at_a_node_that_is_gone_is_told() {
    let (first, graph) = engine(&chain("", "c"), None, None);
    first
        .start(graph, "t", &json!({}), stops(&["b", "c"]))
        .await
        .unwrap();
    let before = kept(&first).await;
    let gone = under(&first, &chain("", "d"));
    let error = gone.resume("t", &[], RunOptions::default()).await;
    let StartError::Version {
        gone: what,
        message,
    } = error.unwrap_err()
    else {
        panic!();
    };
    assert_eq!(what, Gone::Stop("c".to_owned()), "{message}");
    assert_eq!(kept(&first).await, before);
    let renamed = under(&first, &chain("migrate { rename node c -> d }", "d"));
    let options = RunOptions {
        migrate: true,
        ..RunOptions::default()
    };
    assert_eq!(stopped(&renamed, options).await, ["d"]);
    let options = RunOptions {
        drop_stops: true,
        ..RunOptions::default()
    };
    assert!(stopped(&gone, options).await.is_empty());
}
