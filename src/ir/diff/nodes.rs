//! Nodes: whether a thread that rests at one can go on, and what else it does now.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

use super::assignable::Use;
use super::finding::Group::{Breaking, Compatible, NeedsMigration};
use super::finding::Side::{People, Threads};
use super::graphs::Both;
use super::members::{Members, declared};
use super::named::without_places;
use super::{Declared, Versions, pairs, renamed};
use crate::ir::graph::Node;
use crate::ir::node::Work;

impl<'f> Versions<'f> {
    pub(super) fn nodes(&mut self, both: Both<'f>) {
        let (old, new) = (both.old.nodes.iter(), both.new.nodes.iter());
        let graph = both.new.name.as_str();
        let pairs = renamed(old, new, Node::name, &both.new.migrate.nodes);
        // What a node does, for those that may be renamed.
        let lone = pairs.iter().any(|(_, new)| new.is_none());
        let does = |flow| match lone {
            true => doing(flow, graph),
            false => BTreeMap::new(),
        };
        let (did, does) = (does(self.named.0), does(self.named.1));
        let added: Vec<&Node> = pairs
            .iter()
            .filter_map(|(old, new)| (*new).filter(|_| old.is_none()))
            .collect();
        for pair in pairs {
            match pair {
                (Some(old), Some(new)) => self.node(graph, old, new),
                (Some(gone), None) => {
                    let does_that = |node: &&&Node| did.get(&gone.name) == does.get(&node.name);
                    let like = added.iter().rfind(does_that);
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

    fn node(&mut self, graph: &str, old: &'f Node, new: &'f Node) {
        let at = (Some(old.at), Some(new.at));
        let name = &new.name;
        if old.name != new.name {
            self.claim(format!("/graphs/{graph}/migrate"));
            let message = format!(
                "node `{}` of graph `{graph}` is `{name}` now, as its `migrate` says",
                old.name
            );
            self.say(NeedsMigration, Threads, "node-renamed", at, message);
        }
        let (was, is) = (old.work.keyword(), new.work.keyword());
        if was != is {
            let message = format!("node `{name}` of graph `{graph}` was `{was}`, is `{is}`");
            self.say(Breaking, Threads, "node-kind", at, message);
            self.claim(format!("/graphs/{graph}/nodes/{name}/work"));
        } else {
            self.work(graph, old, new);
        }
        let input = Members {
            what: format!("input of node `{name}` of graph `{graph}`"),
            path: format!("/graphs/{graph}/nodes/{name}/input"),
            at,
            side: Threads,
            codes: ["node-input"; 4],
            used: Use::Stored,
            part: "",
            added: &|required| required.then_some((Breaking, "; tasks that wait don't have it")),
        };
        self.members(&input, (&declared(&old.input), &declared(&new.input)));
        self.stops(graph, old, new);
    }

    /// Questions around a node, at which threads may wait.
    fn stops(&mut self, graph: &str, old: &'f Node, new: &'f Node) {
        let path = format!("/graphs/{graph}/nodes/{}/stops", new.name);
        let node = &new.name;
        for pair in pairs(old.stops.iter(), new.stops.iter()) {
            match pair {
                (Some(was), Some(is)) => {
                    let of = format!("interrupt `{}` of graph `{graph}`", is.name);
                    let path = format!("{path}/{}/expect", is.name);
                    let at = (Some(old.at), Some(new.at));
                    self.answer(&of, path, at, (Some(&was.expect), Some(&is.expect)));
                }
                (Some(gone), None) => {
                    self.claim(format!("{path}/{}", gone.name));
                    let message = format!(
                        "interrupt `{}` of graph `{graph}` is gone from node `{node}`; threads may wait there for an answer",
                        gone.name
                    );
                    let at = (Some(gone.at), Some(new.at));
                    self.say(Breaking, Threads, "interrupt-gone", at, message);
                }
                (None, Some(added)) => {
                    self.claim(format!("{path}/{}", added.name));
                    let message = format!(
                        "interrupt `{}` of graph `{graph}` is new at node `{node}`",
                        added.name
                    );
                    let at = (None, Some(added.at));
                    self.say(Compatible, People, "interrupt-added", at, message);
                }
                (None, None) => {}
            }
        }
    }
}

/// By name of the nodes of a graph, all that each does.
pub(super) fn doing(flow: &Map<String, Json>, graph: &str) -> BTreeMap<String, Json> {
    let graphs = flow.get("graphs").and_then(Json::as_array);
    let graph = graphs.and_then(|graphs| graphs.iter().find(|known| known["name"] == graph));
    let nodes = graph.and_then(|graph| graph["nodes"].as_array());
    let nodes = nodes.into_iter().flatten().filter_map(|node| {
        let mut does = without_places(node);
        let entries = does.as_object_mut()?;
        entries.remove("doc");
        let name = entries.remove("name")?;
        Some((name.as_str()?.to_owned(), does))
    });
    nodes.collect()
}
