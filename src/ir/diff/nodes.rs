//! Nodes: whether a thread that rests at one can go on, and what else it does now.

use std::collections::BTreeMap;

use super::finding::Group::{Breaking, Compatible, NeedsMigration};
use super::finding::Side::{People, Threads};
use super::fit::Way;
use super::graphs::Both;
use super::members::Change;
use super::things::name_of;
use super::tree::Tree;
use super::{Versions, pairs, renamed};
use crate::expr::ty::RecordField;
use crate::ir::graph::Node;
use crate::ir::node::Work;

impl<'f> Versions<'f> {
    pub(super) fn nodes(&mut self, both: Both<'f>) {
        let (old, new) = (both.old.nodes.iter(), both.new.nodes.iter());
        let graph = both.new.name.as_str();
        let names = &both.new.migrate.nodes;
        let pairs = renamed(old, new, |node| node.name.as_str(), names);
        // What a node does, for those that may be renamed.
        let lone = pairs.iter().any(|(_, new)| new.is_none());
        let does = |tree| match lone {
            true => doing(tree, graph),
            false => BTreeMap::new(),
        };
        let (did, does) = (does(self.trees.0), does(self.trees.1));
        let added = pairs.iter().filter(|(old, _)| old.is_none());
        let added: BTreeMap<&str, &Node> = added
            .filter_map(|(_, new)| Some((does.get((*new)?.name.as_str())?.as_str(), (*new)?)))
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
                        self.say(NeedsMigration, Threads, "node-renamed", at, message);
                        self.claim(format!("/graphs/{graph}/nodes/{is}/name"));
                        self.claim(format!("/graphs/{graph}/migrate"));
                    }
                    self.node(both, old, new);
                }
                (Some(gone), None) => {
                    let like = did.get(gone.name.as_str());
                    let like = like.and_then(|does| added.get(does.as_str()));
                    self.node_gone(graph, gone, like.copied());
                }
                (None, Some(added)) => {
                    let name = &added.name;
                    self.claim(format!("/graphs/{graph}/nodes/{name}"));
                    let message = format!("node `{name}` of graph `{graph}` is new");
                    let at = (None, Some(added.at));
                    self.say(Compatible, Threads, "node-added", at, message);
                }
                (None, None) => {}
            }
        }
    }

    /// A thread never rests at a `branch`, and at any other node it may.
    fn node_gone(&mut self, graph: &str, gone: &Node, like: Option<&Node>) {
        let name = &gone.name;
        let (group, why) = match &gone.work {
            Work::Branch => (Compatible, "no thread rests at a `branch`"),
            Work::Interrupt { .. } => (Breaking, "threads may wait there for an answer"),
            _ => (Breaking, "threads may rest there"),
        };
        let (code, at, renamed) = match like {
            Some(like) => {
                let renamed = format!(
                    "; if it is new node `{is}`, say `migrate {{ rename node {name} -> {is} }}`",
                    is = like.name
                );
                ("node-renamed", Some(like.at), renamed)
            }
            None => ("node-gone", None, String::new()),
        };
        self.claim(format!("/graphs/{graph}/nodes/{name}"));
        let message = format!("node `{name}` of graph `{graph}` is gone; {why}{renamed}");
        self.say(group, Threads, code, (Some(gone.at), at), message);
    }

    fn node(&mut self, both: Both<'f>, old: &'f Node, new: &'f Node) {
        let graph = both.new.name.as_str();
        let at = (Some(old.at), Some(new.at));
        let name = &new.name;
        let (was, is) = (old.work.keyword(), new.work.keyword());
        if was != is {
            let message = format!("node `{name}` of graph `{graph}` was `{was}`, is `{is}`");
            self.say(Breaking, Threads, "node-kind", at, message);
            self.claim(format!("/graphs/{graph}/nodes/{name}/work"));
        } else {
            self.work(graph, old, new);
        }
        self.node_input(graph, old, new);
        self.stops(graph, old, new);
    }

    /// Questions around a node, at which threads may wait.
    fn stops(&mut self, graph: &str, old: &'f Node, new: &'f Node) {
        let of = format!("of graph `{graph}`");
        let path = format!("/graphs/{graph}/nodes/{}/stops", new.name);
        for pair in pairs(old.stops.iter(), new.stops.iter(), |stop| {
            stop.name.as_str()
        }) {
            match pair {
                (Some(was), Some(is)) => {
                    let of = format!("interrupt `{}` {of}", is.name);
                    let path = format!("{path}/{}/expect", is.name);
                    self.answer(
                        &of,
                        &path,
                        (old, new),
                        (Some(&was.expect), Some(&is.expect)),
                    );
                }
                (Some(gone), None) => {
                    let name = &gone.name;
                    self.claim(format!("{path}/{name}"));
                    let message = format!(
                        "interrupt `{name}` {of} is gone from node `{}`; threads may wait there for an answer",
                        new.name
                    );
                    let at = (Some(gone.at), Some(new.at));
                    self.say(Breaking, Threads, "interrupt-gone", at, message);
                }
                (None, Some(added)) => {
                    self.claim(format!("{path}/{}", added.name));
                    let message = format!(
                        "interrupt `{}` {of} is new at node `{}`",
                        added.name, new.name
                    );
                    let at = (None, Some(added.at));
                    self.say(Compatible, People, "interrupt-added", at, message);
                }
                (None, None) => {}
            }
        }
    }

    /// What a send gives it: tasks that wait have it.
    fn node_input(&mut self, graph: &str, old: &Node, new: &Node) {
        let at = (Some(old.at), Some(new.at));
        let name = &new.name;
        let added = |field: &RecordField| {
            let what = format!("`{}` is new; tasks that wait don't have it", field.name);
            field
                .required()
                .then(|| Change::new(Breaking, field.name.clone(), what))
        };
        for change in self.members((&old.input, &new.input), Way::Kept, added) {
            self.claim(format!(
                "/graphs/{graph}/nodes/{name}/input/{}",
                change.path
            ));
            let what = change.what;
            let message = format!("input of node `{name}` of graph `{graph}`: {what}");
            self.say(Breaking, Threads, "node-input", at, message);
        }
    }
}

/// By name of the nodes of a graph, all that each does.
pub(super) fn doing(flow: &Tree, graph: &str) -> BTreeMap<String, String> {
    let graphs = flow.get("graphs").map_or(&[] as &[Tree], Tree::elements);
    let graph = graphs.iter().find(|known| known.name() == Some(graph));
    let nodes = graph.and_then(|graph| graph.get("nodes"));
    let mut doing = BTreeMap::new();
    for node in nodes.map_or(&[] as &[Tree], Tree::elements) {
        let Tree::Part(part) = node else { continue };
        let does = part.entries.iter();
        let does = does.filter(|(key, _)| !matches!(key.as_str(), "name" | "doc"));
        let does: Vec<String> = does
            .map(|(key, tree)| format!("{key} {}", tree.show()))
            .collect();
        doing.insert(name_of(part), does.join("\n"));
    }
    doing
}
