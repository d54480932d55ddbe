//! A query on PostgreSQL: one transaction a call, READ ONLY where the tool only reads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::{StreamExt as _, pin_mut};
use serde_json::{Map as JsonMap, Value as Json};
use tokio_postgres::error::SqlState;
use tokio_postgres::{Error, Row, Transaction};

use super::cell::{self, Arg, Raw};
use super::columns::{Columns, Wanted};
use super::only_reads;
use super::pool::{Borrowed, Pool};
use super::rows::Rows;
use crate::backend::wire::{Bounds, Failure};
use crate::ir::ErrorKind;
use crate::project::spec::sql::query::Query;
use crate::project::spec::sql::{Form, Limits};
use crate::run::model::CallContext;
use crate::run::tool::ToolError;
use crate::store;

/// One call.
pub struct Job {
    /// Name of the tool.
    pub tool: String,
    /// Whether it only reads.
    pub reads: bool,
    /// The statement.
    pub query: Arc<Query>,
    /// Its parameters.
    pub args: JsonMap<String, Json>,
    /// What is wanted of the columns.
    pub columns: Arc<Columns>,
    /// What the result is.
    pub form: Form,
    /// How much it may be.
    pub limits: Limits,
    /// How long it may take.
    pub timeout: Duration,
}

/// Why a query came to nothing.
enum Stop {
    /// The server or the connection.
    Sql(Error),
    /// In words that follow "the query of `tool`".
    Refused(String),
    /// There is no connection.
    Failed(Failure),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Stop::Sql(error)
    }
}

/// Runs the query. It is all done, or nothing of it; where the connection is lost, or time is up, in the midst of the commit, that
/// is not known.
///
/// # Errors
/// The server's, by kind, and where the result is more than it may be.
pub async fn run(job: &Job, pool: &Pool, cx: &CallContext) -> Result<Json, ToolError> {
    let turn = pool.turn(cx).await?;
    let bounds = Bounds::new(cx, Some(job.timeout));
    let committing = AtomicBool::new(false);
    let work = async {
        let mut borrowed = pool.borrow(turn).await.map_err(Stop::Failed)?;
        attempt(job, &mut borrowed, &committing).await
    };
    let done = bounds.within(work).await;
    let in_doubt = committing.load(Ordering::Relaxed);
    let failure = match done {
        Ok(Ok(result)) => return Ok(result),
        Ok(Err(Stop::Sql(error))) => of_sql(job, &error),
        Ok(Err(Stop::Refused(why))) => {
            let message = format!("the query of `{}` {why}", job.tool);
            Failure::new(ErrorKind::ToolError, message)
        }
        Ok(Err(Stop::Failed(failure))) => failure,
        Err(ours) if ours.kind == ErrorKind::Timeout => super::timed_out(&job.tool, job.timeout),
        Err(ours) => ours,
    };
    Err(Failure {
        in_doubt,
        ..failure
    }
    .into())
}

async fn attempt(
    job: &Job,
    borrowed: &mut Borrowed<'_>,
    committing: &AtomicBool,
) -> Result<Json, Stop> {
    let Some(connection) = borrowed.begin() else {
        return Err(Stop::Refused("has no connection".to_owned()));
    };
    let begin = connection.client.build_transaction().read_only(job.reads);
    let transaction = begin.start().await?;
    let limit = job.timeout.as_millis().clamp(1, i32::MAX as u128);
    let set = format!("SET LOCAL statement_timeout = {limit}");
    transaction.batch_execute(&set).await?;
    let result = statement(job, &transaction).await;
    match result {
        Ok(result) => {
            committing.store(!job.reads, Ordering::Relaxed);
            let committed = transaction.commit().await;
            let known = !committed.as_ref().is_err_and(store::lost);
            committing.store(!known && !job.reads, Ordering::Relaxed);
            committed?;
            borrowed.end();
            Ok(result)
        }
        Err(Stop::Sql(error)) if !store::lost(&error) => {
            transaction.rollback().await?;
            borrowed.end();
            Err(Stop::Sql(error))
        }
        // What it is at is ended with the connection.
        Err(stop) => Err(stop),
    }
}

async fn statement(job: &Job, transaction: &Transaction<'_>) -> Result<Json, Stop> {
    let statement = transaction.prepare(&job.query.numbered()).await?;
    let null = Json::Null;
    let names = job.query.names();
    let args = names
        .iter()
        .map(|name| Arg(job.args.get(*name).unwrap_or(&null)));
    let args: Vec<Arg<'_>> = args.collect();
    if job.form == Form::Changes {
        let changes = transaction.execute_raw(&statement, args).await?;
        return Ok(changes.into());
    }
    let names = statement
        .columns()
        .iter()
        .map(|column| column.name().to_owned());
    let mut rows = Rows::new(job.form, job.limits, names);
    let wanted = rows.names().iter().map(|name| job.columns.wanted(name));
    let wanted: Vec<Wanted> = wanted.collect();
    let most = match job.form {
        Form::Row | Form::Value => 1,
        _ => i32::try_from(job.limits.rows.saturating_add(1)).unwrap_or(i32::MAX),
    };
    let portal = transaction.bind_raw(&statement, args).await?;
    let found = transaction.query_portal_raw(&portal, most).await?;
    pin_mut!(found);
    while let Some(row) = found.next().await {
        let cells = cells(&row?, &rows, &wanted).map_err(Stop::Refused)?;
        rows.push(cells).map_err(Stop::Refused)?;
    }
    Ok(rows.finish(0))
}

fn cells(row: &Row, rows: &Rows, wanted: &[Wanted]) -> Result<Vec<Json>, String> {
    let columns = row.columns().iter().zip(rows.names()).zip(wanted);
    let cells = columns
        .enumerate()
        .map(|(index, ((column, name), wanted))| {
            let raw: Option<Raw<'_>> = row.try_get(index).map_err(|error| error.to_string())?;
            cell::json(raw, column.type_(), *wanted, name)
        });
    cells.collect()
}

/// What an error of the server's means for the call.
fn of_sql(job: &Job, error: &Error) -> Failure {
    let tool = &job.tool;
    let said = store::words(error);
    if store::lost(error) {
        let message = format!("the query of `{tool}` lost its connection: {said}");
        return Failure::network(message);
    }
    let Some(code) = error.code() else {
        return Failure::new(
            ErrorKind::ToolError,
            format!("the query of `{tool}` failed: {said}"),
        );
    };
    if *code == SqlState::QUERY_CANCELED {
        return super::timed_out(tool, job.timeout);
    }
    if *code == SqlState::READ_ONLY_SQL_TRANSACTION {
        let why = only_reads(&said);
        return Failure::new(ErrorKind::ToolError, format!("the query of `{tool}` {why}"));
    }
    // What another transaction was in the way of, and what the server has no room for now, may be tried again.
    let kind = match code.code().get(..2) {
        Some("40" | "53") => ErrorKind::ServerError,
        _ => ErrorKind::ToolError,
    };
    Failure::new(kind, format!("the query of `{tool}` failed: {said}"))
}
