//! What is asked of a store, handed to its thread.

use std::collections::BTreeMap;

use async_trait::async_trait;
use serde_json::Value as Json;
use tokio::sync::oneshot;

use super::past::Page;
use super::writer::Job;
use super::{PostgresStore, cache, compact, fork, image, lease, past, read, remove};
use crate::run::memory::ItemStore;
use crate::run::store::{
    Checkpoint, CheckpointInfo, Compacted, Effects, Keep, Lease, ListedEffect, Record, Store,
    StoreError, ThreadImage, ThreadInfo,
};
use crate::store::append::Append;
use crate::value::Value;

#[async_trait]
impl Store for PostgresStore {
    async fn acquire(&self, thread_id: &str) -> Result<Lease, StoreError> {
        let (reply, answer) = oneshot::channel();
        let id = thread_id.to_owned();
        let failure = self.inner.failure.doing("written");
        let inner = self.inner.clone();
        self.handle.spawn(async move {
            let lease = inner.acquire(&id).await;
            // Where the caller has stopped waiting, what was taken is given back.
            if let Err(Ok(lease)) = reply.send(lease) {
                let _ = inner.release(&lease).await;
            }
        });
        let ended = |_| failure.because("its thread has ended unexpectedly");
        answer.await.map_err(ended)?
    }

    async fn is_held(&self, thread_id: &str) -> Result<bool, StoreError> {
        let id = thread_id.to_owned();
        self.run(|inner| async move { inner.read(&lease::IsHeld(inner.thread(&id))).await })
            .await
    }

    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        self.run(|inner| async move { inner.release(&lease).await })
            .await
    }

    async fn load(&self, thread_id: &str) -> Result<Option<ThreadImage>, StoreError> {
        let id = thread_id.to_owned();
        self.run(|inner| async move {
            let reading = inner.reading(&id);
            let effects = Effects::All;
            inner
                .read(&image::Load {
                    reading,
                    at: None,
                    effects,
                })
                .await
        })
        .await
    }

    async fn append(&self, lease: &Lease, records: &[Record]) -> Result<(), StoreError> {
        let append = Append::new(lease, records)?;
        let (reply, answer) = oneshot::channel();
        if let Some(queue) = &self.queue {
            // A job that can't be sent is dropped with its reply, which tells who waits for it.
            let _ = queue.send(Job { append, reply });
        }
        let failure = &self.inner.failure;
        let ended = |_| {
            failure
                .doing("written")
                .because("its thread has ended unexpectedly")
        };
        answer.await.map_err(ended)?
    }

    async fn threads(&self) -> Result<Vec<ThreadInfo>, StoreError> {
        self.run(|inner| async move {
            let failure = &inner.failure.doing("read");
            inner.read(&read::Threads { one: None, failure }).await
        })
        .await
    }

    async fn thread(&self, thread_id: &str) -> Result<Option<ThreadInfo>, StoreError> {
        let id = thread_id.to_owned();
        self.run(|inner| async move {
            let failure = &inner.failure.doing("read");
            let one = Some(id.as_str());
            let found = inner.read(&read::Threads { one, failure }).await?;
            Ok(found.into_iter().next())
        })
        .await
    }

    async fn history(
        &self,
        thread_id: &str,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<CheckpointInfo>, StoreError> {
        let id = thread_id.to_owned();
        self.run(move |inner| async move {
            let reading = inner.reading(&id);
            let work = read::History {
                reading,
                before,
                limit,
            };
            inner.read(&work).await
        })
        .await
    }

    async fn state(
        &self,
        thread_id: &str,
        frame: &str,
        seq: u64,
    ) -> Result<BTreeMap<String, Value>, StoreError> {
        let (id, frame) = (thread_id.to_owned(), frame.to_owned());
        self.run(move |inner| async move {
            let (reading, frame) = (inner.reading(&id), frame.as_str());
            inner
                .read(&read::State {
                    reading,
                    frame,
                    seq,
                })
                .await
        })
        .await
    }

    async fn cached(&self, key: &str, now: i64) -> Result<Option<Json>, StoreError> {
        if self.inner.kept_sweeps.is_due() {
            let inner = self.inner.clone();
            self.handle.spawn(async move {
                // Rows that stay hold no longer all the same.
                let _ = inner.write(&cache::Sweep { now }).await;
            });
        }
        let key = key.to_owned();
        self.run(move |inner| async move { inner.read(&cache::Find { key: &key, now }).await })
            .await
    }

    async fn cache(&self, key: &str, result: &Json, until: i64) -> Result<(), StoreError> {
        let (key, result) = (key.to_owned(), result.to_string());
        self.run(move |inner| async move {
            let (key, result) = (key.as_str(), result.as_str());
            inner.write(&cache::Put { key, result, until }).await
        })
        .await
    }

    async fn delete(&self, thread_id: &str) -> Result<bool, StoreError> {
        let id = thread_id.to_owned();
        self.run(|inner| async move { inner.write(&remove::Remove(inner.thread(&id))).await })
            .await
    }

    async fn image_at(
        &self,
        thread_id: &str,
        seq: u64,
        effects: Effects,
    ) -> Result<ThreadImage, StoreError> {
        let id = thread_id.to_owned();
        self.run(move |inner| async move {
            let (reading, at) = (inner.reading(&id), Some(seq));
            let image = inner
                .read(&image::Load {
                    reading,
                    at,
                    effects,
                })
                .await?;
            image.ok_or(StoreError::NoThread { thread_id: id })
        })
        .await
    }

    async fn fork(
        &self,
        from: &str,
        at: u64,
        effects: Effects,
        to: &Lease,
        records: &[Record],
    ) -> Result<(), StoreError> {
        let append = Append::new(to, records)?;
        let (from, to) = (from.to_owned(), to.clone());
        self.run(move |inner| async move {
            let work = fork::Fork {
                from: inner.reading(&from),
                at,
                effects,
                to: &to,
                append: &append,
                failure: &inner.failure.doing("written"),
            };
            inner.write(&work).await
        })
        .await
    }

    async fn compact(&self, lease: &Lease, keep: Keep) -> Result<Compacted, StoreError> {
        let lease = lease.clone();
        self.run(move |inner| async move {
            let reading = inner.reading(&lease.thread_id);
            let lease = &lease;
            inner
                .write(&compact::Compact {
                    reading,
                    lease,
                    keep,
                })
                .await
        })
        .await
    }

    async fn effects(
        &self,
        thread_id: &str,
        after: Option<u64>,
        limit: usize,
    ) -> Result<Vec<ListedEffect>, StoreError> {
        let id = thread_id.to_owned();
        self.run(move |inner| async move {
            let reading = inner.reading(&id);
            let page = Page {
                reading,
                after,
                limit,
            };
            inner.read(&past::ListEffects(page)).await
        })
        .await
    }

    async fn checkpoints(
        &self,
        thread_id: &str,
        after: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Checkpoint>, StoreError> {
        let id = thread_id.to_owned();
        self.run(move |inner| async move {
            let reading = inner.reading(&id);
            let page = Page {
                reading,
                after,
                limit,
            };
            inner.read(&past::ListCheckpoints(page)).await
        })
        .await
    }

    fn memory(&self) -> Option<&dyn ItemStore> {
        Some(self)
    }
}
