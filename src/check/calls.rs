//! Graphs that call graphs: which can come to an end, and which call each other for ever.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, EdgeIndex, NodeIndex};
use petgraph::visit::EdgeRef;

use crate::base::name::list;
use crate::base::{IdVec, Span};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{GraphId, NodeId};
use crate::resolve::program::{Node, Program};

use super::cfg::finish::{can_reach_exit, ends};
use super::cfg::{BlockId, BlockSet, ControlFlowGraph, Successor};

/// For each graph the nodes that call it, in the order declared.
pub type Callers = IdVec<GraphId, Vec<(GraphId, NodeId)>>;

/// The callers of all graphs.
pub fn callers(program: &Program) -> Callers {
    let mut callers: Callers = program.graphs.ids().map(|_| Vec::new()).collect();
    for (id, graph) in program.graphs.entries() {
        for (node, declared) in graph.nodes.entries() {
            let called = declared.called();
            if let Some(list) = called.and_then(|(child, _)| callers.get_mut(child)) {
                list.push((id, node));
            }
        }
    }
    callers
}

/// The calls between graphs of which something holds; each graph is a node.
fn calls_between(program: &Program, holds: impl Fn(GraphId) -> bool) -> DiGraph<GraphId, Span> {
    let mut calls: DiGraph<GraphId, Span> = DiGraph::new();
    let index: IdVec<GraphId, NodeIndex> =
        program.graphs.ids().map(|id| calls.add_node(id)).collect();
    for (id, graph) in program.graphs.entries().filter(|(id, _)| holds(*id)) {
        let called = graph.nodes.iter().filter_map(Node::called);
        for (child, name) in called.filter(|(child, _)| holds(*child)) {
            if let Some((from, to)) = index.get(id).zip(index.get(child)) {
                calls.add_edge(*from, *to, name.span);
            }
        }
    }
    calls
}

/// For each graph the number of its cycle: graphs that call each other have the same.
pub fn cycles(program: &Program) -> BTreeMap<GraphId, usize> {
    let calls = calls_between(program, |_| true);
    let cycles = kosaraju_scc(&calls).into_iter().enumerate();
    let members = cycles.flat_map(|(number, of)| of.into_iter().map(move |at| (at, number)));
    members
        .filter_map(|(at, number)| Some((*calls.node_weight(at)?, number)))
        .collect()
}

/// Looks at each graph, and again at those that call one of which more is known now, until nothing more is.
pub fn settle(program: &Program, look: impl FnMut(GraphId) -> bool) {
    settle_callers(&callers(program), look);
}

/// The same, of graphs whose callers are known.
pub fn settle_callers(callers: &Callers, mut look: impl FnMut(GraphId) -> bool) {
    // What is called stands mostly behind what calls it.
    let mut open: VecDeque<GraphId> = callers.ids().rev().collect();
    let mut waiting: BTreeSet<GraphId> = callers.ids().collect();
    while let Some(id) = open.pop_front() {
        waiting.remove(&id);
        if look(id) {
            let above = callers.get(id).into_iter().flatten();
            let above = above.map(|(caller, _)| *caller);
            open.extend(above.filter(|caller| waiting.insert(*caller)));
        }
    }
}

/// Whether a run of the graph can come to its own `end`.
pub fn can_end(cfg: &ControlFlowGraph) -> bool {
    let reached = |from: Option<BlockId>| from.is_none_or(|block| cfg.reached().contains(block));
    let mut transitions = cfg.all_transitions().filter(|(from, _)| reached(*from));
    cfg.exits || transitions.any(|(_, way)| way.successors.iter().any(|to| to.to == BlockId::End))
}

