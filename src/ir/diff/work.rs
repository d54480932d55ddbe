//! What a node does of its kind: what models and people are asked, what runs.

use super::Versions;
use super::finding::{Group, Side};
use super::fit::{Way, fits};
use crate::expr::ty::Type;
use crate::ir::flow::{Flow, ToolId};
use crate::ir::graph::Node;
use crate::ir::narrow::Narrowed;
use crate::ir::node::{Ask, ModelCall, Work};
use crate::ir::text::{Named, Template};

impl<'f> Versions<'f> {
    /// Two nodes of one name and kind.
    pub(super) fn work(&mut self, graph: &str, old: &'f Node, new: &'f Node) {
        let of = format!("node `{}` of graph `{graph}`", new.name);
        let pair = (old, new);
        match (&old.work, &new.work) {
            (Work::Llm(was), Work::Llm(is)) => self.model_call(&of, pair, was, is),
            (
                Work::Agent {
                    call: was,
                    max_turns: from,
                    until: old_until,
                    ..
                },
                Work::Agent {
                    call: is,
                    max_turns: to,
                    until: new_until,
                    ..
                },
            ) => {
                self.model_call(&of, pair, was, is);
                if from != to {
                    self.people(
                        pair,
                        "turns-changed",
                        format!("`max_turns` of {of} was {from}, is {to}"),
                    );
                }
                if old_until.as_ref().map(|e| &e.text) != new_until.as_ref().map(|e| &e.text) {
                    self.people(pair, "node-changed", format!("{of} changed: `until`"));
                }
            }
            (Work::Tools { tools: was, .. }, Work::Tools { tools: is, .. }) => {
                self.tools_of(&of, pair, was, is);
            }
            (
                Work::Call {
                    tool: was,
                    args: old_args,
                },
                Work::Call {
                    tool: is,
                    args: new_args,
                },
            ) => {
                let (was, is) = (tool(self.old, *was), tool(self.new, *is));
                if was != is {
                    self.people(
                        pair,
                        "tool-changed",
                        format!("{of} called `{was}`, calls `{is}`"),
                    );
                } else if texts(old_args) != texts(new_args) {
                    self.people(
                        pair,
                        "node-changed",
                        format!("{of} changed: the arguments of `{is}`"),
                    );
                }
            }
            (
                Work::Interrupt {
                    ask: was,
                    expect: from,
                    ..
                },
                Work::Interrupt {
                    ask: is,
                    expect: to,
                    ..
                },
            ) => {
                if asked(was) != asked(is) {
                    self.people(pair, "ask-changed", format!("{of} asks something else"));
                }
                self.answer(&of, pair, from.as_ref(), to.as_ref());
            }
            (
                Work::Subgraph {
                    graph: was,
                    persist: from,
                    ..
                },
                Work::Subgraph {
                    graph: is,
                    persist: to,
                    ..
                },
            ) => {
                let name = |flow: &Flow, id| {
                    let graph = flow.graphs.get(id);
                    graph.map_or(String::new(), |graph| graph.name.clone())
                };
                let (was, is) = (name(self.old, *was), name(self.new, *is));
                let at = (Some(old.at), Some(new.at));
                if was != is {
                    let message =
                        format!("{of} called graph `{was}`, calls `{is}`; threads may rest in it");
                    self.say(
                        Group::Breaking,
                        Side::Threads,
                        "subgraph-changed",
                        at,
                        message,
                    );
                }
                if from != to {
                    let message = format!("{of} keeps the state of `{is}` otherwise: `persist`");
                    self.say(
                        Group::NeedsMigration,
                        Side::Threads,
                        "persist-changed",
                        at,
                        message,
                    );
                }
            }
            (Work::Extern { name: was, .. }, Work::Extern { name: is, .. }) if was != is => {
                self.people(
                    pair,
                    "extern-changed",
                    format!("{of} ran `{was}`, runs `{is}`"),
                );
            }
            _ => {}
        }
    }

    fn people(&mut self, (old, new): (&Node, &Node), code: &'static str, message: String) {
        let at = (Some(old.at), Some(new.at));
        self.say(Group::Compatible, Side::People, code, at, message);
    }

