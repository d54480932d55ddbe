//! What leads to each place of a graph, and what is sent to each worker.

use std::collections::HashMap;

use crate::ast::Name;
use crate::ast::expr::Expr;
use crate::ast::item::NamedArg;
use crate::base::{IdVec, Span};
use crate::ir::{GraphId, NodeId};
use crate::resolve::jumps::{Maker, Why};
use crate::resolve::program::{Graph, Jump, Node, Program, TargetKind, Work};

use super::super::super::calls::callers;
use super::super::super::cfg::{BlockId, ControlFlowGraph, EdgeKind, Transition};

/// A graph, read backwards.
pub struct Backwards<'a> {
    /// For each place the ways that lead to it: the place that they leave (`None` for `start`) and which.
    into: Vec<Vec<(Option<usize>, usize)>>,
    /// What `each` sends to a node.
    pub sends: HashMap<NodeId, Vec<Send<'a>>>,
}

/// An `each` that sends to a worker.
pub struct Send<'a> {
    /// Who sends.
    pub by: Maker,
    /// Loop name.
    pub var: &'a Name,
    /// The list.
    pub items: &'a Expr,
    /// Values of the worker's `input`.
    pub with: &'a [NamedArg],
    /// The jump.
    pub transition: Span,
}

/// The number of a place, with one each for the end and for leaving.
pub fn number(cfg: &ControlFlowGraph, block: BlockId) -> Option<usize> {
    let count = cfg.nodes.len() + cfg.joins.len();
    match block {
        BlockId::End => Some(count),
        BlockId::Leave => Some(count + 1),
        BlockId::Fail => None,
        block => cfg.number(block),
    }
}

impl<'a> Backwards<'a> {
    /// Reads a graph backwards.
    pub fn new(graph: &'a Graph, cfg: &ControlFlowGraph) -> Self {
        let mut into = vec![Vec::new(); cfg.nodes.len() + cfg.joins.len() + 2];
        let mut enter = |from: Option<usize>, transitions: &[Transition]| {
            for (index, transition) in transitions.iter().enumerate() {
                for successor in &transition.successors {
                    let at = number(cfg, successor.to).and_then(|n| into.get_mut(n));
                    at.into_iter().for_each(|list| list.push((from, index)));
                }
            }
        };
        enter(None, &cfg.start);
        for block in cfg.blocks() {
            enter(cfg.number(block), cfg.transitions(block));
        }
        let mut sends = HashMap::new();
        for (by, jump) in graph.jumps() {
            sent(&mut sends, by, jump);
        }
        Self { into, sends }
    }

    /// The ways that lead to a place.
    pub fn into(&self, number: usize) -> &[(Option<usize>, usize)] {
        self.into.get(number).map_or(&[], Vec::as_slice)
    }
}

fn sent<'a>(sends: &mut HashMap<NodeId, Vec<Send<'a>>>, by: Maker, jump: &'a Jump) {
    for target in &jump.to {
        if let TargetKind::Each(each) = &target.kind
            && let Some(worker) = each.worker
        {
            sends.entry(worker).or_default().push(Send {
                by,
                var: &each.var,
                items: &each.items,
                with: &each.with,
                transition: jump.span,
            });
        }
    }
}

/// What makes a node take a jump that it writes, as the flow says it.
pub fn kind(why: Why) -> EdgeKind {
    match why {
        Why::Edge => EdgeKind::Edge,
        Why::Goto => EdgeKind::Goto,
        Why::Skip => EdgeKind::Skip,
        Why::Error => EdgeKind::Error,
        Why::Visits => EdgeKind::Visits,
        Why::Timeout => EdgeKind::Timeout,
    }
}

/// For each graph whether a run can pass it, from `start` to its end, without asking a person.
pub fn unasked(program: &Program, cfgs: &IdVec<GraphId, ControlFlowGraph>) -> Vec<bool> {
    let callers = callers(program);
    let mut passes = vec![false; program.graphs.len()];
    let mut open: Vec<GraphId> = program.graphs.ids().collect();
    while let Some(id) = open.pop() {
        let known = passes.get(id.0 as usize).copied().unwrap_or(true);
        if known || !passes_through(program, cfgs, id, &passes) {
            continue;
        }
        if let Some(slot) = passes.get_mut(id.0 as usize) {
            *slot = true;
        }
        open.extend(
            callers
                .get(id)
                .into_iter()
                .flatten()
                .map(|(caller, _)| *caller),
        );
    }
    passes
}

fn passes_through(
    program: &Program,
    cfgs: &IdVec<GraphId, ControlFlowGraph>,
    id: GraphId,
    passes: &[bool],
) -> bool {
    let (Some(graph), Some(cfg)) = (program.graphs.get(id), cfgs.get(id)) else {
        return true;
    };
    let mut seen = vec![false; cfg.nodes.len() + cfg.joins.len()];
    let mut open: Vec<&Transition> = cfg.start.iter().collect();
    while let Some(transition) = open.pop() {
        for successor in &transition.successors {
            let Some(number) = cfg.number(successor.to) else {
                match successor.to {
                    BlockId::Fail => continue,
                    _ => return true,
                }
            };
            let Some(slot) = seen.get_mut(number).filter(|slot| !**slot) else {
                continue;
            };
            *slot = true;
            let node = match successor.to {
                BlockId::Node(node) => graph.nodes.get(node),
                _ => None,
            };
            let asks = node.is_some_and(|node| asks_before(node) || asks(node, passes));
            let own = |transition: &&Transition| {
                matches!(
                    transition.kind,
                    EdgeKind::Edge | EdgeKind::Goto | EdgeKind::Child
                )
            };
            open.extend(
                cfg.transitions(successor.to)
                    .iter()
                    .filter(|transition| !asks || !own(transition)),
            );
        }
    }
    false
}

/// Whether a person is asked before the node does anything.
pub fn asks_before(node: &Node) -> bool {
    node.stops.iter().any(|node| !node.after)
}

/// Whether a person is asked behind what the node does, before its own way on is taken.
pub fn asks(node: &Node, passes: &[bool]) -> bool {
    if node.skips.iter().any(|skip| skip.to.is_none()) {
        return false;
    }
    if node.stops.iter().any(|node| node.after) {
        return true;
    }
    match &node.work {
        Work::Interrupt { .. } => true,
        Work::Subgraph {
            graph: Some(child), ..
        } => !passes.get(child.0 as usize).copied().unwrap_or(true),
        _ => false,
    }
}
