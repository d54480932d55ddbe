//! Changes to long-term memory.
//!
//! Invariant: no two of these wait for each other. A write waits for the lock of its key first and for that key's row then,
//! and sweeps last, passing by what others hold.

use async_trait::async_trait;
use uuid::Uuid;

use crate::run::memory::{KNOWN_FOR, NewItem, Write, WriteKey, vector};
use crate::store::postgres::error::Stop;
use crate::store::postgres::name::{self, kept};
use crate::store::postgres::session::{Session, Work};

/// How many items whose time is over are let go of at once.
const SWEPT: i64 = 1000;

const LOCK: &str = "SELECT pg_advisory_xact_lock($1)";

const MARK: &str = "INSERT INTO memory_writes (key, at, result) VALUES ($1, $2, false) \
    ON CONFLICT (key) DO NOTHING";

const MADE: &str = "SELECT result FROM memory_writes WHERE key = $1";

const RESULT: &str = "UPDATE memory_writes SET result = $2 WHERE key = $1";

const THERE: &str = "SELECT 1 FROM memory_items \
    WHERE space = $1 AND key = $2 AND (until IS NULL OR until > $3)";

const PUT: &str = "INSERT INTO memory_items AS i (space, key, created, updated, ttl, until) \
    VALUES ($1, $2, $3, $3, $4, $5) ON CONFLICT (space, key) DO UPDATE SET \
    created = CASE WHEN i.until IS NULL OR i.until > $3 THEN i.created ELSE excluded.created END, \
    updated = excluded.updated, ttl = excluded.ttl, until = excluded.until RETURNING id";

const VALUE: &str = "INSERT INTO memory_values (id, value) VALUES ($1, $2) \
    ON CONFLICT (id) DO UPDATE SET value = excluded.value";

const UNVECTOR: &str = "DELETE FROM memory_vectors WHERE item = $1";

const VECTORS: &str = "INSERT INTO memory_vectors (item, part, embedder, vector) \
    SELECT $1, v.part::integer, $2, v.vector FROM unnest($3::bytea[]) WITH ORDINALITY AS v (vector, part)";

const DELETE: &str = "DELETE FROM memory_items WHERE space = $1 AND key = $2 \
    RETURNING id, until IS NULL OR until > $3";

const UNVALUE: &str = "DELETE FROM memory_values WHERE id = $1";

const SWEEP: &str = "WITH over AS (DELETE FROM memory_items WHERE (space, key) IN \
        (SELECT space, key FROM memory_items WHERE until <= $1 ORDER BY until LIMIT $2 \
         FOR UPDATE SKIP LOCKED) RETURNING id), \
    vectors AS (DELETE FROM memory_vectors WHERE item IN (SELECT id FROM over)) \
    DELETE FROM memory_values WHERE id IN (SELECT id FROM over)";

const FORGET: &str = "DELETE FROM memory_writes WHERE key IN \
    (SELECT key FROM memory_writes WHERE at < $1 ORDER BY at LIMIT $2 FOR UPDATE SKIP LOCKED)";

/// Makes a write, unless it was made before.
pub(super) struct Make<'a> {
    pub(super) schema: &'a str,
    pub(super) known: WriteKey,
    pub(super) write: &'a Write,
    pub(super) now: i64,
    pub(super) sweeps: bool,
}

