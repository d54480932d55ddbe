//! Which nodes may call tools that some question permits for one call: they use such a permission in the order of the tasks.

use std::collections::BTreeSet;

use crate::base::IdVec;
use crate::ir::node::{Permit, Work};
use crate::ir::{Flow, GraphId, Node, ToolId};

use super::GraphPlan;

/// Notes with each node the tools with a `permit once` that it may call, itself or in a graph that it calls.
pub(super) fn mark(flow: &Flow, graphs: &mut IdVec<GraphId, GraphPlan>) {
    let nodes = flow.graphs.iter().flat_map(|graph| &graph.nodes);
    let permits = nodes.flat_map(permits).filter(|permit| permit.once);
    let once: BTreeSet<ToolId> = permits.map(|permit| permit.tool).collect();
    if once.is_empty() {
        return;
    }
    let by_graph = by_graph(flow, &once);
    for (id, graph) in flow.graphs.entries() {
        for (node, declared) in graph.nodes.entries() {
            let calls = called(declared, &by_graph).into_iter();
            let calls = calls.filter(|tool| once.contains(tool));
            graphs[id].nodes[node].once = calls.collect();
        }
    }
}

fn permits(node: &Node) -> impl Iterator<Item = &Permit> {
    let own = match &node.work {
        Work::Interrupt { permits, .. } => permits.as_slice(),
        _ => &[],
    };
    let around = node.stops.iter().flat_map(|stop| &stop.permits);
    own.iter().chain(around)
}

/// The tools among `once` that each graph may call, those that it calls included: repeated until nothing is added.
fn by_graph(flow: &Flow, once: &BTreeSet<ToolId>) -> IdVec<GraphId, BTreeSet<ToolId>> {
    let mut found: IdVec<GraphId, BTreeSet<ToolId>> =
        flow.graphs.iter().map(|_| BTreeSet::new()).collect();
    loop {
        let mut grown = false;
        for (id, graph) in flow.graphs.entries() {
            let calls = graph.nodes.iter().flat_map(|node| called(node, &found));
            let calls: BTreeSet<ToolId> = calls.filter(|tool| once.contains(tool)).collect();
            grown |= calls.len() > found[id].len();
            found[id] = calls;
        }
        if !grown {
            return found;
        }
    }
}

fn called(node: &Node, by_graph: &IdVec<GraphId, BTreeSet<ToolId>>) -> BTreeSet<ToolId> {
    match &node.work {
        Work::Call { tool, .. } => BTreeSet::from([*tool]),
        Work::Agent { call, .. } => call.tools.iter().copied().collect(),
        Work::Tools { tools, .. } => tools.iter().copied().collect(),
        Work::Subgraph { graph, .. } => by_graph[*graph].clone(),
        _ => BTreeSet::new(),
    }
}
