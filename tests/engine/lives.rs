//! Threads that come again under the id of a deleted one: nothing of theirs is taken for what that one has done.

use std::sync::Arc;

use graphc::run::engine::{Engine, Fork, RunOptions};
use graphc::run::journal::Durability;
use graphc::run::store::{Effects, Record, Store, ThreadStatus};
use serde_json::json;

use super::flow::{Tool, begin, begin_with, engine};

const MEMORY: &str = r#"
import { memory_put, memory_delete } from "std/memory"
graph Main {
  state { out made: list<bool> via append }
  start -> put
  node put: call memory_put(space: ["a"], key: "k", value: "one") -> drop
  node drop: call memory_delete(space: ["a"], key: "k") -> end { set { made: [result] } }
}
"#;

const CALL: &str = "
tool call() -> int
graph Main {
  state { out got: int = 0 }
  start -> tell
  node tell: call call() -> end { set { got: result } }
}
";

async fn deleted(engine: &Engine, thread: &str) {
    let store = engine.store.as_ref().unwrap();
    assert!(store.delete(thread).await.unwrap());
}

/// A fork of that name writes to memory, whatever a deleted one of that name has written.
#[tokio::test]
async fn a_fork_under_the_name_of_a_deleted_one_writes() {
    let (engine, graph) = engine(MEMORY, None, None);
    begin(&engine, graph).await;
    let fork = Fork {
        from: "t",
        at: 1,
        to: "f",
        effects: Effects::Before,
    };
    for _ in 0..2 {
        engine.fork(&fork).await.unwrap();
        let done = engine.resume("f", &[], RunOptions::default()).await;
        assert_eq!(done.unwrap().output["made"], json!([true]));
        deleted(&engine, "f").await;
    }
}

/// A tool is called under another key by each thread of an id, by the same again where a thread goes on.
#[tokio::test]
async fn keys_are_of_the_thread_and_not_of_its_id() {
    let tool = Tool::new(|_| async { Ok(json!(1)) });
    let (engine, graph) = engine(CALL, None, Some(Arc::clone(&tool)));
    for _ in 0..2 {
        begin(&engine, graph).await;
        deleted(&engine, "t").await;
    }
    let exit = || RunOptions {
        durability: Durability::Exit,
        ..RunOptions::default()
    };
    // Nothing is kept before the end: what is begun anew has the same keys.
    for _ in 0..2 {
        begin_with(&engine, graph, exit()).await;
        deleted(&engine, "t").await;
    }
    let keys = tool.keys();
    assert_ne!(keys[0], keys[1]);
    assert!(keys[0].starts_with("t~"), "{}", keys[0]);
    assert!(
        keys[0].ends_with("/0:tell#tool:call@0.tool@0"),
        "{}",
        keys[0]
    );
    assert_eq!(keys[2..], ["t/0:tell#tool:call@0.tool@0"; 2]);
}

/// A thread that an earlier version has begun keeps the keys that it had.
#[tokio::test]
async fn a_thread_without_a_life_keeps_its_keys() {
    let tool = Tool::new(|_| async { Ok(json!(1)) });
    let (engine, graph) = engine(CALL, None, Some(Arc::clone(&tool)));
    begin(&engine, graph).await;
    let store: Arc<dyn Store> = engine.store.clone().unwrap();
    let status = store.load("t").await.unwrap().unwrap().status;
    let lease = store.acquire("t").await.unwrap();
    let earlier = Record::Status(ThreadStatus {
        life: None,
        ..status
    });
    store.append(&lease, &[earlier]).await.unwrap();
    store.release(lease).await.unwrap();
    begin(&engine, graph).await;
    assert_eq!(tool.keys()[1], "t/2:tell#tool:call@0.tool@0");
}