    /// The type of an interrupt's answer: one that is on its way must still be taken.
    pub(super) fn answer(
        &mut self,
        of: &str,
        pair: (&Node, &Node),
        old: Option<&Type>,
        new: Option<&Type>,
    ) {
        let at = (Some(pair.0.at), Some(pair.1.at));
        let from = (&self.old.types, old.unwrap_or(&Type::Json));
        let to = (&self.new.types, new.unwrap_or(&Type::Json));
        let (was, is) = (from.0.show(from.1).to_string(), to.0.show(to.1).to_string());
        let message = match was == is {
            true => format!("{of} expects another `{is}`"),
            false => format!("{of} expected `{was}`, expects `{is}`"),
        };
        match fits(from, to, Way::Given) {
            Err(why) => {
                let message = format!("{message}: {why}");
                self.say(Group::Breaking, Side::Threads, "answer-type", at, message);
            }
            Ok(()) if was != is => {
                self.say(Group::Compatible, Side::Threads, "answer-type", at, message);
            }
            Ok(()) => {}
        }
    }

    fn model_call(&mut self, of: &str, pair: (&Node, &Node), was: &ModelCall, is: &ModelCall) {
        let name = |flow: &Flow, id| {
            let model = flow.models.get(id);
            model.map_or(String::new(), |model| model.name.clone())
        };
        let (from, to) = (name(self.old, was.model), name(self.new, is.model));
        if from != to {
            self.people(
                pair,
                "model-changed",
                format!("{of} asked model `{from}`, asks `{to}`"),
            );
        }
        let text = |template: &Option<Template>| template.as_ref().map(|t| t.text.clone());
        for (word, old, new) in [
            ("system", text(&was.system), text(&is.system)),
            ("prompt", text(&was.prompt), text(&is.prompt)),
            (
                "messages",
                was.messages.as_ref().map(|e| e.text.clone()),
                is.messages.as_ref().map(|e| e.text.clone()),
            ),
        ] {
            if old != new {
                self.people(pair, "prompt-changed", format!("`{word}` of {of} changed"));
            }
        }
        let shown = |flow: &Flow, ty: &Option<Type>| match ty {
            Some(ty) => format!("`{}`", flow.types.show(ty)),
            None => "text".to_owned(),
        };
        let (from, to) = (shown(self.old, &was.output), shown(self.new, &is.output));
        if from != to {
            self.people(
                pair,
                "reply-type",
                format!("{of} wanted {from} of its model, wants {to}"),
            );
        }
        if was.tool_choice != is.tool_choice {
            self.people(pair, "node-changed", format!("{of} changed: `tool_choice`"));
        }
        self.tools_of(of, pair, &was.tools, &is.tools);
    }

    /// Tools that a model may call.
    fn tools_of(&mut self, of: &str, pair: (&Node, &Node), was: &[ToolId], is: &[ToolId]) {
        let names = |flow: &Flow, tools: &[ToolId]| -> Vec<String> {
            tools.iter().map(|id| tool(flow, *id)).collect()
        };
        let (was, is) = (names(self.old, was), names(self.new, is));
        for name in is.iter().filter(|name| !was.contains(name)) {
            self.people(pair, "tool-given", format!("{of} may call `{name}` now"));
        }
        for name in was.iter().filter(|name| !is.contains(name)) {
            self.people(
                pair,
                "tool-taken",
                format!("{of} may not call `{name}` any more"),
            );
        }
    }
}

fn tool(flow: &Flow, id: ToolId) -> String {
    flow.tools.get(id).map_or(String::new(), |t| t.name.clone())
}

fn texts(named: &[Named]) -> Vec<(&str, &str)> {
    let texts = named
        .iter()
        .map(|n| (n.name.as_str(), n.value.text.as_str()));
    texts.collect()
}

pub(super) fn asked(ask: &Ask) -> Vec<(&str, &str)> {
    match ask {
        Ask::Fields(fields) => texts(fields),
        Ask::Text(template) => vec![("", template.text.as_str())],
    }
}

/// The conditions that tools are narrowed by, to be compared.
pub(super) fn narrowed(flow: &Flow, narrowed: &[Narrowed]) -> String {
    let shown = narrowed.iter().map(|one| {
        let conditions = one.conditions.iter().map(|c| c.text.as_str());
        let conditions: Vec<&str> = conditions.collect();
        format!("{} where {}", tool(flow, one.tool), conditions.join(" && "))
    });
    shown.collect::<Vec<_>>().join("; ")
}
