//! Threads in one SQLite file.
//!
//! [`worker`] owns the two connections: one writes, one reads. [`crate::store::row`] turns records into rows,
//! [`append`] writes them, [`read`] and [`image`] turn them back, [`cache`] has results of nodes that are used again, [`items`] long-term memory, [`lease`] says who may write;
//! [`presence`] whether the file is still there; [`schema`] has the tables. [`past`] reads old records, [`fork`] copies a thread up to
//! one of them, [`compact`] lets them go.
//!
//! Several processes may have the file open at once. Each thread has one writer among all of them;
//! its lock file lies in `FILE.locks/` beside the database while it writes.

mod append;
mod cache;
mod compact;
mod error;
mod fork;
mod image;
mod items;
mod lease;
mod lock;
mod past;
mod presence;
mod read;
mod schema;
mod worker;

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use rusqlite::Connection;
use serde_json::Value as Json;

use self::error::Failure;
use self::fork::Fork;
use self::lease::Held;
use self::read::{Reader, Unreadable};
use self::worker::Worker;
use crate::run::memory::ItemStore;
use crate::run::store::{
    Checkpoint, CheckpointInfo, Compacted, Effects, Keep, Lease, ListedEffect, Record, Store,
    StoreError, ThreadImage, ThreadInfo,
};
use crate::store::append::Append;
use crate::store::sweep::Sweeps;
use crate::value::Value;

/// When an append counts as kept. A database of a server keeps it as durably as it is set to in both; [`Sync::Full`] sets
/// its connection to wait for the disk where it would not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Sync {
    /// Once the system has it: survives a killed process, but the last appends may be missing after
    /// a loss of power. The file is whole in any case.
    #[default]
    Normal,
    /// Once the disk has it, by one `fdatasync` for each append, or for each group of appends that
    /// were made at the same time.
    Full,
}

/// How a store that outlives the process works.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// When an append counts as kept.
    pub sync: Sync,
    /// How long to wait while another program keeps the file, or rows of the database, locked.
    pub busy_timeout: Duration,
}

impl Default for Options {
    /// [`Sync::Normal`], and five seconds.
    fn default() -> Self {
        Self {
            sync: Sync::Normal,
            busy_timeout: Duration::from_secs(5),
        }
    }
}

/// Keeps threads in an SQLite file. Dropping it waits for appends under way, then gives all of its
/// threads back.
pub struct SqliteStore {
    /// Threads that this store writes.
    held: Mutex<HashMap<String, Held>>,
    reader: Worker,
    writer: Worker,
    /// Folder of the lock files.
    locks: PathBuf,
    failure: Failure,
    /// When kept results that have run out are let go.
    sweeps: Sweeps,
}

