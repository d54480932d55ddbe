//! `sql` in `graphc.yaml`: a parameterised statement on an SQLite file or on PostgreSQL, or SQL that a model wrote, in a database of its own.
//!
//! [`query`] finds the parameters, [`fit`] holds them against the tool's.

pub mod fit;
pub mod query;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::base::secret::{Secret, Secrets};

use query::Query;

/// How much a result may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Most rows.
    pub rows: usize,
    /// Most bytes, of names and values together.
    pub bytes: usize,
}

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
