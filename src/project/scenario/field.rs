//! A scenario's keys with the file's defaults behind them.

use crate::project::yaml::{Cursor, Table};

/// A scenario and the defaults of its file.
pub struct Fields<'a> {
    /// What the scenario says.
    pub own: Table<'a>,
    /// What the file says for all.
    pub defaults: Option<Table<'a>>,
    /// The file itself.
    pub file: Table<'a>,
}

impl<'a> Fields<'a> {
    /// The part under a key, the scenario's own before the default.
    pub fn get(&self, key: &str) -> Option<Cursor<'a>> {
        let default = || self.defaults.as_ref()?.get(key);
        self.own.get(key).or_else(default)
    }

    /// The same of a key that may also stand at the top of the file, which counts last.
    pub fn get_or_file(&self, key: &str) -> Option<Cursor<'a>> {
        self.get(key).or_else(|| self.file.get(key))
    }

    /// The entries of the map under a key, the scenario's own over the defaults of the same name.
    pub fn entries(&self, key: &str) -> Vec<(&'a str, Cursor<'a>)> {
        let of = |table: &Table<'a>| table.get(key).map_or(Vec::new(), |part| part.entries());
        let mut entries = self.defaults.as_ref().map_or(Vec::new(), of);
        for (name, cursor) in of(&self.own) {
            entries.retain(|(other, _)| *other != name);
            entries.push((name, cursor));
        }
        entries
    }
}
