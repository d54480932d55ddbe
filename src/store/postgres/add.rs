//! The second round trip of an append: all rows, a statement for each table, and the commit. Where there are very many rows,
//! others go ahead with a part of them each.

use futures_util::future::{join, join3, join4};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, Error, Statement};

use super::columns::Columns;
use super::error::{Failure, Stop, is_lost};
use super::rows::Rows;
use super::session::Session;

const ADD_THREADS: &str = "INSERT INTO threads (id, key, thread_id, created_at, status, used) \
    SELECT k.*, nextval('uses') \
    FROM unnest($1::bigint[], $2::uuid[], $3::text[], $4::text[], $5::text[]) AS k \
    ON CONFLICT (id) DO UPDATE SET used = excluded.used, status = excluded.status";

const ADD_FIELDS: &str = "INSERT INTO fields (id, thread, frame, key, name) \
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::uuid[], $4::uuid[], $5::text[])";

const ADD_CHECKPOINTS: &str = "INSERT INTO checkpoints \
    (thread, seq, step, root_step, root_seq, frame_key, frame, source, run_id, at, fields, schedule) \
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::uuid[], \
        $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[])";

const ADD_WRITES: &str = "INSERT INTO writes (field, seq, part, kind, value) \
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::integer[], $4::smallint[], $5::text[])";

const ADD_EFFECTS: &str = "INSERT INTO effects \
    (thread, root_step, behind, key, task, effect, kind, subject, outcome) \
    SELECT k.thread, k.root_step, k.behind, k.key, k.task, k.effect, k.kind, k.subject, k.outcome \
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::uuid[], $5::text[], $6::text[], $7::text[], \
        $8::text[], $9::text[]) WITH ORDINALITY \
        AS k (thread, root_step, behind, key, task, effect, kind, subject, outcome, n) ORDER BY k.n";

const FORGET: &str = "DELETE FROM effects WHERE id = ANY (ARRAY(SELECT e.id \
    FROM unnest($1::bigint[], $2::bigint[], $3::uuid[]) AS k (thread, root_step, key) \
    CROSS JOIN LATERAL (SELECT id FROM effects \
        WHERE thread = k.thread AND root_step = k.root_step AND key = k.key LIMIT 1) e))";

const ADD_COUNTS: &str = "INSERT INTO effect_counts AS c (thread, key, kind, subject, count) \
    SELECT * FROM unnest($1::bigint[], $2::uuid[], $3::text[], $4::text[], $5::bigint[]) \
    ON CONFLICT (thread, key) DO UPDATE SET count = c.count + excluded.count";

/// Adds rows; a table without any is left alone.
async fn add_if(
    client: &Client,
    statement: &Statement,
    columns: Columns<'_>,
    wanted: bool,
) -> Result<(), Error> {
    if wanted {
        let columns: Vec<&(dyn ToSql + Sync)> = columns
            .iter()
            .map(|column| column.as_ref() as &(dyn ToSql + Sync))
            .collect();
        client.execute(statement, &columns).await?;
    }
    Ok(())
}

/// Adds rows, and commits the transaction.
pub(super) async fn add(
    session: &mut Session,
    mut rows: Rows<'_>,
    failure: &Failure,
) -> Result<(), Stop> {
    let statements = Statements::prepare(session).await?;
    let client = session.client.clone();
    // Behind one of these nothing is committed: it is an error like any other.
    while let Some(chunk) = rows.take_chunk() {
        statements.add(&client, &chunk).await?;
    }
    let (added, commit) = join(
        statements.add(&client, &rows),
        // Behind a statement that failed, the server takes it for a rollback.
        client.batch_execute("COMMIT"),
    )
    .await;
    added.map_err(|error| doubtful(error, failure))?;
    commit.map_err(|error| doubtful(error, failure))
}

/// What adds rows, by table.
struct Statements {
    threads: Statement,
    fields: Statement,
    checkpoints: Statement,
    writes: Statement,
    forget: Statement,
    effects: Statement,
    counts: Statement,
}

impl Statements {
    async fn prepare(session: &mut Session) -> Result<Self, Error> {
        Ok(Self {
            threads: session.statement(ADD_THREADS).await?,
            fields: session.statement(ADD_FIELDS).await?,
            checkpoints: session.statement(ADD_CHECKPOINTS).await?,
            writes: session.statement(ADD_WRITES).await?,
            forget: session.statement(FORGET).await?,
            effects: session.statement(ADD_EFFECTS).await?,
            counts: session.statement(ADD_COUNTS).await?,
        })
    }

    /// Sends all statements one behind the other, without waiting.
    async fn add(&self, client: &Client, rows: &Rows<'_>) -> Result<(), Error> {
        let add = |statement, columns, wanted| add_if(client, statement, columns, wanted);
        let ((threads, fields, checkpoints), (writes, forgotten, effects, counts)) = join(
            join3(
                add(
                    &self.threads,
                    rows.thread_columns(),
                    !rows.threads.is_empty(),
                ),
                add(&self.fields, rows.field_columns(), !rows.fields.is_empty()),
                add(
                    &self.checkpoints,
                    rows.checkpoint_columns(),
                    !rows.checkpoints.is_empty(),
                ),
            ),
            join4(
                add(&self.writes, rows.write_columns(), !rows.writes.is_empty()),
                add(
                    &self.forget,
                    rows.forgotten_columns(),
                    !rows.forgotten.is_empty(),
                ),
                add(
                    &self.effects,
                    rows.effect_columns(),
                    !rows.effects.is_empty(),
                ),
                add(&self.counts, rows.count_columns(), !rows.counts.is_empty()),
            ),
        )
        .await;
        let done = [
            threads,
            fields,
            checkpoints,
            writes,
            forgotten,
            effects,
            counts,
        ];
        done.into_iter().collect()
    }
}

/// All of it was sent at once: where the connection broke off, nobody knows how far the server has come.
fn doubtful(error: Error, failure: &Failure) -> Stop {
    match is_lost(&error) {
        true => Stop::Lost(failure.in_doubt()),
        false => error.into(),
    }
}
