//! Graphs: which there are, how they can be left, their joins and bounds.

use super::finding::{Group, Side};
use super::{Versions, pairs};
use crate::ir::graph::{Graph, Join};

/// A graph in both versions.
#[derive(Clone, Copy)]
pub(super) struct Both<'f> {
    pub old: &'f Graph,
    pub new: &'f Graph,
}

impl<'f> Versions<'f> {
    pub(super) fn graphs(&mut self) {
        let (old, new) = (self.old, self.new);
        for pair in pairs(old.graphs.iter(), new.graphs.iter(), |g| g.name.as_str()) {
            match pair {
                (Some(old), Some(new)) => self.graph(Both { old, new }),
                (Some(gone), None) => {
                    let message = format!("graph `{}` is gone", gone.name);
                    let at = (Some(gone.at), None);
                    self.say(Group::Breaking, Side::Callers, "graph-gone", at, message);
                }
                (None, Some(added)) => {
                    let message = format!("graph `{}` is new", added.name);
                    let at = (None, Some(added.at));
                    self.say(Group::Compatible, Side::Callers, "graph-added", at, message);
                }
                (None, None) => {}
            }
        }
    }

    fn graph(&mut self, both: Both<'f>) {
        self.fields(both);
        self.leaves(both);
        self.nodes(both);
        self.joins(both);
        self.entry(both);
    }

    /// Names by which a graph leaves to its caller.
    fn leaves(&mut self, Both { old, new }: Both) {
        let at = (Some(old.at), Some(new.at));
        let graph = &new.name;
        for name in new.leaves.iter().filter(|name| !old.leaves.contains(name)) {
            let message =
                format!("graph `{graph}` may leave by `{name}`, which its callers must provide");
            self.say(Group::Breaking, Side::Callers, "leave-added", at, message);
        }
        for name in old.leaves.iter().filter(|name| !new.leaves.contains(name)) {
            let message = format!("graph `{graph}` does not leave by `{name}` any more");
            self.say(Group::Compatible, Side::Callers, "leave-gone", at, message);
        }
    }

    /// Joins: a thread may rest with some of the members arrived.
    fn joins(&mut self, Both { old, new }: Both) {
        let shown = |graph: &Graph, join: &Join| {
            let mut names: Vec<&str> = join
                .members
                .iter()
                .filter_map(|member| graph.nodes.get(*member).map(|node| node.name.as_str()))
                .collect();
            names.sort_unstable();
            names.join(", ")
        };
        let now: Vec<String> = new.joins.iter().map(|join| shown(new, join)).collect();
        for join in old.joins.iter().map(|join| shown(old, join)) {
            if !now.contains(&join) {
                let message = format!(
                    "graph `{}` has no join of `[{join}]` any more, at which a thread may wait",
                    new.name
                );
                let at = (Some(old.at), Some(new.at));
                self.say(Group::Breaking, Side::Threads, "join-gone", at, message);
            }
        }
    }

    /// Where it begins, and how far it may go.
    fn entry(&mut self, Both { old, new }: Both) {
        let at = (Some(old.at), Some(new.at));
        let graph = &new.name;
        let begins = self.route(self.old, old, &old.start) != self.route(self.new, new, &new.start);
        if begins {
            let message = format!("graph `{graph}` begins elsewhere");
            self.say(
                Group::Compatible,
                Side::People,
                "start-changed",
                at,
                message,
            );
        }
        let (was, is) = (
            super::work::narrowed(self.old, &old.narrowed),
            super::work::narrowed(self.new, &new.narrowed),
        );
        if was != is {
            let message = format!("graph `{graph}` narrows its tools otherwise");
            self.say(
                Group::Compatible,
                Side::People,
                "scope-changed",
                at,
                message,
            );
        }
        let texts = |graph: &Graph| -> Vec<String> {
            graph.exits.iter().map(|exit| exit.text.clone()).collect()
        };
        if texts(old) != texts(new) {
            let message = format!("graph `{graph}` ends on another `exit when`");
            self.say(Group::Compatible, Side::People, "exit-changed", at, message);
        }
        if old.instance != new.instance {
            let message = format!("graph `{graph}` has other values of its parameters");
            self.say(
                Group::Compatible,
                Side::People,
                "params-changed",
                at,
                message,
            );
        }
        if old.recursion_limit != new.recursion_limit {
            let shown = |limit: Option<u32>| limit.map_or("none".to_owned(), |n| n.to_string());
            let (was, is) = (shown(old.recursion_limit), shown(new.recursion_limit));
            let message = format!("`recursion_limit` of graph `{graph}` was {was}, is {is}");
            self.say(
                Group::Compatible,
                Side::People,
                "limit-changed",
                at,
                message,
            );
        }
    }
}