/// Reports graphs that call each other such that none of them can come to an end.
pub fn endless(
    program: &Program,
    cfgs: &IdVec<GraphId, ControlFlowGraph>,
    diags: &mut Diagnostics,
) {
    let ending = ending(program, cfgs);
    let stuck = |id: GraphId| !ending.get(id.0 as usize).copied().unwrap_or(true);
    let calls = calls_between(program, stuck);
    for group in kosaraju_scc(&calls) {
        let mut ids: Vec<GraphId> = group
            .iter()
            .filter_map(|n| calls.node_weight(*n).copied())
            .collect();
        ids.sort();
        let inside = calls_within(&calls, &group);
        let (Some(first), false) = (
            ids.first().and_then(|id| program.graphs.get(*id)),
            inside.is_empty(),
        ) else {
            continue;
        };
        let names = ids.iter().filter_map(|id| program.graphs.get(*id));
        let names = list(names.map(|graph| graph.shown_name()));
        let message = match ids.len() {
            1 => format!("graph {names} calls itself on every way and never ends"),
            _ => format!("graphs {names} call each other on every way and never end"),
        };
        let mut found = Diagnostic::new(&codes::ENDLESS_CALLS, message, first.name.span).help(
            match ids.len() {
                1 => "give it a way to `end` that makes no such call",
                _ => "give one of them a way to `end` that makes no such call",
            },
        );
        for span in inside {
            found = found.label(span, "the call");
        }
        diags.push(found);
    }
}

/// The calls among the graphs of a group, in the order declared.
fn calls_within(calls: &DiGraph<GraphId, Span>, group: &[NodeIndex]) -> Vec<Span> {
    let members: BTreeSet<NodeIndex> = group.iter().copied().collect();
    let edges = group.iter().flat_map(|from| calls.edges(*from));
    let inside = edges.filter(|edge| members.contains(&edge.target()));
    let inside: BTreeMap<EdgeIndex, Span> =
        inside.map(|edge| (edge.id(), *edge.weight())).collect();
    inside.into_values().collect()
}

/// Which graphs can come to an end: there is a way through nodes whose graphs can.
fn ending(program: &Program, cfgs: &IdVec<GraphId, ControlFlowGraph>) -> Vec<bool> {
    let mut ending = vec![false; program.graphs.len()];
    settle(program, |id| {
        let ends =
            |cfg: &ControlFlowGraph| cfg.broken || cfg.exits || through(program, id, cfg, &ending);
        let known = ending.get(id.0 as usize).copied().unwrap_or(true);
        let more = !known && cfgs.get(id).is_some_and(ends);
        if let Some(ends) = ending.get_mut(id.0 as usize) {
            *ends |= more;
        }
        more
    });
    ending
}

fn through(program: &Program, id: GraphId, cfg: &ControlFlowGraph, ending: &[bool]) -> bool {
    let Some(graph) = program.graphs.get(id) else {
        return true;
    };
    let blocked = |node: NodeId| {
        let node = graph.nodes.get(node);
        let skips = node.is_some_and(|node| !node.skips.is_empty());
        let child = node.and_then(Node::called);
        !skips
            && child
                .is_some_and(|(child, _)| !ending.get(child.0 as usize).copied().unwrap_or(true))
    };
    // All targets of a fork run: one that never ends keeps the graph from its end.
    let fate = |block: BlockId| match block {
        BlockId::Node(node) => blocked(node).then_some(false),
        _ => None,
    };
    let halting = halting(cfg, |block| fate(block).is_some());
    let stops = |block: BlockId| halting.contains(block);
    let free = can_reach_exit(cfg, fate, |_, _| true, stops);
    cfg.start.is_empty() || cfg.start.iter().any(|way| ends(&free, way, &stops))
}

/// Which blocks can come to `fail` or leave the graph, which stops all else that runs.
fn halting(cfg: &ControlFlowGraph, blocked: impl Fn(BlockId) -> bool) -> BlockSet {
    let mut halting = BlockSet::new(cfg);
    let stops = |to: &Successor| matches!(to.to, BlockId::Fail | BlockId::Leave);
    let mut open: Vec<BlockId> = cfg.blocks().collect();
    open.retain(|block| cfg.successors(*block).any(stops));
    while let Some(block) = open.pop() {
        if !blocked(block) && halting.insert(block) {
            open.extend(cfg.predecessors(block));
        }
    }
    halting
}
