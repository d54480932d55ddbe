//! A store with no more than a run needs.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use graphc::run::ambient::SystemAmbient;
use graphc::run::engine::{Edit, Fork, RunOptions, Written, fork};
use graphc::run::store::{
    CheckpointInfo, Effects, Lease, Record, RunState, Store, StoreError, ThreadImage, ThreadInfo,
};
use graphc::store::MemoryStore;
use graphc::value::Value;
use serde_json::{Value as Json, json};

use super::flow::{begin, engine};

/// Has what every store must have, and nothing else.
struct Plain(MemoryStore);

#[async_trait]
impl Store for Plain {
    async fn acquire(&self, thread_id: &str) -> Result<Lease, StoreError> {
        self.0.acquire(thread_id).await
    }
    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        self.0.release(lease).await
    }
    async fn load(&self, thread_id: &str) -> Result<Option<ThreadImage>, StoreError> {
        self.0.load(thread_id).await
    }
    async fn append(&self, lease: &Lease, records: &[Record]) -> Result<(), StoreError> {
        self.0.append(lease, records).await
    }
    async fn threads(&self) -> Result<Vec<ThreadInfo>, StoreError> {
        self.0.threads().await
    }
    async fn thread(&self, thread_id: &str) -> Result<Option<ThreadInfo>, StoreError> {
        self.0.thread(thread_id).await
    }
    async fn history(
        &self,
        thread_id: &str,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<CheckpointInfo>, StoreError> {
        self.0.history(thread_id, before, limit).await
    }
    async fn state(
        &self,
        thread_id: &str,
        frame: &str,
        seq: u64,
    ) -> Result<BTreeMap<String, Value>, StoreError> {
        self.0.state(thread_id, frame, seq).await
    }
    async fn cached(&self, key: &str, now: i64) -> Result<Option<Json>, StoreError> {
        self.0.cached(key, now).await
    }

    async fn cache(&self, key: &str, result: &Json, until: i64) -> Result<(), StoreError> {
        self.0.cache(key, result, until).await
    }

    async fn delete(&self, thread_id: &str) -> Result<bool, StoreError> {
        self.0.delete(thread_id).await
    }
}

const FLOW: &str = r#"
graph Main {
  state { out log: list<string> via append }
  start -> ask
  node ask: interrupt -> end { ask "?" expect string set { log: [answer] } }
}
"#;

#[tokio::test]
async fn a_store_that_was_made_for_runs_alone_says_so() {
    let (mut engine, graph) = engine(FLOW, None, None);
    let store: Arc<dyn Store> = Arc::new(Plain(MemoryStore::new()));
    engine.store = Some(Arc::clone(&store));
    assert_eq!(begin(&engine, graph).await.state, RunState::Interrupted);
    let wanted = Fork {
        from: "t",
        at: 1,
        to: "f",
        effects: Effects::All,
    };
    let refused = fork(&store, &SystemAmbient, &wanted).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "this store can't read earlier states: it was made for runs alone"
    );
    // An edit needs no more than a run does.
    let edit = Edit {
        writes: vec![Written {
            field: "log".to_owned(),
            value: json!(["x"]),
            replace: false,
        }],
        as_node: Some("start".to_owned()),
        ..Edit::default()
    };
    engine.edit("t", &edit).await.unwrap();
    let asked = engine
        .resume("t", &[], RunOptions::default())
        .await
        .unwrap();
    assert_eq!(asked.values["log"], json!(["x"]));
}
