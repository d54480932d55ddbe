//! Fields of a state: the contract with callers.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::Group::{Breaking, Compatible, NeedsMigration};
use super::finding::Side;
use super::finding::Side::{Callers, Threads};
use super::fit::{Way, fits, tighter};
use super::graphs::Both;
use super::{Versions, renamed};
use crate::expr::ty::{Type, TypeTable};
use crate::ir::flow::Flow;
use crate::ir::graph::{Channel, Field, Graph};

impl<'f> Versions<'f> {
    pub(super) fn fields(&mut self, both: Both<'f>) {
        let (old, new) = (both.old.fields.iter(), both.new.fields.iter());
        let graph = both.new.name.as_str();
        let migrate = &both.new.migrate;
        let path = format!("/graphs/{graph}/fields");
        let now_called = self.now_called(both);
        for (old, new) in renamed(old, new, |field| field.name.as_str(), &migrate.fields) {
            self.contract(graph, &path, old, new);
            match (old, new) {
                (Some(old), Some(new)) => {
                    if old.name != new.name {
                        self.renamed_field(graph, old, new);
                    } else if old.mode != new.mode {
                        self.claim(format!("/graphs/{graph}/fields/{}/mode", new.name));
                    }
                    self.kept(both, old, new);
                }
                (Some(gone), None) => {
                    self.gone(both, gone, now_called.get(gone.name.as_str()).copied());
                }
                (None, Some(added)) => self.added(both, added),
                (None, None) => {}
            }
        }
    }

    /// A field with another name, which `migrate` says.
    fn renamed_field(&mut self, graph: &str, old: &Field, new: &Field) {
        let at = (Some(old.at), Some(new.at));
        let (was, is) = (&old.name, &new.name);
        let message =
            format!("field `{was}` of graph `{graph}` is `{is}` now, as its `migrate` says");
        self.say(NeedsMigration, Threads, "field-renamed", at, message);
        self.claim(format!("/graphs/{graph}/fields/{is}/name"));
        self.claim(format!("/graphs/{graph}/migrate"));
    }

