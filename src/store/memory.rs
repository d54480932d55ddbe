//! Threads in memory.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use serde_json::Value as Json;

use self::items::Items;
use self::log::Log;
use crate::run::memory::ItemStore;
use crate::run::store::{
    Checkpoint, CheckpointInfo, Compacted, Effects, Keep, Lease, ListedEffect, Record, Store,
    StoreError, ThreadImage, ThreadInfo,
};
use crate::store::sweep::Sweeps;
use crate::value::Value;

mod items;
mod log;

/// Keeps threads until it is dropped. It shares all values with whoever appended them, so that a
/// checkpoint costs what changed and no copy of the state.
#[derive(Default)]
pub struct MemoryStore {
    threads: Mutex<Threads>,
    items: Mutex<Items>,
    /// When kept results that have run out are let go.
    sweeps: Sweeps,
}

#[derive(Default)]
struct Threads {
    logs: BTreeMap<String, Log>,
    /// Token of the writer of each thread that has one.
    leases: BTreeMap<String, u64>,
    /// Highest token so far, over all threads: a deleted thread's old leases stay invalid.
    last_token: u64,
    /// Results by key, each with when it holds no longer.
    kept: BTreeMap<String, (Json, i64)>,
    /// Appends so far: which thread's status was written last.
    appends: u64,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Nothing in here panics between two changes that belong together, so a lock that a panic
    /// left behind guards whole threads.
    fn lock(&self) -> MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As [`MemoryStore::lock`], of long-term memory.
    fn items(&self) -> MutexGuard<'_, Items> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Threads {
    /// Refuses a lease that isn't the latest of its thread.
    fn check(&self, lease: &Lease) -> Result<(), StoreError> {
        let thread_id = &lease.thread_id;
        match self.leases.get(thread_id) == Some(&lease.token) {
            true => Ok(()),
            false => Err(StoreError::Fenced {
                thread_id: thread_id.clone(),
            }),
        }
    }

    fn log(&self, thread_id: &str) -> Result<&Log, StoreError> {
        self.logs
            .get(thread_id)
            .ok_or_else(|| StoreError::NoThread {
                thread_id: thread_id.to_string(),
            })
    }
}

fn busy(thread_id: &str) -> StoreError {
    StoreError::Busy {
        thread_id: thread_id.to_string(),
        holder: "another run of this process".to_string(),
    }
}

#[async_trait]
impl Store for MemoryStore {
    async fn acquire(&self, thread_id: &str) -> Result<Lease, StoreError> {
        let mut threads = self.lock();
        if threads.leases.contains_key(thread_id) {
            return Err(busy(thread_id));
        }
        threads.last_token += 1;
        let token = threads.last_token;
        threads.leases.insert(thread_id.to_string(), token);
        Ok(Lease {
            thread_id: thread_id.to_string(),
            token,
        })
    }

