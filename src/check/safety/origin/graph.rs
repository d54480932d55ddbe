//! Numbers for the places of a graph, and what is sent to each worker.

use std::collections::HashMap;

use crate::ast::Name;
use crate::ast::expr::Expr;
use crate::ast::item::NamedArg;
use crate::base::Span;
use crate::ir::NodeId;
use crate::resolve::jumps::Maker;
use crate::resolve::program::{Graph, Jump, TargetKind};

use super::super::super::cfg::{BlockId, ControlFlowGraph};

/// What a graph sends.
pub struct Sends<'a> {
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
    let count = cfg.count();
    match block {
        BlockId::End => Some(count),
        BlockId::Leave => Some(count + 1),
        BlockId::Entry | BlockId::Fail => None,
        block => cfg.number(block),
    }
}

/// The block of such a number.
pub fn block(cfg: &ControlFlowGraph, number: usize) -> BlockId {
    match number.checked_sub(cfg.count()) {
        None => cfg.block(number),
        Some(0) => BlockId::End,
        Some(_) => BlockId::Leave,
    }
}

impl<'a> Sends<'a> {
    /// Gathers what is sent.
    pub fn new(graph: &'a Graph) -> Self {
        let mut sends = HashMap::new();
        for (by, jump) in graph.jumps() {
            sent(&mut sends, by, jump);
        }
        Self { sends }
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
