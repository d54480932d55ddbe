//! How far a run may go, and how it goes on behind a limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use graphc::ir::ErrorKind;
use graphc::run::engine::RunOptions;
use graphc::run::journal::Durability;
use graphc::run::store::RunState;
use graphc::store::SqliteStore;
use serde_json::json;

use super::flow::{Tool, engine};

const LOOP: &str = "
graph Main {
  recursion_limit 5
  state { persist out n: int via add = 0 }
  start -> step
  node step: update { set { n: 1 } goto { when state.n >= 20 -> end else -> step } }
}
";

/// The count of a run goes on where it is resumed, and so does the run where its limit is higher.
#[tokio::test]
async fn a_run_over_its_limit_goes_on_with_a_higher_one() {
    let (engine, graph) = engine(LOOP, None, None);
    let limit = |recursion_limit| RunOptions {
        recursion_limit,
        ..RunOptions::default()
    };
    let failed = |result: &graphc::run::engine::RunResult| {
        let error = result.error.as_ref().unwrap();
        assert_eq!(error.kind, ErrorKind::RecursionLimit);
        error.message.clone()
    };
    let run = engine.start(graph, "t", &json!({}), limit(None)).await;
    let run = run.unwrap();
    assert_eq!(run.values["n"], 5);
    assert!(failed(&run).contains("has made 5 super-steps"));
    let again = engine.resume("t", &[], limit(None)).await.unwrap();
    assert_eq!(again.values["n"], 5);
    failed(&again);
    let on = engine.resume("t", &[], limit(Some(12))).await.unwrap();
    assert_eq!(on.values["n"], 12);
    assert!(failed(&on).contains("has made 12 super-steps"));
    let done = engine.resume("t", &[], limit(Some(100))).await.unwrap();
    assert_eq!(done.state, RunState::Done);
    // A new input is a run of its own.
    let new = engine.start(graph, "t", &json!({}), limit(None)).await;
    assert_eq!(new.unwrap().state, RunState::Done);
}

