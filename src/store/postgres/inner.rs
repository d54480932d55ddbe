//! What a store's work is done with.

use std::collections::HashMap;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Mutex;
use tokio::time::sleep;
use tokio_postgres::Client;

use super::address::Address;
use super::error::Failure;
use super::lease::{self, Retaken, Thread};
use super::read::Reading;
use super::schema;
use super::session::{Link, Pause, Work};
use crate::run::store::{Lease, StoreError};
use crate::store::sweep::Sweeps;
use crate::store::{Options, holder};

/// What is shared with work under way.
pub(super) struct Inner {
    pub(super) address: Arc<Address>,
    pub(super) reader: Mutex<Link>,
    pub(super) writer: Arc<Mutex<Link>>,
    pub(super) leases: Mutex<Link>,
    /// Long-term memory is written by a connection of its own: a write there may wait for other processes, and a run's records don't
    /// wait for it.
    memory: Mutex<Link>,
    /// Threads that are written here.
    held: std::sync::Mutex<HashMap<String, Holding>>,
    pub(super) failure: Failure,
    /// Of reads.
    pub(super) reads: Failure,
    /// When kept results that have run out are let go.
    pub(super) kept_sweeps: Sweeps,
    /// When long-term memory that has run out is let go.
    pub(super) memory_sweeps: Sweeps,
}

impl Inner {
    /// Of a database that nothing is connected to yet.
    pub(super) fn new(address: Address, options: Options) -> Self {
        let address = Arc::new(address);
        let failure = Failure::new(&address.shown, "opened");
        let link = || Link::new(address.clone(), options);
        Self {
            reader: Mutex::new(link()),
            writer: Arc::new(Mutex::new(link())),
            leases: Mutex::new(link()),
            memory: Mutex::new(link()),
            held: Default::default(),
            reads: failure.doing("read"),
            failure,
            kept_sweeps: Sweeps::default(),
            memory_sweeps: Sweeps::default(),
            address,
        }
    }

    fn held(&self) -> MutexGuard<'_, HashMap<String, Holding>> {
        // The map is whole even where somebody panicked: each change of it is one call.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn thread<'a>(&'a self, id: &'a str) -> Thread<'a> {
        Thread {
            schema: &self.address.schema,
            id,
        }
    }

    pub(super) fn reading<'a>(&'a self, thread_id: &'a str) -> Reading<'a> {
        Reading {
            thread_id,
            failure: &self.reads,
        }
    }

    pub(super) async fn migrate(&self) -> Result<(), StoreError> {
        let work = schema::Migrate {
            schema: &self.address.schema,
            failure: &self.failure,
        };
        self.reader.lock().await.once(&work, &self.failure).await
    }

    pub(super) async fn read<W: Work>(&self, work: &W) -> Result<W::Out, StoreError> {
        let failure = self.failure.doing("read");
        self.reader.lock().await.run(work, &failure).await
    }

    pub(super) async fn write<W: Work>(&self, work: &W) -> Result<W::Out, StoreError> {
        let failure = self.failure.doing("written");
        self.writer.lock().await.run(work, &failure).await
    }

    /// Writes long-term memory.
    pub(super) async fn remember<W: Work>(&self, work: &W) -> Result<W::Out, StoreError> {
        let failure = self.failure.doing("written");
        self.memory.lock().await.run(work, &failure).await
    }

    /// Takes a thread that nobody holds: neither another process, nor a run of this one until it has given it back,
    /// also where its lock went with the connection.
    pub(super) async fn acquire(&self, thread_id: &str) -> Result<Lease, StoreError> {
        let failure = self.failure.doing("written");
        let mut link = self.leases.lock().await;
        if self.held().contains_key(thread_id) {
            return Err(StoreError::Busy {
                thread_id: thread_id.to_owned(),
                holder: holder::named(holder::this_process()),
            });
        }
        let token = link
            .run(&lease::Acquire(self.thread(thread_id)), &failure)
            .await?;
        let Some(session) = link.standing() else {
            return Err(failure.lost());
        };
        let lock = Lock::On(session.client.clone());
        let holding = Holding { token, lock };
        self.held().insert(thread_id.to_owned(), holding);
        Ok(Lease {
            thread_id: thread_id.to_owned(),
            token,
        })
    }

    pub(super) async fn release(&self, lease: &Lease) -> Result<(), StoreError> {
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
            // The server frees the lock with the connection.
            return Ok(());
        }
        let all = [(self.thread(&lease.thread_id), lease.token)];
        match link.patiently(&lease::Release(&all), &failure).await {
            Err(stop) if stop.is_lost() => Ok(()),
            done => done.map_err(|stop| failure.of(stop)),
        }
    }

    pub(super) async fn release_all(&self) {
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

    /// Takes locks again that went with their connection, as long as the store is open.
    pub(super) async fn keep_locks(&self) {
        let mut pause = Pause::default();
        loop {
            match self.retake_locks().await {
                Ok(()) => {
                    pause = Pause::default();
                    sleep(LOOK).await;
                }
                Err(_) => pause.sleep().await,
            }
        }
    }

    /// Threads whose lock went with its connection.
    fn without_lock(&self) -> Vec<String> {
        let held = self.held();
        let lost = held.iter().filter(|(_, holding)| holding.has_lost_lock());
        lost.map(|(id, _)| id.clone()).collect()
    }

    async fn retake_locks(&self) -> Result<(), StoreError> {
        for id in self.without_lock() {
            let mut link = self.leases.lock().await;
            // It may have been given back meanwhile.
            let holding = self.held().get(&id).filter(|h| h.has_lost_lock()).cloned();
            let Some(Holding { token, .. }) = holding else {
                continue;
            };
            let retake = lease::Retake(self.thread(&id), token);
            let retaken = link.once(&retake, &self.failure).await?;
            let lock = match (retaken, link.standing()) {
                (Retaken::Locked, Some(session)) => Lock::On(session.client.clone()),
                (Retaken::TakenOver, _) => Lock::TakenOver,
                (Retaken::Locked | Retaken::Waits, _) => continue,
            };
            self.held().insert(id, Holding { token, lock });
        }
        Ok(())
    }
}

/// A thread that this store writes.
#[derive(Clone)]
struct Holding {
    /// The fencing token.
    token: u64,
    lock: Lock,
}

/// What keeps others from taking a thread.
#[derive(Clone)]
enum Lock {
    /// The lock of a connection, as long as that stands.
    On(Arc<Client>),
    /// Nothing: another process has taken it over, and the next append is refused.
    TakenOver,
}

impl Holding {
    fn has_lost_lock(&self) -> bool {
        matches!(&self.lock, Lock::On(client) if client.is_closed())
    }
}

/// How often it is looked whether locks were lost.
const LOOK: Duration = Duration::from_millis(250);
