//! Trying what a flow needs, side by side: `graphc check --online`.
//!
//! [`Needs`](super::bind::Needs) gathers what there is to try; here it is tried, and becomes a row each.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::future::{BoxFuture, join_all};
use futures_util::stream;
use serde::Serialize;

use crate::base::Span;
use crate::diag::{Diagnostic, Level, codes};
use crate::run::probe::Probed;
use crate::run::tool::ToolBackend;

/// Groups that are tried at the same time.
const AT_A_TIME: usize = 16;

/// What kind of thing is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// Where threads are kept.
    Store,
    /// A secret that each run is given.
    Secret,
    /// A server of models.
    Provider,
    /// A model of a flow.
    Model,
    /// The model that makes vectors for long-term memory.
    Embeddings,
    /// An MCP server.
    McpServer,
    /// A tool of a flow.
    Tool,
}

impl What {
    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            What::Store => "store",
            What::Secret => "secret",
            What::Provider => "provider",
            What::Model => "model",
            What::Embeddings => "embeddings",
            What::McpServer => "mcp server",
            What::Tool => "tool",
        }
    }
}

/// What a try came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// A call would find what it needs.
    Ok,
    /// Nothing was tried.
    Skipped,
    /// A call may fail.
    Warning,
    /// A call would fail.
    Missing,
}

impl State {
    /// All, the best first.
    pub const ALL: [State; 4] = [State::Ok, State::Skipped, State::Warning, State::Missing];

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            State::Ok => "ok",
            State::Skipped => "skipped",
            State::Warning => "warning",
            State::Missing => "missing",
        }
    }
}

/// One thing that was tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Its kind.
    pub what: What,
    /// Its name in the flow or in `graphc.yaml`.
    pub name: String,
    /// Where it is written; `None` for what is known without a file.
    pub span: Option<Span>,
    /// What the try came to.
    pub state: State,
    /// What answered, or why nothing was tried; empty where there are findings.
    pub note: String,
    /// What is missing or doubtful, with the way out.
    pub findings: Vec<Diagnostic>,
}

/// One thing to try.
pub struct Item {
    /// Its kind.
    pub what: What,
    /// Its name.
    pub name: String,
    /// Where it is written.
    pub span: Option<Span>,
    /// What is wrong with it before it is tried; an error keeps it from being tried.
    pub found: Vec<Diagnostic>,
    /// The try.
    pub attempt: BoxFuture<'static, Probed>,
}

/// Things to try one behind the other: a server, and what it serves.
#[derive(Default)]
pub struct Group {
    /// Tried first. Where it is missing, the rest is not tried.
    pub head: Option<Item>,
    /// Tried behind it, side by side.
    pub rest: Vec<Item>,
    /// Closed at the end.
    pub tools: Vec<Arc<dyn ToolBackend>>,
}

impl Item {
    async fn row(self, done: &(dyn Fn() + Sync)) -> Row {
        let faulty = self
            .found
            .iter()
            .any(|finding| finding.level == Level::Error);
        let row = match faulty {
            true => Self::made(self.what, self.name, self.span, self.found, None),
            false => {
                let probed = self.attempt.await;
                Self::made(self.what, self.name, self.span, self.found, Some(probed))
            }
        };
        done();
        row
    }

    fn made(
        what: What,
        name: String,
        span: Option<Span>,
        mut findings: Vec<Diagnostic>,
        probed: Option<Probed>,
    ) -> Row {
        let (mut state, mut note) = (State::Ok, String::new());
        match probed {
            None => {}
            Some(Probed::Ok(why)) => note = why,
            Some(Probed::Skipped(why)) => (state, note) = (State::Skipped, why),
            Some(Probed::Problems(problems)) => {
                findings.extend(problems.into_iter().map(|problem| {
                    let at = span.unwrap_or_default();
                    let mut finding = Diagnostic::new(&codes::INVALID_CONFIG, problem.message, at);
                    if problem.is_warning {
                        finding.level = Level::Warning;
                    }
                    if span.is_none() {
                        finding.labels.clear();
                    }
                    finding.maybe_help(problem.help)
                }));
            }
        }
        let worst = findings.iter().map(|finding| match finding.level {
            Level::Error => State::Missing,
            Level::Warning => State::Warning,
            Level::Info => State::Ok,
        });
        let state = worst.max().unwrap_or(state).max(state);
        Row {
            what,
            name,
            span,
            state,
            note,
            findings,
        }
    }
}

impl Group {
    /// How many rows it makes.
    pub fn count(&self) -> usize {
        self.rest.len() + usize::from(self.head.is_some())
    }

    /// One thing that stands by itself.
    pub fn of(item: Item) -> Self {
        Self {
            rest: vec![item],
            ..Self::default()
        }
    }

    async fn rows(self, done: &(dyn Fn() + Sync)) -> Vec<Row> {
        let mut rows = Vec::new();
        let mut rest = self.rest;
        if let Some(head) = self.head {
            let row = head.row(done).await;
            if row.state == State::Missing {
                let why = format!("its {} is missing", row.what.word());
                for item in &mut rest {
                    item.attempt = Box::pin(std::future::ready(Probed::Skipped(why.clone())));
                }
            }
            rows.push(row);
        }
        rows.extend(join_all(rest.into_iter().map(|item| item.row(done))).await);
        join_all(self.tools.iter().map(|tool| tool.close())).await;
        rows
    }
}

/// Tries all, side by side; a row each, in order. `done` is called behind each.
pub async fn rows(groups: Vec<Group>, done: &(dyn Fn() + Sync)) -> Vec<Row> {
    let groups = groups.into_iter().map(|group| group.rows(done));
    let rows: Vec<Vec<Row>> = stream::iter(groups).buffered(AT_A_TIME).collect().await;
    rows.into_iter().flatten().collect()
}
