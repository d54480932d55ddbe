//! Makes a thread from another one's checkpoint: the server copies the rows, in one transaction that sees one moment.

use async_trait::async_trait;
use tokio_postgres::types::ToSql;

use super::append::{append_and_commit, lock_thread};
use super::error::{Failure, Stop};
use super::name::{kept, key};
use super::past::no_checkpoint;
use super::read::{Reading, signed};
use super::session::{Session, Work};
use crate::run::store::{Effects, Lease, StoreError};
use crate::store::append::Append;
use crate::store::rules::Broken;

const SOURCE: &str = "SELECT t.id, c.seq, r.step FROM threads t \
    LEFT JOIN checkpoints c ON c.thread = t.id AND c.seq = $2 \
    LEFT JOIN checkpoints r ON r.thread = t.id AND r.seq = c.root_seq WHERE t.key = $1";

const BEGIN_THREAD: &str = "INSERT INTO threads (id, key, thread_id, created_at, status, used) \
    VALUES (nextval('thread_numbers'), $1, $2, $3, $4, nextval('uses')) RETURNING id";

const CHECKPOINTS: &str = "INSERT INTO checkpoints \
    (thread, seq, step, root_step, root_seq, frame_key, frame, source, run_id, at, fields, schedule) \
    SELECT $2, seq, step, root_step, root_seq, frame_key, frame, source, run_id, at, fields, schedule \
    FROM checkpoints WHERE thread = $1 AND seq <= $3";

const FIELDS: &str = "INSERT INTO fields (id, thread, frame, key, name) \
    SELECT nextval('field_numbers'), $2, frame, key, name FROM fields f \
    WHERE thread = $1 AND EXISTS (SELECT 1 FROM writes WHERE field = f.id AND seq <= $3)";

const WRITES: &str = "INSERT INTO writes (field, seq, part, kind, value) \
    SELECT new.id, w.seq, w.part, w.kind, w.value \
    FROM (SELECT id, frame, key FROM fields WHERE thread = $2 OFFSET 0) new \
    CROSS JOIN LATERAL (SELECT id FROM fields \
        WHERE thread = $1 AND frame = new.frame AND key = new.key LIMIT 1) old \
    CROSS JOIN LATERAL (SELECT seq, part, kind, value FROM writes \
        WHERE field = old.id AND seq <= $3 OFFSET 0) w";

/// Those that go with a checkpoint of a step of the root.
const EFFECTS: &str = "INSERT INTO effects \
    (thread, root_step, behind, key, task, effect, kind, subject, outcome) \
    SELECT $2, root_step, behind, key, task, effect, kind, subject, outcome FROM effects \
    WHERE thread = $1 AND ($5 OR root_step < $4 OR behind < $6 OR (root_step = $4 AND behind < $3)) \
    ORDER BY id";

const COUNTS: &str = "INSERT INTO effect_counts (thread, key, kind, subject, count) \
    SELECT $2, c.key, c.kind, c.subject, c.count - coalesce(later.n, 0) FROM effect_counts c \
    LEFT JOIN (SELECT kind, subject, count(*) AS n FROM effects \
        WHERE NOT $5 AND thread = $1 AND root_step >= $4 \
          AND NOT coalesce(behind < $6 OR (root_step = $4 AND behind < $3), false) \
        GROUP BY kind, subject) later ON later.kind = c.kind AND later.subject = c.subject \
    WHERE c.thread = $1 AND c.count > coalesce(later.n, 0)";

/// Makes the new thread that `to` is the lease of.
pub(super) struct Fork<'a> {
    /// The thread that it is made from.
    pub(super) from: Reading<'a>,
    pub(super) at: u64,
    pub(super) effects: Effects,
    pub(super) to: &'a Lease,
    /// What is appended behind what is copied.
    pub(super) append: &'a Append,
    pub(super) failure: &'a Failure,
}

#[async_trait]
impl Work for Fork<'_> {
    type Out = ();

    async fn run(&self, session: &mut Session) -> Result<(), Stop> {
        let client = session.client.clone();
        client
            .batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ")
            .await?;
        let thread_id = self.to.thread_id.clone();
        if lock_thread(session, self.to).await?.is_some() {
            return Err(StoreError::Exists { thread_id }.into());
        }
        let source = session.statement(SOURCE).await?;
        let from = self.from.thread_id;
        let found = client
            .query_opt(&source, &[&key(&[from]), &signed(self.at)])
            .await?;
        let Some(found) = found else {
            let thread_id = from.to_owned();
            return Err(StoreError::NoThread { thread_id }.into());
        };
        let old: i64 = found.try_get(0)?;
        let Some(at) = found.try_get::<_, Option<i64>>(1)? else {
            return Err(no_checkpoint(session, &self.from, old, self.at).await?);
        };
        let step: i64 = found.try_get::<_, Option<i64>>(2)?.unwrap_or(0);
        let Some(status) = &self.append.status else {
            return Err(Broken::NoStatus.refusal(&thread_id).into());
        };
        let begin = session.statement(BEGIN_THREAD).await?;
        let row: [&(dyn ToSql + Sync); 4] = [
            &key(&[&thread_id]),
            &kept(&thread_id),
            &self.append.at,
            status,
        ];
        let new: i64 = client.query_one(&begin, &row).await?.try_get(0)?;
        for sql in [CHECKPOINTS, FIELDS, WRITES] {
            let copy = session.statement(sql).await?;
            client.execute(&copy, &[&old, &new, &at]).await?;
        }
        let (all, until) = self.effects.later();
        let until = signed(until);
        for sql in [EFFECTS, COUNTS] {
            let copy = session.statement(sql).await?;
            client
                .execute(&copy, &[&old, &new, &at, &step, &all, &until])
                .await?;
        }
        append_and_commit(session, self.append, self.failure).await
    }
}
