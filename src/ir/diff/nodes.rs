//! Nodes: whether a thread that rests at one can go on, and what else it does now.

use std::collections::BTreeMap;

use super::finding::{Group, Side};
use super::fit::{Way, fits};
use super::graphs::Both;
use super::{Versions, pairs, renamed};
use crate::expr::ty::RecordField;
use crate::ir::flow::Flow;
use crate::ir::graph::{End, Graph, Node};
use crate::ir::jump::{Emit, Jump, Route, SetItem, Target};
use crate::ir::node::Work;

/// The word for a node's way on.
const GOES: &str = "where it goes";

impl<'f> Versions<'f> {
    pub(super) fn nodes(&mut self, both: Both<'f>) {
        let (old, new) = (both.old.nodes.iter(), both.new.nodes.iter());
        let graph = both.new.name.as_str();
        let names = &both.new.migrate.nodes;
        let pairs = renamed(old, new, |node| node.name.as_str(), names);
        let added = pairs.iter().filter(|(old, _)| old.is_none());
        let added: BTreeMap<String, &Node> = added
            .filter_map(|(_, new)| Some((self.likeness(self.new, both.new, (*new)?), (*new)?)))
            .collect();
        for pair in pairs {
            match pair {
                (Some(old), Some(new)) => {
                    if old.name != new.name {
                        let (was, is) = (&old.name, &new.name);
                        let message = format!(
                            "node `{was}` of graph `{graph}` is `{is}` now, as its `migrate` says"
                        );
                        let at = (Some(old.at), Some(new.at));
                        self.say(
                            Group::NeedsMigration,
                            Side::Threads,
                            "node-renamed",
                            at,
                            message,
                        );
                    }
                    self.node(both, old, new);
                }
                (Some(gone), None) => {
                    let like = self.likeness(self.old, both.old, gone);
                    self.node_gone(graph, gone, added.get(&like).copied());
                }
                (None, Some(added)) => {
                    let name = &added.name;
                    let message = format!("node `{name}` of graph `{graph}` is new");
                    let at = (None, Some(added.at));
                    self.say(Group::Compatible, Side::Threads, "node-added", at, message);
                }
                (None, None) => {}
            }
        }
    }

    /// What tells whether two nodes do the same.
    fn likeness(&self, flow: &Flow, graph: &Graph, node: &Node) -> String {
        format!(
            "{} {:?}",
            node.work.keyword(),
            self.around(flow, graph, node)
        )
    }

    /// A thread never rests at a `branch`, and at any other node it may.
    fn node_gone(&mut self, graph: &str, gone: &Node, like: Option<&Node>) {
        let name = &gone.name;
        let (group, why) = match &gone.work {
            Work::Branch => (Group::Compatible, "no thread rests at a `branch`"),
            Work::Interrupt { .. } => (Group::Breaking, "threads may wait there for an answer"),
            _ => (Group::Breaking, "threads may rest there"),
        };
        let (code, at, renamed) = match like {
            Some(like) => {
                let renamed = format!(", and new node `{}` does the same: renamed?", like.name);
                ("node-renamed", Some(like.at), renamed)
            }
            None => ("node-gone", None, String::new()),
        };
        let message = format!("node `{name}` of graph `{graph}` is gone{renamed}; {why}");
        self.say(group, Side::Threads, code, (Some(gone.at), at), message);
    }

    fn node(&mut self, both: Both<'f>, old: &'f Node, new: &'f Node) {
        let graph = both.new.name.as_str();
        let at = (Some(old.at), Some(new.at));
        let name = &new.name;
        let (was, is) = (old.work.keyword(), new.work.keyword());
        if was != is {
            let message = format!("node `{name}` of graph `{graph}` was `{was}`, is `{is}`");
            self.say(Group::Breaking, Side::Threads, "node-kind", at, message);
        } else {
            self.work(graph, old, new);
        }
        self.node_input(graph, old, new);
        self.stops(graph, old, new);
        let (was, is) = (
            self.around(self.old, both.old, old),
            self.around(self.new, both.new, new),
        );
        let goes = |around: &[(&str, String)]| {
            let way = around.iter().find(|(what, _)| *what == GOES);
            way.map(|(_, way)| way.clone())
        };
        let elsewhere = goes(&was) != goes(&is);
        for ((what, was), (_, is)) in was.iter().zip(&is) {
            // Where it goes shows in its `ends` too.
            if was != is && !(elsewhere && *what == "`ends`") {
                let message = format!("node `{name}` of graph `{graph}` changed: {what}");
                self.say(Group::Compatible, Side::People, "node-changed", at, message);
            }
        }
    }

