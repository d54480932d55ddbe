//! Long-term memory in the same file.

use async_trait::async_trait;
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};

use super::SqliteStore;
use super::error::Failure;
use super::read::{self, Read, Unreadable};
use crate::run::memory::{
    Item, ItemStore, KNOWN_FOR, NewItem, Search, Space, Write, WriteKey, vector,
};
use crate::run::store::StoreError;
use crate::store::items::{Head, Name, Page, Scores, wanted};

/// How many items whose time is over a write takes along.
const SWEPT: i64 = 64;

/// Makes a write, unless it was made before.
fn write(db: &Connection, known: WriteKey, write: &Write, now: i64) -> rusqlite::Result<bool> {
    let mut find = db.prepare_cached("SELECT result FROM memory_writes WHERE key = ?1")?;
    let made: Option<bool> = find.query_row([known], |row| row.get(0)).optional()?;
    if let Some(result) = made {
        return Ok(result);
    }
    sweep(db, now)?;
    let result = match write {
        Write::Put(new) => put(db, new, now)?,
        Write::Delete { space, key } => delete(db, &space.to_bytes(), key, now)?,
    };
    db.prepare_cached("INSERT INTO memory_writes (key, at, result) VALUES (?1, ?2, ?3)")?
        .execute(params![known, now, result])?;
    Ok(result)
}

/// Lets go of some of what is over.
fn sweep(db: &Connection, now: i64) -> rusqlite::Result<()> {
    let mut ended = db.prepare_cached(
        "SELECT space, key FROM memory_items WHERE until <= ?1 ORDER BY until LIMIT ?2",
    )?;
    let names = ended.query_map(params![now, SWEPT], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let names: Vec<(Vec<u8>, String)> = names.collect::<rusqlite::Result<_>>()?;
    for (space, key) in names {
        delete(db, &space, &key, now)?;
    }
    db.prepare_cached(
        "DELETE FROM memory_writes WHERE key IN \
         (SELECT key FROM memory_writes WHERE at < ?1 ORDER BY at LIMIT ?2)",
    )?
    .execute(params![now.saturating_sub(KNOWN_FOR), SWEPT])?;
    Ok(())
}

/// Id of an item, and what its key has of an item that is there: when it was created.
fn find(
    db: &Connection,
    space: &[u8],
    key: &str,
    now: i64,
) -> rusqlite::Result<Option<(i64, Option<i64>)>> {
    let mut find = db.prepare_cached(
        "SELECT id, iif(until IS NULL OR until > ?3, created, NULL) FROM memory_items \
         WHERE space = ?1 AND key = ?2",
    )?;
    find.query_row(params![space, key, now], |row| {
        Ok((row.get(0)?, row.get(1)?))
    })
    .optional()
}

fn put(db: &Connection, new: &NewItem, now: i64) -> rusqlite::Result<bool> {
    let space = new.space.to_bytes();
    let before = find(db, &space, &new.key, now)?;
    let created = before.and_then(|(_, created)| created);
    let value = new.value.to_string();
    let id = match before {
        Some((id, _)) => {
            db.prepare_cached("UPDATE memory_values SET value = ?2 WHERE id = ?1")?
                .execute(params![id, value])?;
            db.prepare_cached("DELETE FROM memory_vectors WHERE item = ?1")?
                .execute([id])?;
            id
        }
        None => {
            db.prepare_cached("INSERT INTO memory_values (value) VALUES (?1)")?
                .execute([&value])?;
            db.last_insert_rowid()
        }
    };
    db.prepare_cached(
        "INSERT OR REPLACE INTO memory_items (space, key, id, created, updated, ttl, until) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![
        space,
        new.key,
        id,
        created.unwrap_or(now),
        now,
        new.ttl,
        new.ttl.map(|ttl| now.saturating_add(ttl)),
    ])?;
    let mut add = db.prepare_cached(
        "INSERT INTO memory_vectors (item, part, embedder, vector) VALUES (?1, ?2, ?3, ?4)",
    )?;
    for (part, numbers) in new.vectors.iter().enumerate() {
        let part = i64::try_from(part).unwrap_or(i64::MAX);
        add.execute(params![id, part, new.embedder, vector::to_bytes(numbers)])?;
    }
    Ok(created.is_none())
}

