//! `max_visits` that lead in a circle: once all caps in it are full, a run that has come there never ends.

use std::collections::BTreeSet;

use crate::base::Span;
use crate::base::name::list;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{JoinId, NodeId};

use super::cycle::{Cycle, shortest};
use super::finish::{can_reach_exit, usual};
use super::graph::{OfCircle, Wanted};
use super::model::{BlockId, ControlFlowGraph, EdgeKind, Transition};

/// Reports circles that go on for ever by a `max_visits`, among blocks that can come to an end as long as it is not met.
/// `waiting` are joins that are waited at in vain; `exits` says of a circle whether the graph's `exit when` may end it. Gives back the blocks in them.
pub fn circles(
    cfg: &ControlFlowGraph,
    (reached, free): (&[bool], &[bool]),
    (waiting, exits): (&BTreeSet<JoinId>, OfCircle),
    diags: &mut Diagnostics,
) -> BTreeSet<BlockId> {
    let mut told = BTreeSet::new();
    let full = Full::new(cfg);
    if !full.capped.iter().any(|capped| *capped) {
        return told;
    }
    let fate = |block| match block {
        BlockId::Join(join) => waiting.contains(&join).then_some(true),
        _ => None,
    };
    let take = |block: BlockId, transition: &Transition| full.takes(block, transition);
    let ending = can_reach_exit(cfg, fate, take, |_| false);
    let at = |list: &[bool], block: BlockId| {
        let known = cfg.number(block).and_then(|n| list.get(n));
        known.copied().unwrap_or(false)
    };
    // What can't come to an end in any case is reported as such.
    let stuck = |block: BlockId| at(reached, block) && at(free, block) && !at(&ending, block);
    for group in cfg.components_among(stuck, take, Wanted::Sinks) {
        if let Some(found) = full.report(&group).filter(|_| !exits(&group)) {
            diags.push(found);
            told.extend(group);
        }
    }
    told
}

/// A flow in which all capped nodes are visited as often as they may be.
struct Full<'a> {
    cfg: &'a ControlFlowGraph,
    /// By number.
    capped: Vec<bool>,
}

impl<'a> Full<'a> {
    fn new(cfg: &'a ControlFlowGraph) -> Self {
        let visits = |block| {
            cfg.transitions(block)
                .iter()
                .any(|transition| transition.kind == EdgeKind::Visits)
        };
        let capped = cfg.blocks().map(visits).collect();
        Self { cfg, capped }
    }

    fn takes(&self, block: BlockId, transition: &Transition) -> bool {
        match self.is_capped(block) {
            true => transition.kind == EdgeKind::Visits,
            false => usual(transition),
        }
    }

    fn is_capped(&self, block: BlockId) -> bool {
        let known = self.cfg.number(block).and_then(|n| self.capped.get(n));
        known.copied().unwrap_or(false)
    }

    /// The arrow by which a way that only `max_visits` leads to comes back to the circle that is capped. Where the
    /// target of `max_visits` lies in that circle itself, it is the target that is wrong.
    fn closing(&self, capped: NodeId, cycle: &Cycle) -> Option<Span> {
        let cfg = self.cfg;
        let usual_ways = |block: BlockId| {
            let transitions = cfg.transitions(block).iter();
            transitions
                .filter(|transition| usual(transition) && transition.kind != EdgeKind::Visits)
        };
        let mut inside = BTreeSet::new();
        let mut open = vec![BlockId::Node(capped)];
        while let Some(block) = open.pop() {
            if cfg.number(block).is_some() && inside.insert(block) {
                open.extend(
                    usual_ways(block)
                        .flat_map(|transition| &transition.successors)
                        .map(|successor| successor.to),
                );
            }
        }
        let mut blocks = cycle.blocks().skip(1).peekable();
        if blocks.peek().is_none_or(|first| inside.contains(first)) {
            return None;
        }
        let last = blocks.take_while(|block| !inside.contains(block)).last()?;
        let mut successors = usual_ways(last).flat_map(|transition| &transition.successors);
        successors
            .find(|successor| inside.contains(&successor.to))
            .map(|successor| successor.span)
    }

    fn report(&self, group: &[BlockId]) -> Option<Diagnostic> {
        let cfg = self.cfg;
        let inside = |successor: BlockId| group.binary_search(&successor).is_ok();
        let capped: Vec<NodeId> = group
            .iter()
            .filter_map(|block| match block {
                BlockId::Node(id) if self.is_capped(*block) => Some(*id),
                _ => None,
            })
            .collect();
        let caps = capped
            .iter()
            .flat_map(|id| cfg.transitions(BlockId::Node(*id)));
        let caps = caps.filter(|transition| {
            transition.kind == EdgeKind::Visits
                && transition
                    .successors
                    .iter()
                    .any(|successor| inside(successor.to))
        });
        let spans: Vec<_> = caps.map(|transition| transition.span).collect();
        let (first, rest) = spans.split_first()?;
        let name = |id: NodeId| cfg.name(BlockId::Node(id));
        let one = *capped.first()?;
        let message = match (capped.as_slice(), group.len() > capped.len()) {
            ([_], false) => format!(
                "`max_visits` of `{0}` leads back to `{0}` itself, which is visited as often as it may be",
                name(one)
            ),
            (_, false) => format!(
                "`max_visits` of {} lead to each other: once all are visited as often as they may be, there is no way on",
                list(capped.iter().map(|id| name(*id)))
            ),
            (_, true) => {
                let path = shortest(cfg, BlockId::Node(one), |from, transition, to| {
                    inside(to) && self.takes(from, transition)
                });
                let closing = path.as_ref().and_then(|cycle| self.closing(one, cycle));
                let path = path.map_or_else(String::new, |cycle| cycle.path(cfg));
                if let Some(back) = closing {
                    let message = format!(
                        "once `max_visits` of `{}` is met, no way leads out of the circle `{path}`",
                        name(one)
                    );
                    return Some(
                        Diagnostic::new(&codes::VISITS_CIRCLE, message, back)
                            .here("this leads back")
                            .label(*first, "what leads here")
                            .help("lead on to `end` from here"),
                    );
                }
                format!(
                    "`max_visits` of `{}` leads in a circle that no way leads out of once it is met: `{path}`",
                    name(one)
                )
            }
        };
        let mut found = Diagnostic::new(&codes::VISITS_CIRCLE, message, *first).help(
            match group.len() > capped.len() {
                true => {
                    "name a target that leads on to `end` without coming back here, or `end` itself"
                }
                false => "name a target that is not capped itself, such as `end`",
            },
        );
        for span in rest {
            found = found.label(*span, "and this leads back");
        }
        Some(found)
    }
}
