//! What lies outside of graphs: events that somebody reads, tools that somebody serves, models.

use super::finding::Group::{Breaking, Compatible, NeedsMigration};
use super::finding::Side::{Callers, People, Threads};
use super::fit::{Way, fits};
use super::members::Change;
use super::{Versions, pairs};
use crate::expr::ty::RecordField;
use crate::ir::flow::{Event, Tool};

impl<'f> Versions<'f> {
    pub(super) fn events(&mut self) {
        let (old, new) = (self.old, self.new);
        for pair in pairs(old.events.iter(), new.events.iter(), |e| e.name.as_str()) {
            let (group, code) = match pair {
                (Some(old), Some(new)) => {
                    self.event(old, new);
                    continue;
                }
                (Some(_), None) => (Breaking, "event-gone"),
                _ => (Compatible, "event-added"),
            };
            let [old, new] = [pair.0, pair.1].map(|of| of.map(|of| (of.name.as_str(), of.at)));
            self.alone("event", (old, new), (group, Callers, code), "");
        }
    }

    fn event(&mut self, old: &Event, new: &Event) {
        let name = &new.name;
        let at = (Some(old.at), Some(new.at));
        let added = |field: &RecordField| {
            let what = format!("`{}` is new", field.name);
            Some(Change::new(Compatible, field.name.clone(), what))
        };
        for change in self.members((&old.fields, &new.fields), Way::Taken, added) {
            self.claim(format!("/events/{name}/fields/{}", change.path));
            let message = format!("event `{name}`: {}", change.what);
            self.say(change.group, Callers, "event-type", at, message);
        }
    }

    pub(super) fn tools(&mut self) {
        let (old, new) = (self.old, self.new);
        for pair in pairs(old.tools.iter(), new.tools.iter(), |t| t.name.as_str()) {
            let (group, code, more) = match pair {
                (Some(old), Some(new)) => {
                    self.tool(old, new);
                    continue;
                }
                (None, Some(Tool { body: None, .. })) => {
                    (NeedsMigration, "tool-added", " and has to be bound")
                }
                (None, _) => (Compatible, "tool-added", ""),
                (Some(_), None) => (Compatible, "tool-gone", ""),
            };
            let [old, new] = [pair.0, pair.1].map(|of| of.map(|of| (of.name.as_str(), of.at)));
            self.alone("tool", (old, new), (group, Callers, code), more);
        }
    }

    fn tool(&mut self, old: &Tool, new: &Tool) {
        let at = (Some(old.at), Some(new.at));
        let name = &new.name;
        if old.asks() && !new.asks() {
            let (part, why) = match (old.approve, new.unattended) {
                (true, _) => ("approve", "is not marked `@approve` any more"),
                (false, true) => ("unattended", "is marked `@unattended` now"),
                (false, false) => ("effect", "is not `@effect(destructive)` any more"),
            };
            self.claim(format!("/tools/{name}/{part}"));
            let message = format!(
                "tool `{name}` {why}; a thread may wait for a person's word on a call of it, which is not heard then, and the call is made without"
            );
            self.say(Breaking, Threads, "approval-gone", at, message);
        }
        match (&old.body, &new.body) {
            (Some(_), None) => {
                self.claim(format!("/tools/{name}/body"));
                let message = format!("tool `{name}` has no body any more and has to be bound");
                self.say(NeedsMigration, Callers, "tool-unbound", at, message);
            }
            (None, Some(_)) => {
                self.claim(format!("/tools/{name}/body"));
                let message = format!("tool `{name}` has a body now; what served it does not");
                self.say(Compatible, Callers, "tool-body", at, message);
            }
            // What a body takes and gives is between it and the model.
            (Some(_), Some(_)) => {}
            (None, None) => self.served(old, new),
        }
    }

    /// A tool that somebody serves: it gets the new arguments, and its results must be of the new type.
    fn served(&mut self, old: &Tool, new: &Tool) {
        let at = (Some(old.at), Some(new.at));
        let name = &new.name;
        let added = |field: &RecordField| {
            let what = format!("`{}` is new, and what serves it must take it", field.name);
            Some(Change::new(NeedsMigration, field.name.clone(), what))
        };
        for change in self.members((&old.params, &new.params), Way::Taken, added) {
            self.claim(format!("/tools/{name}/params/{}", change.path));
            let message = format!("tool `{name}`: {}", change.what);
            self.say(change.group, Callers, "tool-params", at, message);
        }
        let fit = match (&old.returns, &new.returns) {
            (Some(old), Some(new)) => {
                fits((&self.old.types, old), (&self.new.types, new), Way::Given)
            }
            (None, Some(_)) => Err("it gave nothing before".to_owned()),
            (_, None) => Ok(()),
        };
        if let Err(why) = fit {
            self.claim(format!("/tools/{name}/returns"));
            let message = format!("tool `{name}` must give another result: {why}");
            self.say(Breaking, Callers, "tool-result", at, message);
        }
    }

    pub(super) fn models(&mut self) {
        let (old, new) = (self.old, self.new);
        for pair in pairs(old.models.iter(), new.models.iter(), |m| m.name.as_str()) {
            let [old, new] = [pair.0, pair.1].map(|of| of.map(|of| (of.name.as_str(), of.at)));
            if old.is_none() || new.is_none() {
                self.alone("model", (old, new), (Compatible, People, "model-list"), "");
            }
        }
    }
}
