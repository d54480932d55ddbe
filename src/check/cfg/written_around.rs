//! What is written by the time that a node with `max_visits` is full.

use std::collections::BTreeMap;

use crate::ir::NodeId;

use super::effect::WritesOnWays;
use super::field_set::FieldSet;
use super::mhp::MayHappenInParallel;
use super::model::{BlockId, ControlFlowGraph, EdgeKind};

/// Fields that are surely written when a node is entered again: it has run by then. Where nothing runs beside it, each way from it back
/// to it has been gone as well.
pub fn written_around(
    cfg: &ControlFlowGraph,
    effects: &WritesOnWays,
    mhp: &MayHappenInParallel,
    node: NodeId,
) -> FieldSet {
    let here = BlockId::Node(node);
    let alone = mhp.beside(node).into_iter().next().is_none();
    let mut back: Option<FieldSet> = None;
    let mut written: BTreeMap<usize, FieldSet> = BTreeMap::new();
    let mut open = vec![here];
    while let Some(block) = open.pop() {
        let before = cfg.number(block).and_then(|at| written.get(&at)).cloned();
        let before = before.unwrap_or_else(|| effects.tracked.none());
        for (at, transition) in cfg.transitions(block).iter().enumerate() {
            if block == here && transition.kind == EdgeKind::Visits {
                continue;
            }
            let mut sure = effects.sure(cfg, block, at);
            sure.join(&before);
            if !alone {
                meet(&mut back, &sure);
                continue;
            }
            for to in transition.successors.iter().map(|successor| successor.to) {
                if to == here {
                    meet(&mut back, &sure);
                } else if cfg.same_component(here, to)
                    && let Some(number) = cfg.number(to)
                {
                    let mut known = written.get(&number).cloned();
                    if meet(&mut known, &sure) {
                        open.push(to);
                    }
                    written.extend(known.map(|known| (number, known)));
                }
            }
        }
    }
    back.unwrap_or_else(|| effects.tracked.none())
}

/// Keeps what is written on this way too; whether that changed something.
fn meet(known: &mut Option<FieldSet>, other: &FieldSet) -> bool {
    let before = known.clone();
    match known {
        Some(known) => known.keep(other),
        None => *known = Some(other.clone()),
    }
    *known != before
}
