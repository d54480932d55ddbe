//! One connection: how it is made, kept, and made anew when it was lost.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use tokio::time::{sleep, timeout};
use tokio_postgres::{Client, Error, NoTls, Statement};
use tracing::{info, warn};

use super::address::Address;
use super::error::{Failure, Stop};
use crate::base::log::STORE;
use crate::run::store::StoreError;
use crate::store::{Options, Sync};

/// A connection that is there.
pub(super) struct Session {
    /// Shared with who looks whether it still stands.
    pub(super) client: Arc<Client>,
    prepared: HashMap<&'static str, Statement>,
}

impl Session {
    /// A statement, prepared once for the connection.
    pub(super) async fn statement(&mut self, sql: &'static str) -> Result<Statement, Error> {
        if let Some(statement) = self.prepared.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(sql).await?;
        self.prepared.insert(sql, statement.clone());
        Ok(statement)
    }
}

/// Work on a connection.
#[async_trait]
pub(super) trait Work: Send + std::marker::Sync {
    /// What it gives.
    type Out: Send;

    /// Whether it may be done twice: only then it is, where the connection is lost in the middle of it.
    const REPEATABLE: bool = false;

    /// How many statements there are more than usual, one after the other: it may take as much longer.
    fn parts(&self) -> u32 {
        0
    }

    /// Does it. A transaction that was begun and not ended is rolled back where this fails.
    async fn run(&self, session: &mut Session) -> Result<Self::Out, Stop>;
}

/// A connection that may have been lost since, and is made where it is needed.
pub(super) struct Link {
    address: Arc<Address>,
    options: Options,
    session: Option<Session>,
    /// When the connection was lost that is not made again yet: what is logged.
    lost_at: Option<Instant>,
    /// When work first failed because there was no connection; `None` while there is one.
    lost_since: Option<Instant>,
}

impl Link {
    /// No connection yet.
    pub(super) fn new(address: Arc<Address>, options: Options) -> Self {
        Self {
            address,
            options,
            session: None,
            lost_at: None,
            lost_since: None,
        }
    }

    /// The connection, if there is one that stands.
    pub(super) fn standing(&mut self) -> Option<&mut Session> {
        let is_closed = |session: &Session| session.client.is_closed();
        if self.session.as_ref().is_some_and(is_closed) {
            self.lose();
        }
        self.session.as_mut()
    }

    /// Lets go of a connection that is lost.
    fn lose(&mut self) {
        warn!(target: STORE, store = &*self.address.shown, "connection lost");
        self.session = None;
        self.lost_at.get_or_insert_with(Instant::now);
    }

    /// Does a piece of work as [`Link::patiently`] does.
    ///
    /// # Errors
    /// The work's, and where no connection can be made.
    pub(super) async fn run<W: Work>(
        &mut self,
        work: &W,
        failure: &Failure,
    ) -> Result<W::Out, StoreError> {
        let done = self.patiently(work, failure).await;
        done.map_err(|stop| failure.of(stop))
    }

    /// Does a piece of work. Where the connection is lost or can't be made, another one is tried: at once, then with
    /// growing pauses until `reconnect_timeout` is over since the first failure. Work that was begun and may not be done
    /// twice is not.
    ///
    /// # Errors
    /// Of the last attempt.
    pub(super) async fn patiently<W: Work>(
        &mut self,
        work: &W,
        failure: &Failure,
    ) -> Result<W::Out, Stop> {
        let mut pause = Pause::default();
        loop {
            let stood = self.standing().is_some();
            let (begun, done) = match self.connect(failure).await {
                Ok(()) => (true, self.attempt(work, failure).await),
                Err(stop) => (false, Err(stop)),
            };
            let stop = match done {
                Ok(out) => {
                    self.lost_since = None;
                    if let Some(at) = self.lost_at.take() {
                        let lost_ms = u64::try_from(at.elapsed().as_millis());
                        let lost_ms = lost_ms.unwrap_or(u64::MAX);
                        let store = &*self.address.shown;
                        info!(target: STORE, store, lost_ms, "connected again");
                    }
                    return Ok(out);
                }
                Err(stop) => stop,
            };
            let lost = stop.is_lost();
            // The server may not have noticed yet that the lost connection is gone, and keep its locks.
            let locked = self.lost_since.is_some() && stop.is_locked();
            if !(lost || locked) {
                self.lost_since = None;
                return Err(stop);
            }
            let since = *self.lost_since.get_or_insert_with(Instant::now);
            let over = since.elapsed() >= self.address.reconnect_timeout;
            match lost && stood {
                _ if begun && !W::REPEATABLE => return Err(stop),
                // A connection that was idle is often found dead while the server is well.
                true => {}
                false if over => return Err(stop),
                false => pause.sleep().await,
            }
        }
    }

