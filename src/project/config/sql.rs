//! `sql` tools: a database and a query, or the parameters that have a model's SQL.

use std::sync::Arc;

use crate::base::secret::Secret;
use crate::project::spec::address::is_file_path;
use crate::project::spec::sql::query::{Dialect, Query};
use crate::project::spec::sql::{DEFAULT_LIMITS, DEFAULT_TIMEOUT, Form, Limits, SqlSpec, Target};
use crate::project::yaml::{Cursor, Table};

use super::tool;
use super::variables::{Form as Filled, Variables};

/// Reads an entry.
pub fn read(cursor: &Cursor<'_>, variables: &Variables<'_>) -> Option<SqlSpec> {
    let keys = ["sql", "timeout", "max_rows", "max_output"];
    let outer = cursor.table("an `sql` tool", &keys)?;
    let keys = ["database", "query", "result", "scratch"];
    let table = outer.get("sql")?.table("`sql`", &keys)?;
    let target = match table.get("scratch") {
        Some(scratch) => self::scratch(&table, &scratch),
        None => query(&table, variables),
    };
    let form = match table.get("result") {
        Some(result) => result.word("result of a query", &Form::WORDS)?,
        None => Form::Rows,
    };
    let timeout = outer.get("timeout").and_then(|timeout| timeout.timeout());
    Some(SqlSpec {
        target: target?,
        form,
        limits: Limits {
            rows: most_rows(&outer),
            bytes: tool::most_bytes(&outer, DEFAULT_LIMITS.bytes),
        },
        timeout: timeout.unwrap_or(DEFAULT_TIMEOUT),
        secrets: variables.secrets(),
    })
}

fn most_rows(table: &Table<'_>) -> usize {
    let most = table.get("max_rows").and_then(|most| most.count());
    most.map_or(DEFAULT_LIMITS.rows, |most| {
        usize::try_from(most).unwrap_or(usize::MAX)
    })
}

/// Parameters of the tool that have the SQL.
fn scratch(table: &Table<'_>, scratch: &Cursor<'_>) -> Option<Target> {
    for key in ["database", "query"] {
        if let Some(other) = table.get(key) {
            let message = format!("`{key}` and `scratch` don't go together");
            let help = "`scratch` makes a database of its own, in memory, for each call";
            other.report(other.key_finding(message).help(help));
        }
    }
    let inner = scratch.table("`scratch`", &["setup", "query"])?;
    let name = |part: Cursor<'_>| part.text().map(str::to_owned);
    Some(Target::Scratch {
        setup: match inner.get("setup") {
            Some(setup) => Some(name(setup)?),
            None => None,
        },
        query: name(inner.require("query")?)?,
    })
}

/// A query that stands in the file.
fn query(table: &Table<'_>, variables: &Variables<'_>) -> Option<Target> {
    let database = table.require("database");
    let query = table.require("query");
    let (database, query) = (database?, query?);
    let address = variables.text(&database, Filled::Plain)?;
    let text = query.text()?;
    let Some((dialect, place)) = known(&address) else {
        // What a variable that isn't set would make it is not known.
        if !variables.all_set() {
            return Some(Target::Unset);
        }
        wrong_address(&database, &address);
        return None;
    };
    let parsed = match tool::argument(text) {
        Some(argument) => {
            let message = format!("`{argument}` is not filled in here: a query is no template");
            let name = argument.trim_start_matches("args.");
            let help = format!("write `:{name}`, and the value is bound");
            query.report(query.finding(message).help(help));
            return None;
        }
        None => Query::parse(text, dialect),
    };
    match parsed {
        Ok(parsed) => Some(match dialect {
            Dialect::Sqlite => Target::Sqlite(place.to_owned(), Arc::new(parsed)),
            Dialect::Postgres => Target::Postgres(Secret::new(address), Arc::new(parsed)),
        }),
        Err(fault) => {
            query.report(query.finding(fault.message).help(fault.help));
            None
        }
    }
}

/// The kind of a database, and the file of an SQLite one. Whether an address is one of PostgreSQL's is seen where it is used.
fn known(address: &str) -> Option<(Dialect, &str)> {
    let servers = ["postgres://", "postgresql://"];
    if servers.iter().any(|scheme| address.starts_with(scheme)) {
        return Some((Dialect::Postgres, ""));
    }
    let path = address.strip_prefix("sqlite:")?;
    let is_file = !path.is_empty() && path != ":memory:" && is_file_path(path);
    is_file.then_some((Dialect::Sqlite, path))
}

/// What stands behind the first colon may be secret, and is not shown.
fn wrong_address(cursor: &Cursor<'_>, address: &str) {
    let kind = address.split(':').next().unwrap_or_default();
    let (message, help) = match kind {
        "sqlite" if address == "sqlite::memory:" => (
            "`sqlite::memory:` is no database that is there".to_owned(),
            "write `scratch: { setup: PARAM, query: PARAM }` for one that is made for each call",
        ),
        "sqlite" => (
            "`database` names no file".to_owned(),
            "write `sqlite:PATH`, from the folder of graphc.yaml, or `sqlite:/PATH` from the root",
        ),
        _ => (
            format!("`{kind}` is no kind of database"),
            "write `sqlite:PATH` or `postgres://USER:PASSWORD@HOST/DATABASE`",
        ),
    };
    cursor.report(cursor.finding(message).help(help));
}