#[async_trait]
impl Work for Make<'_> {
    type Out = bool;

    /// It knows itself again, also where the answer to its commit was lost.
    const REPEATABLE: bool = true;

    async fn run(&self, session: &mut Session) -> Result<bool, Stop> {
        let (space, key) = match self.write {
            Write::Put(new) => (&new.space, &new.key),
            Write::Delete { space, key } => (space, key),
        };
        let bytes = space.to_bytes();
        let known = Uuid::from_bytes(self.known);
        let client = session.client.clone();
        client.batch_execute("BEGIN").await?;
        let mut names = vec!["graphc", "memory", self.schema, space.root(), key];
        names.extend(space.parts().iter().map(String::as_str));
        let lock = session.statement(LOCK).await?;
        client.execute(&lock, &[&name::lock(&names)]).await?;
        let mark = session.statement(MARK).await?;
        if client.execute(&mark, &[&known, &self.now]).await? == 0 {
            let made = session.statement(MADE).await?;
            let made = client.query_opt(&made, &[&known]).await?;
            client.batch_execute("COMMIT").await?;
            return Ok(made.map(|row| row.try_get(0)).transpose()?.unwrap_or(false));
        }
        let result = match self.write {
            Write::Put(new) => self.put(session, &bytes, new).await?,
            Write::Delete { .. } => self.delete(session, &bytes, key).await?,
        };
        if result {
            let keep = session.statement(RESULT).await?;
            client.execute(&keep, &[&known, &result]).await?;
        }
        if self.sweeps {
            let sweep = session.statement(SWEEP).await?;
            client.execute(&sweep, &[&self.now, &SWEPT]).await?;
            let forget = session.statement(FORGET).await?;
            let before = self.now.saturating_sub(KNOWN_FOR);
            client.execute(&forget, &[&before, &SWEPT]).await?;
        }
        client.batch_execute("COMMIT").await?;
        Ok(result)
    }
}

impl Make<'_> {
    async fn put(&self, session: &mut Session, space: &[u8], new: &NewItem) -> Result<bool, Stop> {
        let client = session.client.clone();
        let there = session.statement(THERE).await?;
        let there = client
            .query_opt(&there, &[&space, &new.key, &self.now])
            .await?
            .is_some();
        let put = session.statement(PUT).await?;
        let until = new.ttl.map(|ttl| self.now.saturating_add(ttl));
        let row = client
            .query_one(&put, &[&space, &new.key, &self.now, &new.ttl, &until])
            .await?;
        let id: i64 = row.try_get(0)?;
        let value = session.statement(VALUE).await?;
        client
            .execute(&value, &[&id, &new.value.to_string()])
            .await?;
        let clear = session.statement(UNVECTOR).await?;
        client.execute(&clear, &[&id]).await?;
        if !new.vectors.is_empty() {
            let vectors: Vec<Vec<u8>> = new.vectors.iter().map(|v| vector::to_bytes(v)).collect();
            let add = session.statement(VECTORS).await?;
            client
                .execute(&add, &[&id, &kept(&new.embedder), &vectors])
                .await?;
        }
        Ok(!there)
    }

    async fn delete(&self, session: &mut Session, space: &[u8], key: &str) -> Result<bool, Stop> {
        let client = session.client.clone();
        let delete = session.statement(DELETE).await?;
        let row = client
            .query_opt(&delete, &[&space, &key, &self.now])
            .await?;
        let Some(row) = row else { return Ok(false) };
        let (id, there): (i64, bool) = (row.try_get(0)?, row.try_get(1)?);
        for sql in [UNVECTOR, UNVALUE] {
            let delete = session.statement(sql).await?;
            client.execute(&delete, &[&id]).await?;
        }
        Ok(there)
    }
}

// One that is as good as for good stays so: no number is greater than the greatest.
const REFRESH: &str = "UPDATE memory_items i \
    SET until = $3 + LEAST(i.ttl, 9223372036854775807 - GREATEST($3, 0)) \
    FROM (SELECT i.space, i.key FROM unnest($1::bytea[], $2::text[]) AS n (space, key) \
        JOIN memory_items i ON i.space = n.space AND i.key = n.key AND i.until > $3 \
        ORDER BY i.space, i.key FOR UPDATE OF i) n \
    WHERE i.space = n.space AND i.key = n.key";

/// Lets the time of items begin anew.
pub(super) struct Refresh<'a> {
    /// Namespaces and keys.
    pub(super) names: &'a [(Vec<u8>, String)],
    pub(super) now: i64,
}

#[async_trait]
impl Work for Refresh<'_> {
    type Out = ();

    const REPEATABLE: bool = true;

    async fn run(&self, session: &mut Session) -> Result<(), Stop> {
        let spaces: Vec<&[u8]> = self
            .names
            .iter()
            .map(|(space, _)| space.as_slice())
            .collect();
        let keys: Vec<&str> = self.names.iter().map(|(_, key)| key.as_str()).collect();
        let refresh = session.statement(REFRESH).await?;
        session
            .client
            .execute(&refresh, &[&spaces, &keys, &self.now])
            .await?;
        Ok(())
    }
}
