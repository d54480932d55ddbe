//! What a run of a graph costs at most.

use std::collections::BTreeMap;

use crate::check::cfg::BlockId;
use crate::ir::{Flow, Graph, GraphId};

use super::bound::Bound;
use super::count::Counts;
use super::graph::BoundedGraph;
use super::reach::ReachableGraphs;
use super::walk::{longest, sum};
use super::weight::{Cost, weigh};

/// The worst of a graph and of all that it calls.
pub(super) fn worst(flow: &Flow, graph: GraphId, reach: &ReachableGraphs) -> Cost {
    let mut known: BTreeMap<GraphId, Cost> = BTreeMap::new();
    // Called graphs stand before their callers.
    for id in &reach.order {
        if let (Some(graph), Some(bounded)) = (flow.graphs.get(*id), reach.graphs.get(*id)) {
            let worst = of_graph(flow, graph, bounded, &known);
            known.insert(*id, worst);
        }
    }
    known.remove(&graph).unwrap_or(Cost::NONE)
}

fn of_graph(
    flow: &Flow,
    graph: &Graph,
    bounded: &BoundedGraph,
    known: &BTreeMap<GraphId, Cost>,
) -> Cost {
    let visits = graph.nodes.entries();
    let visits = visits.map(|(id, node)| (BlockId::Node(id), weigh(flow, graph, node, known)));
    let visits: Vec<(BlockId, Cost)> = visits.collect();
    let counts = Counts::of(bounded);
    let all = |pick: fn(&Cost) -> &Bound| {
        let visits = visits.iter();
        let visits = visits.map(|(block, visit)| (*block, pick(visit).clone()));
        sum(bounded, &counts, visits.collect())
    };
    Cost {
        steps: longest(bounded, &counts).plus(all(|visit| &visit.steps)),
        calls: all(|visit| &visit.calls),
        tokens: all(|visit| &visit.tokens),
    }
}
