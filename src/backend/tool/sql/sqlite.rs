//! A query on an SQLite file: one connection a call, opened for reading alone where the tool only reads.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use rusqlite::limits::Limit;
use rusqlite::types::{Value, ValueRef};
use rusqlite::{Connection, ErrorCode, OpenFlags, Statement, TransactionBehavior};
use serde_json::{Map as JsonMap, Number, Value as Json};

use super::columns::{Columns, Wanted};
use super::rows::{Rows, too_long};
use super::thread::Watch;
use super::{Stop, only_reads};
use crate::project::spec::sql::query::Query;
use crate::project::spec::sql::{Form, Limits};

/// How many of its steps SQLite makes between two looks at whether it is to end.
pub const STEPS: i32 = 1_000;

/// One call.
pub struct Job {
    /// The file.
    pub path: PathBuf,
    /// The file as it is written in the settings.
    pub shown: String,
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
}

/// Runs the query. What writes is one transaction: it is all done, or nothing of it.
///
/// # Errors
/// SQLite's, and where the result is more than it may be.
pub fn run(job: &Job, watch: &Arc<Watch>) -> Result<Json, Stop> {
    let failed = |error| stop(error, watch);
    let mut connection = open(job, watch)?;
    if job.reads {
        return statement(job, &connection, watch);
    }
    let transaction = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .map_err(failed)?;
    let result = statement(job, &transaction, watch)?;
    transaction.commit().map_err(failed)?;
    Ok(result)
}

/// Reads how many tables a file has, which shows that it is a database.
///
/// # Errors
/// SQLite's, in words.
pub fn tables(path: &Path) -> Result<i64, String> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let count = Connection::open_with_flags(path, flags).and_then(|connection| {
        let tables = "SELECT count(*) FROM sqlite_schema WHERE type = 'table'";
        connection.query_row(tables, [], |row| row.get(0))
    });
    count.map_err(|error| error.to_string())
}

fn open(job: &Job, watch: &Arc<Watch>) -> Result<Connection, Stop> {
    let shown = &job.shown;
    if !job.path.is_file() {
        return Err(Stop::Refused(format!(
            "finds no file `{shown}`: a path is one from the folder of graphc.yaml"
        )));
    }
    let access = match job.reads {
        true => OpenFlags::SQLITE_OPEN_READ_ONLY,
        false => OpenFlags::SQLITE_OPEN_READ_WRITE,
    };
    let flags = access | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let opened = Connection::open_with_flags(&job.path, flags).and_then(|mut connection| {
        let (own, busy) = (Arc::clone(watch), Arc::clone(watch));
        connection.progress_handler(STEPS, Some(move || own.is_ended()))?;
        connection.busy_handler(Some(move |_| busy.waits_for_lock()))?;
        // Neither `ATTACH` nor `VACUUM INTO`, which make files even where a database is opened for reading.
        connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
        Ok(connection)
    });
    opened.map_err(|error| match stop(error, watch) {
        Stop::Refused(why) => Stop::Refused(format!("on `{shown}` {why}")),
        ended => ended,
    })
}

fn statement(job: &Job, connection: &Connection, watch: &Watch) -> Result<Json, Stop> {
    let failed = |error| stop(error, watch);
    let mut statement = connection.prepare(job.query.text()).map_err(failed)?;
    if job.reads && !statement.readonly() {
        let word = job.query.writes().unwrap_or("it");
        return Err(Stop::Refused(only_reads(&format!("`{word}`"))));
    }
    for index in 1..=statement.parameter_count() {
        let name = statement.parameter_name(index).unwrap_or_default();
        let arg = job.args.get(name.trim_start_matches(':'));
        let value = arg.map_or(Value::Null, bound);
        statement.raw_bind_parameter(index, value).map_err(failed)?;
    }
    let rows = rows_of(&statement, job.form, job.limits);
    let rows = collect(&mut statement, rows, &job.columns, !job.reads)?.map_err(failed)?;
    Ok(rows.finish(connection.changes()))
}

/// The rows of a statement, none so far.
pub fn rows_of(statement: &Statement<'_>, form: Form, limits: Limits) -> Rows {
    let names = statement.column_names();
    Rows::new(form, limits, names.map(str::to_owned))
}

/// Steps through a statement; to its end where it `writes`, also where the first row is all that is wanted.
///
/// # Errors
/// The outer one where there is too much of it, the inner one is SQLite's.
pub fn collect(
    statement: &mut Statement<'_>,
    mut rows: Rows,
    columns: &Columns,
    writes: bool,
) -> Result<rusqlite::Result<Rows>, Stop> {
    let wanted: Vec<(String, Wanted)> = rows
        .names()
        .iter()
        .map(|name| (name.clone(), columns.wanted(name)))
        .collect();
    let limit = rows.limits().bytes;
    let mut found = statement.raw_query();
    loop {
        let row = match found.next() {
            Ok(Some(row)) => row,
            Ok(None) => return Ok(Ok(rows)),
            Err(error) => return Ok(Err(error)),
        };
        let mut cells = Vec::with_capacity(wanted.len());
        for (index, (name, wanted)) in wanted.iter().enumerate() {
            let value = match row.get_ref(index) {
                Ok(value) => value,
                Err(error) => return Ok(Err(error)),
            };
            cells.push(cell(value, *wanted, name, limit).map_err(Stop::Refused)?);
        }
        rows.push(cells).map_err(Stop::Refused)?;
        if rows.is_full() && !writes {
            return Ok(Ok(rows));
        }
    }
}

/// A value of SQLite's as JSON: bytes are base64.
fn cell(value: ValueRef<'_>, wanted: Wanted, column: &str, limit: usize) -> Result<Json, String> {
    match value {
        ValueRef::Null => Ok(Json::Null),
        ValueRef::Integer(number) => Ok(wanted.int(number)),
        ValueRef::Real(number) => Number::from_f64(number)
            .map(Json::Number)
            .ok_or_else(|| format!("gives a number without end in column `{column}`")),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) if bytes.len() > limit => {
            Err(too_long(limit))
        }
        ValueRef::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(wanted.text(text)),
            Err(_) => Err(format!(
                "gives a text in column `{column}` that is no UTF-8"
            )),
        },
        ValueRef::Blob(bytes) => Ok(Json::String(BASE64.encode(bytes))),
    }
}

/// An argument as SQLite has it: a list or a map is its JSON.
fn bound(arg: &Json) -> Value {
    match arg {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Integer(i64::from(*flag)),
        Json::Number(number) => match number.as_i64() {
            Some(whole) => Value::Integer(whole),
            None => number.as_f64().map_or(Value::Null, Value::Real),
        },
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(_) | Json::Object(_) => Value::Text(arg.to_string()),
    }
}

/// What an error of SQLite's means for the call.
pub fn stop(error: rusqlite::Error, watch: &Watch) -> Stop {
    let cut = [
        ErrorCode::OperationInterrupted,
        ErrorCode::DatabaseBusy,
        ErrorCode::DatabaseLocked,
    ];
    match error.sqlite_error_code() {
        Some(code) if watch.is_ended() && cut.contains(&code) => Stop::Ended,
        _ => Stop::Refused(format!("failed: {}", words(error))),
    }
}

/// SQLite's own words.
pub fn words(error: rusqlite::Error) -> String {
    match error {
        rusqlite::Error::SqliteFailure(_, Some(message)) => message,
        rusqlite::Error::SqlInputError { msg, .. } => msg,
        other => other.to_string(),
    }
}
