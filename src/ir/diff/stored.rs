//! Values that threads have of the fields of a state, and whether they still mean what they did.

use std::collections::BTreeMap;

use super::Versions;
use super::assignable::{Use, assignable, tighter};
use super::finding::Group::{self, Breaking, Compatible, NeedsMigration};
use super::finding::Side::Threads;
use super::graphs::Both;
use super::nodes::doing;
use super::text::laid_out;
use crate::ir::flow::Flow;
use crate::ir::graph::{Channel, Field};

/// A field in both versions.
struct Stored<'f> {
    old: &'f Field,
    new: &'f Field,
    /// It in words.
    what: String,
    graph: &'f str,
    /// Whether `migrate` has a value for it.
    given: bool,
}

impl<'f> Versions<'f> {
    /// What threads have of a field.
    pub(super) fn stored(&mut self, both: Both<'f>, old: &'f Field, new: &'f Field) {
        let (graph, migrate) = (both.new.name.as_str(), &both.new.migrate);
        let field = &Stored {
            old,
            new,
            what: format!("field `{}` of graph `{graph}`", new.name),
            graph,
            given: migrate.defaults.contains_key(&new.name),
        };
        if old.name != new.name {
            self.claim(format!("/graphs/{graph}/migrate"));
            let message = format!(
                "field `{}` of graph `{graph}` is `{}` now, as its `migrate` says",
                old.name, new.name
            );
            let at = (Some(old.at), Some(new.at));
            self.say(NeedsMigration, Threads, "field-renamed", at, message);
        }
        let before = self.found.len();
        self.values(field);
        self.first_value(field);
        let given_before = both.old.migrate.defaults.contains_key(&old.name);
        if self.found.len() == before && field.given && !given_before {
            let why = "its `migrate` gives threads that have not written it a value";
            self.field(
                field,
                "field-given",
                &[],
                NeedsMigration,
                &format!(": {why}"),
            );
        }
        if self.found.len() > before && field.given {
            self.claim(format!("/graphs/{graph}/migrate"));
        }
        self.lifetime(field);
        self.reducer(field);
    }

    /// Says what is another of a field, and claims the parts of it that say so.
    fn field(
        &mut self,
        field: &Stored<'_>,
        code: &'static str,
        parts: &[&str],
        group: Group,
        message: &str,
    ) {
        for part in parts {
            self.claim(format!(
                "/graphs/{}/fields/{}/{part}",
                field.graph, field.new.name
            ));
        }
        let at = (Some(field.old.at), Some(field.new.at));
        self.say(group, Threads, code, at, format!("{}{message}", field.what));
    }

    /// Whether what a thread has may be of the type, and within the bounds. These hold for what is added to it too: of
    /// ten elements that it has, a field that takes ten takes no other.
    fn values(&mut self, field: &Stored<'_>) {
        let Stored { old, new, .. } = field;
        let (was, is) = ((&self.old.types, &old.ty), (&self.new.types, &new.ty));
        if let Err(why) = assignable(was, is, Use::Stored) {
            let (was, is) = (was.0.show(was.1).to_string(), is.0.show(is.1).to_string());
            let types = match was == is {
                true => format!("is another `{is}`: {why}"),
                false => format!("was `{was}`, is `{is}`: {why}"),
            };
            let (group, message) = match field.given {
                true => (
                    NeedsMigration,
                    format!(": {why}; its `migrate` gives such threads a value"),
                ),
                false => (Breaking, format!(" {types}")),
            };
            self.field(field, "field-type", &["ty"], group, &message);
        }
        for which in tighter(&old.constraints, &new.constraints) {
            let (group, then) = match field.given {
                true => (
                    NeedsMigration,
                    "its `migrate` gives threads a value where what they have breaks it",
                ),
                false => (
                    Breaking,
                    "what threads have, or have when more is added to it, may break it",
                ),
            };
            let message = format!(": its `@{which}` refuses more than before; {then}");
            self.field(field, "field-type", &[which], group, &message);
        }
    }

