//! Appends batches: one transaction, two round trips; more where it is much ([`chunk`](super::chunk)).
//!
//! The first locks the rows of `leases` of all threads of the batch, in one order for all, so that no other writer can
//! come between, and fetches what the rules go by; the second adds all rows, a statement for each table, and commits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use futures_util::future::join5;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Row, Statement};
use uuid::Uuid;

use super::add::add;
use super::batch::{EffectKey, Entry, Field, FieldKey, Standing, StoredRows};
use super::chunk::{CHUNK, size};
use super::error::{Failure, Stop};
use super::name::key;
use super::read::signed;
use super::rows::Rows;
use super::session::{Session, Work};
use crate::run::store::{Lease, StoreError};
use crate::store::append::Append;

const LOCK: &str = "SELECT key, token FROM leases WHERE key = ANY($1) ORDER BY key FOR UPDATE";

const STANDING: &str = "SELECT k.key, coalesce(t.id, nextval('thread_numbers')), t.id IS NULL, c.seq, c.root_seq \
    FROM unnest($1::uuid[]) AS k (key) LEFT JOIN threads t ON t.key = k.key \
    LEFT JOIN LATERAL (SELECT seq, root_seq FROM checkpoints WHERE thread = t.id \
        ORDER BY seq DESC LIMIT 1) c ON true";

const FIELDS: &str = "SELECT k.thread, k.frame, k.key, coalesce(f.id, nextval('field_numbers')), f.id IS NULL, w.kind \
    FROM unnest($1::uuid[], $2::uuid[], $3::uuid[]) AS k (thread, frame, key) \
    LEFT JOIN LATERAL (SELECT id FROM threads WHERE key = k.thread LIMIT 1) t ON true \
    LEFT JOIN LATERAL (SELECT id FROM fields \
        WHERE thread = t.id AND frame = k.frame AND key = k.key LIMIT 1) f ON true \
    LEFT JOIN LATERAL (SELECT kind FROM writes WHERE field = f.id \
        ORDER BY seq DESC, part DESC LIMIT 1) w ON true";

const EFFECTS: &str = "SELECT k.thread, k.root_step, k.key \
    FROM unnest($1::uuid[], $2::bigint[], $3::uuid[]) AS k (thread, root_step, key) \
    CROSS JOIN LATERAL (SELECT id FROM threads WHERE key = k.thread LIMIT 1) t \
    CROSS JOIN LATERAL (SELECT 1 FROM effects \
        WHERE thread = t.id AND root_step = k.root_step AND key = k.key LIMIT 1) e";

/// An append until its outcome is known.
pub(super) struct Pending<'a> {
    append: &'a Append,
    /// Whether a commit of it was sent: where the answer was lost, only what is there says whether it was kept.
    sent: AtomicBool,
}

impl<'a> Pending<'a> {
    /// Nothing was sent yet.
    pub(super) fn new(append: &'a Append) -> Self {
        let sent = AtomicBool::new(false);
        Self { append, sent }
    }

    /// Whether a commit of it was sent.
    pub(super) fn is_sent(&self) -> bool {
        self.sent.load(Ordering::Relaxed)
    }
}

/// Appends all in one transaction. Gives the outcome of each. What an attempt has kept whose answer was lost is not appended again.
pub(super) struct AppendAll<'a> {
    pub(super) appends: &'a [Pending<'a>],
    pub(super) failure: &'a Failure,
}

#[async_trait]
impl Work for AppendAll<'_> {
    type Out = Vec<Result<(), StoreError>>;

    const REPEATABLE: bool = true;

    async fn run(&self, session: &mut Session) -> Result<Self::Out, Stop> {
        let appends = self.appends.iter();
        let entries: Vec<Entry> = appends.map(|pending| Entry::new(pending.append)).collect();
        let mut kept = fetch(session, &entries, true).await?;
        let mut rows = Rows::default();
        let mut outcomes = Vec::with_capacity(entries.len());
        for (pending, entry) in self.appends.iter().zip(&entries) {
            outcomes.push(match pending.is_sent() && kept.has(entry) {
                true => Ok(()),
                false => kept.admit(entry, &mut rows),
            });
        }
        for (pending, outcome) in self.appends.iter().zip(&outcomes) {
            pending.sent.store(outcome.is_ok(), Ordering::Relaxed);
        }
        add(session, rows, self.failure).await?;
        Ok(outcomes)
    }

    fn parts(&self) -> u32 {
        let bytes: usize = self
            .appends
            .iter()
            .map(|pending| size(pending.append))
            .sum();
        u32::try_from(bytes / CHUNK).unwrap_or(u32::MAX - 2)
    }
}

/// Appends inside a transaction that was begun already, and commits it.
pub(super) async fn append_and_commit(
    session: &mut Session,
    append: &Append,
    failure: &Failure,
) -> Result<(), Stop> {
    let entry = Entry::new(append);
    let mut kept = fetch(session, std::slice::from_ref(&entry), false).await?;
    let mut rows = Rows::default();
    kept.admit(&entry, &mut rows)?;
    add(session, rows, failure).await
}

