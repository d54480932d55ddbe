//! Connections to one PostgreSQL database, shared by all tools that name it: a bounded number, made when they are needed and
//! used again.

use std::sync::{Mutex, PoisonError};

use tokio::sync::{Semaphore, SemaphorePermit};

use crate::backend::wire::Failure;
use crate::ir::ErrorKind;
use crate::run::model::CallContext;
use crate::store::{self, Connection, Server};

/// How many there may be at the same time.
const MOST: usize = 8;

/// Connections to a database.
pub struct Pool {
    server: Server,
    idle: Mutex<Vec<Connection>>,
    turns: Semaphore,
}

/// A connection for one call. Where it is dropped at work the server is told to end that, else the next call may have it.
pub struct Borrowed<'p> {
    pool: &'p Pool,
    connection: Option<Connection>,
    /// Whether it is in the midst of something.
    at_work: bool,
    _turn: SemaphorePermit<'p>,
}

impl Pool {
    /// None so far.
    pub fn new(server: Server) -> Self {
        Self {
            server,
            idle: Mutex::default(),
            turns: Semaphore::new(MOST),
        }
    }

    /// A place among the calls at the same time, which is no time of the call.
    ///
    /// # Errors
    /// The run was cancelled.
    pub async fn turn(&self, cx: &CallContext) -> Result<SemaphorePermit<'_>, Failure> {
        if let Ok(turn) = self.turns.try_acquire() {
            return Ok(turn);
        }
        let _waits = cx.waits.begin();
        tokio::select! {
            biased;
            () = cx.stop.cancelled() => Err(Failure::cancelled().unsent()),
            turn = self.turns.acquire() => turn.map_err(|_| Failure::cancelled().unsent()),
        }
    }

    /// A connection that stands, as far as is known; a new one where none is idle.
    ///
    /// # Errors
    /// `Network` where none can be made, `Auth` where the server refuses.
    pub async fn borrow<'p>(&'p self, turn: SemaphorePermit<'p>) -> Result<Borrowed<'p>, Failure> {
        let idle = || {
            let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            idle.retain(|connection| !connection.client.is_closed());
            idle.pop()
        };
        let mut connection = None;
        while connection.is_none()
            && let Some(waiting) = idle()
        {
            // A server that was started anew since has closed what is idle.
            let answers = waiting.client.batch_execute("").await.is_ok();
            connection = answers.then_some(waiting);
        }
        let connection = match connection {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        Ok(Borrowed {
            pool: self,
            connection: Some(connection),
            at_work: false,
            _turn: turn,
        })
    }

    /// Has a connection answer a trivial query. Gives the address as it may be shown.
    ///
    /// # Errors
    /// As [`Pool::borrow`] has them, and what the server says to the query.
    pub async fn answers(&self) -> Result<&str, Failure> {
        let connection = self.connect().await?;
        let answer = connection.client.batch_execute("SELECT 1").await;
        match answer {
            Ok(()) => Ok(self.server.shown()),
            Err(error) => Err(Failure::network(store::words(&error))),
        }
    }

    async fn connect(&self) -> Result<Connection, Failure> {
        self.server.connect().await.map_err(|error| {
            let kind = match error.refused {
                true => ErrorKind::Auth,
                false => ErrorKind::Network,
            };
            Failure::new(kind, error.message).unsent()
        })
    }
}

impl Borrowed<'_> {
    /// The connection, for work that is under way from now on.
    pub fn begin(&mut self) -> Option<&mut Connection> {
        self.at_work = true;
        self.connection.as_mut()
    }

    /// The work has come to its end.
    pub fn end(&mut self) {
        self.at_work = false;
    }
}

impl Drop for Borrowed<'_> {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else {
            return;
        };
        if !self.at_work {
            let idle = &self.pool.idle;
            let mut idle = idle.lock().unwrap_or_else(PoisonError::into_inner);
            idle.push(connection);
        } else if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(connection.cancel().send());
        }
    }
}
