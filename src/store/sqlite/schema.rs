//! The tables, and how a connection to them is opened.
//!
//! What decided their shape:
//! - Rows of up to a few KiB lie in rowid tables (`writes`, `effects`): in a table without rowid a
//!   row of more than a quarter of a page takes a whole further page, four times what a message of
//!   1 KiB needs. New rows go to the end, into full pages.
//! - A committed step writes to few pages: one of `checkpoints`, and one of `writes` and one of its
//!   index where a field changed.
//! - `checkpoints.root_seq` is the latest checkpoint of the root so far, so that a resume finds it
//!   however many checkpoints of one subgraph call come after it.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::error::Failure;
use super::{Options, Sync};
use crate::run::store::StoreError;
use crate::store::private;

/// Marks a database as one of ours (`PRAGMA application_id`): `grfc`.
const APPLICATION_ID: i64 = 0x6772_6663;

/// Statement by statement from an empty file to the newest schema; `PRAGMA user_version` says how
/// many were done. Invariant: an entry that was released never changes.
const MIGRATIONS: &[&str] = &[
    include_str!("schema_1.sql"),
    include_str!("schema_2.sql"),
    include_str!("schema_3.sql"),
    include_str!("schema_4.sql"),
    include_str!("schema_5.sql"),
];

/// Opens the connection that writes: creates the file and its folder, and brings the schema up to
/// date.
pub(super) fn open_writer(path: &Path, options: &Options) -> Result<Connection, StoreError> {
    let failure = Failure::new(path, "opened");
    if let Some(folder) = path.parent() {
        private::make_folder(folder).map_err(|error| StoreError::Unavailable {
            message: format!(
                "the folder `{}` of the store can't be created: {error}",
                folder.display()
            ),
        })?;
    }
    let deadline = Instant::now() + options.busy_timeout;
    loop {
        match connect_writer(path, options) {
            Ok(connection) => return Ok(connection),
            // Several processes that make a file's write-ahead log at once are told so at once,
            // whatever the timeout says.
            Err(Opening::Failed(error)) if is_busy(&error) && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(Opening::Failed(error)) => return Err(failure.of(error)),
            Err(Opening::Refused(error)) => return Err(error),
        }
    }
}

/// Opens a connection that only reads.
pub(super) fn open_reader(path: &Path, options: &Options) -> Result<Connection, StoreError> {
    let open = || -> rusqlite::Result<Connection> {
        let connection = connect(path, options, OpenFlags::empty())?;
        connection.pragma_update(None, "query_only", true)?;
        Ok(connection)
    };
    open().map_err(|error| Failure::new(path, "opened").of(error))
}

/// Why a connection wasn't opened.
enum Opening {
    Failed(rusqlite::Error),
    Refused(StoreError),
}

impl From<rusqlite::Error> for Opening {
    fn from(error: rusqlite::Error) -> Self {
        Opening::Failed(error)
    }
}

/// Whether others hold the file.
pub(super) fn is_busy(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked)
    )
}

/// The path is taken as it is: without `SQLITE_OPEN_URI`, `file:x?mode=ro` is a name like others.
fn connect(path: &Path, options: &Options, flags: OpenFlags) -> rusqlite::Result<Connection> {
    let flags = flags | OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(options.busy_timeout)?;
    connection.set_prepared_statement_cache_capacity(64);
    // Otherwise a prepared statement is planned anew whenever other values are bound to it, which
    // costs several times what running it does.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    Ok(connection)
}

fn connect_writer(path: &Path, options: &Options) -> Result<Connection, Opening> {
    // SQLite gives its log and its index the rights of the file. What keeps it from being made, SQLite says better.
    let _ = private::file_options().open(path);
    let mut connection = connect(path, options, OpenFlags::SQLITE_OPEN_CREATE)?;
    check_owner(&connection, path)?;
    let mode: String = connection.query_row("PRAGMA journal_mode = WAL", [], |row| row.get(0))?;
    if mode != "wal" {
        return Err(Opening::Refused(StoreError::Unavailable {
            message: format!(
                "the store `{}` lies where SQLite can't keep a write-ahead log (its mode is \
                 `{mode}`): move it to a local disk",
                path.display()
            ),
        }));
    }
    let synchronous = match options.sync {
        Sync::Normal => "NORMAL",
        Sync::Full => "FULL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "journal_size_limit", 64 << 20)?;
    migrate(&mut connection, path)?;
    Ok(connection)
}

fn pragma(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}

/// Refuses another program's database before anything in it changes.
fn check_owner(connection: &Connection, path: &Path) -> Result<(), Opening> {
    if pragma(connection, "application_id")? == APPLICATION_ID {
        return Ok(());
    }
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    // A schema that another process has just made comes with its mark: look again.
    if tables == 0 || pragma(connection, "application_id")? == APPLICATION_ID {
        return Ok(());
    }
    Err(Opening::Refused(StoreError::Corrupt {
        message: format!(
            "`{}` is the database of another program: choose another file for the store",
            path.display()
        ),
    }))
}

fn migrate(connection: &mut Connection, path: &Path) -> Result<(), Opening> {
    let known = MIGRATIONS.len();
    if pragma(connection, "user_version")? == known as i64 {
        return Ok(());
    }
    let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have done it while this one waited.
    let version = pragma(&tx, "user_version")?;
    let Some(done) = usize::try_from(version).ok().filter(|done| *done <= known) else {
        return Err(Opening::Refused(StoreError::Unavailable {
            message: format!(
                "the store `{}` was written by a newer version of this program (its schema is \
                 {version}, this version knows {known}): use that version, or choose another file",
                path.display()
            ),
        }));
    };
    for migration in MIGRATIONS.iter().skip(done) {
        tx.execute_batch(migration)?;
    }
    tx.pragma_update(None, "application_id", APPLICATION_ID)?;
    tx.pragma_update(None, "user_version", known as i64)?;
    tx.commit()?;
    Ok(())
}