impl SqliteStore {
    /// Opens or creates the file, and its folder, with [`Options::default`].
    ///
    /// # Errors
    /// Where it can't be opened, or is no store of this version or an older one.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, StoreError> {
        Self::open_with(path, Options::default())
    }

    /// Opens or creates the file, and its folder.
    ///
    /// # Errors
    /// Where it can't be opened, or is no store of this version or an older one.
    pub fn open_with(path: impl AsRef<Path>, options: Options) -> Result<Self, StoreError> {
        let path = path.as_ref();
        let failure = Failure::new(path, "opened");
        let writer = schema::open_writer(path, &options)?;
        let reader = schema::open_reader(path, &options)?;
        let busy = options.busy_timeout;
        Ok(Self {
            held: Mutex::default(),
            reader: Worker::start("store-read", reader, (failure.doing("read"), busy))?,
            writer: Worker::start("store-write", writer, (failure.doing("written"), busy))?,
            // The file is the same, by whatever links and from whatever folder it was named.
            locks: lock::folder(&path.canonicalize().unwrap_or_else(|_| path.to_path_buf())),
            failure,
            sweeps: Sweeps::default(),
        })
    }

    /// The map is whole even where somebody panicked: each change of it is one call.
    fn held(&self) -> MutexGuard<'_, HashMap<String, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads one thread; `None` where it has no records.
    async fn read<T, F>(&self, thread_id: &str, read: F) -> Result<Option<T>, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Reader) -> Result<T, Unreadable> + Send + 'static,
    {
        let failure = self.failure.doing("read");
        let thread_id = thread_id.to_string();
        let work = move |connection: &mut Connection| {
            read::read(connection, &failure, |db| {
                let reader = Reader::find(db, &failure, &thread_id)?;
                reader.map(|reader| read(&reader)).transpose()
            })
        };
        self.reader.run(work).await
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn acquire(&self, thread_id: &str) -> Result<Lease, StoreError> {
        let failure = self.failure.doing("written");
        let (folder, id) = (self.locks.clone(), thread_id.to_string());
        // Where the caller stops waiting, what was taken is dropped with the answer.
        let work =
            move |connection: &mut Connection| lease::acquire(connection, &folder, &id, &failure);
        let held = self.writer.run(work).await?;
        let lease = Lease {
            thread_id: thread_id.to_string(),
            token: held.token,
        };
        self.held().insert(lease.thread_id.clone(), held);
        Ok(lease)
    }

    async fn is_held(&self, thread_id: &str) -> Result<bool, StoreError> {
        let failure = self.failure.doing("read");
        let (folder, id) = (self.locks.clone(), thread_id.to_string());
        let work = move |_: &mut Connection| lease::is_held(&folder, &id, &failure);
        self.reader.run(work).await
    }

    async fn release(&self, lease: Lease) -> Result<(), StoreError> {
        let held = {
            let mut all = self.held();
            match all.get(&lease.thread_id) {
                Some(held) if held.token == lease.token => all.remove(&lease.thread_id),
                _ => None,
            }
        };
        // An old lease has nothing to give back.
        let Some(held) = held else { return Ok(()) };
        let failure = self.failure.doing("written");
        let work = move |connection: &mut Connection| {
            let done = lease::release(connection, &lease.thread_id, lease.token);
            drop(held);
            done.map_err(|error| failure.of(error))
        };
        self.writer.run(work).await
    }

    async fn load(&self, thread_id: &str) -> Result<Option<ThreadImage>, StoreError> {
        self.read(thread_id, |reader| reader.image()).await
    }

    async fn append(&self, lease: &Lease, records: &[Record]) -> Result<(), StoreError> {
        self.writer.append(Append::new(lease, records)?).await
    }

    async fn threads(&self) -> Result<Vec<ThreadInfo>, StoreError> {
        let failure = self.failure.doing("read");
        let work = move |connection: &mut Connection| {
            read::read(connection, &failure, |db| read::threads(db, &failure))
        };
        self.reader.run(work).await
    }

    async fn thread(&self, thread_id: &str) -> Result<Option<ThreadInfo>, StoreError> {
        self.read(thread_id, |reader| reader.thread()).await
    }

    async fn history(
        &self,
        thread_id: &str,
        before: Option<u64>,
        limit: usize,
    ) -> Result<Vec<CheckpointInfo>, StoreError> {
        let found = self.read(thread_id, move |reader| reader.history(before, limit));
        Ok(found.await?.unwrap_or_default())
    }

    async fn state(
        &self,
        thread_id: &str,
        frame: &str,
        seq: u64,
    ) -> Result<BTreeMap<String, Value>, StoreError> {
        let frame = frame.to_string();
        let found = self.read(thread_id, move |reader| {
            reader.fields(&frame, read::signed(seq))
        });
        let fields = found.await?.unwrap_or_default();
        Ok(fields.into_iter().map(|(k, f)| (k, f.value)).collect())
    }

    async fn cached(&self, key: &str, now: i64) -> Result<Option<Json>, StoreError> {
        if self.sweeps.is_due() {
            self.writer.detach(move |connection| {
                // Rows that stay hold no longer all the same.
                let _ = cache::sweep(connection, now);
            });
        }
        let failure = self.failure.doing("read");
        let key = key.to_string();
        let work = move |connection: &mut Connection| cache::find(connection, &key, now, &failure);
        self.reader.run(work).await
    }

    async fn cache(&self, key: &str, result: &Json, until: i64) -> Result<(), StoreError> {
        let failure = self.failure.doing("written");
        let (key, result) = (key.to_string(), result.to_string());
        let work = move |connection: &mut Connection| {
            cache::put(connection, &key, &result, until).map_err(|error| failure.of(error))
        };
        self.writer.run(work).await
    }

    async fn delete(&self, thread_id: &str) -> Result<bool, StoreError> {
        let failure = self.failure.doing("written");
        let (folder, id) = (self.locks.clone(), thread_id.to_string());
        let work =
            move |connection: &mut Connection| lease::delete(connection, &folder, &id, &failure);
        self.writer.run(work).await
    }

    async fn image_at(
        &self,
        thread_id: &str,
        seq: u64,
        effects: Effects,
    ) -> Result<ThreadImage, StoreError> {
        let image = self.read(thread_id, move |reader| reader.image_at(seq, effects));
        image.await?.ok_or_else(|| StoreError::NoThread {
            thread_id: thread_id.to_string(),
        })
    }

    async fn fork(
        &self,
        from: &str,
        at: u64,
        effects: Effects,
        to: &Lease,
        records: &[Record],
    ) -> Result<(), StoreError> {
        let fork = Fork::new((from, at), effects, to, records)?;
        let work =
            move |connection: &mut Connection, failure: &Failure| fork.make(connection, failure);
        self.writer.change(work).await
    }

    async fn compact(&self, lease: &Lease, keep: Keep) -> Result<Compacted, StoreError> {
        let lease = lease.clone();
        let work = move |connection: &mut Connection, failure: &Failure| {
            compact::compact(connection, &lease, keep, failure)
        };
        self.writer.change(work).await
    }

    async fn reclaim(&self) -> Result<u64, StoreError> {
        let locks = self.locks.clone();
        let work = move |connection: &mut Connection, failure: &Failure| {
            compact::reclaim(connection, &locks, &failure.doing("made smaller"))
        };
        self.writer.change(work).await
    }

    async fn effects(
        &self,
        thread_id: &str,
        after: Option<u64>,
        limit: usize,
    ) -> Result<Vec<ListedEffect>, StoreError> {
        let found = self.read(thread_id, move |reader| reader.listed_effects(after, limit));
        Ok(found.await?.unwrap_or_default())
    }

    async fn checkpoints(
        &self,
        thread_id: &str,
        after: Option<u64>,
        limit: usize,
    ) -> Result<Vec<Checkpoint>, StoreError> {
        let found = self.read(thread_id, move |reader| {
            reader.listed_checkpoints(after, limit)
        });
        Ok(found.await?.unwrap_or_default())
    }

    fn memory(&self) -> Option<&dyn ItemStore> {
        Some(self)
    }
}

impl Drop for SqliteStore {
    /// The writer gets the leases to end behind all appends that are queued; dropping it, right
    /// after this, waits until that is done.
    fn drop(&mut self) {
        let held = std::mem::take(&mut *self.held());
        self.writer.detach(move |connection| {
            for (thread_id, held) in held {
                // A row that stays is replaced by the next writer's.
                let _ = lease::release(connection, &thread_id, held.token);
            }
        });
    }
}
