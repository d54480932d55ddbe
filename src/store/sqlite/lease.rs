//! Who writes a thread, and its removal.
//!
//! A writer holds the thread's lock file and the row of `leases`. The lock keeps others out while
//! it lives; the row's token is what every append is checked against, so that a writer which lost
//! its lock (a file system without locks, a removed folder) can't mix its records into another's.

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use super::error::Failure;
use super::lock::{self, ThreadLock};
use crate::run::store::StoreError;
use crate::store::holder::{self, this_process};

/// A thread that this store writes.
pub(super) struct Held {
    /// The fencing token.
    pub(super) token: u64,
    /// Freed when this is dropped.
    _lock: ThreadLock,
}

/// Takes a thread.
pub(super) fn acquire(
    connection: &mut Connection,
    folder: &Path,
    thread_id: &str,
    failure: &Failure,
) -> Result<Held, StoreError> {
    let lock = lock_thread(connection, folder, thread_id, failure)?;
    let give = |connection: &mut Connection| -> rusqlite::Result<i64> {
        let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let token = tx
            .prepare_cached("UPDATE tokens SET last = last + 1 RETURNING last")?
            .query_row([], |row| row.get(0))?;
        tx.prepare_cached(
            "INSERT INTO leases (thread_id, token, holder) VALUES (?1, ?2, ?3) \
             ON CONFLICT DO UPDATE SET token = excluded.token, holder = excluded.holder",
        )?
        .execute(params![thread_id, token, this_process()])?;
        tx.commit()?;
        Ok(token)
    };
    let token = give(connection).map_err(|error| failure.of(error))?;
    Ok(Held {
        token: token.unsigned_abs(),
        _lock: lock,
    })
}

/// Gives a thread back; the lock is freed by dropping what was held, afterwards.
pub(super) fn release(
    connection: &Connection,
    thread_id: &str,
    token: u64,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM leases WHERE thread_id = ?1 AND token = ?2")?
        .execute(params![thread_id, super::read::signed(token)])?;
    Ok(())
}

/// Removes a thread; `false` where there was none.
pub(super) fn delete(
    connection: &mut Connection,
    folder: &Path,
    thread_id: &str,
    failure: &Failure,
) -> Result<bool, StoreError> {
    let _lock = lock_thread(connection, folder, thread_id, failure)?;
    let remove = |connection: &mut Connection| -> rusqlite::Result<bool> {
        let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Left by a writer that died.
        tx.execute("DELETE FROM leases WHERE thread_id = ?1", [thread_id])?;
        let thread: Option<i64> = tx
            .query_row(
                "DELETE FROM threads WHERE thread_id = ?1 RETURNING id",
                [thread_id],
                |row| row.get(0),
            )
            .optional()?;
        if let Some(thread) = thread {
            for sql in [
                "DELETE FROM checkpoints WHERE thread = ?1",
                "DELETE FROM writes WHERE thread = ?1",
                "DELETE FROM effects WHERE thread = ?1",
                "DELETE FROM effect_counts WHERE thread = ?1",
            ] {
                tx.execute(sql, [thread])?;
            }
        }
        tx.commit()?;
        Ok(thread.is_some())
    };
    remove(connection).map_err(|error| failure.of(error))
}

/// Whether anybody writes a thread.
pub(super) fn is_held(
    folder: &Path,
    thread_id: &str,
    failure: &Failure,
) -> Result<bool, StoreError> {
    lock::is_held(folder, thread_id).map_err(|error| unlockable(folder, &error, failure))
}

fn unlockable(folder: &Path, error: &std::io::Error, failure: &Failure) -> StoreError {
    let folder = folder.display();
    failure.because(&format!("no file in `{folder}` can be locked: {error}"))
}

fn lock_thread(
    connection: &Connection,
    folder: &Path,
    thread_id: &str,
    failure: &Failure,
) -> Result<ThreadLock, StoreError> {
    let locked =
        lock::try_lock(folder, thread_id).map_err(|error| unlockable(folder, &error, failure))?;
    locked.ok_or_else(|| StoreError::Busy {
        thread_id: thread_id.to_string(),
        holder: who(connection, thread_id),
    })
}

/// Who has the lease, for the message: a guess is better than no message.
fn who(connection: &Connection, thread_id: &str) -> String {
    let holder = connection
        .query_row(
            "SELECT holder FROM leases WHERE thread_id = ?1",
            [thread_id],
            |row| row.get::<_, String>(0),
        )
        .unwrap_or_else(|_| "another process".to_string());
    holder::named(holder)
}
