//! Which nodes, routes and arms of a flow the scenarios have taken.
//!
//! A route is a node's way on, its `on_error`, where its `max_visits`, its `timeout` or its `skip` leads, or a graph's entry; it
//! is covered once it was taken. Of a route with several arms each arm counts as well.

use std::collections::BTreeSet;

use crate::ir::node::Work;
use crate::ir::{Flow, GraphId, NodeId, Place};
use crate::run::event::RouteKind;

use super::order;
use super::routes::{RouteId, Written, counted, routes};
use super::sighting::Sighting;

/// What was taken.
#[derive(Debug, Clone, Default)]
pub struct Coverage {
    nodes: BTreeSet<(GraphId, NodeId)>,
    arms: BTreeSet<(GraphId, RouteId, usize)>,
}

/// How many of one graph's parts were taken: those taken, then all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Name of the graph.
    pub graph: String,
    /// Nodes.
    pub nodes: (usize, usize),
    /// Routes.
    pub routes: (usize, usize),
    /// Arms of routes that have several.
    pub arms: (usize, usize),
}

impl Row {
    /// Parts taken, and all.
    pub fn total(&self) -> (usize, usize) {
        let parts = [self.nodes, self.routes, self.arms];
        parts
            .iter()
            .fold((0, 0), |sum, part| (sum.0 + part.0, sum.1 + part.1))
    }
}

/// Something that no scenario has taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Missing {
    /// Name of the graph.
    pub graph: String,
    /// What, in words.
    pub what: String,
    /// Where it is written, `file:line:column`.
    pub place: String,
}

impl Coverage {
    /// Counts what was seen of a run of the graph `root`.
    pub fn note(&mut self, flow: &Flow, root: GraphId, told: &[Sighting]) {
        for sighting in told {
            match sighting {
                Sighting::Visit { task } => {
                    let task = order::read(flow, root, task);
                    let name = task.names.last().copied().unwrap_or_default();
                    let found = task.graph.and_then(|id| Some((id, flow.graphs.get(id)?)));
                    let node = found.and_then(|(id, graph)| Some((id, graph.node(name)?)));
                    self.nodes.extend(node);
                }
                Sighting::Route {
                    ns,
                    node,
                    route,
                    arm,
                } => self.note_route(flow, root, ns, node.as_deref(), (*route, *arm)),
                _ => {}
            }
        }
    }

    fn note_route(
        &mut self,
        flow: &Flow,
        root: GraphId,
        ns: &str,
        node: Option<&str>,
        (kind, arm): (RouteKind, usize),
    ) {
        let found = graph_at(flow, root, ns).and_then(|id| Some((id, flow.graphs.get(id)?)));
        let Some((id, graph)) = found else { return };
        let node = node.map(|name| graph.node(name));
        if node == Some(None) {
            return;
        }
        let node = node.flatten();
        // A branch costs no super-step: its route is all that is seen of it. A node that was visited too often is not run.
        if kind != RouteKind::MaxVisits {
            self.nodes.extend(node.map(|node| (id, node)));
        }
        let (route, arm) = RouteId::of(node, kind, arm);
        self.arms.insert((id, route, arm));
    }

    /// A row for each graph that counts.
    pub fn rows(&self, flow: &Flow) -> Vec<Row> {
        let counted = counted(flow).into_iter();
        counted
            .filter_map(|id| Some((id, flow.graphs.get(id)?)))
            .map(|(id, graph)| {
                let mut row = Row {
                    graph: graph.name.clone(),
                    nodes: (0, graph.nodes.len()),
                    routes: (0, 0),
                    arms: (0, 0),
                };
                let taken = graph.nodes.entries().map(|(node, _)| (id, node));
                row.nodes.0 = taken.filter(|node| self.nodes.contains(node)).count();
                for route in routes(graph) {
                    row.routes.1 += 1;
                    row.routes.0 += usize::from(self.is_taken(id, route.id));
                    row.arms.1 += route.arms.len();
                    let taken = (0..route.arms.len()).filter(|arm| self.has(id, route.id, *arm));
                    row.arms.0 += taken.count();
                }
                row
            })
            .collect()
    }

    fn is_taken(&self, graph: GraphId, route: RouteId) -> bool {
        let mut taken = self.arms.iter();
        taken.any(|(g, r, _)| *g == graph && *r == route)
    }

    fn has(&self, graph: GraphId, route: RouteId, arm: usize) -> bool {
        self.arms.contains(&(graph, route, arm))
    }

    /// All that no scenario has taken. The arms of a route that none has taken at all, and the route of
    /// a node that none has visited, go without saying.
    pub fn missing(&self, flow: &Flow) -> Vec<Missing> {
        let mut missing = Vec::new();
        for id in counted(flow) {
            let Some(graph) = flow.graphs.get(id) else {
                continue;
            };
            let mut say = |what: String, at: Place| {
                missing.push(Missing {
                    graph: graph.name.clone(),
                    what,
                    place: place(flow, at),
                });
            };
            for (node_id, node) in graph.nodes.entries() {
                if !self.nodes.contains(&(id, node_id)) {
                    say(format!("node `{}`", node.name), node.at);
                }
            }
            for route in routes(graph) {
                let node = route.id.node;
                if node.is_none_or(|node| self.nodes.contains(&(id, node))) {
                    self.missing_arms(id, &route, &mut say);
                }
            }
        }
        missing
    }

    fn missing_arms(
        &self,
        graph: GraphId,
        route: &Written<'_>,
        say: &mut impl FnMut(String, Place),
    ) {
        let what = &route.what;
        if !self.is_taken(graph, route.id) {
            say(what.clone(), route.at);
            return;
        }
        for (index, arm) in route.arms.iter().enumerate() {
            if self.has(graph, route.id, index) {
                continue;
            }
            match &arm.when {
                Some(when) => say(format!("{what}: `when {}`", when.text), when.at),
                None => say(format!("{what}: `else`"), route.at),
            }
        }
    }
}

/// Parts taken and all, as a percentage, rounded down; 100 where there are none.
pub fn percent(taken: usize, all: usize) -> u8 {
    match all {
        0 => 100,
        all => u8::try_from(taken * 100 / all).unwrap_or(100),
    }
}

/// The graph of the frame at a path.
fn graph_at(flow: &Flow, root: GraphId, ns: &str) -> Option<GraphId> {
    let mut id = root;
    for name in ns.split('/').filter(|name| !name.is_empty()) {
        let graph = flow.graphs.get(id)?;
        match &graph.nodes.get(graph.node(name)?)?.work {
            Work::Subgraph { graph, .. } => id = *graph,
            _ => return None,
        }
    }
    Some(id)
}

fn place(flow: &Flow, at: Place) -> String {
    let file = flow.files.get(at.file as usize);
    let file = file.map_or("<flow>", String::as_str);
    format!("{file}:{}:{}", at.line, at.column)
}
