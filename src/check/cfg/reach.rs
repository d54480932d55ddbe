//! What can be reached from `start`, and what can reach an exit.

use std::collections::BTreeSet;

use crate::base::Span;
use crate::base::name::list;
use crate::diag::{Diagnostic, Diagnostics, codes};

use super::block_set::BlockSet;
use super::cycle::rounds;
use super::finish::usual;
use super::graph::{OfCycle, Wanted};
use super::model::{Block, BlockId, ControlFlowGraph};

/// Reports nodes that nothing leads to. Of nodes that only unreachable ones lead to, the first is enough.
pub fn unreachable(cfg: &ControlFlowGraph, reached: &BlockSet, diags: &mut Diagnostics) {
    let among = |block: BlockId| !reached.contains(block);
    for group in cfg.components_among(among, |_, _| true, Wanted::Sources) {
        let mut nodes = nodes(cfg, &group);
        let Some(first) = nodes.next() else { continue };
        let message = format!("nothing leads to node `{}`", first.name);
        let mut found =
            Diagnostic::new(&codes::UNREACHABLE_NODE, message, first.span).help(format!(
                "name `{}` as the target of an edge or a `goto`, or take the node out",
                first.name
            ));
        for other in nodes {
            found = found.label(
                other.span,
                format!("`{}` only goes round with it", other.name),
            );
        }
        diags.push(found);
    }
}

/// Reports cycles without a way out. Errors don't count as a way out, nor does one of several targets:
/// the others go round on. Blocks of `reported` are in a cycle that was reported already; `exits` says of a cycle whether the
/// graph's `exit when` may end it.
pub fn trapped(
    cfg: &ControlFlowGraph,
    free: &BlockSet,
    (reported, exits): (&BTreeSet<BlockId>, OfCycle),
    diags: &mut Diagnostics,
) {
    let stuck = |block: BlockId| cfg.reached().contains(block) && !free.contains(block);
    for group in cfg.components_among(stuck, |_, way| usual(way), Wanted::Sinks) {
        if exits(&group) || group.iter().any(|block| reported.contains(block)) {
            continue;
        }
        let Some(back) = closing(cfg, &group) else {
            continue;
        };
        let names: Vec<&str> = nodes(cfg, &group).map(|node| &*node.name).collect();
        let help = match names.as_slice() {
            [_] => "give it an arm that leads on to `end`, or a `max_visits N -> TARGET`",
            _ => "give one of them an arm that leads on to `end`, or a `max_visits N -> TARGET`",
        };
        let message = format!("no way out of the cycle of {}", list(names.into_iter()));
        let found = Diagnostic::new(&codes::ENDLESS_CYCLE, message, back).help(help);
        let mut found = rounds(cfg, &group, found.here("this leads back"));
        let ways = |from: &BlockId| cfg.transitions(*from).iter().filter(|way| usual(way));
        let out = group.iter().flat_map(|from| {
            let successors = ways(from).flat_map(|way| &way.successors);
            successors
                .filter(|to| !stuck(to.to))
                .map(move |to| (from, to))
        });
        for (from, to) in out.take(ASIDE) {
            let text = format!("`{}` goes round as well as leading here", cfg.name(*from));
            found = found.label(to.span, text);
        }
        diags.push(found);
    }
}

/// Leads back to the entry of its cycle, by all ways; and where it is declared.
type Rank = (bool, bool, Option<u32>);

/// The edge that closes a cycle: one that leads back to a block by which every way into the cycle comes, which a cycle that is
/// entered in several places has not. One from where all ways go back comes first: what goes on as well is more likely meant. Then
/// the one that is declared last.
fn closing(cfg: &ControlFlowGraph, group: &[BlockId]) -> Option<Span> {
    let inside = |block: BlockId| group.binary_search(&block).is_ok();
    let mut best: Option<(Rank, Span)> = None;
    for from in group {
        let ways = cfg.transitions(*from).iter().filter(|way| usual(way));
        let successors = || ways.clone().flat_map(|way| &way.successors);
        let back = |to: BlockId| inside(to) && cfg.dominates(to, *from);
        let only = successors().all(|to| back(to.to));
        let declared = nodes(cfg, std::slice::from_ref(from))
            .map(|node| node.span.start)
            .next();
        for to in successors().filter(|to| inside(to.to)) {
            let rank = (back(to.to), only, declared);
            if best.is_none_or(|(known, _)| rank > known) {
                best = Some((rank, to.span));
            }
        }
    }
    best.map(|(_, span)| span)
}

/// Most arrows out of a cycle that a message points at.
const ASIDE: usize = 3;

fn nodes<'a>(cfg: &'a ControlFlowGraph, group: &[BlockId]) -> impl Iterator<Item = &'a Block> {
    group.iter().filter_map(|block| match block {
        BlockId::Node(at) => cfg.nodes.get(*at).filter(|node| node.synthetic.is_none()),
        _ => None,
    })
}
