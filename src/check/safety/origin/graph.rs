//! What leads to each place of a graph, and what is sent to each worker.

use std::collections::HashMap;

use crate::ast::Name;
use crate::ast::expr::Expr;
use crate::ast::item::NamedArg;
use crate::base::Span;
use crate::ir::NodeId;
use crate::resolve::jumps::{Maker, Why};
use crate::resolve::program::{Graph, Jump, TargetKind};

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
