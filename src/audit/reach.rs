//! Which graphs a run may come to, which tools it may call, and which questions are answered before.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;

use crate::base::IdVec;
use crate::ir::graph::{Graph, Node, NodeId};
use crate::ir::{Flow, GraphId, ToolId};

use super::graph::BoundedGraph;
use super::permitted::{Before, answered};

/// Graphs and what is known on entering them.
#[derive(Debug)]
pub(super) struct ReachableGraphs {
    /// All graphs in reach, called ones before their callers.
    pub order: Vec<GraphId>,
    /// By graph and node in reach, the interrupts that every way to it has passed, as `Graph.node`.
    pub before: Before,
    /// By tool, the nodes, as `Graph.node`, where a call of it may ask: some way comes there and passes no permit of it.
    pub asks: BTreeMap<ToolId, BTreeSet<String>>,
    /// The control flow of those in reach; of others it is empty.
    pub graphs: IdVec<GraphId, BoundedGraph>,
}

impl ReachableGraphs {
    pub fn of(flow: &Flow, entry: GraphId) -> Self {
        let order = order(flow, entry);
        let graphs = flow.graphs.entries();
        let graphs = graphs.map(|(id, graph)| match order.contains(&id) {
            true => BoundedGraph::of(flow, graph),
            false => BoundedGraph::default(),
        });
        let graphs = graphs.collect();
        let (before, asks) = answered(flow, entry, &graphs);
        Self {
            order,
            graphs,
            before,
            asks,
        }
    }

    /// All nodes in reach, callers' before those of the graphs that they call.
    pub fn nodes<'f>(
        &'f self,
        flow: &'f Flow,
    ) -> impl Iterator<Item = (GraphId, &'f Graph, NodeId, &'f Node)> {
        self.order.iter().rev().flat_map(move |id| {
            let graph = flow.graphs.get(*id);
            graph.into_iter().flat_map(move |graph| {
                let nodes = graph.nodes.entries();
                nodes
                    .filter(move |(node, _)| self.before.contains_key(&(*id, *node)))
                    .map(move |(node, data)| (*id, graph, node, data))
            })
        })
    }
}

/// A question around a node, which has a name of its own.
pub(super) fn stop_name(graph: &Graph, stop: &str) -> String {
    format!("{}.{stop}", graph.name)
}

/// Graphs that can be come to, called ones first.
fn order(flow: &Flow, entry: GraphId) -> Vec<GraphId> {
    let mut calls = DiGraph::<GraphId, ()>::new();
    let mut place = BTreeMap::from([(entry, calls.add_node(entry))]);
    let mut waiting = vec![entry];
    while let Some(id) = waiting.pop() {
        let nodes = flow.graphs.get(id).into_iter().flat_map(|g| g.nodes.iter());
        for called in nodes.filter_map(Node::called) {
            let to = *place.entry(called).or_insert_with(|| {
                waiting.push(called);
                calls.add_node(called)
            });
            if let Some(from) = place.get(&id) {
                calls.add_edge(*from, to, ());
            }
        }
    }
    let cycles = kosaraju_scc(&calls);
    let all = cycles.iter().flatten();
    all.filter_map(|graph| calls.node_weight(*graph).copied())
        .collect()
}
