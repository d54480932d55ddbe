//! The routes of a flow that scenarios can take, and the graphs that count.

use std::collections::BTreeSet;

use crate::ir::graph::{Graph, Node};
use crate::ir::node::Work;
use crate::ir::{Arm, Flow, GraphId, NodeId, Place, Route};
use crate::run::event::RouteKind;

/// A route of a graph, by what tells of it in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RouteId {
    /// Its node; `None` for the graph's entry.
    pub node: Option<NodeId>,
    /// Which of the node's.
    pub kind: RouteKind,
    /// Which of the node's `skip`s; 0 of other kinds.
    pub skip: usize,
}

impl RouteId {
    /// What tells of a route, and the position of the arm, by what an event has.
    pub fn of(node: Option<NodeId>, kind: RouteKind, arm: usize) -> (Self, usize) {
        let (skip, arm) = match kind {
            RouteKind::Skip => (arm, 0),
            _ => (0, arm),
        };
        (Self { node, kind, skip }, arm)
    }
}

/// A route as it is written.
#[derive(Debug, Clone)]
pub struct Written<'f> {
    /// Which one.
    pub id: RouteId,
    /// In words.
    pub what: String,
    /// Its arms; none of a route without conditions.
    pub arms: &'f [Arm],
    /// Where it is, or its node.
    pub at: Place,
}

/// The routes of a graph.
pub fn routes(graph: &Graph) -> Vec<Written<'_>> {
    let entry = written(
        (None, RouteKind::Next),
        "the entry".to_owned(),
        arms(&graph.start),
        graph.at,
    );
    let nodes = graph.nodes.entries();
    let of_nodes = nodes.flat_map(|(id, node)| of_node(id, node));
    [entry].into_iter().chain(of_nodes).collect()
}

fn of_node(id: NodeId, node: &Node) -> Vec<Written<'_>> {
    let (name, at) = (&node.name, node.at);
    let mut all = Vec::new();
    let mut add = |kind, what, arms, at| all.push(written((Some(id), kind), what, arms, at));
    if let Some(next) = &node.next {
        add(
            RouteKind::Next,
            format!("the way on from `{name}`"),
            arms(next),
            at,
        );
    }
    if let Some(handler) = &node.on_error {
        add(
            RouteKind::OnError,
            format!("`on_error` of `{name}`"),
            arms(handler),
            at,
        );
    }
    if node.max_visits.is_some() {
        add(
            RouteKind::MaxVisits,
            format!("`max_visits` of `{name}`"),
            &[],
            at,
        );
    }
    if let Work::Interrupt {
        timeout: Some(_), ..
    } = &node.work
    {
        add(
            RouteKind::Timeout,
            format!("`timeout` of `{name}`"),
            &[],
            at,
        );
    }
    for (index, skip) in node.skips.iter().enumerate() {
        if skip.to.is_some() {
            let what = format!("`skip when {}` of `{name}`", skip.when.text);
            let skipped = written((Some(id), RouteKind::Skip), what, &[], skip.when.at);
            let id = RouteId {
                skip: index,
                ..skipped.id
            };
            all.push(Written { id, ..skipped });
        }
    }
    all
}

fn written(
    (node, kind): (Option<NodeId>, RouteKind),
    what: String,
    arms: &[Arm],
    at: Place,
) -> Written<'_> {
    let (id, _) = RouteId::of(node, kind, 0);
    Written { id, what, arms, at }
}

fn arms(route: &Route) -> &[Arm] {
    match route {
        Route::Always(_) => &[],
        Route::Arms(arms) => arms,
    }
}

/// The graphs that count: those of the flow's own file, instances that it names, and all that these call. A library may have
/// others, which its own scenarios are about; so has the standard library, none of which counts in the flows that use it.
pub fn counted(flow: &Flow) -> BTreeSet<GraphId> {
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