    fn gone(&mut self, both: Both, gone: &Field, now_called: Option<&str>) {
        let graph = both.new.name.as_str();
        let at = (Some(gone.at), None);
        let name = &gone.name;
        self.claim(format!("/graphs/{graph}/fields/{name}"));
        let dropped = both.new.migrate.dropped.contains(name);
        let (group, why) = match (dropped, now_called) {
            (true, _) => (NeedsMigration, "its `migrate` drops the value".to_owned()),
            (false, None) => (Breaking, "threads may have a value".to_owned()),
            (false, Some(is)) => (
                Breaking,
                format!(
                    "threads may have a value; if it is new field `{is}`, say `migrate {{ rename field {name} -> {is} }}`"
                ),
            ),
        };
        if dropped {
            self.claim(format!("/graphs/{graph}/migrate"));
        }
        let message = format!("field `{name}` of graph `{graph}` is gone; {why}");
        self.say(group, Threads, "field-gone", at, message);
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

    fn added(&mut self, both: Both, added: &Field) {
        let graph = both.new.name.as_str();
        let at = (None, Some(added.at));
        let name = &added.name;
        self.claim(format!("/graphs/{graph}/fields/{name}"));
        let begins = begins(added);
        let given = both.new.migrate.defaults.contains_key(name);
        if given {
            self.claim(format!("/graphs/{graph}/migrate"));
        }
        let (group, message) = match begins {
            _ if given => (
                NeedsMigration,
                format!("field `{name}` of graph `{graph}` is new; its `migrate` gives it a value"),
            ),
            true => (
                Compatible,
                format!("field `{name}` of graph `{graph}` is new and has a first value"),
            ),
            false => (
                NeedsMigration,
                format!(
                    "field `{name}` of graph `{graph}` is new and has no value in threads that go on"
                ),
            ),
        };
        self.say(group, Threads, "field-added", at, message);
    }

    /// What callers give and get by one field. `path` is that of all fields.
    pub(super) fn contract(
        &mut self,
        graph: &str,
        path: &str,
        old: Option<&Field>,
        new: Option<&Field>,
    ) {
        self.input((graph, path), old, new);
        self.output((graph, path), old, new);
    }

    /// What callers give.
    fn input(&mut self, (graph, path): (&str, &str), old: Option<&Field>, new: Option<&Field>) {
        let is_in = |field: &&Field| field.mode.is_in();
        let at = (old.map(|field| field.at), new.map(|field| field.at));
        let (old, new) = match (old.filter(is_in), new.filter(is_in)) {
            (Some(old), Some(new)) if old.name == new.name => (old, new),
            (Some(old), Some(new)) => {
                let message = format!(
                    "input `{}` of graph `{graph}` is `{}` now",
                    old.name, new.name
                );
                return self.say(Breaking, Callers, "input-gone", at, message);
            }
            (Some(old), None) => {
                let message = format!("graph `{graph}` takes no input `{}` any more", old.name);
                return self.say(Breaking, Callers, "input-gone", at, message);
            }
            (None, Some(new)) => {
                let (group, how) = match begins(new) {
                    true => (Compatible, "may be given"),
                    false => (Breaking, "must be given"),
                };
                let message = format!(
                    "graph `{graph}` has a new input `{}`, which {how}",
                    new.name
                );
                return self.say(group, Callers, "input-added", at, message);
            }
            (None, None) => return,
        };
        let fit = fits(
            (&self.old.types, written(self.old, old)),
            (&self.new.types, written(self.new, new)),
            Way::Given,
        );
        let what = format!("input `{}` of graph `{graph}`", new.name);
        let path = format!("{path}/{}", new.name);
        if let Some(which) = tighter(&old.constraints, &new.constraints) {
            let message = format!("{what}: its `@{which}` refuses more than before");
            self.say(Breaking, Callers, "input-type", at, message);
            self.claim(format!("{path}/constraints/{which}"));
        }
        if begins(old) && !begins(new) {
            let message = format!("{what} has no first value any more and must be given");
            self.say(Breaking, Callers, "input-required", at, message);
        }
        self.type_changed((Callers, "input-type"), &path, (old, new), what, fit);
    }

    /// What callers get.
    fn output(&mut self, (graph, path): (&str, &str), old: Option<&Field>, new: Option<&Field>) {
        let is_out = |field: &&Field| field.mode.is_out();
        let at = (old.map(|field| field.at), new.map(|field| field.at));
        let (old, new) = match (old.filter(is_out), new.filter(is_out)) {
            (Some(old), Some(new)) if old.name == new.name => (old, new),
            (Some(old), Some(new)) => {
                let message = format!(
                    "output `{}` of graph `{graph}` is `{}` now",
                    old.name, new.name
                );
                return self.say(Breaking, Callers, "output-gone", at, message);
            }
            (Some(old), None) => {
                let message = format!("graph `{graph}` gives no output `{}` any more", old.name);
                return self.say(Breaking, Callers, "output-gone", at, message);
            }
            (None, Some(new)) => {
                let message = format!("graph `{graph}` has a new output `{}`", new.name);
                return self.say(Compatible, Callers, "output-added", at, message);
            }
            (None, None) => return,
        };
        let (was, is) = ((&self.old.types, &old.ty), (&self.new.types, &new.ty));
        let fit = fits(is, was, Way::Taken);
        let what = format!("output `{}` of graph `{graph}`", new.name);
        let path = format!("{path}/{}", new.name);
        if let Some(which) = tighter(&new.constraints, &old.constraints) {
            let message = format!("{what}: its `@{which}` allows more than before");
            self.say(Breaking, Callers, "output-type", at, message);
            self.claim(format!("{path}/constraints/{which}"));
        }
        self.type_changed((Callers, "output-type"), &path, (old, new), what, fit);
    }

    /// Says that a type changed, in the words of what that does.
    pub(super) fn type_changed(
        &mut self,
        (side, code): (Side, &'static str),
        path: &str,
        (old, new): (&Field, &Field),
        what: String,
        fit: Result<(), String>,
    ) {
        let at = (Some(old.at), Some(new.at));
        let was = self.old.types.show(&old.ty).to_string();
        let is = self.new.types.show(&new.ty).to_string();
        let message = match was == is {
            true => format!("{what} is another `{is}`"),
            false => format!("{what} was `{was}`, is `{is}`"),
        };
        if fit.is_err() || was != is {
            self.claim(format!("{path}/ty"));
        }
        match fit {
            Err(why) => self.say(Breaking, side, code, at, format!("{message}: {why}")),
            Ok(()) if was != is => self.say(Compatible, side, code, at, message),
            Ok(()) => {}
        }
    }
}

/// Whether a field has a value before it is written.
pub(super) fn begins(field: &Field) -> bool {
    field.default.is_some() || field.channel.begins_with(&field.ty).is_some()
}

/// The type of what is written to a field from outside.
fn written<'f>(flow: &'f Flow, field: &'f Field) -> &'f Type {
    match &field.channel {
        Channel::Own { reducer } => flow
            .reducers
            .get(*reducer)
            .map_or(&field.ty, |declared| &declared.new.1),
        _ => &field.ty,
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
