//! `sql` tools: a parameterised statement on an SQLite file or on PostgreSQL, or SQL that a model wrote, in a database of its own.
//!
//! [`query`] finds the parameters, [`fit`] holds them against the tool's, [`columns`] and [`rows`] make the result. [`sqlite`]
//! runs a statement on a file, [`scratch`] a model's text under [`guard`]; [`thread`] has both off the executor, and ends
//! them. [`postgres`] runs a statement on a connection of a [`pool`]; [`cell`] has its values.

mod cell;
pub mod columns;
pub mod fit;
mod guard;
pub mod pool;
mod postgres;
pub mod query;
pub mod rows;
mod scratch;
mod sqlite;
mod thread;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value as Json;

use crate::backend::secret::{Secret, Secrets};
use crate::backend::wire::{Bounds, Failure, PROBE};
use crate::expr::TypeTable;
use crate::ir::flow::ToolEffect;
use crate::ir::{ErrorKind, Tool};
use crate::run::model::CallContext;
use crate::run::probe::{Probed, Problem};
use crate::run::tool::{ToolBackend, ToolCall, ToolError};

use columns::Columns;
use pool::Pool;
use query::Query;
use rows::Limits;

/// Longest time of a call, unless the binding says otherwise.
pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);
/// Most rows and bytes of a result, unless the binding says otherwise.
pub const DEFAULT_LIMITS: Limits = Limits {
    rows: 1_000,
    bytes: 16 << 20,
};

/// What of a query is the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// All rows, as objects.
    Rows,
    /// The first row, or null.
    Row,
    /// The first column of the first row, or null.
    Value,
    /// How many rows were changed.
    Changes,
}

impl Form {
    /// The words for them in the settings.
    pub const WORDS: [(&'static str, Form); 4] = [
        ("rows", Form::Rows),
        ("row", Form::Row),
        ("value", Form::Value),
        ("changes", Form::Changes),
    ];
}

/// What is run where.
#[derive(Debug, Clone, PartialEq)]
pub enum Target {
    /// A statement on a file, which is named from the folder of `graphc.yaml`.
    Sqlite(String, Arc<Query>),
    /// A statement on PostgreSQL, at an address that may have a password.
    Postgres(Secret, Arc<Query>),
    /// SQL in arguments of the call: the names of the parameters.
    Scratch {
        /// What the database is made with.
        setup: Option<String>,
        /// What is asked of it.
        query: String,
    },
    /// Where isn't known: a variable is not set, which keeps the tool from being called.
    Unset,
}

/// A query as a tool: `sql` in `graphc.yaml`.
#[derive(Clone, PartialEq)]
pub struct SqlSpec {
    /// What is run where.
    pub target: Target,
    /// What the result is.
    pub form: Form,
    /// How much it may be.
    pub limits: Limits,
    /// Longest time of one call.
    pub timeout: Duration,
    /// What must not be told.
    pub secrets: Secrets,
}

impl SqlSpec {
    /// The SQLite file that it is about.
    pub fn file(&self) -> Option<&str> {
        match &self.target {
            Target::Sqlite(path, _) => Some(path),
            Target::Postgres(..) | Target::Scratch { .. } | Target::Unset => None,
        }
    }

    /// The PostgreSQL database that it is about.
    pub fn server(&self) -> Option<&str> {
        match &self.target {
            Target::Postgres(address, _) => Some(address.reveal()),
            Target::Sqlite(..) | Target::Scratch { .. } | Target::Unset => None,
        }
    }

    /// The word that shows that the query does more than read.
    pub fn writes(&self) -> Option<&str> {
        match &self.target {
            Target::Sqlite(_, query) | Target::Postgres(_, query) => query.writes(),
            Target::Scratch { .. } | Target::Unset => None,
        }
    }
}

impl fmt::Debug for SqlSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Limits { rows, bytes } = self.limits;
        let text = format!(
            "{:?} {:?} {:?} {rows} {bytes}",
            self.target, self.form, self.timeout
        );
        f.write_str(&self.secrets.scrub(&text))
    }
}

/// Why a query came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stop {
    /// It was told to end.
    Ended,
    /// In words that follow "the query of `tool`".
    Refused(String),
}

/// A statement that writes, of a tool that doesn't; `what` shows it.
fn only_reads(what: &str) -> String {
    format!("writes ({what}), and the tool only reads: say `@effect(write)` behind its result")
}

/// A query that took too long. Of what was ended so nothing has happened.
fn timed_out(tool: &str, limit: Duration) -> Failure {
    let limit = crate::base::duration::show(limit);
    let message = format!("the query of `{tool}` took longer than {limit} and was ended");
    Failure::new(ErrorKind::Timeout, message)
}

