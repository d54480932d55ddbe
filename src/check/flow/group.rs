//! Strongly connected groups of a flow.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::model::{Flow, Spot, Way};

/// What is asked of a circle: whether something holds of its spots.
pub type OfCircle<'f> = &'f dyn Fn(&[Spot]) -> bool;

/// Which groups are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// Those that no other group leads to.
    Heads,
    /// Those that lead to no other group.
    Sinks,
    /// All of them.
    Any,
}

/// The strongly connected groups among some spots, by the ways that `take` lets through, each in
/// the order declared. (`kosaraju_scc`, since `tarjan_scc` recurses and a long chain would overflow the stack.)
pub fn groups(
    flow: &Flow,
    among: impl Fn(Spot) -> bool,
    take: impl Fn(Spot, &Way) -> bool,
    ends: Ends,
) -> Vec<Vec<Spot>> {
    let graph = part(flow, among, take);
    let found = kosaraju_scc(&graph);
    let wanted = wanted(&graph, &found, ends);
    let mut groups: Vec<Vec<Spot>> = found
        .into_iter()
        .zip(wanted)
        .filter(|(_, wanted)| *wanted)
        .map(|(members, _)| {
            let spots = members
                .iter()
                .filter_map(|m| graph.node_weight(*m).copied());
            let mut spots: Vec<Spot> = spots.collect();
            spots.sort();
            spots
        })
        .collect();
    groups.sort();
    groups
}

fn part(
    flow: &Flow,
    among: impl Fn(Spot) -> bool,
    take: impl Fn(Spot, &Way) -> bool,
) -> DiGraph<Spot, ()> {
    let mut graph = DiGraph::new();
    let index: Vec<Option<NodeIndex>> = flow
        .spots()
        .map(|spot| among(spot).then(|| graph.add_node(spot)))
        .collect();
    let find = |spot: Spot| {
        let number = flow.number(spot)?;
        index.get(number).copied().flatten()
    };
    for spot in flow.spots() {
        let Some(from) = find(spot) else { continue };
        let ways = flow.ways(spot).iter().filter(|way| take(spot, way));
        for goal in ways.flat_map(|way| &way.goals) {
            if let Some(to) = find(goal.to) {
                graph.add_edge(from, to, ());
            }
        }
    }
    graph
}

fn wanted(graph: &DiGraph<Spot, ()>, groups: &[Vec<NodeIndex>], ends: Ends) -> Vec<bool> {
    let mut wanted = vec![true; groups.len()];
    let mut group_of = vec![0; graph.node_count()];
    for (group, members) in groups.iter().enumerate() {
        for member in members {
            if let Some(slot) = group_of.get_mut(member.index()) {
                *slot = group;
            }
        }
    }
    let of = |node: NodeIndex| group_of.get(node.index()).copied().unwrap_or(0);
    for edge in graph.edge_indices() {
        let Some((from, to)) = graph.edge_endpoints(edge) else {
            continue;
        };
        let (from, to) = (of(from), of(to));
        let other = match ends {
            Ends::Heads => to,
            Ends::Sinks => from,
            Ends::Any => continue,
        };
        if let Some(slot) = wanted.get_mut(other).filter(|_| from != to) {
            *slot = false;
        }
    }
    wanted
}
