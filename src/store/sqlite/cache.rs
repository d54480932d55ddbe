//! Results that are used again, by key.

use rusqlite::{Connection, OptionalExtension, params};
use serde_json::Value as Json;

use super::error::Failure;
use crate::run::store::StoreError;

/// The result under a key that still holds at `now`.
pub(super) fn find(
    db: &Connection,
    key: &str,
    now: i64,
    failure: &Failure,
) -> Result<Option<Json>, StoreError> {
    let mut select = db
        .prepare_cached("SELECT result FROM kept WHERE key = ?1 AND ?2 < until")
        .map_err(|error| failure.of(error))?;
    let found: Option<String> = select
        .query_row(params![key, now], |row| row.get(0))
        .optional()
        .map_err(|error| failure.of(error))?;
    // What can't be read is as good as not there: the work is done again and kept in its place.
    Ok(found.and_then(|text| serde_json::from_str(&text).ok()))
}

/// Lets go of all that has run out by `now`.
pub(super) fn sweep(db: &Connection, now: i64) -> rusqlite::Result<()> {
    db.execute("DELETE FROM kept WHERE until <= ?1", params![now])?;
    Ok(())
}

/// Keeps a result in place of the one before.
pub(super) fn put(db: &Connection, key: &str, result: &str, until: i64) -> rusqlite::Result<()> {
    db.prepare_cached("INSERT OR REPLACE INTO kept (key, result, until) VALUES (?1, ?2, ?3)")?
        .execute(params![key, result, until])?;
    Ok(())
}
