//! Threads in a PostgreSQL database, for several machines.
//!
//! [`address`] reads where it is and [`tls`] how the way there is encrypted; [`session`] keeps a connection, and makes it
//! anew where it is lost; [`schema`] brings the tables up to date. [`writer`] collects appends, [`batch`] checks them,
//! [`append`] and [`add`] write them ([`rows`], [`columns`]); [`read`], [`image`] and [`past`] turn rows back into records, [`fork`] and [`compact`] do what their names say, [`cache`] has results of nodes that are used again, [`items`] long-term memory; [`lease`]
//! says who may write, [`remove`] takes a thread away; [`server`] is for others that ask a database; [`name`] is how names are kept and [`error`] what goes wrong.
//!
//! A thread of the system's owns all connections and does all the work, so that a store outlives the runtime that it was
//! opened on, and a caller that stops waiting leaves nothing half done: [`inner`]. There are three connections, made when they are first
//! needed: one reads, one writes, one has the locks of the threads that are being written.

mod add;
mod address;
mod append;
mod batch;
mod cache;
mod chunk;
mod columns;
mod compact;
mod error;
mod fork;
mod image;
mod inner;
mod items;
mod lease;
mod name;
mod past;
mod read;
mod remove;
mod rows;
mod schema;
mod server;
mod session;
mod store;
mod tls;
mod writer;

use std::future::Future;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::timeout;

pub use self::server::{Cancel, Connection, Server, Unreachable, lost, words};

use self::address::Address;
use self::inner::Inner;
use self::writer::Job;
use super::Options;
use crate::run::store::StoreError;

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
        let locks = inner.clone();
        let locks = tokio::spawn(async move { locks.keep_locks().await });
        writer::serve(jobs, inner.writer.clone(), failure).await;
        locks.abort();
        let _ = timeout(FAREWELL, inner.release_all()).await;
    });
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
