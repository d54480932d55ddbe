//! The tables, and how they are made and brought up to date.

use async_trait::async_trait;

use super::error::{Failure, Stop};
use super::name;
use super::session::{Session, Work, quoted};
use crate::run::store::StoreError;

/// Statement by statement from an empty schema to the newest; the table `graphc_schema` says how many were done, and
/// marks a schema as one of ours. Invariant: an entry that was released never changes.
const MIGRATIONS: &[&str] = &[
    include_str!("schema_1.sql"),
    include_str!("schema_2.sql"),
    include_str!("schema_3.sql"),
];

/// The oldest server that has all that is used here.
const OLDEST: i32 = 120_000;

/// Brings the schema up to date.
///
/// Several processes may do so at once: a lock of the database lets one of them, and the others find it done. Where it
/// is up to date already, nothing is written, so that a server that takes no writes can be looked into.
pub(super) struct Migrate<'a> {
    pub(super) schema: &'a str,
    pub(super) failure: &'a Failure,
}

#[async_trait]
impl Work for Migrate<'_> {
    type Out = ();

    async fn run(&self, session: &mut Session) -> Result<(), Stop> {
        self.check_server(session).await?;
        if self.is_current(session).await? {
            return Ok(());
        }
        let client = session.client.clone();
        client.batch_execute("BEGIN").await?;
        let lock = name::lock(&["graphc", "schema", self.schema]);
        client
            .execute("SELECT pg_advisory_xact_lock($1)", &[&lock])
            .await?;
        // Another process may have done it while this one waited.
        if !self.is_current(session).await? {
            self.migrate(session).await?;
        }
        client.batch_execute("COMMIT").await?;
        Ok(())
    }
}

impl Migrate<'_> {
    async fn check_server(&self, session: &Session) -> Result<(), Stop> {
        let sql =
            "SELECT current_setting('server_version_num')::int, current_setting('server_encoding')";
        let row = session.client.query_one(sql, &[]).await?;
        let (version, encoding): (i32, String) = (row.try_get(0)?, row.try_get(1)?);
        if version < OLDEST {
            let reason = format!(
                "the server is PostgreSQL {}; 12 is the oldest that will do",
                version / 10_000
            );
            return Err(self.failure.because(&reason).into());
        }
        if encoding != "UTF8" {
            let reason = format!(
                "the database keeps its text as {encoding}, which can't hold every character: name one that was \
                 made with the encoding UTF8"
            );
            return Err(self.failure.because(&reason).into());
        }
        Ok(())
    }

    /// Whether the schema is the one that this version knows; refuses a newer one, and another program's.
    async fn is_current(&self, session: &Session) -> Result<bool, Stop> {
        let sql = "SELECT count(*) FILTER (WHERE c.relname = 'graphc_schema') > 0, count(*) > 0 \
                   FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1";
        let row = session.client.query_one(sql, &[&self.schema]).await?;
        let (ours, used): (bool, bool) = (row.try_get(0)?, row.try_get(1)?);
        if !ours {
            return match used {
                true => Err(self.another_program().into()),
                false => Ok(false),
            };
        }
        // By its full name: a schema that may not be looked into is no part of the search path.
        let sql = format!("SELECT version FROM {}.graphc_schema", quoted(self.schema));
        let row = session.client.query_one(&sql, &[]).await?;
        let version: i32 = row.try_get(0)?;
        let known = MIGRATIONS.len();
        match usize::try_from(version) {
            Ok(version) if version <= known => Ok(version == known),
            _ => Err(self
                .failure
                .because(&format!(
                    "it was written by a newer version of this program (its schema is {version}, this version \
                     knows {known}): use that version, or name another schema (`?schema=`)"
                ))
                .into()),
        }
    }

    fn another_program(&self) -> StoreError {
        StoreError::Corrupt {
            message: format!(
                "the schema `{}` of the database has tables of another program: name another one for the store \
                 (`?schema=`)",
                self.schema
            ),
        }
    }

    async fn migrate(&self, session: &Session) -> Result<(), Stop> {
        let client = &session.client;
        // Not `IF NOT EXISTS` alone: that asks for the right to make schemas also where there is one.
        let there = client
            .query_opt(
                "SELECT 1 FROM pg_namespace WHERE nspname = $1",
                &[&self.schema],
            )
            .await?;
        if there.is_none() {
            let sql = format!("CREATE SCHEMA {}", quoted(self.schema));
            client.batch_execute(&sql).await?;
        }
        client
            .batch_execute(
                "CREATE TABLE IF NOT EXISTS graphc_schema (version integer NOT NULL); \
                 INSERT INTO graphc_schema SELECT 0 WHERE NOT EXISTS (SELECT 1 FROM graphc_schema)",
            )
            .await?;
        let row = client
            .query_one("SELECT version FROM graphc_schema", &[])
            .await?;
        let done = usize::try_from(row.try_get::<_, i32>(0)?).unwrap_or_default();
        for migration in MIGRATIONS.iter().skip(done) {
            client.batch_execute(migration).await?;
        }
        let known = i32::try_from(MIGRATIONS.len()).unwrap_or(i32::MAX);
        client
            .execute("UPDATE graphc_schema SET version = $1", &[&known])
            .await?;
        Ok(())
    }
}