    async fn is_held(&self, thread_id: &str) -> Result<bool, StoreError> {
        Ok(self.lock().leases.contains_key(thread_id))
    }

    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        let mut threads = self.lock();
        if threads.leases.get(&lease.thread_id) == Some(&lease.token) {
            threads.leases.remove(&lease.thread_id);
        }
        Ok(())
    }

    async fn load(&self, thread_id: &str) -> Result<Option<ThreadImage>, StoreError> {
        let threads = self.lock();
        let log = threads.logs.get(thread_id);
        log.map(|log| log.image(thread_id)).transpose()
    }

    async fn append(&self, lease: &Lease, records: &[Record]) -> Result<(), StoreError> {
        let mut threads = self.lock();
        let thread_id = &lease.thread_id;
        threads.check(lease)?;
        if records.is_empty() {
            return Ok(());
        }
        let appends = threads.appends + 1;
        let refused = |broken: super::rules::Broken| broken.refusal(thread_id);
        match threads.logs.get_mut(thread_id) {
            Some(log) => log.append(records, appends).map_err(refused)?,
            None => {
                let log = Log::begin(records, appends).map_err(refused)?;
                threads.logs.insert(thread_id.clone(), log);
            }
        }
        threads.appends = appends;
        Ok(())
    }

    async fn threads(&self) -> Result<Vec<ThreadInfo>, StoreError> {
        let threads = self.lock();
        let mut logs: Vec<_> = threads.logs.iter().collect();
        logs.sort_by_key(|(_, log)| std::cmp::Reverse(log.used));
        Ok(logs.into_iter().map(|(id, log)| log.info(id)).collect())
    }

    async fn thread(&self, thread_id: &str) -> Result<Option<ThreadInfo>, StoreError> {
        Ok(self.lock().logs.get(thread_id).map(|l| l.info(thread_id)))
    }

    async fn history(
        &self,
        thread_id: &str,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<CheckpointInfo>, StoreError> {
        let threads = self.lock();
        let log = threads.logs.get(thread_id);
        Ok(log.map_or_else(Vec::new, |log| log.history(before, limit)))
    }

    async fn state(
        &self,
        thread_id: &str,
        frame: &str,
        seq: u64,
    ) -> Result<BTreeMap<String, Value>, StoreError> {
        let threads = self.lock();
        let Some(log) = threads.logs.get(thread_id) else {
            return Ok(BTreeMap::new());
        };
        let fields = log.fields(thread_id, frame, seq)?;
        Ok(fields.into_iter().map(|(k, f)| (k, f.value)).collect())
    }

    async fn cached(&self, key: &str, now: i64) -> Result<Option<Json>, StoreError> {
        let mut threads = self.lock();
        if self.sweeps.is_due() {
            threads.kept.retain(|_, (_, until)| now < *until);
        }
        let found = threads.kept.get(key).filter(|(_, until)| now < *until);
        Ok(found.map(|(result, _)| result.clone()))
    }

    async fn cache(&self, key: &str, result: &Json, until: i64) -> Result<(), StoreError> {
        let entry = (result.clone(), until);
        self.lock().kept.insert(key.to_string(), entry);
        Ok(())
    }

    async fn delete(&self, thread_id: &str) -> Result<bool, StoreError> {
        let mut threads = self.lock();
        match threads.leases.contains_key(thread_id) {
            true => Err(busy(thread_id)),
            false => Ok(threads.logs.remove(thread_id).is_some()),
        }
    }

    async fn image_at(
        &self,
        thread_id: &str,
        seq: u64,
        effects: Effects,
    ) -> Result<ThreadImage, StoreError> {
        let threads = self.lock();
        threads.log(thread_id)?.image_at(thread_id, seq, effects)
    }

    async fn fork(
        &self,
        from: &str,
        at: u64,
        effects: Effects,
        to: &Lease,
        records: &[Record],
    ) -> Result<(), StoreError> {
        let mut threads = self.lock();
        threads.check(to)?;
        let thread_id = to.thread_id.clone();
        if threads.logs.contains_key(&thread_id) {
            return Err(StoreError::Exists { thread_id });
        }
        let used = threads.appends + 1;
        let refused = |broken: super::rules::Broken| broken.refusal(&thread_id);
        let new = Log::empty(records, used).map_err(refused)?;
        let mut fork = threads.log(from)?.fork(from, at, effects, new)?;
        fork.append(records, used).map_err(refused)?;
        threads.logs.insert(thread_id, fork);
        threads.appends = used;
        Ok(())
    }

    async fn compact(&self, lease: &Lease, keep: Keep) -> Result<Compacted, StoreError> {
        let mut threads = self.lock();
        threads.check(lease)?;
        let Some(log) = threads.logs.get_mut(&lease.thread_id) else {
            return Ok(Compacted::default());
        };
        log.compact(keep).map_err(|reason| StoreError::Corrupt {
            message: format!("thread `{}`: {reason}", lease.thread_id),
        })
    }

    async fn effects(
        &self,
        thread_id: &str,
        after: Option<u64>,
        limit: usize,
    ) -> Result<Vec<ListedEffect>, StoreError> {
        let threads = self.lock();
        let log = threads.logs.get(thread_id);
        Ok(log.map_or_else(Vec::new, |log| log.listed_effects(after, limit)))
    }

    async fn checkpoints(
        &self,
        thread_id: &str,
        after: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Checkpoint>, StoreError> {
        let threads = self.lock();
        let log = threads.logs.get(thread_id);
        Ok(log.map_or_else(Vec::new, |log| log.listed_checkpoints(after, limit)))
    }

    fn memory(&self) -> Option<&dyn ItemStore> {
        Some(self)
    }
}
