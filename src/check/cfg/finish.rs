//! From where a run can come to its end: all that a way starts must be able to.

use std::collections::BTreeSet;

use crate::ir::JoinId;

use super::block_set::BlockSet;
use super::model::{BlockId, ControlFlowGraph, EdgeKind, Successor, Transition};

/// Whether a way counts as one on: errors don't.
pub fn usual(transition: &Transition) -> bool {
    transition.kind != EdgeKind::Error
}

/// Which blocks can come to an exit without an error: some way of theirs leads only to blocks that can. Joins of `waiting` are
/// known to be waited at in vain; what arrives there is at its end.
pub fn finishing(cfg: &ControlFlowGraph, waiting: &BTreeSet<JoinId>) -> BlockSet {
    can_reach_exit(cfg, waited(waiting), |_, way| usual(way), |_| false)
}

/// That blocks are joins which are waited at in vain, as a fate.
pub fn waited(waiting: &BTreeSet<JoinId>) -> impl Fn(BlockId) -> Option<bool> {
    |block| match block {
        BlockId::Join(join) => waiting.contains(&join).then_some(true),
        _ => None,
    }
}

/// Which blocks can come to an exit by the ways that `take` lets through. `fate` says it of blocks where that is
/// known before, `stops` of a target whether it may end the whole run.
pub fn can_reach_exit(
    cfg: &ControlFlowGraph,
    fate: impl Fn(BlockId) -> Option<bool>,
    take: impl Fn(BlockId, &Transition) -> bool,
    stops: impl Fn(BlockId) -> bool,
) -> BlockSet {
    let mut free = BlockSet::new(cfg);
    cfg.settle(cfg.blocks(), |block, again| {
        let taken = cfg.transitions(block).iter();
        let mut taken = taken.filter(|way| take(block, way)).peekable();
        // That a node leads nowhere is reported by itself.
        let leads = || taken.peek().is_none() || taken.any(|way| ends(&free, way, &stops));
        if !free.contains(block) && fate(block).unwrap_or_else(leads) {
            free.insert(block);
            again.extend(cfg.predecessors(block));
        }
    });
    free
}

/// Whether all that a way starts comes to an end, or one part of it ends the whole run.
pub fn ends(free: &BlockSet, way: &Transition, stops: &impl Fn(BlockId) -> bool) -> bool {
    let stops = |to: BlockId| matches!(to, BlockId::Fail | BlockId::Leave) || stops(to);
    // The list of an `each` may be empty.
    let ends = |to: &Successor| to.many || to.to == BlockId::End || free.contains(to.to);
    let mut successors = way.successors.iter();
    successors.clone().any(|to| stops(to.to)) || successors.all(ends)
}
