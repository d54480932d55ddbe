//! Graphs: which there are, which runs unasked, how they can be left.

use super::finding::Group::{Breaking, Compatible};
use super::finding::Side::Callers;
use super::{Versions, pairs};
use crate::ir::flow::Flow;
use crate::ir::graph::Graph;
use crate::ir::text::Place;

/// A graph in both versions.
#[derive(Clone, Copy)]
pub(super) struct Both<'f> {
    pub old: &'f Graph,
    pub new: &'f Graph,
}

/// Whose contract is looked at.
pub(super) struct Owner<'n> {
    /// The graph's name.
    pub name: &'n str,
    /// Where it is in the flow's tree.
    pub path: String,
    /// Where it is declared in both versions.
    pub at: (Option<Place>, Option<Place>),
}

impl<'f> Versions<'f> {
    pub(super) fn graphs(&mut self) {
        let (old, new) = (self.old, self.new);
        for pair in pairs(old.graphs.iter(), new.graphs.iter(), |g| g.name.as_str()) {
            let (group, code) = match pair {
                (Some(old), Some(new)) => {
                    self.graph(Both { old, new });
                    continue;
                }
                (Some(_), None) => (Breaking, "graph-gone"),
                _ => (Compatible, "graph-added"),
            };
            let [old, new] = [pair.0, pair.1].map(|of| of.map(|of| (of.name.as_str(), of.at)));
            self.alone("graph", (old, new), (group, Callers, code), "");
        }
    }

    fn graph(&mut self, both: Both<'f>) {
        self.fields(both);
        let owner = Owner {
            name: &both.new.name,
            path: format!("/graphs/{}", both.new.name),
            at: (Some(both.old.at), Some(both.new.at)),
        };
        self.context(&owner, (&both.old.context, &both.new.context));
        self.leaves(&owner, (&both.old.leaves, &both.new.leaves));
        self.nodes(both);
        self.joins(both);
        self.lost(both);
    }

    /// Names by which a graph leaves to its caller.
    pub(super) fn leaves(&mut self, of: &Owner<'_>, (old, new): (&[String], &[String])) {
        let graph = of.name;
        let mut gone = old.iter().filter(|name| !new.contains(name)).peekable();
        let mut added = new.iter().filter(|name| !old.contains(name)).peekable();
        if gone.peek().is_some() || added.peek().is_some() {
            self.claim(format!("{}/leaves", of.path));
        }
        for name in added {
            let message =
                format!("graph `{graph}` may leave by `{name}`, which its callers must provide");
            self.say(Breaking, Callers, "leave-added", of.at, message);
        }
        for name in gone {
            let message = format!("graph `{graph}` does not leave by `{name}` any more");
            self.say(Compatible, Callers, "leave-gone", of.at, message);
        }
    }

    /// The graph that runs where none is named.
    pub(super) fn entry_graph(&mut self) {
        let name = |flow: &'f Flow| {
            let graph = flow.entry.and_then(|id| flow.graphs.get(id));
            graph.map(|graph| graph.name.as_str())
        };
        let at = |flow: &Flow| {
            let graph = flow.entry.and_then(|id| flow.graphs.get(id));
            graph.map(|graph| graph.at)
        };
        let (was, is) = (name(self.old), name(self.new));
        if was == is {
            return;
        }
        let (group, message) = match (was, is) {
            (None, is) => (
                Compatible,
                format!(
                    "graph `{}` runs where none is named",
                    is.unwrap_or_default()
                ),
            ),
            (Some(was), Some(is)) => (
                Breaking,
                format!("graph `{is}` runs where none is named, and `{was}` did"),
            ),
            (Some(was), None) => (
                Breaking,
                format!("a graph must be named now; `{was}` ran where none was"),
            ),
        };
        self.claim("/entry".to_owned());
        let at = (at(self.old), at(self.new));
        self.say(group, Callers, "entry-changed", at, message);
    }
}
