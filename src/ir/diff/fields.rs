//! Fields of a state: the contract with callers.

use std::collections::{BTreeMap, BTreeSet};

use super::finding::{Group, Side};
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
        let now_called = self.now_called(both);
        for pair in renamed(old, new, |field| field.name.as_str(), &migrate.fields) {
            match pair {
                (Some(old), Some(new)) if old.name != new.name => {
                    self.renamed_field(graph, old, new);
                    self.kept(both, old, new);
                }
                (Some(old), Some(new)) => {
                    self.contract(graph, old, new);
                    self.kept(both, old, new);
                }
                (Some(gone), None) => {
                    self.gone(both, gone, now_called.get(gone.name.as_str()).copied());
                }
                (None, Some(added)) => self.added(both, added),
                (None, None) => {}
            }
        }
        self.context(both);
    }

    /// A field with another name, which `migrate` says. Callers have the old one.
    fn renamed_field(&mut self, graph: &str, old: &Field, new: &Field) {
        let at = (Some(old.at), Some(new.at));
        let (was, is) = (&old.name, &new.name);
        if old.mode.is_in() || new.mode.is_in() {
            let message = format!("input `{was}` of graph `{graph}` is `{is}` now");
            self.say(Group::Breaking, Side::Callers, "input-gone", at, message);
        }
        if old.mode.is_out() || new.mode.is_out() {
            let message = format!("output `{was}` of graph `{graph}` is `{is}` now");
            self.say(Group::Breaking, Side::Callers, "output-gone", at, message);
        }
        let message =
            format!("field `{was}` of graph `{graph}` is `{is}` now, as its `migrate` says");
        self.say(
            Group::NeedsMigration,
            Side::Threads,
            "field-renamed",
            at,
            message,
        );
        self.claim(format!("/graphs/{graph}/fields/{is}/name"));
        self.claim(format!("/graphs/{graph}/migrate"));
    }

    fn gone(&mut self, both: Both, gone: &Field, now_called: Option<&str>) {
        let graph = both.new.name.as_str();
        let at = (Some(gone.at), None);
        let name = &gone.name;
        self.claim(format!("/graphs/{graph}/fields/{name}"));
        if gone.mode.is_in() {
            let message = format!("graph `{graph}` takes no input `{name}` any more");
            self.say(Group::Breaking, Side::Callers, "input-gone", at, message);
        }
        if gone.mode.is_out() {
            let message = format!("graph `{graph}` gives no output `{name}` any more");
            self.say(Group::Breaking, Side::Callers, "output-gone", at, message);
        }
        let dropped = both.new.migrate.dropped.contains(name);
        let (group, why) = match (dropped, now_called) {
            (true, _) => (
                Group::NeedsMigration,
                "its `migrate` drops the value".to_owned(),
            ),
            (false, None) => (Group::Breaking, "threads may have a value".to_owned()),
            (false, Some(is)) => (
                Group::Breaking,
                format!(
                    "threads may have a value; if it is new field `{is}`, say `migrate {{ rename field {name} -> {is} }}`"
                ),
            ),
        };
        if dropped {
            self.claim(format!("/graphs/{graph}/migrate"));
        }
        let message = format!("field `{name}` of graph `{graph}` is gone; {why}");
        self.say(group, Side::Threads, "field-gone", at, message);
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
        if added.mode.is_in() {
            let (group, how) = match begins {
                true => (Group::Compatible, "may be given"),
                false => (Group::Breaking, "must be given"),
            };
            let message = format!("graph `{graph}` has a new input `{name}`, which {how}");
            self.say(group, Side::Callers, "input-added", at, message);
        }
        if added.mode.is_out() {
            let message = format!("graph `{graph}` has a new output `{name}`");
            self.say(
                Group::Compatible,
                Side::Callers,
                "output-added",
                at,
                message,
            );
        }
        let given = both.new.migrate.defaults.contains_key(name);
        if given {
            self.claim(format!("/graphs/{graph}/migrate"));
        }
        let (group, message) = match begins {
            _ if given => (
                Group::NeedsMigration,
                format!("field `{name}` of graph `{graph}` is new; its `migrate` gives it a value"),
            ),
            true => (
                Group::Compatible,
                format!("field `{name}` of graph `{graph}` is new and has a first value"),
            ),
            false => (
                Group::NeedsMigration,
                format!(
                    "field `{name}` of graph `{graph}` is new and has no value in threads that go on"
                ),
            ),
        };
        self.say(group, Side::Threads, "field-added", at, message);
    }

    /// What callers give and get.
    fn contract(&mut self, graph: &str, old: &Field, new: &Field) {
        let at = (Some(old.at), Some(new.at));
        let name = &new.name;
        let path = format!("/graphs/{graph}/fields/{name}");
        if old.mode != new.mode {
            self.claim(format!("{path}/mode"));
        }
        match (old.mode.is_in(), new.mode.is_in()) {
            (true, false) => {
                let message = format!("graph `{graph}` takes no input `{name}` any more");
                self.say(Group::Breaking, Side::Callers, "input-gone", at, message);
            }
            (false, true) => {
                let (group, how) = match begins(new) {
                    true => (Group::Compatible, "may be given"),
                    false => (Group::Breaking, "must be given"),
                };
                let message = format!("`{name}` is an input of graph `{graph}` now, which {how}");
                self.say(group, Side::Callers, "input-added", at, message);
            }
            (true, true) => {
                self.input(graph, old, new);
                if begins(old) && !begins(new) {
                    let message = format!(
                        "input `{name}` of graph `{graph}` has no first value any more and must be given"
                    );
                    self.say(
                        Group::Breaking,
                        Side::Callers,
                        "input-required",
                        at,
                        message,
                    );
                }
            }
            (false, false) => {}
        }
        match (old.mode.is_out(), new.mode.is_out()) {
            (true, false) => {
                let message = format!("graph `{graph}` gives no output `{name}` any more");
                self.say(Group::Breaking, Side::Callers, "output-gone", at, message);
            }
            (false, true) => {
                let message = format!("`{name}` is an output of graph `{graph}` now");
                self.say(
                    Group::Compatible,
                    Side::Callers,
                    "output-added",
                    at,
                    message,
                );
            }
            (true, true) => {
                let fit = fits(
                    (&self.new.types, &new.ty),
                    (&self.old.types, &old.ty),
                    Way::Taken,
                );
                let what = format!("output `{name}` of graph `{graph}`");
                if let Some(which) = tighter(&new.constraints, &old.constraints) {
                    let message = format!("{what}: its `@{which}` allows more than before");
                    self.say(Group::Breaking, Side::Callers, "output-type", at, message);
                    self.claim(format!("{path}/constraints/{which}"));
                }
                self.type_changed((Side::Callers, "output-type"), &path, (old, new), what, fit);
            }
            (false, false) => {}
        }
    }

    fn input(&mut self, graph: &str, old: &Field, new: &Field) {
        let fit = fits(
            (&self.old.types, written(self.old, old)),
            (&self.new.types, written(self.new, new)),
            Way::Given,
        );
        let what = format!("input `{}` of graph `{graph}`", new.name);
        let path = format!("/graphs/{graph}/fields/{}", new.name);
        if let Some(which) = tighter(&old.constraints, &new.constraints) {
            let message = format!("{what}: its `@{which}` refuses more than before");
            let at = (Some(old.at), Some(new.at));
            self.say(Group::Breaking, Side::Callers, "input-type", at, message);
            self.claim(format!("{path}/constraints/{which}"));
        }
        self.type_changed((Side::Callers, "input-type"), &path, (old, new), what, fit);
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
            Err(why) => self.say(Group::Breaking, side, code, at, format!("{message}: {why}")),
            Ok(()) if was != is => self.say(Group::Compatible, side, code, at, message),
            Ok(()) => {}
        }
    }
}

/// Whether a field has a value before it is written.
pub(super) fn begins(field: &Field) -> bool {
    let gathers = matches!(field.ty, Type::List(_) | Type::Map(_)) && field.channel.begins_empty();
    field.default.is_some() || field.ty.admits_null() || gathers
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
