//! Which nodes, routes and arms of a flow the scenarios have taken.
//!
//! A route is a node's way on, its `on_error`, or a graph's entry; it is covered once it was taken. Of
//! a route with several arms each arm counts as well.

use std::collections::BTreeSet;

use crate::ir::graph::Graph;
use crate::ir::node::Work;
use crate::ir::{Flow, GraphId, NodeId, Place, Route};

use super::order;
use super::sighting::Sighting;

/// A route of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Way {
    /// The entry.
    Start,
    /// A node's way on.
    Next(NodeId),
    /// A node's way for errors.
    OnError(NodeId),
}

/// What was taken.
#[derive(Debug, Clone, Default)]
pub struct Coverage {
    nodes: BTreeSet<(GraphId, NodeId)>,
    arms: BTreeSet<(GraphId, Way, usize)>,
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
                    on_error,
                    arm,
                } => self.note_route(flow, root, ns, node.as_deref(), *on_error, *arm),
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
        on_error: bool,
        arm: usize,
    ) {
        let Some(id) = graph_at(flow, root, ns) else {
            return;
        };
        let way = match node {
            None => Way::Start,
            Some(name) => {
                let found = flow.graphs.get(id).and_then(|graph| graph.node(name));
                let Some(node) = found else { return };
                // A branch costs no super-step: its route is all that is seen of it.
                self.nodes.insert((id, node));
                match on_error {
                    true => Way::OnError(node),
                    false => Way::Next(node),
                }
            }
        };
        self.arms.insert((id, way, arm));
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
                for (way, route, _) in routes(flow, id) {
                    row.routes.1 += 1;
                    row.routes.0 += usize::from(self.is_taken(id, way));
                    if let Route::Arms(arms) = route {
                        row.arms.1 += arms.len();
                        let taken = (0..arms.len()).filter(|arm| self.has(id, way, *arm));
                        row.arms.0 += taken.count();
                    }
                }
                row
            })
            .collect()
    }

    fn is_taken(&self, graph: GraphId, way: Way) -> bool {
        self.arms.iter().any(|(g, w, _)| *g == graph && *w == way)
    }

    fn has(&self, graph: GraphId, way: Way, arm: usize) -> bool {
        self.arms.contains(&(graph, way, arm))
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
            for (way, route, at) in routes(flow, id) {
                let (Way::Next(node) | Way::OnError(node)) = way else {
                    self.missing_arms(id, way, "the entry", route, at, &mut say);
                    continue;
                };
                if !self.nodes.contains(&(id, node)) {
                    continue;
                }
                let name = graph.nodes.get(node).map_or("", |node| node.name.as_str());
                let what = match way {
                    Way::OnError(_) => format!("`on_error` of `{name}`"),
                    _ => format!("the way on from `{name}`"),
                };
                self.missing_arms(id, way, &what, route, at, &mut say);
            }
        }
        missing
    }

    fn missing_arms(
        &self,
        graph: GraphId,
        way: Way,
        what: &str,
        route: &Route,
        at: Place,
        say: &mut impl FnMut(String, Place),
    ) {
        if !self.is_taken(graph, way) {
            say(what.to_owned(), at);
            return;
        }
        let Route::Arms(arms) = route else { return };
        for (index, arm) in arms.iter().enumerate() {
            if self.has(graph, way, index) {
                continue;
            }
            match &arm.when {
                Some(when) => say(format!("{what}: `when {}`", when.text), when.at),
                None => say(format!("{what}: `else`"), at),
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

/// The graphs that count: those of the flow's own file, instances that it names, and all that these call. A library may have
/// others, which its own scenarios are about; so has the standard library, none of which counts in the flows that use it.
fn counted(flow: &Flow) -> BTreeSet<GraphId> {
    let graphs = flow.graphs.entries();
    let own = graphs.filter(|(_, graph)| graph.at.file == 0 || is_named_instance(graph));
    let mut waiting: Vec<GraphId> = own.map(|(id, _)| id).collect();
    let mut counted = BTreeSet::new();
    while let Some(id) = waiting.pop() {
        if !counted.insert(id) {
            continue;
        }
        let nodes = flow.graphs.get(id).into_iter().flat_map(|g| &g.nodes);
        waiting.extend(nodes.filter_map(|node| match node.work {
            Work::Subgraph { graph, .. } => Some(graph),
            _ => None,
        }));
    }
    counted.retain(|id| !is_standard(flow, *id));
    counted
}

fn is_standard(flow: &Flow, id: GraphId) -> bool {
    let graph = flow.graphs.get(id);
    let file = graph.and_then(|graph| flow.files.get(graph.at.file as usize));
    file.is_some_and(|file| file.starts_with("std/"))
}

/// Whether it is declared as `graph NAME = G(..)`. An instance that a call makes has its graph's name, and its values in brackets.
fn is_named_instance(graph: &Graph) -> bool {
    let instance = graph.instance.as_ref();
    instance.is_some_and(|instance| graph.name != instance.of && !graph.name.contains('('))
}

/// The routes of a graph with their places.
fn routes(flow: &Flow, id: GraphId) -> Vec<(Way, &Route, Place)> {
    let Some(graph) = flow.graphs.get(id) else {
        return Vec::new();
    };
    let mut routes = vec![(Way::Start, &graph.start, graph.at)];
    for (id, node) in graph.nodes.entries() {
        let next = node
            .next
            .iter()
            .map(|route| (Way::Next(id), route, node.at));
        routes.extend(next);
        let on_error = node.on_error.iter();
        routes.extend(on_error.map(|route| (Way::OnError(id), route, node.at)));
    }
    routes
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