/// Locks the lease of a thread in a transaction that was begun already; gives the thread's number if it has records.
pub(super) async fn lock_thread(session: &mut Session, lease: &Lease) -> Result<Option<i64>, Stop> {
    let thread = [key(&[&lease.thread_id])];
    let lock = session.statement(LOCK).await?;
    let find = session
        .statement("SELECT id FROM threads WHERE key = $1")
        .await?;
    let locked = session.client.query(&lock, &[&thread.as_slice()]).await;
    let locked = locked.map_err(|error| match error.code() {
        // Somebody has taken the thread since this transaction began.
        Some(&SqlState::T_R_SERIALIZATION_FAILURE) => fenced(lease),
        _ => error.into(),
    })?;
    let token = locked
        .first()
        .map(|row| row.try_get::<_, i64>(1))
        .transpose()?;
    if token.is_none_or(|token| token != signed(lease.token)) {
        return Err(fenced(lease));
    }
    let found = session.client.query_opt(&find, &[&thread[0]]).await?;
    Ok(found.map(|row| row.try_get(0)).transpose()?)
}

fn fenced(lease: &Lease) -> Stop {
    let thread_id = lease.thread_id.clone();
    StoreError::Fenced { thread_id }.into()
}

/// The first round trip, which begins the transaction where it isn't begun.
async fn fetch(
    session: &mut Session,
    entries: &[Entry<'_>],
    begin: bool,
) -> Result<StoredRows, Error> {
    let threads: BTreeSet<Uuid> = entries.iter().map(|entry| entry.thread).collect();
    let threads: Vec<Uuid> = threads.into_iter().collect();
    let fields: BTreeSet<FieldKey> = entries.iter().flat_map(Entry::fields).collect();
    let effects: BTreeSet<EffectKey> = entries.iter().flat_map(Entry::effects).collect();
    let lock = session.statement(LOCK).await?;
    let standing = session.statement(STANDING).await?;
    let find_fields = session.statement(FIELDS).await?;
    let find_effects = session.statement(EFFECTS).await?;
    let columns = (
        fields.iter().map(|field| field.0).collect::<Vec<_>>(),
        fields.iter().map(|field| field.1).collect::<Vec<_>>(),
        fields.iter().map(|field| field.2).collect::<Vec<_>>(),
        effects.iter().map(|effect| effect.0).collect::<Vec<_>>(),
        effects.iter().map(|effect| effect.1).collect::<Vec<_>>(),
        effects.iter().map(|effect| effect.2).collect::<Vec<_>>(),
    );
    let client = &session.client;
    let fields_params: [&(dyn ToSql + Sync); 3] = [&columns.0, &columns.1, &columns.2];
    let effects_params: [&(dyn ToSql + Sync); 3] = [&columns.3, &columns.4, &columns.5];
    let threads_params: [&(dyn ToSql + Sync); 1] = [&threads];
    // Sent one behind the other, without waiting.
    let (begun, tokens, standing, fields, effects) = join5(
        begin_if(client, begin),
        client.query(&lock, &threads_params),
        client.query(&standing, &threads_params),
        query_if(client, &find_fields, &fields_params, !fields.is_empty()),
        query_if(client, &find_effects, &effects_params, !effects.is_empty()),
    )
    .await;
    begun?;
    let tokens = tokens?
        .into_iter()
        .map(|row| Ok((row.try_get(0)?, row.try_get(1)?)));
    let tokens: BTreeMap<Uuid, i64> = tokens.collect::<Result<_, Error>>()?;
    let mut kept = StoredRows::default();
    for row in standing? {
        let key: Uuid = row.try_get(0)?;
        let seq: Option<i64> = row.try_get(3)?;
        let root_seq = row.try_get(4)?;
        // Who has no lease has no row of `leases`.
        let Some(token) = tokens.get(&key) else {
            continue;
        };
        let standing = Standing {
            token: *token,
            id: row.try_get(1)?,
            fresh: row.try_get(2)?,
            last: seq.map(|seq| (seq, root_seq)),
        };
        kept.threads.insert(key, standing);
    }
    for row in fields? {
        let field = Field {
            id: row.try_get(3)?,
            fresh: row.try_get(4)?,
            kind: row.try_get::<_, Option<i16>>(5)?.map(i64::from),
        };
        kept.fields
            .insert((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?), field);
    }
    for row in effects? {
        kept.effects
            .insert((row.try_get(0)?, row.try_get(1)?, row.try_get(2)?));
    }
    Ok(kept)
}

async fn begin_if(client: &Client, wanted: bool) -> Result<(), Error> {
    match wanted {
        true => client.batch_execute("BEGIN").await,
        false => Ok(()),
    }
}

async fn query_if(
    client: &Client,
    statement: &Statement,
    params: &[&(dyn ToSql + Sync)],
    wanted: bool,
) -> Result<Vec<Row>, Error> {
    match wanted {
        true => client.query(statement, params).await,
        false => Ok(Vec::new()),
    }
}
