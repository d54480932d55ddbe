//! Stores around other stores.

use std::collections::BTreeMap;

use async_trait::async_trait;
use serde_json::Value as Json;

use crate::run::memory::ItemStore;
use crate::value::Value;

use super::{
    Checkpoint, CheckpointInfo, Compacted, Effects, Keep, Lease, ListedEffect, Record, Store,
    StoreError, ThreadImage, ThreadInfo,
};

/// A store that does some things in its own way and passes the rest on to another: it says which, and has only the methods in which
/// it differs. Whatever is around a store is a [`Store`].
#[async_trait]
pub trait Around: Send + Sync {
    /// The other store.
    fn inner(&self) -> &dyn Store;

    /// [`Store::acquire`].
    async fn acquire(&self, thread_id: &str) -> Result<Lease, StoreError> {
        self.inner().acquire(thread_id).await
    }

    /// [`Store::is_held`].
    async fn is_held(&self, thread_id: &str) -> Result<bool, StoreError> {
        self.inner().is_held(thread_id).await
    }

    /// [`Store::release`].
    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        self.inner().release(lease).await
    }

    /// [`Store::load`].
    async fn load(&self, thread_id: &str) -> Result<Option<ThreadImage>, StoreError> {
        self.inner().load(thread_id).await
    }

    /// [`Store::append`].
    async fn append(&self, lease: &Lease, records: &[Record]) -> Result<(), StoreError> {
        self.inner().append(lease, records).await
    }

    /// [`Store::threads`].
    async fn threads(&self) -> Result<Vec<ThreadInfo>, StoreError> {
        self.inner().threads().await
    }

    /// [`Store::thread`].
    async fn thread(&self, thread_id: &str) -> Result<Option<ThreadInfo>, StoreError> {
        self.inner().thread(thread_id).await
    }

    /// [`Store::history`].
    async fn history(
        &self,
        thread_id: &str,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<CheckpointInfo>, StoreError> {
        self.inner().history(thread_id, before, limit).await
    }

    /// [`Store::state`].
    async fn state(
        &self,
        thread_id: &str,
        frame: &str,
        seq: u64,
    ) -> Result<BTreeMap<String, Value>, StoreError> {
        self.inner().state(thread_id, frame, seq).await
    }

    /// [`Store::cached`].
    async fn cached(&self, key: &str, now: i64) -> Result<Option<Json>, StoreError> {
        self.inner().cached(key, now).await
    }

    /// [`Store::cache`].
    async fn cache(&self, key: &str, result: &Json, until: i64) -> Result<(), StoreError> {
        self.inner().cache(key, result, until).await
    }

    /// [`Store::delete`].
    async fn delete(&self, thread_id: &str) -> Result<bool, StoreError> {
        self.inner().delete(thread_id).await
    }

    /// [`Store::image_at`].
    async fn image_at(
        &self,
        thread_id: &str,
        seq: u64,
        effects: Effects,
    ) -> Result<ThreadImage, StoreError> {
        self.inner().image_at(thread_id, seq, effects).await
    }

    /// [`Store::fork`].
    async fn fork(
        &self,
        from: &str,
        at: u64,
        effects: Effects,
        to: &Lease,
        records: &[Record],
    ) -> Result<(), StoreError> {
        self.inner().fork(from, at, effects, to, records).await
    }

    /// [`Store::compact`].
    async fn compact(&self, lease: &Lease, keep: Keep) -> Result<Compacted, StoreError> {
        self.inner().compact(lease, keep).await
    }

    /// [`Store::reclaim`].
    async fn reclaim(&self) -> Result<u64, StoreError> {
        self.inner().reclaim().await
    }

    /// [`Store::effects`].
    async fn effects(
        &self,
        thread_id: &str,
        after: Option<u64>,
        limit: usize,
    ) -> Result<Vec<ListedEffect>, StoreError> {
        self.inner().effects(thread_id, after, limit).await
    }

    /// [`Store::checkpoints`].
    async fn checkpoints(
        &self,
        thread_id: &str,
        after: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Checkpoint>, StoreError> {
        self.inner().checkpoints(thread_id, after, limit).await
    }

    /// [`Store::memory`].
    fn memory(&self) -> Option<&dyn ItemStore> {
        self.inner().memory()
    }
}

#[async_trait]
impl<T: Around> Store for T {
    async fn acquire(&self, thread_id: &str) -> Result<Lease, StoreError> {
        Around::acquire(self, thread_id).await
    }

    async fn is_held(&self, thread_id: &str) -> Result<bool, StoreError> {
        Around::is_held(self, thread_id).await
    }

    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        Around::release(self, lease).await
    }

    async fn load(&self, thread_id: &str) -> Result<Option<ThreadImage>, StoreError> {
        Around::load(self, thread_id).await
    }

    async fn append(&self, lease: &Lease, records: &[Record]) -> Result<(), StoreError> {
        Around::append(self, lease, records).await
    }

    async fn threads(&self) -> Result<Vec<ThreadInfo>, StoreError> {
        Around::threads(self).await
    }

    async fn thread(&self, thread_id: &str) -> Result<Option<ThreadInfo>, StoreError> {
        Around::thread(self, thread_id).await
    }

    async fn history(
        &self,
        thread_id: &str,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<CheckpointInfo>, StoreError> {
        Around::history(self, thread_id, before, limit).await
    }

    async fn state(
        &self,
        thread_id: &str,
        frame: &str,
        seq: u64,
    ) -> Result<BTreeMap<String, Value>, StoreError> {
        Around::state(self, thread_id, frame, seq).await
    }

    async fn cached(&self, key: &str, now: i64) -> Result<Option<Json>, StoreError> {
        Around::cached(self, key, now).await
    }

    async fn cache(&self, key: &str, result: &Json, until: i64) -> Result<(), StoreError> {
        Around::cache(self, key, result, until).await
    }

    async fn delete(&self, thread_id: &str) -> Result<bool, StoreError> {
        Around::delete(self, thread_id).await
    }

    async fn image_at(
        &self,
        thread_id: &str,
        seq: u64,
        effects: Effects,
    ) -> Result<ThreadImage, StoreError> {
        Around::image_at(self, thread_id, seq, effects).await
    }

    async fn fork(
        &self,
        from: &str,
        at: u64,
        effects: Effects,
        to: &Lease,
        records: &[Record],
    ) -> Result<(), StoreError> {
        Around::fork(self, from, at, effects, to, records).await
    }

    async fn compact(&self, lease: &Lease, keep: Keep) -> Result<Compacted, StoreError> {
        Around::compact(self, lease, keep).await
    }

    async fn reclaim(&self) -> Result<u64, StoreError> {
        Around::reclaim(self).await
    }

    async fn effects(
        &self,
        thread_id: &str,
        after: Option<u64>,
        limit: usize,
    ) -> Result<Vec<ListedEffect>, StoreError> {
        Around::effects(self, thread_id, after, limit).await
    }

    async fn checkpoints(
        &self,
        thread_id: &str,
        after: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Checkpoint>, StoreError> {
        Around::checkpoints(self, thread_id, after, limit).await
    }

    fn memory(&self) -> Option<&dyn ItemStore> {
        Around::memory(self)
    }
}