    /// Questions around a node, at which threads may wait.
    fn stops(&mut self, graph: &str, old: &'f Node, new: &'f Node) {
        let of = format!("of graph `{graph}`");
        for pair in pairs(old.stops.iter(), new.stops.iter(), |stop| {
            stop.name.as_str()
        }) {
            match pair {
                (Some(was), Some(is)) => {
                    let of = format!("interrupt `{}` {of}", is.name);
                    let pair = (old, new);
                    self.answer(&of, pair, Some(&was.expect), Some(&is.expect));
                    if super::work::asked(&was.ask) != super::work::asked(&is.ask) {
                        let message = format!("{of} asks something else");
                        let at = (Some(was.at), Some(is.at));
                        self.say(Group::Compatible, Side::People, "ask-changed", at, message);
                    }
                }
                (Some(gone), None) => {
                    let name = &gone.name;
                    let message = format!(
                        "interrupt `{name}` {of} is gone from node `{}`; threads may wait there for an answer",
                        new.name
                    );
                    let at = (Some(gone.at), Some(new.at));
                    self.say(
                        Group::Breaking,
                        Side::Threads,
                        "interrupt-gone",
                        at,
                        message,
                    );
                }
                (None, Some(added)) => {
                    let message = format!(
                        "interrupt `{}` {of} is new at node `{}`",
                        added.name, new.name
                    );
                    let at = (None, Some(added.at));
                    self.say(
                        Group::Compatible,
                        Side::People,
                        "interrupt-added",
                        at,
                        message,
                    );
                }
                (None, None) => {}
            }
        }
    }

    /// What a send gives it: tasks that wait have it.
    fn node_input(&mut self, graph: &str, old: &Node, new: &Node) {
        let at = (Some(old.at), Some(new.at));
        let name = &new.name;
        let (from, to) = (&self.old.types, &self.new.types);
        let mut breaks = |field: &RecordField, why: String| {
            let message = format!(
                "input `{}` of node `{name}` of graph `{graph}` {why}",
                field.name
            );
            self.say(Group::Breaking, Side::Threads, "node-input", at, message);
        };
        for field in &new.input {
            match old.input.iter().find(|known| known.name == field.name) {
                None if field.required() => {
                    breaks(field, "is new; tasks that wait don't have it".to_owned());
                }
                Some(known) => {
                    if let Err(why) = fits((from, &known.ty), (to, &field.ty), Way::Kept) {
                        breaks(field, format!("is of another type: {why}"));
                    }
                }
                None => {}
            }
        }
    }

