//! Threads in a PostgreSQL database, for several machines.
//!
//! [`address`] reads where it is and [`tls`] how the way there is encrypted; [`session`] keeps a connection and
//! [`schema`] brings the tables up to date. [`writer`] collects appends, [`batch`] checks them and [`append`] writes
//! them; [`read`] and [`image`] turn rows back into records, [`kept`] has results of nodes that are used again; [`lease`]
//! says who may write, [`remove`] takes a thread away; [`name`] is how names are kept and [`error`] what goes wrong.
//!
//! A thread of the system's owns all connections and does all the work, so that a store outlives the runtime that it was
//! opened on, and a caller that stops waiting leaves nothing half done. There are three connections, made when they are first
//! needed: one reads, one writes, one has the locks of the threads that are being written.

mod address;
mod append;
mod batch;
mod columns;
mod error;
mod image;
mod kept;
mod lease;
mod name;
mod read;
mod remove;
mod schema;
mod session;
mod tls;
mod writer;

use std::collections::{BTreeMap, HashMap};
use std::future::Future;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value as Json;
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::time::timeout;

use self::address::Address;
use self::error::Failure;
use self::lease::Thread;
use self::read::Reading;
use self::session::{Link, Work};
use self::writer::{Held, Holding, Job};
use super::Options;
use super::append::Append;
use crate::run::store::{
    CheckpointInfo, Lease, Record, Store, StoreError, ThreadImage, ThreadInfo,
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

/// What is shared with work under way.
struct Inner {
    address: Arc<Address>,
    reader: tokio::sync::Mutex<Link>,
    writer: Arc<tokio::sync::Mutex<Link>>,
    leases: tokio::sync::Mutex<Link>,
    held: Held,
    failure: Failure,
    /// Of reads.
    reads: Failure,
    /// Whether kept results that have run out were let go: once is enough for a process.
    swept: AtomicBool,
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
        let address = Arc::new(Address::parse(url, base)?);
        let failure = Failure::new(&address.shown, "opened");
        let link = || Link::new(address.clone(), options);
        let inner = Arc::new(Inner {
            reader: tokio::sync::Mutex::new(link()),
            writer: Arc::new(tokio::sync::Mutex::new(link())),
            leases: tokio::sync::Mutex::new(link()),
            held: Held::default(),
            failure: failure.clone(),
            reads: failure.doing("read"),
            swept: AtomicBool::new(false),
            address,
        });
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

impl Inner {
    fn held(&self) -> MutexGuard<'_, HashMap<String, Holding>> {
        // The map is whole even where somebody panicked: each change of it is one call.
        lock(&self.held)
    }

    fn thread<'a>(&'a self, id: &'a str) -> Thread<'a> {
        Thread {
            schema: &self.address.schema,
            id,
        }
    }

    fn reading<'a>(&'a self, thread_id: &'a str) -> Reading<'a> {
        Reading {
            thread_id,
            failure: &self.reads,
        }
    }

    async fn migrate(&self) -> Result<(), StoreError> {
        let work = schema::Migrate {
            schema: &self.address.schema,
            failure: &self.failure,
        };
        self.reader.lock().await.run(&work, &self.failure).await
    }

    async fn read<W: Work>(&self, work: &W) -> Result<W::Out, StoreError> {
        let failure = self.failure.doing("read");
        self.reader.lock().await.run(work, &failure).await
    }

    async fn write<W: Work>(&self, work: &W) -> Result<W::Out, StoreError> {
        let failure = self.failure.doing("written");
        self.writer.lock().await.run(work, &failure).await
    }

    async fn acquire(&self, thread_id: &str) -> Result<Lease, StoreError> {
        let failure = self.failure.doing("written");
        let mut link = self.leases.lock().await;
        {
            let mut held = self.held();
            // A lock that went with its connection holds nothing.
            held.retain(|_, holding| !holding.client.is_closed());
            if held.contains_key(thread_id) {
                return Err(StoreError::Busy {
                    thread_id: thread_id.to_owned(),
                    holder: super::holder::named(super::holder::this_process()),
                });
            }
        }
        let token = link
            .run(&lease::Acquire(self.thread(thread_id)), &failure)
            .await?;
        let Some(session) = link.standing() else {
            return Err(failure.lost());
        };
        let client = session.client.clone();
        self.held()
            .insert(thread_id.to_owned(), Holding { token, client });
        Ok(Lease {
            thread_id: thread_id.to_owned(),
            token,
        })
    }

    async fn release(&self, lease: &Lease) -> Result<(), StoreError> {
        let failure = self.failure.doing("written");
        let mut link = self.leases.lock().await;
        {
            let mut held = self.held();
            match held.get(&lease.thread_id) {
                Some(holding) if holding.token == lease.token => held.remove(&lease.thread_id),
                // An old lease has nothing to give back.
                _ => return Ok(()),
            };
        }
        if link.standing().is_none() {
            // The server has freed the lock with the connection.
            return Err(failure.lost());
        }
        let all = [(self.thread(&lease.thread_id), lease.token)];
        link.run(&lease::Release(&all), &failure).await
    }

    async fn release_all(&self) {
        let failure = self.failure.doing("written");
        let mut link = self.leases.lock().await;
        let held = std::mem::take(&mut *self.held());
        if link.standing().is_none() {
            return;
        }
        let all = held
            .iter()
            .map(|(id, holding)| (self.thread(id), holding.token));
        let all: Vec<_> = all.collect();
        // The server frees what stays when the connection ends, in a moment.
        let _ = link.run(&lease::Release(&all), &failure).await;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.run(|inner| async move { inner.read(&image::Load(inner.reading(&id))).await })
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
