//! Threads in a PostgreSQL database, for several machines.
//!
//! [`address`] reads where it is and [`tls`] how the way there is encrypted; [`session`] keeps a connection and
//! [`schema`] brings the tables up to date. [`writer`] collects appends, [`batch`] checks them and [`append`] writes
//! them; [`read`], [`image`] and [`past`] turn rows back into records, [`fork`] and [`compact`] do what their names say, [`kept`] has results of nodes that are used again; [`lease`]
//! says who may write, [`remove`] takes a thread away; [`name`] is how names are kept and [`error`] what goes wrong.
//!
//! A thread of the system's owns all connections and does all the work, so that a store outlives the runtime that it was
//! opened on, and a caller that stops waiting leaves nothing half done: [`inner`]. There are three connections, made when they are first
//! needed: one reads, one writes, one has the locks of the threads that are being written.

mod address;
mod append;
mod batch;
mod columns;
mod compact;
mod error;
mod fork;
mod image;
mod inner;
mod kept;
mod lease;
mod name;
mod past;
mod read;
mod remove;
mod schema;
mod session;
mod tls;
mod writer;

use std::collections::BTreeMap;
use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value as Json;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use self::address::Address;
use self::inner::Inner;
use self::past::Page;
use self::writer::Job;
use super::Options;
use super::append::Append;
use crate::run::store::{
    Checkpoint, CheckpointInfo, Compacted, Effects, Keep, Lease, ListedEffect, Record, Store,
    StoreError, ThreadImage, ThreadInfo,
};
use crate::value::Value;

/// Keeps threads in a PostgreSQL database. Dropping it waits for appends under way, then gives all of its threads back.
pub struct PostgresStore {
    inner: Arc<Inner>,
    /// Taken when the store is dropped: then the queue ends.
    queue: Option<mpsc::UnboundedSender<Job>>,
    handle: Handle,
    thread: Option<JoinHandle<()>>,
}

/// How long dropping a store may wait for threads to be given back; the server does it for connections that end.
const FAREWELL: Duration = Duration::from_secs(5);

impl PostgresStore {
    /// Opens the store at an address such as `postgres://USER:PASSWORD@HOST/DATABASE?schema=NAME`, and makes its tables where
    /// they aren't there. A certificate (`sslrootcert`) is named from `base`.
    ///
    /// # Errors
    /// Where the address isn't one, the server can't be reached or refuses, or the schema is no store of this version or
    /// an older one.
    pub fn open_with(url: &str, base: &Path, options: Options) -> Result<Self, StoreError> {
        let inner = Arc::new(Inner::new(Address::parse(url, base)?, options));
        let failure = inner.failure.clone();
        let (queue, jobs) = mpsc::unbounded_channel();
        let (ready, opened) = std::sync::mpsc::channel();
        let own = inner.clone();
        let thread = std::thread::Builder::new()
            .name("store-postgres".to_owned())
            .spawn(move || serve(&own, jobs, &ready))
            .map_err(|error| failure.because(&format!("no thread could be started: {error}")))?;
        let ended = || failure.because("its thread has ended unexpectedly");
        match opened.recv().map_err(|_| ended()).flatten() {
            Ok(handle) => Ok(Self {
                inner,
                queue: Some(queue),
                handle,
                thread: Some(thread),
            }),
            Err(error) => {
                drop(queue);
                let _ = thread.join();
                Err(error)
            }
        }
    }

    /// An address as it may be shown: without user and password. `None` where it isn't one.
    pub fn shown(url: &str, base: &Path) -> Option<String> {
        Address::parse(url, base).ok().map(|address| address.shown)
    }

    /// Whether an address has a password in it, or can't be read.
    pub fn has_password(url: &str) -> bool {
        Address::parse(url, Path::new("")).map_or(true, |address| address.secret)
    }

    /// Does work on the store's thread, to its end, also where the caller stops waiting.
    async fn run<T, F>(&self, work: impl FnOnce(Arc<Inner>) -> F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, StoreError>> + Send + 'static,
    {
        let ended = |_| {
            self.inner
                .failure
                .because("its thread has ended unexpectedly")
        };
        self.handle
            .spawn(work(self.inner.clone()))
            .await
            .map_err(ended)?
    }
}

/// The store's thread: opens the database, then works until the store is dropped.
fn serve(
    inner: &Arc<Inner>,
    jobs: mpsc::UnboundedReceiver<Job>,
    ready: &std::sync::mpsc::Sender<Result<Handle, StoreError>>,
) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            let _ = ready.send(Err(inner.failure.because(&error.to_string())));
            return;
        }
    };
    runtime.block_on(async {
        let opened = inner.migrate().await;
        let failed = opened.is_err();
        let _ = ready.send(opened.map(|()| Handle::current()));
        if failed {
            return;
        }
        let failure = inner.failure.doing("written");
        writer::serve(jobs, inner.writer.clone(), inner.held.clone(), failure).await;
        let _ = timeout(FAREWELL, inner.release_all()).await;
    });
}

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

    async fn kept(&self, key: &str, now: i64) -> Result<Option<Json>, StoreError> {
        if !self.inner.swept.swap(true, Ordering::Relaxed) {
            let inner = self.inner.clone();
            self.handle.spawn(async move {
                // Rows that stay hold no longer all the same.
                let _ = inner.write(&kept::Sweep { now }).await;
            });
        }
        let key = key.to_owned();
        self.run(move |inner| async move { inner.read(&kept::Find { key: &key, now }).await })
            .await
    }

    async fn keep(&self, key: &str, result: &Json, until: Option<i64>) -> Result<(), StoreError> {
        let (key, result) = (key.to_owned(), result.to_string());
        self.run(move |inner| async move {
            let (key, result) = (key.as_str(), result.as_str());
            inner.write(&kept::Put { key, result, until }).await
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
}

impl Drop for PostgresStore {
    /// The queue ends behind all appends that are in it; then the threads are given back.
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