/// A query as a tool.
pub struct SqlTool {
    spec: SqlSpec,
    /// Connections to its PostgreSQL database.
    pool: Option<Arc<Pool>>,
    folder: PathBuf,
    reads: bool,
    columns: Arc<Columns>,
}

impl SqlTool {
    /// A query for a tool of a flow; `folder` is the one of `graphc.yaml`, `pool` has connections to its PostgreSQL database.
    pub fn new(
        spec: SqlSpec,
        tool: &Tool,
        types: &TypeTable,
        folder: &Path,
        pool: Option<Arc<Pool>>,
    ) -> Self {
        Self {
            pool,
            columns: Arc::new(Columns::of(tool.returns.as_ref(), types, spec.form)),
            reads: tool.effect == ToolEffect::Read,
            folder: folder.to_owned(),
            spec,
        }
    }

    async fn run(&self, call: &ToolCall, cx: &CallContext) -> Result<Json, ToolError> {
        let SqlSpec {
            target,
            form,
            limits,
            timeout,
            ..
        } = &self.spec;
        let (form, limits, columns) = (*form, *limits, Arc::clone(&self.columns));
        match (target, &self.pool) {
            (Target::Sqlite(path, query), _) => {
                let job = sqlite::Job {
                    path: self.folder.join(path),
                    shown: path.clone(),
                    reads: self.reads,
                    query: Arc::clone(query),
                    args: call.args.clone(),
                    columns,
                    form,
                    limits,
                };
                thread::run(&call.tool, *timeout, cx, move |watch| {
                    sqlite::run(&job, watch)
                })
                .await
            }
            (Target::Scratch { setup, query }, _) => {
                let setup = setup.as_deref().map(|name| text(call, name)).transpose()?;
                let job = scratch::Job {
                    setup: setup.flatten(),
                    query: text(call, query)?.unwrap_or_default(),
                    columns,
                    form,
                    limits,
                };
                thread::run(&call.tool, *timeout, cx, move |watch| {
                    scratch::run(&job, watch)
                })
                .await
            }
            (Target::Postgres(_, query), Some(pool)) => {
                let job = postgres::Job {
                    tool: call.tool.clone(),
                    reads: self.reads,
                    query: Arc::clone(query),
                    args: call.args.clone(),
                    columns,
                    form,
                    limits,
                    timeout: *timeout,
                };
                postgres::run(&job, pool, cx).await
            }
            (Target::Postgres(..) | Target::Unset, _) => {
                let message = format!("the query of `{}` has no database", call.tool);
                Err(ToolError::new(ErrorKind::ToolError, message))
            }
        }
    }
}

/// An argument that is SQL, with its name; none for null.
fn text(call: &ToolCall, name: &str) -> Result<Option<(String, String)>, ToolError> {
    match call.args.get(name) {
        Some(Json::String(text)) => Ok(Some((name.to_owned(), text.clone()))),
        None | Some(Json::Null) => Ok(None),
        Some(_) => {
            let message = format!("the query of `{}` is given no text in `{name}`", call.tool);
            Err(ToolError::new(ErrorKind::ToolError, message))
        }
    }
}

#[async_trait]
impl ToolBackend for SqlTool {
    async fn call(&self, call: ToolCall, cx: &CallContext) -> Result<Json, ToolError> {
        self.run(&call, cx).await
    }

    async fn probe(&self) -> Probed {
        match (&self.spec.target, &self.pool) {
            (Target::Sqlite(shown, _), _) => {
                let path = self.folder.join(shown);
                match tokio::task::spawn_blocking(move || sqlite::tables(&path)).await {
                    Ok(Ok(count)) => Probed::Ok(format!("`{shown}` has tables: {count}")),
                    Ok(Err(why)) => {
                        Problem::missing(format!("`{shown}` can't be read: {why}")).into()
                    }
                    Err(error) => Problem::missing(error.to_string()).into(),
                }
            }
            (Target::Postgres(..), Some(pool)) => {
                match Bounds::of(PROBE).within(pool.answers()).await {
                    Ok(Ok(shown)) => Probed::Ok(format!("`{shown}` answers")),
                    Ok(Err(failure)) | Err(failure) => failure.problem().into(),
                }
            }
            (Target::Scratch { .. }, _) => {
                Probed::Ok("its database is made by each call".to_owned())
            }
            (Target::Postgres(..) | Target::Unset, _) => {
                Probed::Skipped("its database is not known".to_owned())
            }
        }
    }
}
