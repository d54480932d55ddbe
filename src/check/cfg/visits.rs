//! `max_visits` that lead in a cycle: once all caps in it are full, a run that has come there never ends.

use std::collections::BTreeSet;

use crate::base::name::list;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::JoinId;

use super::block_set::BlockSet;
use super::cycle::shortest;
use super::finish::{can_reach_exit, usual, waited};
use super::graph::{OfCycle, Wanted};
use super::model::{Block, BlockId, ControlFlowGraph, EdgeKind, Transition};

/// Reports cycles that go on for ever by a `max_visits`, among blocks that can come to an end as long as it is not met.
/// `waiting` are joins that are waited at in vain; `exits` says of a cycle whether the graph's `exit when` may end it. Gives back the blocks in them.
pub fn cycles(
    cfg: &ControlFlowGraph,
    free: &BlockSet,
    (waiting, exits): (&BTreeSet<JoinId>, OfCycle),
    diags: &mut Diagnostics,
) -> BTreeSet<BlockId> {
    let mut reported = BTreeSet::new();
    if !cfg.nodes.iter().any(Block::is_capped) {
        return reported;
    }
    // The list of an `each` doesn't change before a super-step has gone by: where it is not empty, nothing ends such a cycle.
    let sends = |block: BlockId, way: &Transition| {
        is_capped(cfg, block) && taken(cfg, block, way) && way.successors.iter().any(|to| to.many)
    };
    for group in cfg.components_among(|block| is_capped(cfg, block), sends, Wanted::Any) {
        let ways = group.iter().flat_map(|block| {
            let ways = cfg.transitions(*block).iter();
            ways.filter(|way| sends(*block, way))
        });
        let mut successors = ways.flat_map(|way| &way.successors);
        if successors.any(|to| group.binary_search(&to.to).is_ok()) {
            report(cfg, &group)
                .into_iter()
                .for_each(|found| diags.push(found));
            reported.extend(group);
        }
    }
    let take = |block: BlockId, way: &Transition| taken(cfg, block, way);
    let ending = can_reach_exit(cfg, waited(waiting), take, |_| false);
    // What can't come to an end in any case is reported as such.
    let stuck = |block: BlockId| {
        let comes = cfg.reached().contains(block) && free.contains(block);
        comes && !ending.contains(block) && !reported.contains(&block)
    };
    let groups = cfg.components_among(stuck, take, Wanted::Sinks);
    for group in groups.into_iter().filter(|group| !exits(group)) {
        if let Some(found) = report(cfg, &group) {
            diags.push(found);
            reported.extend(group);
        }
    }
    reported
}

fn is_capped(cfg: &ControlFlowGraph, block: BlockId) -> bool {
    matches!(block, BlockId::Node(id) if cfg.nodes.get(id).is_some_and(Block::is_capped))
}

/// Whether a way is taken where all capped nodes are visited as often as they may be.
fn taken(cfg: &ControlFlowGraph, block: BlockId, way: &Transition) -> bool {
    match is_capped(cfg, block) {
        true => way.kind == EdgeKind::Visits,
        false => usual(way),
    }
}

fn report(cfg: &ControlFlowGraph, group: &[BlockId]) -> Option<Diagnostic> {
    let inside = |block: BlockId| group.binary_search(&block).is_ok();
    let capped: Vec<BlockId> = (group.iter().copied())
        .filter(|block| is_capped(cfg, *block))
        .collect();
    let one = *capped.first()?;
    let caps = capped.iter().flat_map(|block| cfg.transitions(*block));
    let mut caps = caps.filter(|way| {
        let back = way.successors.iter().any(|to| inside(to.to));
        way.kind == EdgeKind::Visits && back
    });
    let first = caps.next()?.span;
    let (name, through) = (cfg.name(one), group.len() > capped.len());
    let message = match (capped.as_slice(), through) {
        ([_], false) => format!(
            "`max_visits` of `{name}` leads back to `{name}` itself, which is visited as often as it may be"
        ),
        (_, false) => format!(
            "`max_visits` of {} lead to each other: once all are visited as often as they may be, there is no way on",
            list(capped.iter().map(|block| cfg.name(*block)))
        ),
        (_, true) => {
            let path = shortest(cfg, one, |from, way, to| {
                inside(to) && taken(cfg, from, way)
            });
            let path = path.map_or_else(String::new, |cycle| cycle.path(cfg));
            format!(
                "`max_visits` of `{name}` leads in a circle that no way leads out of once it is met: `{path}`"
            )
        }
    };
    let help = match through {
        true => "name a target that leads on to `end` without coming back here, or `end` itself",
        false => "name a target that is not capped itself, such as `end`",
    };
    let found = Diagnostic::new(&codes::MAX_VISITS_CYCLE, message, first).help(help);
    Some(caps.fold(found, |found, way| {
        found.label(way.span, "and this leads back")
    }))
}
