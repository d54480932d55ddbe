//! What can be reached from `start`, and what can reach an exit.

use std::cell::OnceCell;
use std::collections::{BTreeSet, VecDeque};

use crate::base::Span;
use crate::base::name::list;
use crate::diag::{Diagnostic, Diagnostics, codes};

use super::cycle::shortest;
use super::finish::usual;
use super::model::{BlockId, ControlFlowGraph, Successor, Transition};
use super::scc::{Ends, OfCircle, components};

/// Which blocks `start` leads to, by [`ControlFlowGraph::number`]. A join counts as soon as one member does:
/// whether all of them can arrive is the question of [`join`](super::join).
pub fn reached(cfg: &ControlFlowGraph) -> Vec<bool> {
    let mut seen = vec![false; cfg.nodes.len() + cfg.joins.len()];
    let mut open: Vec<BlockId> = Vec::new();
    let enter = |transitions: &[Transition], seen: &mut Vec<bool>, open: &mut Vec<BlockId>| {
        for successor in transitions
            .iter()
            .flat_map(|transition| &transition.successors)
        {
            let known = cfg.number(successor.to).and_then(|n| seen.get_mut(n));
            if let Some(known) = known.filter(|known| !**known) {
                *known = true;
                open.push(successor.to);
            }
        }
    };
    enter(&cfg.start, &mut seen, &mut open);
    while let Some(block) = open.pop() {
        enter(cfg.transitions(block), &mut seen, &mut open);
    }
    seen
}

/// Reports nodes that nothing leads to. Of nodes that only unreachable ones lead to, the first is enough.
pub fn unreachable(cfg: &ControlFlowGraph, reached: &[bool], diags: &mut Diagnostics) {
    let among = |block: BlockId| {
        cfg.number(block)
            .is_some_and(|n| !reached.get(n).copied().unwrap_or(true))
    };
    for group in components(cfg, among, |_, _| true, Ends::Heads) {
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
    let depth = OnceCell::new();
    for group in components(cfg, stuck, |_, transition| usual(transition), Ends::Sinks) {
        if exits(&group) {
            continue;
        }
        let members = nodes(cfg, &group);
        let inside = |_: BlockId, transition: &Transition, to: BlockId| {
            usual(transition) && group.binary_search(&to).is_ok()
        };
        let Some((from, back)) = closing(cfg, &group, depth.get_or_init(|| depths(cfg))) else {
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

/// The arrow that closes a circle: from the block that is furthest from where the circle is come to, back to one that was met before
/// it. One from where all ways go back comes first: what goes on as well is more likely meant.
///
/// `depth` is how many arrows each block is away from `start`.
fn closing(cfg: &ControlFlowGraph, group: &[BlockId], depth: &[usize]) -> Option<(BlockId, Span)> {
    let inside = |block: &BlockId| group.binary_search(block).is_ok();
    let at = |block: BlockId| cfg.number(block).and_then(|n| depth.get(n).copied());
    let mut best: Option<((bool, usize), BlockId, Span)> = None;
    for from in group {
        let transitions = || {
            cfg.transitions(*from)
                .iter()
                .filter(|transition| usual(transition))
        };
        let successors = || transitions().flat_map(|transition| &transition.successors);
        // Nodes are written mostly in the order in which they run.
        let back = |to: BlockId| match (place(cfg, to), place(cfg, *from)) {
            (Some(to), Some(from)) => to <= from,
            _ => at(to) <= at(*from),
        };
        let goes_back = |successor: &&Successor| inside(&successor.to) && back(successor.to);
        let only = successors().all(|successor| goes_back(&successor));
        for successor in successors().filter(goes_back) {
            let rank = (only, place(cfg, *from).map_or(0, |from| from as usize));
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

/// How many arrows each block is away from `start`.
fn depths(cfg: &ControlFlowGraph) -> Vec<usize> {
    let mut depth = vec![usize::MAX; cfg.nodes.len() + cfg.joins.len()];
    let mut open: VecDeque<(BlockId, usize)> = VecDeque::new();
    let successors = |transitions: &[Transition]| -> Vec<BlockId> {
        transitions
            .iter()
            .flat_map(|transition| &transition.successors)
            .map(|successor| successor.to)
            .collect()
    };
    open.extend(successors(&cfg.start).into_iter().map(|to| (to, 0)));
    while let Some((block, steps)) = open.pop_front() {
        let slot = cfg.number(block).and_then(|n| depth.get_mut(n));
        if let Some(slot) = slot.filter(|slot| **slot == usize::MAX) {
            *slot = steps;
            open.extend(
                successors(cfg.transitions(block))
                    .into_iter()
                    .map(|to| (to, steps + 1)),
            );
        }
    }
    depth
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
