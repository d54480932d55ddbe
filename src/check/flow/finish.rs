//! From where a run can come to its end: all that a way starts must be able to.

use std::collections::{BTreeSet, VecDeque};

use crate::ir::JoinId;

use super::arrows::Arrows;
use super::model::{Cause, Flow, Spot, Way};

/// Whether a way counts as one on: errors don't.
pub fn usual(way: &Way) -> bool {
    way.cause != Cause::Error
}

/// Which spots can come to an exit without an error, by [`Flow::number`]: some way of theirs leads only to
/// spots that can. Joins of `waiting` are known to be waited at in vain; what arrives there is at its end.
pub fn finishing(flow: &Flow, arrows: &Arrows, waiting: &BTreeSet<JoinId>) -> Vec<bool> {
    let fate = |spot| match spot {
        Spot::Join(join) => waiting.contains(&join).then_some(true),
        _ => None,
    };
    settled(flow, arrows, fate, |_, way| usual(way), |_| false)
}

/// Which spots can come to an exit by the ways that `take` lets through. `fate` says it of spots where that is
/// known before, `stops` of a target whether it may end the whole run.
pub fn settled(
    flow: &Flow,
    arrows: &Arrows,
    fate: impl Fn(Spot) -> Option<bool>,
    take: impl Fn(Spot, &Way) -> bool,
    stops: impl Fn(Spot) -> bool,
) -> Vec<bool> {
    let count = flow.stops.len() + flow.joins.len();
    let mut free = vec![false; count];
    // Each spot is looked at once, and again after what it leads to has changed, at the end of the queue: a fork
    // is seen after all of its targets.
    let mut waits = vec![true; count];
    let mut open: VecDeque<Spot> = flow.spots().collect();
    while let Some(spot) = open.pop_front() {
        let Some(number) = flow.number(spot) else {
            continue;
        };
        waits.get_mut(number).into_iter().for_each(|w| *w = false);
        let known = free.get(number).copied().unwrap_or(true);
        let ways = || flow.ways(spot).iter().filter(|way| take(spot, way));
        // That a node leads nowhere is reported by itself.
        let leads = || ways().next().is_none() || ways().any(|way| ends(flow, &free, way, &stops));
        if known || !fate(spot).unwrap_or_else(leads) {
            continue;
        }
        free.get_mut(number).into_iter().for_each(|f| *f = true);
        for from in arrows.into(flow, spot).iter().filter_map(|a| a.from) {
            let slot = flow.number(from).and_then(|n| waits.get_mut(n));
            if let Some(slot) = slot.filter(|waits| !**waits) {
                *slot = true;
                open.push_back(from);
            }
        }
    }
    free
}

/// Whether all that a way starts comes to an end, or one part of it ends the whole run.
pub fn ends(flow: &Flow, free: &[bool], way: &Way, stops: &impl Fn(Spot) -> bool) -> bool {
    let stops = |goal: Spot| matches!(goal, Spot::Fail | Spot::Leave) || stops(goal);
    way.goals.iter().any(|goal| stops(goal.to))
        || way.goals.iter().all(|goal| {
            let known = flow.number(goal.to);
            // The list of an `each` may be empty.
            goal.many || known.is_none_or(|n| free.get(n).copied().unwrap_or(false))
        })
}
