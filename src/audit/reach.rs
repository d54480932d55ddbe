//! Which graphs a run may come to, which tools it may call, and which questions are answered before.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::algo::dominators::simple_fast;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::ir::graph::{Graph, Node, NodeId};
use crate::ir::node::Work;
use crate::ir::{Flow, GraphId};

use super::map::Map;

/// Graphs and what is known on entering them.
#[derive(Debug)]
pub(super) struct Reach {
    /// All graphs in reach, called ones before their callers.
    pub order: Vec<GraphId>,
    /// By graph and node in reach, the interrupts that every way to it has passed, as `Graph.node`.
    pub before: BTreeMap<(GraphId, NodeId), BTreeSet<String>>,
    /// Nodes that lead back to themselves.
    pub returns: BTreeSet<(GraphId, NodeId)>,
    /// Conditions on counters that bound how often a node comes, as they are written.
    pub counters: BTreeMap<(GraphId, NodeId), String>,
}

impl Reach {
    pub fn of(flow: &Flow, entry: GraphId) -> Self {
        let order = order(flow, entry);
        let mut reach = Self {
            order,
            before: BTreeMap::new(),
            returns: BTreeSet::new(),
            counters: BTreeMap::new(),
        };
        // What is answered before a graph is entered; `None` where no call of it was seen yet.
        let mut entering: BTreeMap<GraphId, BTreeSet<String>> = BTreeMap::new();
        entering.insert(entry, BTreeSet::new());
        for id in reach.order.clone().into_iter().rev() {
            let Some(graph) = flow.graphs.get(id) else {
                continue;
            };
            let here = entering.get(&id).cloned().unwrap_or_default();
            let map = Map::counted(flow, graph);
            let counted = map.spots.iter();
            let counted =
                counted.filter_map(|spot| Some(((id, spot.node?), spot.counter.clone()?)));
            reach.counters.extend(counted);
            for circle in kosaraju_scc(&map.edges()) {
                let members = circle.iter().filter(|_| circle.len() > 1);
                let nodes = members.filter_map(|spot| map.spots.get(spot.index())?.node);
                reach.returns.extend(nodes.map(|node| (id, node)));
            }
            for (node, mut asked) in passed(&map, graph) {
                asked.extend(here.iter().cloned());
                // What is asked ahead of all that a node does is asked ahead of its tools.
                let stops = graph.nodes.get(node).map(|node| &node.stops);
                let ahead = stops.into_iter().flatten().filter(|stop| !stop.after);
                asked.extend(ahead.map(|stop| stop_name(graph, &stop.name)));
                let work = graph.nodes.get(node).map(|node| &node.work);
                if let Some(Work::Subgraph { graph: called, .. }) = work {
                    let both = match entering.get(called) {
                        Some(known) => known.intersection(&asked).cloned().collect(),
                        None => asked.clone(),
                    };
                    entering.insert(*called, both);
                }
                reach.before.insert((id, node), asked);
            }
        }
        reach
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
        for node in nodes {
            let Work::Subgraph { graph: called, .. } = &node.work else {
                continue;
            };
            let to = *place.entry(*called).or_insert_with(|| {
                waiting.push(*called);
                calls.add_node(*called)
            });
            if let Some(from) = place.get(&id) {
                calls.add_edge(*from, to, ());
            }
        }
    }
    let circles = kosaraju_scc(&calls);
    let all = circles.iter().flatten();
    all.filter_map(|graph| calls.node_weight(*graph).copied())
        .collect()
}

/// By node that the start leads to, the questions that every way to it has passed.
///
/// A place that asks is two: it is come to, and it goes on when somebody has answered. What it skips, what it does when
/// nobody answers in time and when it fails leads on from the first.
fn passed(map: &Map, graph: &Graph) -> Vec<(NodeId, BTreeSet<String>)> {
    let edges = asking(map, graph);
    let dominators = simple_fast(&edges, NodeIndex::new(0));
    let questions = |place: NodeIndex| -> Vec<String> {
        let asked = edges.node_weight(place);
        let node = asked.and_then(|asked| map.spots.get(asked.spot)?.node);
        let Some((asked, node)) = asked.zip(node.and_then(|id| graph.nodes.get(id))) else {
            return Vec::new();
        };
        let stops = node
            .stops
            .iter()
            .filter(|stop| stop.after == asked.answered);
        let mut names: Vec<String> = stops.map(|stop| stop_name(graph, &stop.name)).collect();
        if asked.answered && matches!(node.work, Work::Interrupt { .. }) {
            names.push(stop_name(graph, &node.name));
        }
        names
    };
    let mut known: BTreeMap<NodeIndex, BTreeSet<String>> = BTreeMap::new();
    let mut all = Vec::new();
    for (index, spot) in map.spots.iter().enumerate() {
        let Some(node) = spot.node else { continue };
        let place = NodeIndex::new(index);
        if dominators.immediate_dominator(place).is_none() {
            continue;
        }
        // Up to the next place whose answer is known, and down again.
        let mut chain = Vec::new();
        let mut at = Some(place);
        while let Some(here) = at.filter(|here| !known.contains_key(here)) {
            chain.push(here);
            at = dominators.immediate_dominator(here);
        }
        for here in chain.into_iter().rev() {
            let above = dominators.immediate_dominator(here);
            let mut asked = above
                .and_then(|above| known.get(&above).cloned())
                .unwrap_or_default();
            asked.extend(above.into_iter().flat_map(&questions));
            known.insert(here, asked);
        }
        all.push((node, known.get(&place).cloned().unwrap_or_default()));
    }
    all
}

/// A place, or the same once somebody has answered there.
struct Asked {
    spot: usize,
    answered: bool,
}

/// The places of a graph, those that ask in two parts, with the ways between them.
fn asking(map: &Map, graph: &Graph) -> DiGraph<Asked, ()> {
    let mut edges = DiGraph::new();
    for spot in 0..map.spots.len() {
        edges.add_node(Asked {
            spot,
            answered: false,
        });
    }
    for (spot, data) in map.spots.iter().enumerate() {
        let node = data.node.and_then(|id| graph.nodes.get(id));
        let asks = node.is_some_and(|node| {
            let behind = node.stops.iter().any(|stop| stop.after);
            // A `skip` without a target leads on without a question.
            let leads_on = node.skips.iter().any(|skip| skip.to.is_none());
            !leads_on && (behind || matches!(node.work, Work::Interrupt { .. }))
        });
        let before = NodeIndex::new(spot);
        let mut after = before;
        if asks {
            after = edges.add_node(Asked {
                spot,
                answered: true,
            });
            edges.add_edge(before, after, ());
        }
        for way in data.arms.iter().flatten() {
            let from = if way.unasked { before } else { after };
            edges.add_edge(from, NodeIndex::new(way.to), ());
        }
    }
    edges
}