    /// Does a piece of work, and nothing again.
    ///
    /// # Errors
    /// As of [`Link::run`].
    pub(super) async fn once<W: Work>(
        &mut self,
        work: &W,
        failure: &Failure,
    ) -> Result<W::Out, StoreError> {
        let done = match self.connect(failure).await {
            Ok(()) => self.attempt(work, failure).await,
            Err(stop) => Err(stop),
        };
        done.map_err(|stop| failure.of(stop))
    }

    /// Makes the connection where there is none that stands.
    async fn connect(&mut self, failure: &Failure) -> Result<(), Stop> {
        if self.standing().is_none() {
            self.session = Some(connect(&self.address, &self.options, failure).await?);
        }
        Ok(())
    }

    /// Does a piece of work over the connection. Where that failed, the connection is ready for the next, or let go.
    async fn attempt<W: Work>(&mut self, work: &W, failure: &Failure) -> Result<W::Out, Stop> {
        let limit = (2 + work.parts()) * self.address.statement_timeout;
        let Some(session) = &mut self.session else {
            return Err(Stop::Lost(failure.lost()));
        };
        let Ok(done) = timeout(limit, work.run(session)).await else {
            self.lose();
            return Err(failure.silent(limit.as_secs()));
        };
        if done.is_err() {
            let rollback = session.client.batch_execute("ROLLBACK");
            if !matches!(timeout(ROLLBACK, rollback).await, Ok(Ok(()))) {
                self.lose();
            }
        }
        done
    }
}

/// Pauses between attempts, each twice as long as the one before.
pub(super) struct Pause(Duration);

/// The longest pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

impl Default for Pause {
    fn default() -> Self {
        Self(Duration::from_millis(100))
    }
}

impl Pause {
    pub(super) async fn sleep(&mut self) {
        sleep(self.0).await;
        self.0 = (self.0 * 2).min(LONGEST_PAUSE);
    }
}

/// How long a rollback may take before the connection is given up, which rolls back as well.
const ROLLBACK: Duration = Duration::from_secs(5);

/// A connection as the address has it, without settings.
pub(super) async fn open(address: &Address) -> Result<Client, Error> {
    match &address.tls {
        Some(tls) => {
            let (client, connection) = address.config.connect(tls.clone()).await?;
            tokio::spawn(connection);
            Ok(client)
        }
        None => {
            let (client, connection) = address.config.connect(NoTls).await?;
            // Why it ended is told to whose statement it was.
            tokio::spawn(connection);
            Ok(client)
        }
    }
}

async fn connect(address: &Address, options: &Options, failure: &Failure) -> Result<Session, Stop> {
    let limit = address.connect_timeout;
    let connecting = async {
        let client = open(address).await?;
        client.batch_execute(&settings(address, options)).await?;
        Ok(client)
    };
    match timeout(limit, connecting).await {
        Ok(Ok(client)) => Ok(Session {
            client: Arc::new(client),
            prepared: HashMap::new(),
        }),
        Ok(Err(error)) => Err(failure.unreachable(&error)),
        Err(_) => Err(Stop::Lost(failure.because(&format!(
            "no connection could be made within {} s (`?connect_timeout=SECONDS` gives it more \
             time)",
            limit.as_secs()
        )))),
    }
}

/// What a connection is set to.
///
/// - The tables are found by the schema alone.
/// - Every statement goes by an index and is planned once: a plan of today's small table would be the wrong one for
///   tomorrow's, and statistics may not be there for minutes. For the same reason statements that join say in which
///   order: `LATERAL`, and `LIMIT` or `OFFSET 0` in it, are evaluated as they are written.
/// - A machine that is gone frees what it holds within half a minute; one that waits for a model for hours keeps it.
fn settings(address: &Address, options: &Options) -> String {
    let schema = quoted(&address.schema);
    let statement = address.statement_timeout.as_millis();
    let lock = options.busy_timeout.as_millis().max(1);
    let durable = match options.sync {
        Sync::Normal => "",
        // Not where the administrator asks for more, such as a copy on another machine.
        Sync::Full => {
            "; SELECT set_config('synchronous_commit', 'on', false) \
             WHERE current_setting('synchronous_commit') IN ('off', 'local')"
        }
    };
    format!(
        "SET search_path = {schema}; SET statement_timeout = {statement}; SET lock_timeout = {lock}; \
         SET idle_in_transaction_session_timeout = 60000; \
         SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3; \
         SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_bitmapscan = off; \
         SET enable_hashjoin = off; SET enable_mergejoin = off; SET jit = off; \
         SELECT set_config(name, '0', false) FROM pg_settings WHERE name = 'idle_session_timeout'{durable}"
    )
}

/// A name in SQL, where no parameter can stand.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
