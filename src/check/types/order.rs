//! The order in which a run comes to nodes, and what may be written beside each.

use std::collections::HashMap;

use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::DfsPostOrder;

use crate::base::SharedSet;
use crate::ir::{FieldId, NodeId};

use super::super::flow::{Flow, Spot, Together, writes_of};

/// For each node the fields that other tasks may write in its super-step.
pub fn beside(flow: &Flow, together: &Together) -> Vec<SharedSet<FieldId>> {
    let writes = |id: NodeId| writes_of(flow, id).into_iter().map(|write| write.field);
    if !together.complete() {
        let all: SharedSet<FieldId> = flow.stops.ids().flat_map(writes).collect();
        return vec![all; flow.stops.len()];
    }
    let mut beside = vec![SharedSet::new(); flow.stops.len()];
    let mut known: HashMap<NodeId, SharedSet<FieldId>> = HashMap::new();
    for (a, b) in together.pairs() {
        for (one, other) in [(a, b), (b, a)] {
            let written = known
                .entry(other)
                .or_insert_with(|| writes(other).collect());
            if let Some(slot) = beside.get_mut(one.0 as usize) {
                slot.join(written);
            }
        }
    }
    beside
}

/// The place of each spot in a reverse postorder from `start`: mostly behind all that lead to it.
pub fn order(flow: &Flow) -> Vec<usize> {
    let mut graph: DiGraph<(), ()> = DiGraph::new();
    let root = graph.add_node(());
    let spots: Vec<NodeIndex> = flow.spots().map(|_| graph.add_node(())).collect();
    let find = |spot: Spot| flow.number(spot).and_then(|n| spots.get(n).copied());
    let begins = flow.start.iter().map(|way| (root, way));
    let others = flow
        .spots()
        .zip(&spots)
        .flat_map(|(spot, index)| flow.ways(spot).iter().map(move |way| (*index, way)));
    let arrows: Vec<(NodeIndex, NodeIndex)> = begins
        .chain(others)
        .flat_map(|(from, way)| {
            way.goals
                .iter()
                .filter_map(move |goal| Some((from, find(goal.to)?)))
        })
        .collect();
    for (from, to) in arrows {
        graph.add_edge(from, to, ());
    }
    let mut order = vec![usize::MAX; spots.len()];
    let mut visit = DfsPostOrder::new(&graph, root);
    let mut place = graph.node_count();
    while let Some(index) = visit.next(&graph) {
        place -= 1;
        if let Some(slot) = index.index().checked_sub(1).and_then(|n| order.get_mut(n)) {
            *slot = place;
        }
    }
    order
}
