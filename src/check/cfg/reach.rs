//! What can be reached from `start`, and what can reach an exit.

use std::collections::BTreeSet;

use crate::base::Span;
use crate::base::name::list;
use crate::diag::{Diagnostic, Diagnostics, codes};

use super::cycle::shortest;
use super::finish::usual;
use super::graph::{OfCircle, Wanted};
use super::model::{BlockId, ControlFlowGraph, Transition};

/// Reports nodes that nothing leads to. Of nodes that only unreachable ones lead to, the first is enough.
pub fn unreachable(cfg: &ControlFlowGraph, reached: &[bool], diags: &mut Diagnostics) {
    let among = |block: BlockId| {
        cfg.number(block)
            .is_some_and(|n| !reached.get(n).copied().unwrap_or(true))
    };
    for group in cfg.components_among(among, |_, _| true, Wanted::Sources) {
        let Some((first, rest)) = nodes(cfg, &group)
            .split_first()
            .map(|(f, r)| (*f, r.to_vec()))
        else {
            continue;
        };
        let mut found = Diagnostic::new(
            &codes::UNREACHABLE_NODE,
            format!("nothing leads to node `{}`", first.name),
            first.span,
        )
        .help(format!(
            "name `{}` as the target of an edge or a `goto`, or take the node out",
            first.name
        ));
        for other in rest {
            found = found.label(
                other.span,
                format!("`{}` only goes round with it", other.name),
            );
        }
        let behind = behind(cfg, &group, reached);
        for other in nodes(cfg, &behind).into_iter().take(BEHIND) {
            found = found.label(
                other.span,
                format!("`{}` is only reached from it", other.name),
            );
        }
        diags.push(found);
    }
}

/// Most further nodes of an island that a message points at.
const BEHIND: usize = 6;

/// What only an island leads to, besides the blocks that it begins with.
fn behind(cfg: &ControlFlowGraph, head: &[BlockId], reached: &[bool]) -> Vec<BlockId> {
    let mut seen: BTreeSet<BlockId> = head.iter().copied().collect();
    let mut open = head.to_vec();
    let mut found = Vec::new();
    while let Some(block) = open.pop().filter(|_| found.len() < BEHIND) {
        for successor in cfg
            .transitions(block)
            .iter()
            .flat_map(|transition| &transition.successors)
        {
            let known = cfg
                .number(successor.to)
                .and_then(|n| reached.get(n).copied());
            if known == Some(false) && seen.insert(successor.to) {
                found.push(successor.to);
                open.push(successor.to);
            }
        }
    }
    found.sort();
    found
}

/// Reports circles without a way out. Errors don't count as a way out, nor does one of several targets:
/// the others go round on. Blocks of `told` are in a circle that was reported already; `exits` says of a circle whether the
/// graph's `exit when` may end it.
pub fn trapped(
    cfg: &ControlFlowGraph,
    reached: &[bool],
    free: &[bool],
    (told, exits): (&BTreeSet<BlockId>, OfCircle),
    diags: &mut Diagnostics,
) {
    let stuck = |block: BlockId| {
        cfg.number(block).is_some_and(|n| {
            reached.get(n).copied().unwrap_or(false) && !free.get(n).copied().unwrap_or(true)
        })
    };
    for group in cfg.components_among(stuck, |_, transition| usual(transition), Wanted::Sinks) {
        if exits(&group) {
            continue;
        }
        let members = nodes(cfg, &group);
        let inside = |_: BlockId, transition: &Transition, to: BlockId| {
            usual(transition) && group.binary_search(&to).is_ok()
        };
        let Some((from, back)) = closing(cfg, &group) else {
            continue;
        };
        let cycle = shortest(cfg, from, inside);
        let Some(cycle) = cycle.filter(|_| !group.iter().any(|block| told.contains(block))) else {
            continue;
        };
        let message = format!(
            "no way out of the cycle of {}",
            list(members.iter().map(|node| node.name.as_str()))
        );
        let mut found = Diagnostic::new(&codes::ENDLESS_CYCLE, message, back).help(format!(
            "give {} an arm that leads on to `end`, or a `max_visits N -> TARGET`",
            match members.len() {
                1 => "it",
                _ => "one of them",
            }
        ));
        found = cycle.labels(cfg, found.here("this leads back"));
        for (from, successor) in leading_aside(cfg, &group, &stuck).into_iter().take(ASIDE) {
            let text = format!("`{}` goes round as well as leading here", cfg.name(from));
            found = found.label(successor, text);
        }
        diags.push(found);
    }
}

/// The edge that closes a circle: one that leads back to a block by which every way into the circle comes. One from where all
/// ways go back comes first (what goes on as well is more likely meant), then the one that is declared last.
fn closing(cfg: &ControlFlowGraph, group: &[BlockId]) -> Option<(BlockId, Span)> {
    let inside = |block: BlockId| group.binary_search(&block).is_ok();
    let mut best: Option<((bool, bool, u32), BlockId, Span)> = None;
    for from in group {
        let transitions = || cfg.transitions(*from).iter().filter(|way| usual(way));
        let successors = || transitions().flat_map(|transition| &transition.successors);
        // A circle that is entered in several places has no such block.
        let back = |to: BlockId| inside(to) && cfg.dominates(to, *from);
        let only = successors().all(|successor| back(successor.to));
        for successor in successors().filter(|successor| inside(successor.to)) {
            let rank = (back(successor.to), only, place(cfg, *from).unwrap_or(0));
            if best.is_none_or(|(known, _, _)| rank > known) {
                best = Some((rank, *from, successor.span));
            }
        }
    }
    best.map(|(_, from, span)| (from, span))
}

/// Where a node is declared.
fn place(cfg: &ControlFlowGraph, block: BlockId) -> Option<u32> {
    match block {
        BlockId::Node(id) => cfg.nodes.get(id).map(|node| node.span.start),
        _ => None,
    }
}

/// Most arrows out of a circle that a message points at.
const ASIDE: usize = 3;

/// Arrows that leave a circle beside one that stays in it, so that they are no way out.
fn leading_aside(
    cfg: &ControlFlowGraph,
    group: &[BlockId],
    stuck: &impl Fn(BlockId) -> bool,
) -> Vec<(BlockId, Span)> {
    let mut aside = Vec::new();
    for block in group {
        for transition in cfg
            .transitions(*block)
            .iter()
            .filter(|transition| usual(transition))
        {
            let out = transition
                .successors
                .iter()
                .filter(|successor| !stuck(successor.to));
            aside.extend(out.map(|successor| (*block, successor.span)));
        }
    }
    aside
}

fn nodes<'a>(cfg: &'a ControlFlowGraph, group: &[BlockId]) -> Vec<&'a super::model::Block> {
    let nodes = group.iter().filter_map(|block| match block {
        BlockId::Node(at) => cfg.nodes.get(*at).filter(|node| node.fan_out.is_none()),
        _ => None,
    });
    nodes.collect()
}