fn delete(db: &Connection, space: &[u8], key: &str, now: i64) -> rusqlite::Result<bool> {
    let Some((id, created)) = find(db, space, key, now)? else {
        return Ok(false);
    };
    for sql in [
        "DELETE FROM memory_vectors WHERE item = ?1",
        "DELETE FROM memory_values WHERE id = ?1",
    ] {
        db.prepare_cached(sql)?.execute([id])?;
    }
    db.prepare_cached("DELETE FROM memory_items WHERE space = ?1 AND key = ?2")?
        .execute(params![space, key])?;
    Ok(created.is_some())
}

fn refresh(db: &Connection, space: &[u8], key: &str, now: i64) -> rusqlite::Result<()> {
    db.prepare_cached(
        // One that is as good as for good stays so: no number is greater than the greatest.
        "UPDATE memory_items SET until = ?3 + min(ttl, 9223372036854775807 - max(?3, 0)) \
         WHERE space = ?1 AND key = ?2 AND until > ?3",
    )?
    .execute(params![space, key, now])?;
    Ok(())
}

/// Columns of a [`Head`].
const HEAD: &str = "SELECT id, space, key, created, updated, until IS NOT NULL FROM memory_items";

fn head(row: &Row) -> rusqlite::Result<Head> {
    Ok(Head {
        id: row.get(0)?,
        space: row.get(1)?,
        key: row.get(2)?,
        created: row.get(3)?,
        updated: row.get(4)?,
        ends: row.get(5)?,
    })
}

fn item(db: &Connection, head: &Head, score: Option<f32>, failure: &Failure) -> Read<Item> {
    let mut find = db.prepare_cached("SELECT value FROM memory_values WHERE id = ?1")?;
    let value: Option<String> = find.query_row([head.id], |row| row.get(0)).optional()?;
    head.item(&value.unwrap_or_default(), score)
        .map_err(|what| Unreadable::Other(failure.damaged(&what)))
}

fn one(
    db: &Connection,
    (space, key): (&[u8], &str),
    now: i64,
    failure: &Failure,
) -> Read<Option<(Item, bool)>> {
    let sql = format!("{HEAD} WHERE space = ?1 AND key = ?2 AND (until IS NULL OR until > ?3)");
    let mut find = db.prepare_cached(&sql)?;
    let found = find.query_row(params![space, key, now], head).optional()?;
    let found = found.map(|head| Ok((item(db, &head, None, failure)?, head.ends)));
    found.transpose()
}

/// What is found, and of which of it the time begins anew.
fn search(
    db: &Connection,
    search: &Search,
    now: i64,
    failure: &Failure,
) -> Read<(Vec<Item>, Vec<Name>)> {
    let below = search.prefix.below();
    let mut heads = db.prepare_cached(&format!(
        "{HEAD} WHERE space >= ?1 AND space < ?2 AND (until IS NULL OR until > ?3) \
         ORDER BY updated DESC, space, key LIMIT ?4"
    ))?;
    // Below zero there is no limit.
    let most = wanted(search).unwrap_or(-1);
    let heads = heads.query_map(params![below.start, below.end, now, most], head)?;
    let heads: Vec<Head> = heads.collect::<rusqlite::Result<_>>()?;
    let mut scores = Scores::new();
    if let Some(near) = &search.near {
        let mut vectors = db.prepare_cached(
            "SELECT v.item, v.vector FROM memory_items i CROSS JOIN memory_vectors v ON v.item = i.id \
             WHERE i.space >= ?1 AND i.space < ?2 AND v.embedder = ?3",
        )?;
        let mut rows = vectors.query(params![below.start, below.end, near.embedder])?;
        while let Some(row) = rows.next()? {
            let bytes = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
            scores.take(near, row.get(0)?, bytes);
        }
    }
    let (mut page, ordered) = Page::of(search, scores.order(heads, |head| head.id));
    for (head, score) in ordered {
        if page.is_full() {
            break;
        }
        page.offer(item(db, &head, score, failure)?, head.ends);
    }
    Ok((page.items, page.again))
}

