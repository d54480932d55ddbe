//! What long-term memory holds.

use async_trait::async_trait;
use tokio_postgres::Row;

use crate::run::memory::{Item, Near, Search, Space};
use crate::store::items::{Head, Name, Page, Scores, wanted};
use crate::store::postgres::error::{Failure, Stop};
use crate::store::postgres::name::kept;
use crate::store::postgres::read::BEGIN;
use crate::store::postgres::session::{Session, Work};

/// How many values are read at a time where a filter may leave some out.
const CHUNK: usize = 128;

const ONE: &str = "SELECT i.id, i.space, i.key, i.created, i.updated, i.until IS NOT NULL, v.value \
    FROM (SELECT * FROM memory_items \
        WHERE space = $1 AND key = $2 AND (until IS NULL OR until > $3) OFFSET 0) i \
    LEFT JOIN LATERAL (SELECT value FROM memory_values WHERE id = i.id) v ON true";

const HEADS: &str = "SELECT id, space, key, created, updated, until IS NOT NULL FROM memory_items \
    WHERE space >= $1 AND space < $2 AND (until IS NULL OR until > $3) \
    ORDER BY updated DESC, space, key LIMIT $4";

const VECTORS: &str = "SELECT v.item, v.vector \
    FROM (SELECT id FROM memory_items WHERE space >= $1 AND space < $2 OFFSET 0) i \
    CROSS JOIN LATERAL (SELECT item, vector FROM memory_vectors \
        WHERE item = i.id AND embedder = $3 OFFSET 0) v";

const VALUES: &str = "SELECT v.value FROM unnest($1::bigint[]) WITH ORDINALITY AS w (id, n) \
    LEFT JOIN LATERAL (SELECT value FROM memory_values WHERE id = w.id OFFSET 0) v ON true ORDER BY w.n";

const SPACES: &str = "SELECT DISTINCT space FROM memory_items \
    WHERE space >= $1 AND space < $2 AND (until IS NULL OR until > $3) ORDER BY space";

fn head(row: &Row) -> Result<Head, Stop> {
    Ok(Head {
        id: row.try_get(0)?,
        space: row.try_get(1)?,
        key: row.try_get(2)?,
        created: row.try_get(3)?,
        updated: row.try_get(4)?,
        ends: row.try_get(5)?,
    })
}

fn whole(head: &Head, value: &str, score: Option<f32>, failure: &Failure) -> Result<Item, Stop> {
    let item = head.item(value, score);
    item.map_err(|what| failure.damaged(&what).into())
}

/// The item under a key.
pub(super) struct One<'a> {
    pub(super) name: &'a (Vec<u8>, String),
    pub(super) now: i64,
    pub(super) failure: &'a Failure,
}

#[async_trait]
impl Work for One<'_> {
    /// It, and whether its time ends.
    type Out = Option<(Item, bool)>;

    const REPEATABLE: bool = true;

    async fn run(&self, session: &mut Session) -> Result<Option<(Item, bool)>, Stop> {
        let find = session.statement(ONE).await?;
        let (space, key) = self.name;
        let row = session
            .client
            .query_opt(&find, &[space, key, &self.now])
            .await?;
        let Some(row) = row else {
            return Ok(None);
        };
        let (head, value) = (head(&row)?, row.try_get::<_, Option<&str>>(6)?);
        let item = whole(&head, value.unwrap_or_default(), None, self.failure)?;
        Ok(Some((item, head.ends)))
    }
}

/// What a search finds.
pub(super) struct Find<'a> {
    pub(super) search: &'a Search,
    pub(super) now: i64,
    pub(super) failure: &'a Failure,
}

#[async_trait]
impl Work for Find<'_> {
    /// It, and of which of it the time begins anew.
    type Out = (Vec<Item>, Vec<Name>);

    const REPEATABLE: bool = true;

    async fn run(&self, session: &mut Session) -> Result<(Vec<Item>, Vec<Name>), Stop> {
        let client = session.client.clone();
        client.batch_execute(BEGIN).await?;
        let below = self.search.prefix.below();
        let heads = session.statement(HEADS).await?;
        let rows = client
            .query(
                &heads,
                &[&below.start, &below.end, &self.now, &wanted(self.search)],
            )
            .await?;
        let heads: Vec<Head> = rows.iter().map(head).collect::<Result<_, _>>()?;
        let scores = match &self.search.near {
            Some(near) => self.scores(session, near).await?,
            None => Scores::new(),
        };
        let (mut page, ordered) = Page::of(self.search, scores.order(heads, |head| head.id));
        for chunk in ordered.chunks(CHUNK) {
            if page.is_full() {
                break;
            }
            let ids: Vec<i64> = chunk.iter().map(|(head, _)| head.id).collect();
            let values = session.statement(VALUES).await?;
            let rows = client.query(&values, &[&ids]).await?;
            for ((head, score), row) in chunk.iter().zip(rows) {
                let value: Option<&str> = row.try_get(0)?;
                let item = whole(head, value.unwrap_or_default(), *score, self.failure)?;
                page.offer(item, head.ends);
            }
        }
        let found = (page.items, page.again);
        client.batch_execute("COMMIT").await?;
        Ok(found)
    }
}

impl Find<'_> {
    async fn scores(&self, session: &mut Session, near: &Near) -> Result<Scores<i64>, Stop> {
        let below = self.search.prefix.below();
        let vectors = session.statement(VECTORS).await?;
        let rows = session
            .client
            .query(&vectors, &[&below.start, &below.end, &kept(&near.embedder)])
            .await?;
        let mut scores = Scores::new();
        for row in rows {
            scores.take(near, row.try_get(0)?, row.try_get(1)?);
        }
        Ok(scores)
    }
}

/// Namespaces with items.
pub(super) struct Spaces<'a> {
    pub(super) prefix: &'a Space,
    pub(super) now: i64,
    pub(super) failure: &'a Failure,
}

#[async_trait]
impl Work for Spaces<'_> {
    type Out = Vec<Space>;

    const REPEATABLE: bool = true;

    async fn run(&self, session: &mut Session) -> Result<Vec<Space>, Stop> {
        let below = self.prefix.below();
        let list = session.statement(SPACES).await?;
        let rows = session
            .client
            .query(&list, &[&below.start, &below.end, &self.now])
            .await?;
        let damaged = || self.failure.damaged("a namespace of memory").into();
        let spaces = rows.iter().map(|row| {
            let bytes: &[u8] = row.try_get(0)?;
            Space::from_bytes(bytes).ok_or_else(damaged)
        });
        spaces.collect()
    }
}
