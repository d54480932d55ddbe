//! Fields of a state: the contract with callers, and what a thread keeps.

use super::finding::{Group, Side};
use super::fit::{Way, fits};
use super::graphs::Both;
use super::{Versions, pairs};
use crate::expr::ty::Type;
use crate::ir::flow::Flow;
use crate::ir::graph::{Channel, Field};

impl<'f> Versions<'f> {
    pub(super) fn fields(&mut self, both: Both<'f>) {
        let (old, new) = (both.old.fields.iter(), both.new.fields.iter());
        let graph = both.new.name.as_str();
        for pair in pairs(old, new, |field| field.name.as_str()) {
            match pair {
                (Some(old), Some(new)) => {
                    self.contract(graph, old, new);
                    self.kept(graph, old, new);
                }
                (Some(gone), None) => self.gone(graph, gone),
                (None, Some(added)) => self.added(graph, added),
                (None, None) => {}
            }
        }
    }

    fn gone(&mut self, graph: &str, gone: &Field) {
        let at = (Some(gone.at), None);
        let name = &gone.name;
        if gone.mode.is_in() {
            let message = format!("graph `{graph}` takes no input `{name}` any more");
            self.say(Group::Breaking, Side::Callers, "input-gone", at, message);
        }
        if gone.mode.is_out() {
            let message = format!("graph `{graph}` gives no output `{name}` any more");
            self.say(Group::Breaking, Side::Callers, "output-gone", at, message);
        }
        let message =
            format!("field `{name}` of graph `{graph}` is gone; threads may have a value");
        self.say(Group::Breaking, Side::Threads, "field-gone", at, message);
    }

    fn added(&mut self, graph: &str, added: &Field) {
        let at = (None, Some(added.at));
        let name = &added.name;
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
        let (group, message) = match begins {
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
                self.type_changed(Side::Callers, "output-type", (old, new), what, fit);
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
        self.type_changed(Side::Callers, "input-type", (old, new), what, fit);
    }

    /// Says that a type changed, in the words of what that does.
    fn type_changed(
        &mut self,
        side: Side,
        code: &'static str,
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
        match fit {
            Err(why) => self.say(Group::Breaking, side, code, at, format!("{message}: {why}")),
            Ok(()) if was != is => self.say(Group::Compatible, side, code, at, message),
            Ok(()) => {}
        }
    }

    /// What a thread has kept.
    fn kept(&mut self, graph: &str, old: &Field, new: &Field) {
        let at = (Some(old.at), Some(new.at));
        let name = &new.name;
        let fit = fits(
            (&self.old.types, &old.ty),
            (&self.new.types, &new.ty),
            Way::Kept,
        );
        let what = format!("field `{name}` of graph `{graph}`");
        self.type_changed(Side::Threads, "field-type", (old, new), what, fit);
        let (was, is) = (
            reducer(self.old, &old.channel),
            reducer(self.new, &new.channel),
        );
        if was.0 != is.0 {
            let message = format!(
                "field `{name}` of graph `{graph}` was written by `{}`, is by `{}`",
                was.0, is.0
            );
            self.say(
                Group::NeedsMigration,
                Side::Threads,
                "reducer-changed",
                at,
                message,
            );
        } else if was.1 != is.1 {
            let message = format!(
                "reducer `{}` of field `{name}` of graph `{graph}` computes something else",
                is.0
            );
            self.say(
                Group::NeedsMigration,
                Side::Threads,
                "reducer-changed",
                at,
                message,
            );
        }
        if old.default != new.default {
            let message = format!("field `{name}` of graph `{graph}` begins with another value");
            self.say(
                Group::Compatible,
                Side::Threads,
                "default-changed",
                at,
                message,
            );
        }
    }
}

/// Whether a field has a value before it is written.
fn begins(field: &Field) -> bool {
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

/// A reducer as it is written in a flow, and what it computes where it is declared there.
fn reducer(flow: &Flow, channel: &Channel) -> (String, String) {
    let name = match channel {
        Channel::Last => "last",
        Channel::AnyLast => "any_last",
        Channel::Append => "append",
        Channel::Add => "add",
        Channel::Min => "min",
        Channel::Max => "max",
        Channel::And => "and",
        Channel::Or => "or",
        Channel::Union => "union",
        Channel::Merge => "merge",
        Channel::DeepMerge => "deep_merge",
        Channel::AddMessages => "add_messages",
        Channel::Upsert { key } => return (format!("upsert({key})"), String::new()),
        Channel::Barrier { names } => {
            return (format!("barrier({})", names.join(", ")), String::new());
        }
        Channel::Own { reducer } => {
            let declared = flow.reducers.get(*reducer);
            return declared.map_or_else(Default::default, |declared| {
                (declared.name.clone(), declared.body.text.clone())
            });
        }
    };
    (name.to_owned(), String::new())
}
