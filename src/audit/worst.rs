//! What a run of a graph costs at most.

use std::collections::BTreeMap;

use crate::ir::{Flow, Graph, GraphId};

use super::bound::Bound;
use super::count::Counts;
use super::map::Map;
use super::reach::Reach;
use super::walk::{endless, longest, sum};
use super::weight::{Weights, weigh};

/// The worst of one graph.
#[derive(Debug, Clone)]
pub(super) struct Worst {
    /// Super-steps, and those of all called graphs.
    pub steps: Bound,
    /// Calls of models, those that are tried again included.
    pub calls: Bound,
    /// Tokens that models write.
    pub tokens: Bound,
}

/// The worst of a graph and of all that it calls.
pub(super) fn worst(flow: &Flow, graph: GraphId, reach: &Reach) -> Worst {
    let mut known: BTreeMap<GraphId, Worst> = BTreeMap::new();
    // Called graphs stand before their callers.
    for id in &reach.order {
        if let Some(graph) = flow.graphs.get(*id) {
            let worst = of_graph(flow, graph, &known, reach);
            known.insert(*id, worst);
        }
    }
    known.remove(&graph).unwrap_or(Worst {
        steps: Bound::NONE,
        calls: Bound::NONE,
        tokens: Bound::NONE,
    })
}

fn of_graph(flow: &Flow, graph: &Graph, known: &BTreeMap<GraphId, Worst>, reach: &Reach) -> Worst {
    let map = Map::of(flow, graph);
    let mut weights = vec![Weights::none(); map.spots.len()];
    for (slot, spot) in weights.iter_mut().zip(&map.spots) {
        if let Some(node) = spot.node.and_then(|node| graph.nodes.get(node)) {
            *slot = weigh(flow, graph, node, known, reach);
        }
    }
    let round = |places: &_| endless(&map, &graph.name, places);
    let counts = Counts::of(&map, &graph.name, &round);
    let all = |pick: fn(&Weights) -> &Bound| {
        let weights: Vec<Bound> = weights.iter().map(|w| pick(w).clone()).collect();
        sum(&map, &graph.name, &counts, weights)
    };
    Worst {
        steps: longest(&map, &graph.name, &counts).plus(all(|w| &w.within)),
        calls: all(|w| &w.calls),
        tokens: all(|w| &w.tokens),
    }
}
