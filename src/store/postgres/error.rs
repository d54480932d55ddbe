//! What the server and the connection to it report, in words that say what can be done.

use std::error::Error as _;
use std::sync::Arc;

use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use crate::run::store::StoreError;

/// Turns errors of one kind of work on one database into [`StoreError`]s.
#[derive(Clone)]
pub(super) struct Failure {
    /// The database for people.
    shown: Arc<str>,
    /// What couldn't be done, as in "can't be *read*".
    doing: &'static str,
}

/// Why a piece of work came to nothing.
pub(super) enum Stop {
    /// The server or the connection.
    Sql(Error),
    /// There is no connection, or none any more: another one may do.
    Lost(StoreError),
    /// Anything that is known already.
    Store(StoreError),
}

impl Stop {
    /// Whether the connection is gone, so that the work may be done over another one.
    pub(super) fn is_lost(&self) -> bool {
        match self {
            Stop::Sql(error) => is_lost(error),
            Stop::Lost(_) => true,
            Stop::Store(_) => false,
        }
    }

    /// Whether somebody else holds what the work needs.
    pub(super) fn is_locked(&self) -> bool {
        matches!(self, Stop::Sql(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE))
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Sql(error)
    }
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Stop::Store(error)
    }
}

/// Whether the connection is gone, as opposed to a statement that failed.
pub(super) fn is_lost(error: &Error) -> bool {
    let ended = [
        SqlState::ADMIN_SHUTDOWN,
        SqlState::CRASH_SHUTDOWN,
        SqlState::CANNOT_CONNECT_NOW,
        SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT,
    ];
    match error.code() {
        // Class 08 are failures of a connection, as a pooler reports them of the server behind it.
        Some(code) => ended.contains(code) || code.code().starts_with("08"),
        None => {
            let io = |e: &(dyn std::error::Error + 'static)| e.is::<std::io::Error>();
            error.is_closed() || error.source().is_some_and(io)
        }
    }
}

/// The innermost reason, which is the one that says something.
pub(super) fn innermost(error: &Error) -> String {
    if let Some(error) = error.as_db_error() {
        return error.message().to_owned();
    }
    let mut reason: &dyn std::error::Error = error;
    while let Some(source) = reason.source() {
        reason = source;
    }
    reason.to_string()
}

impl Failure {
    /// Of work such as `read` on the database.
    pub(super) fn new(shown: &str, doing: &'static str) -> Self {
        Self {
            shown: shown.into(),
            doing,
        }
    }

    /// The same database, other work.
    pub(super) fn doing(&self, doing: &'static str) -> Self {
        Self {
            shown: self.shown.clone(),
            doing,
        }
    }

    /// The error of a piece of work.
    pub(super) fn of(&self, stop: Stop) -> StoreError {
        match stop {
            Stop::Sql(error) => self.of_sql(&error),
            Stop::Lost(error) | Stop::Store(error) => error,
        }
    }

    fn of_sql(&self, error: &Error) -> StoreError {
        if is_lost(error) {
            return self.lost();
        }
        let said = innermost(error);
        let Some(code) = error.code() else {
            // A column that holds what its table can't: somebody has changed the tables.
            let text = error.to_string();
            return match text.starts_with("error deserializing") {
                true => StoreError::Corrupt {
                    message: format!(
                        "the store `{}` holds what this program doesn't write: {said}",
                        self.shown
                    ),
                },
                false => self.because(&said),
            };
        };
        if [SqlState::DATA_CORRUPTED, SqlState::INDEX_CORRUPTED].contains(code) {
            return StoreError::Corrupt {
                message: format!(
                    "the store `{}` is damaged ({said}): restore it from a backup",
                    self.shown
                ),
            };
        }
        match way_out(code) {
            Some(way_out) => self.because(&format!("{said}; {way_out}")),
            None => self.because(&said),
        }
    }

    /// No connection could be made.
    pub(super) fn unreachable(&self, error: &Error) -> Stop {
        match error.code() {
            Some(&SqlState::TOO_MANY_CONNECTIONS) => Stop::Lost(self.of_sql(error)),
            Some(_) if !is_lost(error) => Stop::Store(self.of_sql(error)),
            _ => Stop::Lost(self.because(&format!(
                "no connection to the server can be made: {}; check that it is running and that the address is right",
                innermost(error)
            ))),
        }
    }

    /// The connection broke off before anything was decided.
    pub(super) fn lost(&self) -> StoreError {
        self.because(
            "the connection to the server was lost; nothing was written; resume when it is back",
        )
    }

    /// It broke off between a commit and its answer.
    pub(super) fn in_doubt(&self) -> StoreError {
        self.because(
            "the connection to the server was lost while the last records were on their way; \
             they are kept all or not at all, and a resume goes by what is kept",
        )
    }

    /// No answer came in time; the connection is given up.
    pub(super) fn silent(&self, seconds: u64) -> Stop {
        Stop::Lost(self.because(&format!(
            "the server has given no answer for {seconds} s; check it and the way to it, then resume"
        )))
    }

    /// What was read of a thread makes no sense.
    pub(super) fn corrupt(&self, thread_id: &str, what: &str, reason: &str) -> StoreError {
        StoreError::Corrupt {
            message: format!(
                "the store `{}` is damaged: {what} of thread `{thread_id}` {reason}",
                self.shown
            ),
        }
    }

    /// What was read of memory makes no sense.
    pub(super) fn damaged(&self, what: &str) -> StoreError {
        StoreError::Corrupt {
            message: format!(
                "the store `{}` is damaged: {what} can't be read",
                self.shown
            ),
        }
    }

    /// Anything else that keeps the database from being worked on.
    pub(super) fn because(&self, reason: &str) -> StoreError {
        StoreError::Unavailable {
            message: format!(
                "the store `{}` can't be {}: {reason}",
                self.shown, self.doing
            ),
        }
    }
}

/// What can be done about an error of the server.
fn way_out(code: &SqlState) -> Option<&'static str> {
    let known: [(&SqlState, &str); 14] = [
        (
            &SqlState::INVALID_PASSWORD,
            "check the user and the password in the store's address",
        ),
        (
            &SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
            "check the user in the store's address and the server's pg_hba.conf",
        ),
        (
            &SqlState::INVALID_CATALOG_NAME,
            "make it (`createdb`), or name another",
        ),
        (
            &SqlState::DISK_FULL,
            "free some space on the server, then resume",
        ),
        (
            &SqlState::TOO_MANY_CONNECTIONS,
            "raise the server's `max_connections`, or run fewer processes at once",
        ),
        (
            &SqlState::READ_ONLY_SQL_TRANSACTION,
            "it is read-only: name the server that takes writes",
        ),
        (
            &SqlState::INSUFFICIENT_PRIVILEGE,
            "grant the user that right, or name another schema (`?schema=`)",
        ),
        (
            &SqlState::LOCK_NOT_AVAILABLE,
            "another program keeps it locked: wait until it is done, or end it",
        ),
        (
            &SqlState::QUERY_CANCELED,
            "see what the server is busy with, or give it more time (`?statement_timeout=SECONDS`)",
        ),
        (&SqlState::IO_ERROR, "check the server's disk, then resume"),
        (
            &SqlState::OUT_OF_MEMORY,
            "give the server more memory, then resume",
        ),
        (
            &SqlState::UNDEFINED_TABLE,
            "the tables were taken away or changed while it was in use",
        ),
        (
            &SqlState::UNDEFINED_COLUMN,
            "the tables were changed while it was in use",
        ),
        (
            &SqlState::INVALID_SCHEMA_NAME,
            "make it (`CREATE SCHEMA`), or name another",
        ),
    ];
    let found = known.iter().find(|(known, _)| *known == code);
    found.map(|(_, way_out)| *way_out)
}
