//! A store that fails under a run: the result names what is kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use async_trait::async_trait;
use graphc::ir::ErrorKind;
use graphc::run::engine::RunOptions;
use graphc::run::journal::Durability;
use graphc::run::store::{Around, Lease, Record, RunState, Store, StoreError};
use graphc::store::MemoryStore;

use super::flow::{begin_with, engine};

/// Takes so many appends and no more.
struct Full(MemoryStore, AtomicI64);

#[async_trait]
impl Around for Full {
    fn inner(&self) -> &dyn Store {
        &self.0
    }

    async fn append(&self, lease: &Lease, records: &[Record]) -> Result<(), StoreError> {
        if self.1.fetch_sub(1, Ordering::SeqCst) <= 0 {
            return Err(StoreError::Unavailable {
                message: "full".to_owned(),
            });
        }
        self.0.append(lease, records).await
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
            let full = Full(MemoryStore::new(), AtomicI64::new(appends));
            let store: Arc<dyn Store> = Arc::new(full);
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
