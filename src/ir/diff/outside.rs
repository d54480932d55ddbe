//! What lies outside of graphs: events that somebody reads, tools that somebody serves, models.

use super::Versions;
use super::assignable::{Use, assignable};
use super::finding::Group::{Breaking, Compatible, NeedsMigration};
use super::finding::Side::{Callers, People, Threads};
use super::members::{Members, declared};
use crate::ir::flow::{Event, Model, Tool};

impl<'f> Versions<'f> {
    pub(super) fn events(&mut self) {
        let all = (self.old.events.iter(), self.new.events.iter());
        let gone = (Breaking, "event-gone");
        let added = |_: &Event| (Compatible, "event-added", "");
        for (old, new) in self.both(("event", "events", Callers), all, gone, added) {
            let name = &new.name;
            let payload = Members {
                what: format!("event `{name}`"),
                path: format!("/events/{name}/fields"),
                at: (Some(old.at), Some(new.at)),
                side: Callers,
                codes: ["event-type"; 4],
                used: Use::Taken,
                part: "",
                added: &|_| Some((Compatible, "")),
            };
            self.members(&payload, (&declared(&old.fields), &declared(&new.fields)));
        }
    }

    pub(super) fn models(&mut self) {
        let all = (self.old.models.iter(), self.new.models.iter());
        let gone = (Compatible, "model-list");
        let added = |_: &Model| (Compatible, "model-list", "");
        self.both(("model", "models", People), all, gone, added);
    }

    pub(super) fn tools(&mut self) {
        let all = (self.old.tools.iter(), self.new.tools.iter());
        let gone = (Compatible, "tool-gone");
        let added = |tool: &Tool| match tool.body {
            Some(_) => (Compatible, "tool-added", ""),
            None => (NeedsMigration, "tool-added", " and has to be bound"),
        };
        for (old, new) in self.both(("tool", "tools", Callers), all, gone, added) {
            self.tool(old, new);
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
        let params = Members {
            what: format!("tool `{name}`"),
            path: format!("/tools/{name}/params"),
            at,
            side: Callers,
            codes: ["tool-params"; 4],
            used: Use::Taken,
            part: "",
            added: &|_| Some((NeedsMigration, ", and what serves it must take it")),
        };
        self.members(&params, (&declared(&old.params), &declared(&new.params)));
        let result = match (&old.returns, &new.returns) {
            (Some(old), Some(new)) => {
                let (old, new) = ((&self.old.types, old), (&self.new.types, new));
                assignable(old, new, Use::Given)
            }
            (None, Some(_)) => Err("it gave nothing before".to_owned()),
            (_, None) => Ok(()),
        };
        if let Err(why) = result {
            self.claim(format!("/tools/{name}/returns"));
            let message = format!("tool `{name}` must give another result: {why}");
            self.say(Breaking, Callers, "tool-result", at, message);
        }
    }
}
