//! Trying what a flow needs, side by side: `graphc check --online`.
//!
//! [`Needs`](super::bind::Needs) gathers what there is to try; here it is tried, and becomes a row each.

use std::sync::Arc;

use futures_util::StreamExt;
use futures_util::future::{BoxFuture, join_all};
use futures_util::stream;

use crate::base::Span;
use crate::diag::{Diagnostic, Level, codes};
use crate::project::tried::{Row, State, What};
use crate::run::probe::Probed;
use crate::run::tool::ToolBackend;

/// Groups that are tried at the same time.
const AT_A_TIME: usize = 16;

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