    /// A thread has no value of a field that it never wrote: it has begun with the first value, which no checkpoint
    /// holds. Nor has it one of a field that was left out of checkpoints.
    fn first_value(&mut self, field: &Stored<'_>) {
        let Stored { old, new, .. } = field;
        let began = begins(old) || old.untracked && !new.untracked;
        if !began || begins(new) {
            return;
        }
        let lost = match begins(old) {
            true => "has no first value any more",
            false => "was left out of checkpoints and has no first value",
        };
        let then = match field.given {
            true => "its `migrate` gives threads without a value one".to_owned(),
            false => format!(
                "threads that have not written it have no value; `migrate {{ default {} = .. }}` gives them one",
                new.name
            ),
        };
        let parts: &[&str] = match old.untracked {
            true => &["default", "untracked"],
            false => &["default"],
        };
        let message = format!(" {lost}; {then}");
        self.field(field, "field-unset", parts, NeedsMigration, &message);
    }

    /// How long a value is kept.
    fn lifetime(&mut self, field: &Stored<'_>) {
        let Stored { old, new, .. } = field;
        let code = "field-kept";
        if new.untracked && !old.untracked {
            let message = " is `untracked` now: what threads write to it is not kept any more";
            self.field(field, code, &["untracked"], NeedsMigration, message);
        }
        if new.ephemeral && !old.ephemeral {
            let message =
                " is `ephemeral` now: threads that go on lose its value after a super-step";
            self.field(field, code, &["ephemeral"], NeedsMigration, message);
        }
        match (old.lives_with_thread(), new.lives_with_thread()) {
            (true, false) => {
                let message = " lives with the thread no more: the next run on one begins with its first value";
                self.field(field, code, &["persist", "mode"], NeedsMigration, message);
            }
            (false, true) => {
                let message =
                    " lives with the thread now: the next run on one goes on with its value";
                self.field(field, code, &["persist", "mode"], Compatible, message);
            }
            _ => {}
        }
    }

    fn reducer(&mut self, field: &Stored<'_>) {
        let (was, is) = (
            reducer(self.old, &field.old.channel),
            reducer(self.new, &field.new.channel),
        );
        let message = if was.0 != is.0 {
            format!(" was written by `{}`, is by `{}`", was.0, is.0)
        } else if was.1 != is.1 {
            format!(" is written by `{}`, which computes something else", is.0)
        } else {
            return;
        };
        for name in [&was.0, &is.0] {
            self.claim(format!("/reducers/{name}"));
        }
        self.field(
            field,
            "reducer-changed",
            &["channel"],
            NeedsMigration,
            &message,
        );
    }

    /// `untracked` fields that begin without a value: a thread that goes on has lost theirs. Where the nodes of the graph do
    /// something else now, they may read it.
    pub(super) fn lost(&mut self, both: Both) {
        let renames = &both.new.migrate.fields;
        let graph = both.new.name.as_str();
        let new = both.new.fields.iter();
        let new = new.filter(|new| new.untracked && !begins(new) && !new.mode.is_in());
        let lost = new.filter_map(|new| {
            let mut old = both.old.fields.iter();
            let old = old.find(|old| renames.get(&old.name).unwrap_or(&old.name) == &new.name)?;
            old.untracked.then_some((old, new))
        });
        let lost: Vec<_> = lost.collect();
        if lost.is_empty() || doing(self.named.0, graph) == doing(self.named.1, graph) {
            return;
        }
        for (old, new) in lost {
            let message = format!(
                "field `{}` of graph `{graph}` is in no checkpoint and has no first value; threads that go on lack it, and nodes that have changed may read it",
                new.name
            );
            let at = (Some(old.at), Some(new.at));
            self.say(NeedsMigration, Threads, "field-unset", at, message);
        }
    }
}

/// Whether a field has a value before it is written.
pub(super) fn begins(field: &Field) -> bool {
    field.default.is_some() || field.channel.begins_with(&field.ty).is_some()
}

/// A reducer as it is written in a flow, and what it computes where it is declared there.
fn reducer(flow: &Flow, channel: &Channel) -> (String, String) {
    let json = serde_json::to_value(channel).unwrap_or_default();
    let name = match channel {
        Channel::Upsert { key } => format!("upsert({key})"),
        Channel::Barrier { names } => format!("barrier({})", names.join(", ")),
        Channel::Own { reducer } => {
            let declared = flow.reducers.get(*reducer);
            return declared.map_or_else(Default::default, |declared| {
                let body = laid_out(&declared.body.text, &BTreeMap::new());
                (declared.name.clone(), body)
            });
        }
        // Of all others the IR has the word.
        _ => json.as_str().unwrap_or_default().to_owned(),
    };
    (name, String::new())
}
