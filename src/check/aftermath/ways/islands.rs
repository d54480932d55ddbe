//! Nodes that nothing leads to, where an arm is missing that may have led to them.

use std::collections::BTreeMap;

use crate::base::Span;
use crate::diag::{Code, Diagnostics, Level, codes};
use crate::ir::{GraphId, NodeId};
use crate::resolve::program::Program;

use super::is;
use super::places::Places;

/// The names of the nodes that nothing leads to, by graph.
pub(super) fn unreached(places: &Places, diags: &Diagnostics) -> BTreeMap<GraphId, Vec<Span>> {
    let mut unreached: BTreeMap<GraphId, Vec<Span>> = BTreeMap::new();
    let islands = diags
        .iter()
        .filter(|found| is(found.code, &codes::UNREACHABLE_NODE));
    for found in islands {
        if let Some(graph) = places.graph(found.span()) {
            unreached.entry(graph).or_default().push(found.span());
        }
    }
    unreached
}

/// Whether arms that are missing in a graph explain all of its islands: each one of them, or one several that meet in a
/// join, as the targets of one arm do.
pub(super) fn explained(
    program: &Program,
    graph: GraphId,
    unreached: &BTreeMap<GraphId, Vec<Span>>,
    seen: &[(&'static Code, Level)],
) -> bool {
    let missing = seen
        .iter()
        .filter(|(code, _)| is(code, &codes::ROUTE_NOT_EXHAUSTIVE));
    let missing = missing.count();
    let islands = unreached.get(&graph).map_or(&[][..], Vec::as_slice);
    missing > 0 && (islands.len() <= missing || meet(program, graph, islands))
}

/// Whether all of the nodes are members of one join.
fn meet(program: &Program, graph: GraphId, islands: &[Span]) -> bool {
    let Some(graph) = program.graphs.get(graph) else {
        return false;
    };
    let nodes = graph.nodes.entries();
    let nodes = nodes.filter(|(_, node)| islands.contains(&node.name.span));
    let nodes: Vec<NodeId> = nodes.map(|(id, _)| id).collect();
    let mut joins = graph.joins.iter();
    joins.any(|join| {
        let member = |id: &NodeId| join.members.iter().any(|member| member.node == *id);
        nodes.len() == islands.len() && nodes.iter().all(member)
    })
}
