//! Strongly connected groups of a flow.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::model::{BlockId, ControlFlowGraph, Transition};

/// What is asked of a circle: whether something holds of its blocks.
pub type OfCircle<'f> = &'f dyn Fn(&[BlockId]) -> bool;

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

/// The strongly connected groups among some blocks, by the ways that `take` lets through, each in
/// the order declared. (`kosaraju_scc`, since `tarjan_scc` recurses and a long chain would overflow the stack.)
pub fn components(
    cfg: &ControlFlowGraph,
    among: impl Fn(BlockId) -> bool,
    take: impl Fn(BlockId, &Transition) -> bool,
    ends: Ends,
) -> Vec<Vec<BlockId>> {
    let graph = part(cfg, among, take);
    let found = kosaraju_scc(&graph);
    let wanted = wanted(&graph, &found, ends);
    let mut components: Vec<Vec<BlockId>> = found
        .into_iter()
        .zip(wanted)
        .filter(|(_, wanted)| *wanted)
        .map(|(members, _)| {
            let blocks = members
                .iter()
                .filter_map(|m| graph.node_weight(*m).copied());
            let mut blocks: Vec<BlockId> = blocks.collect();
            blocks.sort();
            blocks
        })
        .collect();
    components.sort();
    components
}

fn part(
    cfg: &ControlFlowGraph,
    among: impl Fn(BlockId) -> bool,
    take: impl Fn(BlockId, &Transition) -> bool,
) -> DiGraph<BlockId, ()> {
    let mut graph = DiGraph::new();
    let index: Vec<Option<NodeIndex>> = cfg
        .blocks()
        .map(|block| among(block).then(|| graph.add_node(block)))
        .collect();
    let find = |block: BlockId| {
        let number = cfg.number(block)?;
        index.get(number).copied().flatten()
    };
    for block in cfg.blocks() {
        let Some(from) = find(block) else { continue };
        let transitions = cfg
            .transitions(block)
            .iter()
            .filter(|transition| take(block, transition));
        for successor in transitions.flat_map(|transition| &transition.successors) {
            if let Some(to) = find(successor.to) {
                graph.add_edge(from, to, ());
            }
        }
    }
    graph
}

fn wanted(graph: &DiGraph<BlockId, ()>, components: &[Vec<NodeIndex>], ends: Ends) -> Vec<bool> {
    let mut wanted = vec![true; components.len()];
    let mut group_of = vec![0; graph.node_count()];
    for (group, members) in components.iter().enumerate() {
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