const NESTED: &str = "
tool work(id: string) -> string
graph Main {
  state { out log: list<string> via append }
  start -> spread
  node spread: update { goto each n in [1, 2, 3, 4] -> sub with { n: n } }
  node sub: subgraph Inner -> end
}
graph Inner {
  state { in n: int, out log: list<string> via append }
  start -> spread
  node spread: update { goto each k in [1, 2, 3] -> deep with { k: k } }
  node deep: subgraph Deepest -> end { input { k: int } with { id: string(state.n) + \".\" + string(input.k) } }
}
graph Deepest {
  state { in id: string, out log: list<string> via append }
  start -> [one, two]
  node one: call work(id: state.id + \"a\") -> end { set { log: [result] } }
  node two: call work(id: state.id + \"b\") -> end { set { log: [result] } }
}
";

/// The most calls at the same time, and what came of them.
async fn nested(max_concurrency: Option<usize>) -> (usize, serde_json::Value) {
    let now = Arc::new(AtomicUsize::new(0));
    let most = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&most);
    let tool = Tool::new(move |call| {
        let (now, most) = (Arc::clone(&now), Arc::clone(&most));
        async move {
            let at_once = now.fetch_add(1, Ordering::SeqCst) + 1;
            most.fetch_max(at_once, Ordering::SeqCst);
            // Later ones are faster.
            let id = call.args["id"].as_str().unwrap().to_owned();
            let wait = 5 - u64::from(id.as_bytes()[0] - b'0');
            tokio::time::sleep(Duration::from_millis(wait)).await;
            now.fetch_sub(1, Ordering::SeqCst);
            Ok(json!(id))
        }
    });
    let (engine, graph) = engine(NESTED, None, Some(tool));
    let options = RunOptions {
        max_concurrency,
        ..RunOptions::default()
    };
    let input = json!({});
    let run = engine.start(graph, "t", &input, options);
    let run = tokio::time::timeout(Duration::from_secs(20), run).await;
    let run = run
        .expect("no task waits for one that waits for it")
        .unwrap();
    assert_eq!(run.state, RunState::Done, "{:?}", run.error);
    (seen.load(Ordering::SeqCst), run.values["log"].clone())
}

/// `max_concurrency` bounds the tasks that work over all graphs of a run; one that waits for the graph that it calls
/// takes no place, so that even one place is enough, and the order of results is the same.
#[tokio::test]
async fn max_concurrency_is_of_the_run() {
    let (all, unbounded) = nested(None).await;
    assert_eq!(all, 24);
    for places in [1, 2, 5] {
        let (most, log) = nested(Some(places)).await;
        assert_eq!(most, places);
        assert_eq!(log, unbounded);
    }
}

const DOUBLING: &str = "
graph Main {
  state { out seen: int via add = 0 }
  start -> double
  node double: update {
    input { depth: int = 0 }
    set { seen: 1 }
    goto { when input.depth >= 9 -> end else -> each v in [1, 2] -> double with { depth: input.depth + 1 } }
  }
}
";

/// Sends that multiply with each step are stopped before they take all memory; the thread can go on.
#[tokio::test]
async fn tasks_that_multiply_are_bounded() {
    let (engine, graph) = engine(DOUBLING, None, None);
    let most = |max_tasks| RunOptions {
        max_tasks: Some(max_tasks),
        ..RunOptions::default()
    };
    let run = engine
        .start(graph, "t", &json!({}), most(100))
        .await
        .unwrap();
    assert_eq!(run.state, RunState::Failed);
    assert_eq!(run.values["seen"], 63);
    let error = run.error.unwrap();
    assert_eq!(error.kind, ErrorKind::RecursionLimit);
    assert_eq!(error.path.as_deref(), Some("double"));
    assert!(error.message.contains("`double`"), "{}", error.message);
    assert!(
        error.message.contains("it may have 100"),
        "{}",
        error.message
    );
    let done = engine.resume("t", &[], most(512)).await.unwrap();
    assert_eq!(done.state, RunState::Done, "{:?}", done.error);
    assert_eq!(done.values["seen"], 1023);
}

const WIDE: &str = "
graph Main {
  state { in all: list<int>, out seen: int via add = 0 }
  start -> spread
  node spread: update { goto each v in state.all -> one with { v: v } }
  node one: update -> end { input { v: int } set { seen: input.v } }
}
";

/// One node that sends too much is stopped before it has made its tasks.
#[tokio::test]
async fn sends_of_one_node_are_bounded() {
    let (engine, graph) = engine(WIDE, None, None);
    let options = RunOptions {
        max_tasks: Some(10),
        ..RunOptions::default()
    };
    let input = json!({ "all": vec![1; 11] });
    let run = engine.start(graph, "t", &input, options.clone()).await;
    let error = run.unwrap().error.unwrap();
    assert_eq!(error.kind, ErrorKind::RecursionLimit);
    assert_eq!(error.path.as_deref(), Some("spread"));
    assert!(
        error.message.contains("to 11; it may have 10"),
        "{}",
        error.message
    );
    let input = json!({ "all": vec![1; 10] });
    let run = engine.start(graph, "u", &input, options).await.unwrap();
    assert_eq!(run.values["seen"], 10);
}

/// A chain of nodes that each bound their visits, as many as `nodes`.
fn chain(nodes: usize) -> String {
    let mut text = "graph Main {\n  state { out n: int via add = 0 }\n  start -> n0\n".to_owned();
    for node in 0..nodes {
        let next = match node + 1 == nodes {
            true => "out".to_owned(),
            false => format!("n{}", node + 1),
        };
        let step = format!("update -> {next} {{ max_visits 3 -> out set {{ n: 1 }} }}");
        text += &format!("  node n{node}: {step}\n");
    }
    text + "  node out: update -> end {}\n}\n"
}

async fn bytes_of_a_chain(nodes: usize) -> u64 {
    let (mut engine, graph) = engine(&chain(nodes), None, None);
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("visits-{nodes}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("threads.db");
    engine.store = Some(Arc::new(SqliteStore::open(&file).unwrap()));
    let options = RunOptions {
        recursion_limit: Some(10_000),
        ..RunOptions::default()
    };
    let run = engine.start(graph, "t", &json!({}), options).await.unwrap();
    assert_eq!(run.values["n"], nodes);
    drop(engine);
    let bytes = std::fs::read_dir(&folder).unwrap();
    let bytes = bytes
        .map(|file| file.unwrap().metadata().unwrap().len())
        .sum();
    std::fs::remove_dir_all(folder).unwrap();
    bytes
}

/// What a thread takes grows with the steps made, not with steps times nodes.
#[tokio::test]
async fn counts_of_visits_stay_linear_on_disk() {
    let (few, many) = (bytes_of_a_chain(150).await, bytes_of_a_chain(1200).await);
    assert!(many < few * 10, "{few} {many}");
}

/// The time of a run is over: its thread goes on from its last step.
#[tokio::test]
async fn a_run_that_took_too_long_can_be_resumed() {
    let slow = Arc::new(AtomicUsize::new(60_000));
    let wait = Arc::clone(&slow);
    let tool = Tool::new(move |call| {
        let wait = wait.load(Ordering::SeqCst) as u64;
        async move {
            if call.tool == "slow" {
                tokio::time::sleep(Duration::from_millis(wait)).await;
            }
            Ok(json!("x"))
        }
    });
    let text = "
tool quick() -> string
tool slow() -> string
graph Main {
  state { out log: list<string> via append }
  start -> a -> b -> end
  node a: call quick() { set { log: [\"a\"] } }
  node b: call slow() { set { log: [\"b\"] } }
}
";
    let (engine, graph) = engine(text, None, Some(Arc::clone(&tool)));
    let options = RunOptions {
        timeout: Some(Duration::from_millis(100)),
        ..RunOptions::default()
    };
    let run = engine.start(graph, "t", &json!({}), options).await.unwrap();
    assert_eq!(run.error.unwrap().kind, ErrorKind::Timeout);
    assert_eq!(run.values["log"], json!(["a"]));
    slow.store(0, Ordering::SeqCst);
    let done = engine
        .resume("t", &[], RunOptions::default())
        .await
        .unwrap();
    assert_eq!(done.values["log"], json!(["a", "b"]));
    assert_eq!(tool.calls().len(), 3);
}

/// What never waits for anything lets the clock be looked at.
#[tokio::test]
async fn a_run_that_waits_for_nothing_ends_in_time() {
    let flow = "
graph Main {
  state { n: int = 0 }
  start -> a
  node a: update { set { n: state.n + 1 } goto { when state.n < 0 -> end else -> a } }
}
";
    for durability in [Durability::Exit, Durability::Async] {
        let (engine, graph) = engine(flow, None, None);
        let options = RunOptions {
            durability,
            timeout: Some(Duration::from_millis(50)),
            recursion_limit: Some(2_000_000),
            ..RunOptions::default()
        };
        let result = engine.start(graph, "t", &json!({}), options).await;
        let error = result.unwrap().error.unwrap();
        assert_eq!(error.kind, ErrorKind::Timeout, "{error:?}");
    }
}

const DEEP: &str = "
graph Main {
  recursion_limit 5000
  state { in left: int }
  start { when state.left == 0 -> end  else -> deeper }
  node deeper: subgraph Main -> end { with { left: state.left - 1 } }
}
";

#[tokio::test]
async fn calls_of_graphs_are_nested_a_thousand_deep_at_most() {
    let (engine, graph) = engine(DEEP, None, None);
    for (left, error) in [(1000, None), (1001, Some(ErrorKind::RecursionLimit))] {
        let (thread, input) = (format!("t{left}"), json!({ "left": left }));
        let run = engine.start(graph, &thread, &input, RunOptions::default());
        let run = run.await.unwrap();
        assert_eq!(run.error.map(|error| error.kind), error, "{left}");
    }
}
