//! A store that fails under a run: the result names what is kept.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use graphc::ir::ErrorKind;
use graphc::run::engine::RunOptions;
use graphc::run::journal::Durability;
use graphc::run::store::{
    CheckpointInfo, Lease, Record, RunState, Store, StoreError, ThreadImage, ThreadInfo,
};
use graphc::store::MemoryStore;
use graphc::value::Value;
use serde_json::Value as Json;

use super::flow::{begin_with, engine};

/// Takes so many appends and no more.
struct Full(MemoryStore, AtomicI64);

#[async_trait]
impl Store for Full {
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
        if self.1.fetch_sub(1, Ordering::SeqCst) <= 0 {
            return Err(StoreError::Unavailable {
                message: "full".to_owned(),
            });
        }
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
    async fn kept(&self, key: &str, now: i64) -> Result<Option<Json>, StoreError> {
        self.0.kept(key, now).await
    }

    async fn keep(&self, key: &str, result: &Json, until: Option<i64>) -> Result<(), StoreError> {
        self.0.keep(key, result, until).await
    }

    async fn delete(&self, thread_id: &str) -> Result<bool, StoreError> {
        self.0.delete(thread_id).await
    }
}

const FLOW: &str = "
graph Main {
  state { out n: int via add = 0 }
  start -> step
  node step: update { set { n: 1 } goto { when state.n >= 5 -> end else -> step } }
}
";

#[tokio::test]
async fn the_result_names_what_is_kept() {
    for durability in [Durability::Sync, Durability::Async, Durability::Exit] {
        for appends in 0..5 {
            let (mut engine, graph) = engine(FLOW, None, None);
            let store = Arc::new(Full(MemoryStore::new(), AtomicI64::new(appends)));
            engine.store = Some(store.clone());
            let options = RunOptions {
                durability,
                ..RunOptions::default()
            };
            let run = begin_with(&engine, graph, options).await;
            let Some(error) = &run.error else {
                assert_eq!(run.state, RunState::Done);
                continue;
            };
            assert_eq!(error.kind, ErrorKind::Store);
            let image = store.load("t").await.unwrap();
            let root = image.as_ref().and_then(|image| image.frames.first());
            assert_eq!(run.checkpoint_id, root.map(|root| root.seq));
            let kept = root.and_then(|root| root.fields.get("n"));
            let kept = kept.map(|field| field.value.to_json());
            assert_eq!(run.output.get("n").cloned(), kept);
            assert_eq!(run.values.get("n").cloned(), kept);
        }
    }
}
