//! What a store's work is done with.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::{Arc, MutexGuard, PoisonError};

use tokio::sync::Mutex;

use super::address::Address;
use super::error::Failure;
use super::lease::{self, Thread};
use super::read::Reading;
use super::schema;
use super::session::{Link, Work};
use super::writer::{Held, Holding};
use crate::run::store::{Lease, StoreError};
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
    pub(super) held: Held,
    pub(super) failure: Failure,
    /// Of reads.
    pub(super) reads: Failure,
    /// Whether kept results that have run out were let go: once is enough for a process.
    pub(super) swept: AtomicBool,
    /// How many writes to long-term memory this process has made.
    pub(super) memory_writes: AtomicU64,
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
            held: Held::default(),
            reads: failure.doing("read"),
            failure,
            swept: AtomicBool::new(false),
            memory_writes: AtomicU64::new(0),
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
        self.reader.lock().await.run(&work, &self.failure).await
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

    pub(super) async fn acquire(&self, thread_id: &str) -> Result<Lease, StoreError> {
        let failure = self.failure.doing("written");
        let mut link = self.leases.lock().await;
        {
            let mut held = self.held();
            // A lock that went with its connection holds nothing.
            held.retain(|_, holding| !holding.client.is_closed());
            if held.contains_key(thread_id) {
                return Err(StoreError::Busy {
                    thread_id: thread_id.to_owned(),
                    holder: holder::named(holder::this_process()),
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
            // The server has freed the lock with the connection.
            return Err(failure.lost());
        }
        let all = [(self.thread(&lease.thread_id), lease.token)];
        link.run(&lease::Release(&all), &failure).await
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
}
