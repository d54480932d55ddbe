//! What lies outside of graphs: events that somebody reads, tools that somebody serves, models.

use super::finding::{Group, Side};
use super::fit::{Way, fits, tighter};
use super::{Versions, pairs};
use crate::expr::ty::RecordField;
use crate::ir::flow::{Event, Tool};

impl<'f> Versions<'f> {
    pub(super) fn events(&mut self) {
        let (old, new) = (self.old, self.new);
        for pair in pairs(old.events.iter(), new.events.iter(), |e| e.name.as_str()) {
            match pair {
                (Some(old), Some(new)) => self.event(old, new),
                (Some(gone), None) => {
                    self.claim(format!("/events/{}", gone.name));
                    let message = format!("event `{}` is gone", gone.name);
                    let at = (Some(gone.at), None);
                    self.say(Group::Breaking, Side::Callers, "event-gone", at, message);
                }
                (None, Some(added)) => {
                    self.claim(format!("/events/{}", added.name));
                    let message = format!("event `{}` is new", added.name);
                    let at = (None, Some(added.at));
                    self.say(Group::Compatible, Side::Callers, "event-added", at, message);
                }
                (None, None) => {}
            }
        }
    }

    fn event(&mut self, old: &Event, new: &Event) {
        let name = &new.name;
        for (path, what, group) in self.payload(&old.fields, &new.fields) {
            self.claim(format!("/events/{name}/fields/{path}"));
            let message = format!("event `{name}`: {what}");
            let at = (Some(old.at), Some(new.at));
            self.say(group, Side::Callers, "event-type", at, message);
        }
    }

    /// What changes for who reads records with these fields, each with its path.
    fn payload(&self, old: &[RecordField], new: &[RecordField]) -> Vec<(String, String, Group)> {
        let mut found = Vec::new();
        for pair in pairs(old.iter(), new.iter(), |field| field.name.as_str()) {
            match pair {
                (Some(old), Some(new)) => {
                    let (from, to) = ((&self.new.types, &new.ty), (&self.old.types, &old.ty));
                    if let Err(why) = fits(from, to, Way::Taken) {
                        found.push((
                            format!("{}/ty", new.name),
                            format!("`{}` is of another type: {why}", new.name),
                            Group::Breaking,
                        ));
                    }
                }
                (Some(gone), None) => {
                    let name = &gone.name;
                    found.push((name.clone(), format!("`{name}` is gone"), Group::Breaking));
                }
                (None, Some(added)) => {
                    let name = &added.name;
                    found.push((name.clone(), format!("`{name}` is new"), Group::Compatible));
                }
                (None, None) => {}
            }
        }
        found
    }

    pub(super) fn tools(&mut self) {
        let (old, new) = (self.old, self.new);
        for pair in pairs(old.tools.iter(), new.tools.iter(), |tool| {
            tool.name.as_str()
        }) {
            match pair {
                (Some(old), Some(new)) => self.tool(old, new),
                (Some(gone), None) => {
                    self.claim(format!("/tools/{}", gone.name));
                    let message = format!("tool `{}` is gone", gone.name);
                    let at = (Some(gone.at), None);
                    self.say(Group::Compatible, Side::Callers, "tool-gone", at, message);
                }
                (None, Some(added)) => {
                    self.claim(format!("/tools/{}", added.name));
                    let at = (None, Some(added.at));
                    let (group, how) = match added.body {
                        Some(_) => (Group::Compatible, ""),
                        None => (Group::NeedsMigration, " and has to be bound"),
                    };
                    let message = format!("tool `{}` is new{how}", added.name);
                    self.say(group, Side::Callers, "tool-added", at, message);
                }
                (None, None) => {}
            }
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
            self.say(Group::Breaking, Side::Threads, "approval-gone", at, message);
        }
        match (&old.body, &new.body) {
            (Some(_), None) => {
                self.claim(format!("/tools/{name}/body"));
                let message = format!("tool `{name}` has no body any more and has to be bound");
                self.say(
                    Group::NeedsMigration,
                    Side::Callers,
                    "tool-unbound",
                    at,
                    message,
                );
            }
            (None, Some(_)) => {
                self.claim(format!("/tools/{name}/body"));
                let message = format!("tool `{name}` has a body now; what served it does not");
                self.say(Group::Compatible, Side::Callers, "tool-body", at, message);
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
        for pair in pairs(old.params.iter(), new.params.iter(), |p| p.name.as_str()) {
            let (group, path, what) = match pair {
                (Some(old), Some(new)) => {
                    let (from, to) = ((&self.new.types, &new.ty), (&self.old.types, &old.ty));
                    match fits(from, to, Way::Taken) {
                        Ok(()) if old.outer_name() != new.outer_name() => (
                            Group::Breaking,
                            format!("{}/constraints/alias", new.name),
                            format!(
                                "`{}` was given as `{}`, is as `{}`",
                                new.name,
                                old.outer_name(),
                                new.outer_name()
                            ),
                        ),
                        Ok(()) => match tighter(&new.constraints, &old.constraints) {
                            Some(which) => (
                                Group::Breaking,
                                format!("{}/constraints/{which}", new.name),
                                format!("`@{which}` of `{}` allows more than before", new.name),
                            ),
                            None => continue,
                        },
                        Err(why) => (
                            Group::Breaking,
                            format!("{}/ty", new.name),
                            format!("`{}` is of another type: {why}", new.name),
                        ),
                    }
                }
                (Some(gone), None) => (
                    Group::Breaking,
                    gone.name.clone(),
                    format!("`{}` is not given any more", gone.name),
                ),
                (None, Some(added)) => (
                    Group::NeedsMigration,
                    added.name.clone(),
                    format!(
                        "`{}` is given too, which what serves it must take",
                        added.name
                    ),
                ),
                (None, None) => continue,
            };
            self.claim(format!("/tools/{name}/params/{path}"));
            let message = format!("tool `{name}`: {what}");
            self.say(group, Side::Callers, "tool-params", at, message);
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
            self.say(Group::Breaking, Side::Callers, "tool-result", at, message);
        }
    }

    pub(super) fn models(&mut self) {
        let (old, new) = (self.old, self.new);
        for pair in pairs(old.models.iter(), new.models.iter(), |m| m.name.as_str()) {
            let (at, name, how) = match pair {
                (Some(gone), None) => ((Some(gone.at), None), &gone.name, "gone"),
                (None, Some(new)) => ((None, Some(new.at)), &new.name, "new"),
                _ => continue,
            };
            self.claim(format!("/models/{name}"));
            let message = format!("model `{name}` is {how}");
            self.say(Group::Compatible, Side::People, "model-list", at, message);
        }
    }
}
