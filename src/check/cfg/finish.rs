//! From where a run can come to its end: all that a way starts must be able to.

use std::collections::{BTreeSet, VecDeque};

use crate::ir::JoinId;

use super::model::{BlockId, ControlFlowGraph, EdgeKind, Transition};

/// Whether a way counts as one on: errors don't.
pub fn usual(transition: &Transition) -> bool {
    transition.kind != EdgeKind::Error
}

/// Which blocks can come to an exit without an error, by [`ControlFlowGraph::number`]: some way of theirs leads only to
/// blocks that can. Joins of `waiting` are known to be waited at in vain; what arrives there is at its end.
pub fn finishing(cfg: &ControlFlowGraph, waiting: &BTreeSet<JoinId>) -> Vec<bool> {
    let fate = |block| match block {
        BlockId::Join(join) => waiting.contains(&join).then_some(true),
        _ => None,
    };
    can_reach_exit(cfg, fate, |_, transition| usual(transition), |_| false)
}

/// Which blocks can come to an exit by the ways that `take` lets through. `fate` says it of blocks where that is
/// known before, `stops` of a target whether it may end the whole run.
pub fn can_reach_exit(
    cfg: &ControlFlowGraph,
    fate: impl Fn(BlockId) -> Option<bool>,
    take: impl Fn(BlockId, &Transition) -> bool,
    stops: impl Fn(BlockId) -> bool,
) -> Vec<bool> {
    let count = cfg.count();
    let mut free = vec![false; count];
    // Each block is looked at once, and again after what it leads to has changed, at the end of the queue: a fork
    // is seen after all of its targets.
    let mut waits = vec![true; count];
    let mut open: VecDeque<BlockId> = cfg.blocks().collect();
    while let Some(block) = open.pop_front() {
        let Some(number) = cfg.number(block) else {
            continue;
        };
        waits.get_mut(number).into_iter().for_each(|w| *w = false);
        let known = free.get(number).copied().unwrap_or(true);
        let transitions = || {
            cfg.transitions(block)
                .iter()
                .filter(|transition| take(block, transition))
        };
        // That a node leads nowhere is reported by itself.
        let leads = || {
            transitions().next().is_none()
                || transitions().any(|transition| ends(cfg, &free, transition, &stops))
        };
        if known || !fate(block).unwrap_or_else(leads) {
            continue;
        }
        free.get_mut(number).into_iter().for_each(|f| *f = true);
        for from in cfg.predecessors(block) {
            let slot = cfg.number(from).and_then(|n| waits.get_mut(n));
            if let Some(slot) = slot.filter(|waits| !**waits) {
                *slot = true;
                open.push_back(from);
            }
        }
    }
    free
}

/// Whether all that a way starts comes to an end, or one part of it ends the whole run.
pub fn ends(
    cfg: &ControlFlowGraph,
    free: &[bool],
    transition: &Transition,
    stops: &impl Fn(BlockId) -> bool,
) -> bool {
    let stops = |to: BlockId| matches!(to, BlockId::Fail | BlockId::Leave) || stops(to);
    transition
        .successors
        .iter()
        .any(|successor| stops(successor.to))
        || transition.successors.iter().all(|successor| {
            let known = cfg.number(successor.to);
            // The list of an `each` may be empty.
            successor.many || known.is_none_or(|n| free.get(n).copied().unwrap_or(false))
        })
}