fn spaces(db: &Connection, prefix: &Space, now: i64, failure: &Failure) -> Read<Vec<Space>> {
    let below = prefix.below();
    let mut list = db.prepare_cached(
        "SELECT DISTINCT space FROM memory_items \
         WHERE space >= ?1 AND space < ?2 AND (until IS NULL OR until > ?3) ORDER BY space",
    )?;
    let found = list.query_map(params![below.start, below.end, now], |row| row.get(0))?;
    let found: Vec<Vec<u8>> = found.collect::<rusqlite::Result<_>>()?;
    let damaged = || Unreadable::Other(failure.damaged("a namespace of memory"));
    let spaces = found.iter().map(|bytes| Space::from_bytes(bytes));
    spaces.map(|space| space.ok_or_else(damaged)).collect()
}

impl SqliteStore {
    /// Changes memory in a transaction of its own.
    async fn change_memory<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection, &Failure) -> Read<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let work = move |connection: &mut Connection, failure: &Failure| {
            let tx = connection
                .transaction_with_behavior(TransactionBehavior::Immediate)
                .map_err(|error| failure.of(error))?;
            // An error drops the transaction, which rolls it back.
            let done =
                work(&tx, failure).map_err(|unreadable| unreadable.into_store_error(failure))?;
            tx.commit().map_err(|error| failure.of(error))?;
            Ok(done)
        };
        self.writer.change(work).await
    }

    /// Lets the time of items begin anew.
    async fn begin_anew(&self, names: Vec<Name>, now: i64) -> Result<(), StoreError> {
        self.change_memory(move |db, _| {
            for (space, key) in &names {
                refresh(db, space, key, now)?;
            }
            Ok(())
        })
        .await
    }

    async fn read_memory<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Connection, &Failure) -> Read<T> + Send + 'static,
    ) -> Result<T, StoreError> {
        let failure = self.failure.doing("read");
        let work = move |connection: &mut Connection| {
            read::read(connection, &failure, |db| work(db, &failure))
        };
        self.reader.run(work).await
    }
}

#[async_trait]
impl ItemStore for SqliteStore {
    async fn write(&self, known: WriteKey, new: &Write, now: i64) -> Result<bool, StoreError> {
        let new = new.clone();
        self.change_memory(move |db, _| Ok(write(db, known, &new, now)?))
            .await
    }

    async fn item(
        &self,
        space: &Space,
        key: &str,
        now: i64,
        again: bool,
    ) -> Result<Option<Item>, StoreError> {
        let name = (space.to_bytes(), key.to_owned());
        let looked = name.clone();
        let read =
            move |db: &Connection, failure: &Failure| one(db, (&looked.0, &looked.1), now, failure);
        let Some((item, ends)) = self.read_memory(read).await? else {
            return Ok(None);
        };
        if again && ends {
            self.begin_anew(vec![name], now).await?;
        }
        Ok(Some(item))
    }

    async fn search(&self, wanted: &Search, now: i64) -> Result<Vec<Item>, StoreError> {
        let wanted = wanted.clone();
        let read = move |db: &Connection, failure: &Failure| search(db, &wanted, now, failure);
        let (found, again) = self.read_memory(read).await?;
        if !again.is_empty() {
            self.begin_anew(again, now).await?;
        }
        Ok(found)
    }

    async fn spaces(&self, prefix: &Space, now: i64) -> Result<Vec<Space>, StoreError> {
        let prefix = prefix.clone();
        self.read_memory(move |db, failure| spaces(db, &prefix, now, failure))
            .await
    }
}
