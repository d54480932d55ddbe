//! `sql` tools: a parameterised statement on an SQLite file or on PostgreSQL, or SQL that a model wrote, in a database of its own.
//!
//! What is run where is an [`SqlSpec`]; [`columns`] and [`rows`] make the result. [`sqlite`]
//! runs a statement on a file, [`scratch`] a model's text under [`guard`]; [`thread`] has both off the executor, and ends
//! them. [`postgres`] runs a statement on a connection of a [`pool`]; [`cell`] has its values.

mod cell;
pub mod columns;
mod guard;
pub mod pool;
mod postgres;
pub mod rows;
mod scratch;
mod sqlite;
mod thread;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value as Json;

use crate::backend::wire::{Bounds, Failure, PROBE};
use crate::expr::TypeTable;
use crate::ir::flow::ToolEffect;
use crate::ir::{ErrorKind, Tool};
use crate::project::spec::sql::{SqlSpec, Target};
use crate::run::model::CallContext;
use crate::run::probe::{Probed, Problem};
use crate::run::tool::{ToolBackend, ToolCall, ToolError};

use columns::Columns;
use pool::Pool;

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
