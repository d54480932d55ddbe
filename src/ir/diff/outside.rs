//! What lies outside of graphs: events that somebody reads, tools that somebody serves, models.

use super::finding::{Group, Side};
use super::fit::{Way, fits};
use super::{Versions, pairs};
use crate::expr::ty::RecordField;
use crate::ir::flow::{Event, Flow, Model, Tool};

impl<'f> Versions<'f> {
    pub(super) fn events(&mut self) {
        let (old, new) = (self.old, self.new);
        for pair in pairs(old.events.iter(), new.events.iter(), |e| e.name.as_str()) {
            match pair {
                (Some(old), Some(new)) => self.event(old, new),
                (Some(gone), None) => {
                    let message = format!("event `{}` is gone", gone.name);
                    let at = (Some(gone.at), None);
                    self.say(Group::Breaking, Side::Callers, "event-gone", at, message);
                }
                (None, Some(added)) => {
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
        for (what, group) in self.payload(&old.fields, &new.fields) {
            let message = format!("event `{name}`: {what}");
            let at = (Some(old.at), Some(new.at));
            self.say(group, Side::Callers, "event-type", at, message);
        }
    }

    /// What changes for who reads records with these fields.
    fn payload(&self, old: &[RecordField], new: &[RecordField]) -> Vec<(String, Group)> {
        let mut found = Vec::new();
        for pair in pairs(old.iter(), new.iter(), |field| field.name.as_str()) {
            match pair {
                (Some(old), Some(new)) => {
                    let (from, to) = ((&self.new.types, &new.ty), (&self.old.types, &old.ty));
                    if let Err(why) = fits(from, to, Way::Taken) {
                        found.push((
                            format!("`{}` is of another type: {why}", new.name),
                            Group::Breaking,
                        ));
                    }
                }
                (Some(gone), None) => {
                    found.push((format!("`{}` is gone", gone.name), Group::Breaking));
                }
                (None, Some(added)) => {
                    found.push((format!("`{}` is new", added.name), Group::Compatible));
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
                    let message = format!("tool `{}` is gone", gone.name);
                    let at = (Some(gone.at), None);
                    self.say(Group::Compatible, Side::Callers, "tool-gone", at, message);
                }
                (None, Some(added)) => {
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
        if old.doc != new.doc {
            let message = format!("models read another description of tool `{name}`");
            self.say(Group::Compatible, Side::People, "tool-doc", at, message);
        }
        if old.effect != new.effect {
            let (was, is) = (old.effect.word(), new.effect.word());
            let message = format!("the effect of tool `{name}` was `{was}`, is `{is}`");
            self.say(Group::Compatible, Side::People, "tool-effect", at, message);
        }
        for ((word, was), (_, is)) in marks(old).into_iter().zip(marks(new)) {
            if was != is {
                let message = match (was.is_empty(), is.is_empty()) {
                    (true, _) => format!("tool `{name}` is marked `{word}` now"),
                    (_, true) => format!("tool `{name}` is not marked `{word}` any more"),
                    _ => format!("`{word}` of tool `{name}` was {was}, is {is}"),
                };
                self.say(Group::Compatible, Side::People, "tool-mark", at, message);
            }
        }
        match (&old.body, &new.body) {
            (Some(_), None) => {
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
                let message = format!("tool `{name}` has a body now; what served it does not");
                self.say(Group::Compatible, Side::Callers, "tool-body", at, message);
            }
            // What a body takes and gives is between it and the model.
            (Some(_), Some(_)) => self.model_sees(old, new),
            (None, None) => self.served(old, new),
        }
    }

    fn model_sees(&mut self, old: &Tool, new: &Tool) {
        let shown = |flow: &Flow, tool: &Tool| {
            let params = tool.params.iter();
            let params = params.map(|p| format!("{}: {}", p.name, flow.types.show(&p.ty)));
            let params = params.collect::<Vec<_>>().join(", ");
            let returns = tool
                .returns
                .as_ref()
                .map(|ty| flow.types.show(ty).to_string());
            format!("({params}) -> {}", returns.unwrap_or_default())
        };
        let (was, is) = (shown(self.old, old), shown(self.new, new));
        if was != is {
            let message = format!("tool `{}` was `{was}`, is `{is}`", new.name);
            let at = (Some(old.at), Some(new.at));
            self.say(
                Group::Compatible,
                Side::People,
                "tool-signature",
                at,
                message,
            );
        }
    }

    /// A tool that somebody serves: it gets the new arguments, and its results must be of the new type.
    fn served(&mut self, old: &Tool, new: &Tool) {
        let at = (Some(old.at), Some(new.at));
        let name = &new.name;
        for pair in pairs(old.params.iter(), new.params.iter(), |p| p.name.as_str()) {
            let (group, what) = match pair {
                (Some(old), Some(new)) => {
                    let (from, to) = ((&self.new.types, &new.ty), (&self.old.types, &old.ty));
                    match fits(from, to, Way::Taken) {
                        Ok(()) => continue,
                        Err(why) => (
                            Group::Breaking,
                            format!("`{}` is of another type: {why}", new.name),
                        ),
                    }
                }
                (Some(gone), None) => (
                    Group::Breaking,
                    format!("`{}` is not given any more", gone.name),
                ),
                (None, Some(added)) => (
                    Group::NeedsMigration,
                    format!(
                        "`{}` is given too, which what serves it must take",
                        added.name
                    ),
                ),
                (None, None) => continue,
            };
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
            let message = format!("tool `{name}` must give another result: {why}");
            self.say(Group::Breaking, Side::Callers, "tool-result", at, message);
        }
    }

    pub(super) fn models(&mut self) {
        let (old, new) = (self.old, self.new);
        for pair in pairs(old.models.iter(), new.models.iter(), |m| m.name.as_str()) {
            let (at, message) = match pair {
                (Some(old), Some(new)) => {
                    for message in self.model(old, new) {
                        let at = (Some(old.at), Some(new.at));
                        self.say(
                            Group::Compatible,
                            Side::People,
                            "model-setting",
                            at,
                            message,
                        );
                    }
                    continue;
                }
                (Some(gone), None) => (
                    (Some(gone.at), None),
                    format!("model `{}` is gone", gone.name),
                ),
                (None, Some(new)) => ((None, Some(new.at)), format!("model `{}` is new", new.name)),
                (None, None) => continue,
            };
            self.say(Group::Compatible, Side::People, "model-list", at, message);
        }
    }

    fn model(&self, old: &Model, new: &Model) -> Vec<String> {
        let names = |flow: &Flow, model: &Model| {
            let names = model.fallback.iter().filter_map(|id| flow.models.get(*id));
            let names: Vec<&str> = names.map(|model| model.name.as_str()).collect();
            names.join(", ")
        };
        let settings = |flow: &Flow, m: &Model| {
            [
                ("", format!("{}/{}", m.provider, m.model)),
                ("temperature", shown(&m.temperature)),
                ("top_p", shown(&m.top_p)),
                ("max_tokens", shown(&m.max_tokens)),
                ("thinking_budget", shown(&m.thinking_budget)),
                ("reasoning_effort", shown(&m.reasoning_effort)),
                ("seed", shown(&m.seed)),
                ("timeout", shown(&m.timeout_ms.map(|ms| format!("{ms}ms")))),
                ("retry", shown(&m.retry.as_ref().map(|r| r.attempts))),
                ("fallback", format!("[{}]", names(flow, m))),
            ]
        };
        let pairs = settings(self.old, old)
            .into_iter()
            .zip(settings(self.new, new));
        pairs
            .filter(|((_, was), (_, is))| was != is)
            .map(|((key, was), (_, is))| match key {
                "" => format!("model `{}` was `{was}`, is `{is}`", new.name),
                key => format!("`{key}` of model `{}` was {was}, is {is}", new.name),
            })
            .collect()
    }
}

/// What a tool is marked with, each mark empty where it isn't there.
fn marks(tool: &Tool) -> [(&'static str, String); 8] {
    let flag = |set: bool| if set { "set".to_owned() } else { String::new() };
    let sinks = tool.sinks.iter().map(|sink| sink.param.as_str());
    [
        ("@approve", flag(tool.approve)),
        ("@unattended", flag(tool.unattended)),
        ("@untrusted", flag(tool.untrusted)),
        ("@private", flag(tool.private)),
        ("@secret", flag(tool.secret)),
        ("@sink", sinks.collect::<Vec<_>>().join(", ")),
        (
            "@on_error",
            tool.on_error
                .as_ref()
                .map_or(String::new(), |v| v.to_string()),
        ),
        (
            "@timeout",
            tool.timeout_ms
                .map_or(String::new(), |ms| format!("{ms}ms")),
        ),
    ]
}

fn shown<T: std::fmt::Display>(value: &Option<T>) -> String {
    value
        .as_ref()
        .map_or("not set".to_owned(), |value| value.to_string())
}
