//! SQL that a model wrote: in a database in memory that is made for the call and dropped with it.
//!
//! Nothing leads out of it ([`guard`]), and all that it may use up is bounded: time, steps, pages, memory,
//! rows, bytes, the length and the depth of the text. Invariant: hostile SQL is refused in bounded time and memory
//! (`tests/sql/hostile.txt`).

use std::sync::Arc;

use rusqlite::config::DbConfig;
use rusqlite::fallible_iterator::FallibleIterator as _;
use rusqlite::limits::Limit;
use rusqlite::{Batch, Connection, OpenFlags};
use serde_json::Value as Json;

use super::columns::Columns;
use super::guard::{self, Broken, Guard};
use super::rows::Rows;
use super::thread::Watch;
use super::{Stop, sqlite};
use crate::project::spec::sql::{Form, Limits};

/// Most bytes of one of the texts.
const TEXT: usize = 256 << 10;
/// Most pages of 4 KiB that the database, and what is temporary in it, may have each.
const PAGES: u32 = 16_384;

/// Bounds of SQLite's own. Values are short enough that no single step takes long.
const LIMITS: [(Limit, i32); 13] = [
    (Limit::SQLITE_LIMIT_LENGTH, guard::VALUE),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, TEXT as i32),
    (Limit::SQLITE_LIMIT_COLUMN, 500),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 200),
    (Limit::SQLITE_LIMIT_PARSER_DEPTH, 1_000),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 500),
    (Limit::SQLITE_LIMIT_VDBE_OP, 200_000),
    (Limit::SQLITE_LIMIT_FUNCTION_ARG, 100),
    (Limit::SQLITE_LIMIT_ATTACHED, 0),
    (Limit::SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1_000),
    (Limit::SQLITE_LIMIT_TRIGGER_DEPTH, 50),
    (Limit::SQLITE_LIMIT_WORKER_THREADS, 0),
    (Limit::SQLITE_LIMIT_SCHEMA, 2_000),
];

/// Switches of SQLite's: the schema is the model's and trusted in nothing.
const SWITCHES: [(DbConfig, bool); 4] = [
    (DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true),
    (DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false),
    (DbConfig::SQLITE_DBCONFIG_WRITABLE_SCHEMA, false),
    (DbConfig::SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, false),
];

/// One call.
pub struct Job {
    /// What the database is made with, and the name of the parameter.
    pub setup: Option<(String, String)>,
    /// What is asked of it, and the name of the parameter.
    pub query: (String, String),
    /// What is wanted of the columns.
    pub columns: Arc<Columns>,
    /// What the result is.
    pub form: Form,
    /// How much it may be.
    pub limits: Limits,
}

/// Makes the database, runs both texts, and drops it. The result is that of the last statement of the query that gives rows.
///
/// # Errors
/// In SQLite's words, with the statement; where a bound is reached, that bound.
pub fn run(job: &Job, watch: &Arc<Watch>) -> Result<Json, Stop> {
    let guard = Arc::new(Guard::new(Arc::clone(watch)));
    let connection = open(&guard).map_err(|error| sqlite::stop(error, watch))?;
    let mut script = Script {
        job,
        connection: &connection,
        guard: &guard,
    };
    if let Some((name, text)) = &job.setup {
        script.run(name, text)?;
    }
    let (name, text) = &job.query;
    let before = connection.total_changes();
    let rows = script.run(name, text)?;
    let rows = rows.unwrap_or_else(|| Rows::new(job.form, job.limits, std::iter::empty()));
    Ok(rows.finish(connection.total_changes() - before))
}

fn open(guard: &Arc<Guard>) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_MEMORY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_in_memory_with_flags(flags)?;
    for (limit, most) in LIMITS {
        connection.set_limit(limit, most)?;
    }
    for (switch, on) in SWITCHES {
        connection.set_db_config(switch, on)?;
    }
    // What is sorted or temporary would be in files otherwise.
    connection.execute_batch(&format!(
        "PRAGMA temp_store = MEMORY; PRAGMA main.max_page_count = {PAGES}; PRAGMA temp.max_page_count = {PAGES}"
    ))?;
    let (steps, actions) = (Arc::clone(guard), Arc::clone(guard));
    connection.progress_handler(sqlite::STEPS, Some(move || steps.step()))?;
    connection.authorizer(Some(move |context: rusqlite::hooks::AuthContext<'_>| {
        actions.authorize(&context.action)
    }))?;
    Ok(connection)
}

struct Script<'a> {
    job: &'a Job,
    connection: &'a Connection,
    guard: &'a Guard,
}

impl Script<'_> {
    /// Runs the statements of a text; gives the rows of the last one that has any.
    fn run(&mut self, name: &str, text: &str) -> Result<Option<Rows>, Stop> {
        if text.len() > TEXT {
            return Err(Stop::Refused(format!(
                "is given SQL of {} bytes in `{name}`: more than {TEXT} are not run",
                text.len()
            )));
        }
        // SQLite would take what stands before it for the whole.
        if text.contains('\0') {
            let why = format!("is given SQL with U+0000 in `{name}`");
            return Err(Stop::Refused(why));
        }
        let mut last = None;
        let mut batch = Batch::new(self.connection, text);
        let mut done = 0;
        for number in 1.. {
            let rest = text.get(done..).unwrap_or_default();
            let failed = |why: String| {
                let shown = shortened(rest);
                Stop::Refused(format!(
                    "failed in statement {number} of `{name}` (`{shown}`): {why}"
                ))
            };
            let mut statement = match batch.next() {
                Ok(Some(statement)) => statement,
                Ok(None) => break,
                Err(error) => return Err(self.stop(error, failed)),
            };
            if statement.parameter_count() > 0 {
                let why = "it has a parameter, and nothing is bound to it here";
                return Err(failed(why.to_owned()));
            }
            let written = statement.expanded_sql().unwrap_or_default();
            let rows = sqlite::rows_of(&statement, self.job.form, self.job.limits);
            let has_rows = statement.column_count() > 0;
            let rows = match sqlite::collect(&mut statement, rows, &self.job.columns, true) {
                Ok(Ok(rows)) => rows,
                Ok(Err(error)) => return Err(self.stop(error, failed)),
                Err(Stop::Refused(why)) => return Err(failed(format!("it {why}"))),
                Err(ended) => return Err(ended),
            };
            last = has_rows.then_some(rows).or(last);
            done += rest.find(&written).unwrap_or_default() + written.len();
        }
        Ok(last)
    }

    fn stop(&self, error: rusqlite::Error, failed: impl Fn(String) -> Stop) -> Stop {
        match self.guard.broken() {
            Some(Broken::Ended) => Stop::Ended,
            Some(broken) => failed(broken.words()),
            None => failed(sqlite::words(error)),
        }
    }
}

/// The beginning of a statement, in one line.
fn shortened(rest: &str) -> String {
    const MOST: usize = 80;
    let begins = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ';');
    let words: Vec<&str> = begins.split_whitespace().take(MOST).collect();
    let line = words.join(" ");
    let line = line.split(';').next().unwrap_or_default().trim_end();
    match line.char_indices().nth(MOST) {
        Some((end, _)) => format!("{} ..", line.get(..end).unwrap_or_default()),
        None => line.to_owned(),
    }
}
