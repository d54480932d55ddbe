//! What a query gives back, within its bounds.

use serde_json::{Map as JsonMap, Value as Json};

use crate::project::spec::sql::{Form, Limits};

/// The rows of one statement.
#[derive(Debug)]
pub struct Rows {
    form: Form,
    limits: Limits,
    names: Vec<String>,
    rows: Vec<Json>,
    bytes: usize,
}

impl Rows {
    /// None so far. `names` are those of the columns; the second of a name is `name:1`, as SQLite has it in subqueries.
    pub fn new(form: Form, limits: Limits, names: impl Iterator<Item = String>) -> Self {
        let mut known: Vec<String> = Vec::new();
        for name in names {
            let again = |n: usize| match n {
                0 => name.clone(),
                n => format!("{name}:{n}"),
            };
            let free = (0..).map(again).find(|name| !known.contains(name));
            known.extend(free);
        }
        Self {
            form,
            limits,
            names: known,
            rows: Vec::new(),
            bytes: 0,
        }
    }

    /// Names of the columns.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// How much it may be.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Whether all rows that the result needs are there.
    pub fn is_full(&self) -> bool {
        matches!(self.form, Form::Row | Form::Value) && !self.rows.is_empty()
    }

    /// Adds a row.
    ///
    /// # Errors
    /// In words that follow "the query": it is one too many.
    pub fn push(&mut self, cells: Vec<Json>) -> Result<(), String> {
        if self.is_full() || self.form == Form::Changes {
            return Ok(());
        }
        if self.rows.len() >= self.limits.rows {
            return Err(format!(
                "gives more than {} rows, which is its `max_rows`",
                self.limits.rows
            ));
        }
        let values: usize = cells.iter().map(size).sum();
        let names: usize = self.names.iter().map(String::len).sum();
        self.bytes += values + names;
        if self.bytes > self.limits.bytes {
            return Err(too_long(self.limits.bytes));
        }
        self.rows.push(match self.form {
            Form::Value => cells.into_iter().next().unwrap_or_default(),
            _ => {
                let row = self.names.iter().cloned().zip(cells);
                Json::Object(row.collect::<JsonMap<_, _>>())
            }
        });
        Ok(())
    }

    /// The result of a statement that changed so many rows.
    pub fn finish(self, changes: u64) -> Json {
        match self.form {
            Form::Rows => Json::Array(self.rows),
            Form::Row | Form::Value => self.rows.into_iter().next().unwrap_or_default(),
            Form::Changes => changes.into(),
        }
    }
}

/// A result that is longer than it may be.
pub fn too_long(limit: usize) -> String {
    format!("gives more than {limit} bytes, which is its `max_output`")
}

fn size(cell: &Json) -> usize {
    match cell {
        Json::String(text) => text.len(),
        Json::Array(_) | Json::Object(_) => cell.to_string().len(),
        _ => 8,
    }
}
