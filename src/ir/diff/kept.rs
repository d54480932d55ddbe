//! What threads have kept of the fields of a state, and whether it still means what it did.

use std::collections::BTreeMap;

use super::Versions;
use super::fields::begins;
use super::finding::Group::{Breaking, Compatible, NeedsMigration};
use super::finding::Side::Threads;
use super::fit::{Way, all_tighter, fits};
use super::graphs::Both;
use super::tree::laid_out;
use crate::ir::flow::Flow;
use crate::ir::graph::{Channel, Field, Graph};

impl<'f> Versions<'f> {
    /// What a thread has kept.
    pub(super) fn kept(&mut self, both: Both, old: &Field, new: &Field) {
        let before = self.found.len();
        let graph = both.new.name.as_str();
        let at = (Some(old.at), Some(new.at));
        let name = &new.name;
        let fit = fits(
            (&self.old.types, &old.ty),
            (&self.new.types, &new.ty),
            Way::Kept,
        );
        let what = what_of(graph, name);
        let path = format!("/graphs/{graph}/fields/{name}");
        match (&fit, both.new.migrate.defaults.contains_key(name)) {
            (Err(why), true) => {
                self.claim(format!("{path}/ty"));
                self.claim(format!("/graphs/{graph}/migrate"));
                let message = format!("{what}: {why}; its `migrate` gives such threads a value");
                self.say(NeedsMigration, Threads, "field-type", at, message);
            }
            _ => self.type_changed((Threads, "field-type"), &path, (old, new), what, fit),
        }
        self.bounds(both, old, new);
        self.first_value(both, old, new);
        let said = self.found.get(before..).unwrap_or_default();
        if said.iter().all(|said| said.group == Compatible) {
            self.given(both, old, new);
        }
        self.kept_at_all(&what_of(graph, name), &path, old, new);
        let (was, is) = (
            reducer(self.old, &old.channel),
            reducer(self.new, &new.channel),
        );
        if was != is {
            self.claim(format!("{path}/channel"));
            for name in [&was.0, &is.0] {
                self.claim(format!("/reducers/{name}"));
            }
        }
        let message = if was.0 != is.0 {
            format!(
                "field `{name}` of graph `{graph}` was written by `{}`, is by `{}`",
                was.0, is.0
            )
        } else if was.1 != is.1 {
            format!(
                "reducer `{}` of field `{name}` of graph `{graph}` computes something else",
                is.0
            )
        } else {
            return;
        };
        self.say(NeedsMigration, Threads, "reducer-changed", at, message);
    }

    /// Bounds hold for what a thread has kept and for what is added to it: of ten elements that were kept, a field that
    /// takes ten takes no other.
    fn bounds(&mut self, both: Both, old: &Field, new: &Field) {
        let (graph, name) = (both.new.name.as_str(), &new.name);
        if old.constraints.is_empty() {
            self.claim(format!("/graphs/{graph}/fields/{name}/constraints"));
        }
        for which in all_tighter(&old.constraints, &new.constraints) {
            self.claim(format!("/graphs/{graph}/fields/{name}/constraints/{which}"));
            let what = what_of(graph, name);
            let (group, then) = match both.new.migrate.defaults.contains_key(name) {
                true => {
                    self.claim(format!("/graphs/{graph}/migrate"));
                    let then = "its `migrate` gives threads a value where what they have breaks it";
                    (NeedsMigration, then)
                }
                false => (
                    Breaking,
                    "what threads have, or have when more is added to it, may break it",
                ),
            };
            let message = format!("{what}: its `@{which}` refuses more than before; {then}");
            let at = (Some(old.at), Some(new.at));
            self.say(group, Threads, "field-type", at, message);
        }
    }

    /// A value that `migrate` gives from now on: threads that have not written the field wait for it.
    fn given(&mut self, both: Both, old: &Field, new: &Field) {
        let (graph, name) = (both.new.name.as_str(), &new.name);
        let given = |graph: &Graph, name: &str| graph.migrate.defaults.contains_key(name);
        if given(both.old, &old.name) || !given(both.new, name) {
            return;
        }
        self.claim(format!("/graphs/{graph}/migrate"));
        let message = format!(
            "{}: its `migrate` gives threads that have not written it a value",
            what_of(graph, name)
        );
        let at = (Some(old.at), Some(new.at));
        self.say(NeedsMigration, Threads, "field-given", at, message);
    }

    /// A thread has no value of a field that it never wrote: it has begun with the first value, which no checkpoint
    /// holds. Nor has it one of a field that was left out of checkpoints.
    fn first_value(&mut self, both: Both, old: &Field, new: &Field) {
        let began = begins(old) || old.untracked && !new.untracked;
        if !began || begins(new) {
            return;
        }
        let (graph, name) = (both.new.name.as_str(), &new.name);
        let path = format!("/graphs/{graph}/fields/{name}");
        let what = what_of(graph, name);
        let lost = match begins(old) {
            true => "has no first value any more",
            false => "was left out of checkpoints and has no first value",
        };
        let then = match both.new.migrate.defaults.contains_key(name) {
            true => "its `migrate` gives threads without a value one".to_owned(),
            false => format!(
                "threads that have not written it have no value; `migrate {{ default {name} = .. }}` gives them one"
            ),
        };
        self.claim(format!("{path}/default"));
        self.claim(format!("/graphs/{graph}/migrate"));
        if old.untracked {
            self.claim(format!("{path}/untracked"));
        }
        self.say(
            NeedsMigration,
            Threads,
            "field-unset",
            (Some(old.at), Some(new.at)),
            format!("{what} {lost}; {then}"),
        );
    }

    /// Whether what a thread has of a field is still looked at.
    fn kept_at_all(&mut self, what: &str, path: &str, old: &Field, new: &Field) {
        let at = (Some(old.at), Some(new.at));
        for (key, was, is, then) in [
            (
                "untracked",
                old.untracked,
                new.untracked,
                "what threads write to it is not kept any more",
            ),
            (
                "ephemeral",
                old.ephemeral,
                new.ephemeral,
                "threads that go on lose its value after a super-step",
            ),
        ] {
            if is && !was {
                self.claim(format!("{path}/{key}"));
                let message = format!("{what} is `{key}` now: {then}");
                let (group, side) = (NeedsMigration, Threads);
                self.say(group, side, "field-kept", at, message);
            }
        }
        self.lifetime(what, path, old, new);
    }

    /// Whether the next run on a thread goes on with its value.
    fn lifetime(&mut self, what: &str, path: &str, old: &Field, new: &Field) {
        if old.persist != new.persist {
            self.claim(format!("{path}/persist"));
        }
        let (group, message) = match (old.lives_with_thread(), new.lives_with_thread()) {
            (true, false) => (
                NeedsMigration,
                format!(
                    "{what} lives with the thread no more: the next run on one begins with its first value"
                ),
            ),
            (false, true) => (
                Compatible,
                format!(
                    "{what} lives with the thread now: the next run on one goes on with its value"
                ),
            ),
            _ => return,
        };
        let at = (Some(old.at), Some(new.at));
        self.say(group, Threads, "field-kept", at, message);
    }
}

fn what_of(graph: &str, name: &str) -> String {
    format!("field `{name}` of graph `{graph}`")
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
                let body = laid_out(&declared.body.text, &BTreeMap::new());
                (declared.name.clone(), body)
            });
        }
    };
    (name.to_owned(), String::new())
}
