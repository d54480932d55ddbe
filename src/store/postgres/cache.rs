//! Results that are used again, by key.

use async_trait::async_trait;
use serde_json::Value as Json;

use super::error::Stop;
use super::name::key;
use super::session::{Session, Work};

/// The result under a key that still holds at `now`.
pub(super) struct Find<'a> {
    pub(super) key: &'a str,
    pub(super) now: i64,
}

#[async_trait]
impl Work for Find<'_> {
    type Out = Option<Json>;

    const REPEATABLE: bool = true;

    async fn run(&self, session: &mut Session) -> Result<Option<Json>, Stop> {
        let sql = "SELECT result FROM kept WHERE key = $1 AND $2 < until";
        let find = session.statement(sql).await?;
        let row = session
            .client
            .query_opt(&find, &[&key(&[self.key]), &self.now])
            .await?;
        let text: Option<String> = row.map(|row| row.try_get(0)).transpose()?;
        // What can't be read is as good as not there: the work is done again and kept in its place.
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()))
    }
}

/// Keeps a result in place of the one before.
pub(super) struct Put<'a> {
    pub(super) key: &'a str,
    pub(super) result: &'a str,
    pub(super) until: i64,
}

#[async_trait]
impl Work for Put<'_> {
    type Out = ();

    const REPEATABLE: bool = true;

    async fn run(&self, session: &mut Session) -> Result<(), Stop> {
        let sql = "INSERT INTO kept (key, result, until) VALUES ($1, $2, $3) \
                   ON CONFLICT (key) DO UPDATE SET result = excluded.result, until = excluded.until";
        let put = session.statement(sql).await?;
        let row: [&(dyn tokio_postgres::types::ToSql + Sync); 3] =
            [&key(&[self.key]), &self.result, &self.until];
        session.client.execute(&put, &row).await?;
        Ok(())
    }
}

/// Lets go of all that has run out.
pub(super) struct Sweep {
    pub(super) now: i64,
}

#[async_trait]
impl Work for Sweep {
    type Out = ();

    async fn run(&self, session: &mut Session) -> Result<(), Stop> {
        let sweep = "DELETE FROM kept WHERE until <= $1";
        session.client.execute(sweep, &[&self.now]).await?;
        Ok(())
    }
}
