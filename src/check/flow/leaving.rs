//! By which names tasks of one super-step may leave a graph together.

use std::collections::BTreeSet;

use crate::ir::NodeId;
use crate::resolve::program::{Graph, Jump, Program, Route, TargetKind, Work};

use super::build;
use super::model::{Flow, Spot};
use super::together::Together;
use super::written::Written;

/// Pairs of names by which two tasks of one super-step may leave, in order. None where only one task runs at a
/// time, and where those that run together leave by one name.
pub fn pairs(program: &Program, graph: &Graph) -> BTreeSet<(String, String)> {
    let mut pairs = BTreeSet::new();
    let starts = graph.start.iter().flat_map(Route::jumps).map(of_jump);
    let own: Vec<Vec<BTreeSet<String>>> = graph.nodes.ids().map(|id| of_node(graph, id)).collect();
    // Names of one jump.
    for names in starts.chain(own.iter().flatten().cloned()) {
        cross(&names, &names, &mut pairs);
    }
    let flow = build::of(program, graph, &Written::nothing());
    let together = Together::new(&flow);
    let all = |id: NodeId| -> BTreeSet<String> {
        let nodes = with_branches(&flow, id).into_iter();
        let names = nodes.filter_map(|id| own.get(id.0 as usize));
        names.flatten().flatten().cloned().collect()
    };
    let by_node: Vec<BTreeSet<String>> = flow.stops.ids().map(all).collect();
    let of = |id: NodeId| by_node.get(id.0 as usize);
    if !together.complete() {
        let all: BTreeSet<String> = by_node.iter().flatten().cloned().collect();
        cross(&all, &all, &mut pairs);
        return pairs;
    }
    for (a, b) in together.pairs() {
        if let (Some(a), Some(b)) = (of(a), of(b)) {
            cross(a, b, &mut pairs);
        }
    }
    pairs
}

fn cross(a: &BTreeSet<String>, b: &BTreeSet<String>, pairs: &mut BTreeSet<(String, String)>) {
    for one in a {
        for other in b.iter().filter(|other| *other != one) {
            let (first, second) = (one.min(other), one.max(other));
            pairs.insert((first.clone(), second.clone()));
        }
    }
}

fn of_jump(jump: &Jump) -> BTreeSet<String> {
    let names = jump.to.iter().filter_map(|target| match &target.kind {
        TargetKind::Parent(name) => Some(name.node.clone()),
        _ => None,
    });
    names.collect()
}

/// The names that each way out of a node may leave by. What its `ends` hand on is taken as one way for each.
fn of_node(graph: &Graph, id: NodeId) -> Vec<BTreeSet<String>> {
    let Some(node) = graph.nodes.get(id) else {
        return Vec::new();
    };
    let routes = node.goto.iter().map(|goto| &goto.node);
    let routes = routes.chain(graph.on_error_of(id)).flat_map(Route::jumps);
    let skips = node.skips.iter().filter_map(|skip| skip.to.as_ref());
    let caps = node.max_visits.iter().map(|max| &max.to);
    let timeout = match &node.work {
        Work::Interrupt { timeout, .. } => timeout.as_ref().map(|timeout| &timeout.to),
        _ => None,
    };
    let jumps = routes
        .chain(skips)
        .chain(caps)
        .chain(timeout)
        .chain(&node.edges);
    let ends = node.ends.iter().flat_map(|ends| &ends.items);
    let ends = ends.filter_map(|end| match &end.to.kind {
        TargetKind::Parent(name) => Some(BTreeSet::from([name.node.clone()])),
        _ => None,
    });
    jumps.map(of_jump).chain(ends).collect()
}

/// A node and the branches that it is led on by.
fn with_branches(flow: &Flow, id: NodeId) -> BTreeSet<NodeId> {
    let mut seen = BTreeSet::from([id]);
    let mut open = vec![id];
    while let Some(at) = open.pop() {
        for goal in flow.ways(Spot::Node(at)).iter().flat_map(|way| &way.goals) {
            if let Spot::Node(to) = goal.to
                && flow.stops.get(to).is_some_and(|stop| stop.branch)
                && seen.insert(to)
            {
                open.push(to);
            }
        }
    }
    seen
}