    /// All that a node does but its own work, each with a word for it.
    fn around(&self, flow: &Flow, graph: &Graph, node: &Node) -> [(&'static str, String); 14] {
        let named = |all: &[crate::ir::text::Named]| {
            let all = all.iter().map(|n| format!("{}: {}", n.name, n.value.text));
            all.collect::<Vec<_>>().join("; ")
        };
        let skips = node.skips.iter().map(|skip| {
            let to = skip.to.as_ref().map(|to| self.jump(flow, graph, to));
            format!("{} -> {to:?}", skip.when.text)
        });
        let requires = node.requires.iter().map(|require| {
            let message = require.message.as_ref().map(|message| &message.text);
            format!("{} else {message:?}", require.condition.text)
        });
        let visits = node.max_visits.as_ref().map(|visits| {
            let to = self.jump(flow, graph, &visits.to);
            format!("{} -> {to}", visits.limit)
        });
        let ends = node.ends.iter().map(|end| self.end(flow, graph, end));
        let cache = node.cache.as_ref().map(|cache| {
            let key = cache.key.as_ref().map(|key| &key.text);
            format!("{key:?} {:?}", cache.ttl_ms)
        });
        let cache = cache.unwrap_or_default();
        [
            ("`skip`", skips.collect::<Vec<_>>().join("; ")),
            ("`let`", named(&node.lets)),
            ("`require`", requires.collect::<Vec<_>>().join("; ")),
            ("`set`", self.sets(graph, &node.set)),
            ("`emit`", self.emits(flow, &node.emits)),
            (GOES, self.option(flow, graph, &node.next)),
            ("`ends`", ends.collect::<Vec<_>>().join("; ")),
            ("`on_error`", self.option(flow, graph, &node.on_error)),
            ("`retry`", format!("{:?}", node.retry)),
            ("`timeout`", format!("{:?}", node.timeout_ms)),
            ("`max_visits`", format!("{visits:?}")),
            ("`defer`", node.defer.to_string()),
            ("`cache`", cache),
            (
                "`where` of its tools",
                super::work::narrowed(flow, &node.narrowed),
            ),
        ]
    }

    fn option(&self, flow: &Flow, graph: &Graph, route: &Option<Route>) -> String {
        route
            .as_ref()
            .map_or(String::new(), |route| self.route(flow, graph, route))
    }

    /// A route in names, to be compared.
    pub(super) fn route(&self, flow: &Flow, graph: &Graph, route: &Route) -> String {
        match route {
            Route::Always(jump) => self.jump(flow, graph, jump),
            Route::Arms(arms) => {
                let arms = arms.iter().map(|arm| {
                    let when = arm.when.as_ref().map_or("else", |when| &when.text);
                    format!("{when} -> {}", self.jump(flow, graph, &arm.jump))
                });
                arms.collect::<Vec<_>>().join("\n")
            }
        }
    }

    fn jump(&self, flow: &Flow, graph: &Graph, jump: &Jump) -> String {
        let to = jump.to.iter().map(|to| self.target(flow, graph, to));
        let to = to.collect::<Vec<_>>().join(", ");
        let (sets, emits) = (self.sets(graph, &jump.set), self.emits(flow, &jump.emits));
        format!("[{to}] {{ {sets} {emits} }}")
    }

    fn end(&self, flow: &Flow, graph: &Graph, end: &End) -> String {
        format!("{}: {}", end.name, self.target(flow, graph, &end.to))
    }

    /// A target in names. What it holds are ends and no targets that hold others.
    fn target(&self, flow: &Flow, graph: &Graph, target: &Target) -> String {
        let node = |id| graph.nodes.get(id).map_or("", |node| node.name.as_str());
        match target {
            Target::Node(id) => node(*id).to_owned(),
            Target::End => "end".to_owned(),
            Target::Fail { message, .. } => {
                format!("fail({:?})", message.as_ref().map(|message| &message.text))
            }
            Target::Computed { name, table } => {
                let table = table.iter().map(|end| self.end(flow, graph, end));
                format!("({}) {:?}", name.text, table.collect::<Vec<_>>())
            }
            Target::Each {
                var,
                items,
                worker,
                with,
            } => {
                let with = with.iter().map(|n| format!("{}: {}", n.name, n.value.text));
                let with = with.collect::<Vec<_>>().join(", ");
                format!("each {var} in {} -> {} {with}", items.text, node(*worker))
            }
            Target::Parent(name) => format!("parent.{name}"),
            Target::Named(name) => format!("named {name}"),
            Target::NamedEach {
                var,
                items,
                worker,
                with,
            } => {
                let with = with.iter().map(|n| format!("{}: {}", n.name, n.value.text));
                let with = with.collect::<Vec<_>>().join(", ");
                format!("each {var} in {} -> named {worker} {with}", items.text)
            }
        }
    }

    fn sets(&self, graph: &Graph, sets: &[SetItem]) -> String {
        let sets = sets.iter().map(|item| {
            let field = graph.fields.get(item.field);
            let sign = if item.replace { ":=" } else { ":" };
            let name = field.map_or("", |field| field.name.as_str());
            format!("{name} {sign} {}", item.value.text)
        });
        sets.collect::<Vec<_>>().join(", ")
    }

    fn emits(&self, flow: &Flow, emits: &[Emit]) -> String {
        let emits = emits.iter().map(|emit| {
            let event = flow.events.get(emit.event).map_or("", |e| e.name.as_str());
            let fields = emit.fields.iter();
            let fields: Vec<_> = fields.map(|n| (&n.name, &n.value.text)).collect();
            let when = emit.when.as_ref().map(|when| &when.text);
            format!("{event} {fields:?} {} {when:?}", emit.on_start)
        });
        emits.collect::<Vec<_>>().join("; ")
    }
}
