//! Fields of a state: which there are.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::Group::{Breaking, Compatible, NeedsMigration};
use super::finding::Side::Threads;
use super::graphs::Both;
use super::stored::begins;
use super::{Declared, Versions, renamed};
use crate::expr::ty::TypeTable;
use crate::ir::graph::{Field, Graph};

impl<'f> Versions<'f> {
    pub(super) fn fields(&mut self, both: Both<'f>) {
        let (old, new) = (both.old.fields.iter(), both.new.fields.iter());
        let now_called = self.now_called(both);
        for pair in renamed(old, new, Field::name, &both.new.migrate.fields) {
            match pair {
                (Some(old), Some(new)) => self.stored(both, old, new),
                (Some(gone), None) => {
                    self.field_gone(both, gone, now_called.get(gone.name.as_str()).copied());
                }
                (None, Some(added)) => self.field_added(both, added),
                (None, None) => {}
            }
        }
    }

    fn field_gone(&mut self, both: Both, gone: &Field, now_called: Option<&str>) {
        let (graph, name) = (&both.new.name, &gone.name);
        self.claim(format!("/graphs/{graph}/fields/{name}"));
        let (group, why) = match (both.new.migrate.dropped.contains(name), now_called) {
            (true, _) => {
                self.claim(format!("/graphs/{graph}/migrate"));
                (NeedsMigration, "its `migrate` drops the value".to_owned())
            }
            (false, None) => (Breaking, "threads may have a value".to_owned()),
            (false, Some(is)) => (
                Breaking,
                format!(
                    "threads may have a value; if it is new field `{is}`, say `migrate {{ rename field {name} -> {is} }}`"
                ),
            ),
        };
        let message = format!("field `{name}` of graph `{graph}` is gone; {why}");
        self.say(group, Threads, "field-gone", (Some(gone.at), None), message);
    }

    fn field_added(&mut self, both: Both, added: &Field) {
        let (graph, name) = (&both.new.name, &added.name);
        self.claim(format!("/graphs/{graph}/fields/{name}"));
        let (group, why) = match (both.new.migrate.defaults.contains_key(name), begins(added)) {
            (true, _) => {
                self.claim(format!("/graphs/{graph}/migrate"));
                (NeedsMigration, "; its `migrate` gives it a value")
            }
            (false, true) => (Compatible, " and has a first value"),
            (false, false) => (NeedsMigration, " and has no value in threads that go on"),
        };
        let message = format!("field `{name}` of graph `{graph}` is new{why}");
        self.say(
            group,
            Threads,
            "field-added",
            (None, Some(added.at)),
            message,
        );
    }

    /// New fields that could be those that are gone, by the names of these: where of a type one is gone, and one of its
    /// mode is new.
    fn now_called(&self, both: Both<'f>) -> BTreeMap<&'f str, &'f str> {
        let renames = &both.new.migrate.fields;
        let (mut known, mut left) = (names(both.old), names(both.new));
        known.extend(renames.values().map(String::as_str));
        left.extend(renames.keys().map(String::as_str));
        let before = by_type(&self.old.types, both.old, &left);
        let now = by_type(&self.new.types, both.new, &known);
        let mut called = BTreeMap::new();
        for (ty, gone) in &before {
            let [gone] = gone.as_slice() else {
                continue;
            };
            let of_type = now.get(ty).into_iter().flatten();
            let mut new = of_type.filter(|field| field.mode == gone.mode);
            if let (Some(new), None) = (new.next(), new.next()) {
                called.insert(gone.name.as_str(), new.name.as_str());
            }
        }
        called
    }
}

fn names(graph: &Graph) -> BTreeSet<&str> {
    let names = graph.fields.iter().map(|field| field.name.as_str());
    names.collect()
}

/// Fields by their types as shown, but for those of `known` names.
fn by_type<'f>(
    types: &TypeTable,
    graph: &'f Graph,
    known: &BTreeSet<&str>,
) -> BTreeMap<String, Vec<&'f Field>> {
    let mut all: BTreeMap<String, Vec<&Field>> = BTreeMap::new();
    let fields = graph.fields.iter();
    for field in fields.filter(|field| !known.contains(field.name.as_str())) {
        let shown = types.show(&field.ty).to_string();
        all.entry(shown).or_default().push(field);
    }
    all
}
