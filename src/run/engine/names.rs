//! Keys and paths of a thread, followed through the graphs of this version of the flow.

use std::collections::BTreeMap;

use crate::ir::node::{Persist, Work};
use crate::ir::{Graph, GraphId};

use super::Engine;

/// Names of nodes in keys and paths, each looked up in the graph that it stands in.
pub(super) struct Names<'e> {
    /// The flow.
    pub engine: &'e Engine,
    /// The run's graph.
    pub root: GraphId,
    /// Whether nodes go by names that they had, which `migrate` blocks tell apart; else by those of now.
    pub renames: bool,
}

/// Where a key or a path leads.
pub(super) struct Walked {
    /// It, by the names of now.
    pub key: String,
    /// The graph that its last node calls; `None` where it calls none, or is no more.
    pub called: Option<GraphId>,
    /// How long the state of that call is kept.
    pub persist: Option<Persist>,
    /// The last graph that it leads through, and the node in it that it leads to or is lost at.
    pub at: (Option<GraphId>, String),
}

impl<'e> Names<'e> {
    fn graph(&self, id: GraphId) -> Option<&'e Graph> {
        self.engine.plan.flow.graphs.get(id)
    }

    /// A node's name of now.
    fn now<'n>(&self, graph: &'e Graph, name: &'n str) -> &'n str
    where
        'e: 'n,
    {
        let names: &BTreeMap<String, String> = &graph.migrate.nodes;
        let renamed = names.get(name).filter(|_| self.renames);
        renamed.map_or(name, String::as_str)
    }

    /// Follows the key of a frame or a task (`0:content/1:inner[2]`), or a path (`content/inner`).
    pub fn walk(&self, key: &str) -> Walked {
        let mut walked = Walked {
            key: String::new(),
            called: Some(self.root),
            persist: None,
            at: (None, String::new()),
        };
        let mut parts = Vec::new();
        for part in key.split('/') {
            let (step, rest) = part.split_once(':').unwrap_or(("", part));
            let (name, send) = rest.split_at(rest.find('[').unwrap_or(rest.len()));
            let Some((id, graph)) = walked.called.and_then(|id| Some((id, self.graph(id)?))) else {
                parts.push(part.to_owned());
                continue;
            };
            if part.is_empty() {
                parts.push(String::new());
                continue;
            }
            let name = self.now(graph, name);
            let node = graph.node(name).and_then(|id| graph.nodes.get(id));
            (walked.called, walked.persist) = match node.map(|node| &node.work) {
                Some(Work::Subgraph { graph, persist, .. }) => (Some(*graph), Some(*persist)),
                _ => (None, None),
            };
            walked.at = (Some(id), name.to_owned());
            parts.push(match step.is_empty() {
                true => format!("{name}{send}"),
                false => format!("{step}:{name}{send}"),
            });
        }
        walked.key = parts.join("/");
        walked
    }

    /// A key or a path by the names of now.
    pub fn key(&self, key: &str) -> String {
        self.walk(key).key
    }

    /// The graph of a frame by its key.
    pub fn graph_of(&self, frame: &str) -> Option<GraphId> {
        match frame.is_empty() {
            true => Some(self.root),
            false => self.walk(frame.trim_end_matches('/')).called,
        }
    }

    /// The graph that the call at a path is of.
    pub fn called(&self, path: &str) -> Option<GraphId> {
        self.walk(path).called
    }

    /// The graph whose state lasts between the calls at a path.
    pub fn lasting(&self, path: &str) -> Option<(GraphId, Persist)> {
        let walked = self.walk(path);
        let (called, persist) = (walked.called?, walked.persist?);
        let lasts = self.graph(called)?.outlives_call(persist);
        lasts.then_some((called, persist))
    }
}
