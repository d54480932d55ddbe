//! By which names tasks of one super-step may leave a graph together.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::IdVec;
use crate::base::bit_set::ChunkedBitSet;
use crate::ir::{GraphId, NodeId};
use crate::resolve::program::{Graph, Jump, Node, Program, Route, TargetKind};

use super::super::calls::settle;
use super::build;
use super::mhp::MayHappenInParallel;
use super::model::{BlockId, ControlFlowGraph};
use super::written::Written;

/// For each graph the pairs of names by which two tasks of one super-step may leave it, in order.
pub type Leaving = IdVec<GraphId, BTreeSet<(String, String)>>;

/// Finds them. A graph may leave as the graphs do that it calls, itself among them: all begin with no pair, and
/// those that call a graph are looked at again when it has gained one.
pub fn all(program: &Program) -> Leaving {
    let mut known = Written::nothing();
    known.leaving = program.graphs.ids().map(|_| BTreeSet::new()).collect();
    settle(program, |id| {
        let graph = program.graphs.get(id);
        let Some(graph) = graph.filter(|graph| graph.leaves.len() > 1) else {
            return false;
        };
        let found = pairs(program, graph, &known);
        let Some(pairs) = known.leaving.get_mut(id) else {
            return false;
        };
        let before = pairs.len();
        pairs.extend(found);
        pairs.len() > before
    });
    known.leaving
}

/// Pairs of names by which two tasks of one super-step may leave, in order. None where only one task runs at a
/// time, and where those that run together leave by one name.
fn pairs(program: &Program, graph: &Graph, known: &Written) -> BTreeSet<(String, String)> {
    let mut pairs = BTreeSet::new();
    for node in &graph.nodes {
        handed_on(node, known, &mut pairs);
    }
    let starts = graph.start.iter().flat_map(Route::jumps).map(of_jump);
    let own: Vec<Vec<BTreeSet<String>>> = graph.nodes.ids().map(|id| of_node(graph, id)).collect();
    // Names of one jump.
    for names in starts.chain(own.iter().flatten().cloned()) {
        cross(&names, &names, &mut pairs);
    }
    let cfg = build::of(program, graph, known);
    let mhp = MayHappenInParallel::new(&cfg);
    let all = |id: NodeId| -> BTreeSet<String> {
        let nodes = with_branches(&cfg, id).into_iter();
        let names = nodes.filter_map(|id| own.get(id.0 as usize));
        names.flatten().flatten().cloned().collect()
    };
    let by_node: Vec<BTreeSet<String>> = cfg.nodes.ids().map(all).collect();
    let mut leaving: BTreeMap<&String, ChunkedBitSet> = BTreeMap::new();
    for (id, names) in cfg.nodes.ids().zip(&by_node) {
        for name in names {
            leaving.entry(name).or_default().insert(id.0);
        }
    }
    for (one, nodes) in &leaving {
        let mut beside = ChunkedBitSet::default();
        let partners = nodes.iter().map(|id| mhp.partners(NodeId(id)));
        partners.for_each(|partners| beside |= &*partners);
        let later = leaving.iter().filter(|(other, _)| *other > one);
        for (other, _) in later.filter(|(_, nodes)| !nodes.is_disjoint(&beside)) {
            pairs.insert(((*one).clone(), (*other).clone()));
        }
    }
    pairs
}

/// What a called graph leaves by together, where the node hands both names on.
fn handed_on(node: &Node, known: &Written, pairs: &mut BTreeSet<(String, String)>) {
    let (Some((child, _)), Some(ends)) = (node.called(), &node.ends) else {
        return;
    };
    let up = |name: &str| match ends.find(name).map(|end| &end.to.kind) {
        Some(TargetKind::Parent(to)) => Some(BTreeSet::from([to.node.clone()])),
        _ => None,
    };
    for (one, other) in known.leaving.get(child).into_iter().flatten() {
        if let (Some(one), Some(other)) = (up(one), up(other)) {
            cross(&one, &other, pairs);
        }
    }
}

fn cross(a: &BTreeSet<String>, b: &BTreeSet<String>, pairs: &mut BTreeSet<(String, String)>) {
    for one in a {
        for other in b.iter().filter(|other| *other != one) {
            let (first, second) = (one.min(other), one.max(other));
            pairs.insert((first.clone(), second.clone()));
        }
    }
}

fn of_jump(jump: &Jump) -> BTreeSet<String> {
    let names = jump.to.iter().filter_map(|target| match &target.kind {
        TargetKind::Parent(name) => Some(name.node.clone()),
        _ => None,
    });
    names.collect()
}

/// The names that each way out of a node may leave by. What its `ends` hand on is taken as one way for each.
fn of_node(graph: &Graph, id: NodeId) -> Vec<BTreeSet<String>> {
    let Some(node) = graph.nodes.get(id) else {
        return Vec::new();
    };
    let inherited = graph.inherited_by(id).into_iter().flat_map(Route::jumps);
    let jumps = node.jumps().map(|(_, jump)| jump).chain(inherited);
    let ends = node.ends.iter().flat_map(|ends| &ends.items);
    let ends = ends.filter_map(|end| match &end.to.kind {
        TargetKind::Parent(name) => Some(BTreeSet::from([name.node.clone()])),
        _ => None,
    });
    jumps.map(of_jump).chain(ends).collect()
}

/// A node and the branches that it is led on by.
fn with_branches(cfg: &ControlFlowGraph, id: NodeId) -> BTreeSet<NodeId> {
    let mut seen = BTreeSet::from([id]);
    let mut open = vec![id];
    while let Some(at) = open.pop() {
        for successor in cfg.successors(BlockId::Node(at)) {
            if let BlockId::Node(to) = successor.to
                && cfg.is_branch(successor.to)
                && seen.insert(to)
            {
                open.push(to);
            }
        }
    }
    seen
}
