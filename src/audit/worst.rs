//! What a run of a graph costs at most.

use std::collections::BTreeMap;

use crate::ir::{Flow, Graph, GraphId};

use super::bound::Bound;
use super::count::Counts;
use super::map::Map;
use super::reach::Reach;
use super::walk::{endless, longest, sum};
use super::weight::{Cost, weigh};

/// The worst of a graph and of all that it calls.
pub(super) fn worst(flow: &Flow, graph: GraphId, reach: &Reach) -> Cost {
    let mut known: BTreeMap<GraphId, Cost> = BTreeMap::new();
    // Called graphs stand before their callers.
    for id in &reach.order {
        if let Some(graph) = flow.graphs.get(*id) {
            let worst = of_graph(flow, graph, &known);
            known.insert(*id, worst);
        }
    }
    known.remove(&graph).unwrap_or(Cost::NONE)
}

fn of_graph(flow: &Flow, graph: &Graph, known: &BTreeMap<GraphId, Cost>) -> Cost {
    let map = Map::counted(flow, graph);
    let visits = map.blocks.iter().map(|block| {
        let node = block.node.and_then(|node| graph.nodes.get(node));
        node.map_or(Cost::NONE, |node| weigh(flow, graph, node, known))
    });
    let visits: Vec<Cost> = visits.collect();
    let round = |places: &_| endless(&map, &graph.name, places);
    let counts = Counts::of(&map, &graph.name, &round);
    let all = |pick: fn(&Cost) -> &Bound| {
        let visits: Vec<Bound> = visits.iter().map(|visit| pick(visit).clone()).collect();
        sum(&map, &graph.name, &counts, visits)
    };
    Cost {
        steps: longest(&map, &graph.name, &counts).plus(all(|visit| &visit.steps)),
        calls: all(|visit| &visit.calls),
        tokens: all(|visit| &visit.tokens),
    }
}
