//! The store of a process that is to end.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use graphc::run::memory::{Item, ItemStore, Search, Space, Write, WriteKey};
use graphc::run::store::{Around, Compacted, Effects, Keep, Lease, Record, Store, StoreError};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use tokio_util::sync::CancellationToken;

use super::judge::Line;
use super::world::write;

/// When, of what is done to a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Moment {
    Before,
    /// So many microseconds after it began, or right after it.
    During(u64),
    After,
}

/// How a run is asked to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ask {
    /// As by SIGTERM: it finishes its super-step.
    Drain,
    /// As by Ctrl-C: it stops before its next effect.
    Cancel,
}

/// The end of a process: at the `at`th thing that it does to the store, from 1.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub struct Doom {
    pub at: u64,
    pub moment: Moment,
    /// How the process is asked to stop before, and how many things ahead of that.
    pub asked: Option<(Ask, u64)>,
}

impl Doom {
    /// One of three for each thing that is done: before it, in its midst, after it.
    pub fn nth(point: usize) -> Self {
        let at = (point / 3) as u64 + 1;
        Self {
            at,
            moment: match point % 3 {
                0 => Moment::Before,
                // From a few steps of the work to its end.
                1 => Moment::During(20 * (at * 7 % 32)),
                _ => Moment::After,
            },
            asked: None,
        }
    }
}

/// A store that counts what is done to it, and ends the process where its end has come.
pub struct DoomedStore {
    pub inner: Arc<dyn Store>,
    pub doom: Option<Doom>,
    /// Where it says which effects are kept.
    pub log: PathBuf,
    pub done: Arc<AtomicU64>,
    /// Ask the run to stop.
    pub drain: CancellationToken,
    pub cancel: CancellationToken,
}

/// Ends this process as nothing else does.
fn kill() -> ! {
    let own = rustix::process::getpid();
    rustix::process::kill_process(own, rustix::process::Signal::KILL).unwrap();
    loop {
        std::thread::park();
    }
}

impl DoomedStore {
    async fn count<T>(&self, work: impl Future<Output = T>, over: impl FnOnce(&T)) -> T {
        let number = self.done.fetch_add(1, Ordering::SeqCst) + 1;
        if let Some(doom) = self.doom
            && let Some((ask, ahead)) = doom.asked
            && doom.at <= number + ahead
        {
            match ask {
                Ask::Drain => self.drain.cancel(),
                Ask::Cancel => self.cancel.cancel(),
            }
        }
        let doom = self.doom.filter(|doom| doom.at == number);
        let moment = doom.map(|doom| doom.moment);
        match moment {
            Some(Moment::Before) => kill(),
            Some(Moment::During(wait)) => {
                let wait = Duration::from_micros(wait);
                std::thread::spawn(move || {
                    std::thread::sleep(wait);
                    kill()
                });
            }
            Some(Moment::After) | None => {}
        }
        let done = work.await;
        over(&done);
        if moment.is_some() {
            kill();
        }
        done
    }

    /// Says which results are kept: no call that gave one of them may be made again.
    fn note(&self, records: &[Record]) {
        for record in records {
            let Record::Effect(effect) = record else {
                continue;
            };
            if let Some(key) = key_in(&effect.outcome) {
                let line = Line {
                    what: "kept".to_owned(),
                    key,
                    ..Line::default()
                };
                write(&self.log, &line);
            }
        }
    }
}

/// The key that a result names: [`super::world`] puts it into each.
fn key_in(outcome: &Json) -> Option<String> {
    let text = outcome.to_string();
    let (_, behind) = text.split_once("<key ")?;
    Some(behind.split_once('>')?.0.to_owned())
}

#[async_trait]
impl Around for DoomedStore {
    fn inner(&self) -> &dyn Store {
        &*self.inner
    }

    async fn acquire(&self, thread_id: &str) -> Result<Lease, StoreError> {
        self.count(self.inner.acquire(thread_id), |_| {}).await
    }

    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        self.count(self.inner.release(lease), |_| {}).await
    }

    async fn append(&self, lease: &Lease, records: &[Record]) -> Result<(), StoreError> {
        let kept = |done: &Result<(), StoreError>| {
            if done.is_ok() {
                self.note(records);
            }
        };
        self.count(self.inner.append(lease, records), kept).await
    }

    async fn cache(&self, key: &str, result: &Json, until: i64) -> Result<(), StoreError> {
        self.count(self.inner.cache(key, result, until), |_| {})
            .await
    }

    async fn delete(&self, thread_id: &str) -> Result<bool, StoreError> {
        self.count(self.inner.delete(thread_id), |_| {}).await
    }

    async fn fork(
        &self,
        from: &str,
        at: u64,
        effects: Effects,
        to: &Lease,
        records: &[Record],
    ) -> Result<(), StoreError> {
        let forked = self.inner.fork(from, at, effects, to, records);
        self.count(forked, |_| {}).await
    }

    async fn compact(&self, lease: &Lease, keep: Keep) -> Result<Compacted, StoreError> {
        self.count(self.inner.compact(lease, keep), |_| {}).await
    }

    async fn reclaim(&self) -> Result<u64, StoreError> {
        self.count(self.inner.reclaim(), |_| {}).await
    }

    fn memory(&self) -> Option<&dyn ItemStore> {
        Some(self)
    }
}

#[async_trait]
impl ItemStore for DoomedStore {
    async fn write(&self, known: WriteKey, write: &Write, now: i64) -> Result<bool, StoreError> {
        let memory = self.inner.memory().unwrap();
        self.count(memory.write(known, write, now), |_| {}).await
    }

    async fn item(
        &self,
        space: &Space,
        key: &str,
        now: i64,
        refresh: bool,
    ) -> Result<Option<Item>, StoreError> {
        let memory = self.inner.memory().unwrap();
        memory.item(space, key, now, refresh).await
    }

    async fn search(&self, search: &Search, now: i64) -> Result<Vec<Item>, StoreError> {
        self.inner.memory().unwrap().search(search, now).await
    }

    async fn spaces(&self, prefix: &Space, now: i64) -> Result<Vec<Space>, StoreError> {
        self.inner.memory().unwrap().spaces(prefix, now).await
    }
}
