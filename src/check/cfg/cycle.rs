//! Cycles: the witness of one, and those that only `branch` nodes make.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};

use crate::diag::{Diagnostic, Diagnostics, codes};

use super::finish::usual;
use super::graph::Wanted;
use super::model::{BlockId, ControlFlowGraph, Transition};

/// Most places of a cycle that a message points at.
const SHOWN: usize = 8;

/// A cycle: each block leads to the next, the last to the first.
pub struct Cycle(Vec<BlockId>);

impl Cycle {
    /// Points at each arrow of the cycle but the one that the finding itself points at.
    pub fn labels(&self, cfg: &ControlFlowGraph, mut found: Diagnostic) -> Diagnostic {
        let at = found.span();
        let next = self.0.iter().skip(1).chain(self.0.first());
        for (from, to) in self.0.iter().zip(next).take(SHOWN) {
            let mut successors = cfg.successors(*from);
            if let Some(successor) =
                successors.find(|successor| successor.to == *to && successor.span != at)
            {
                let text = match (from, to) {
                    (_, BlockId::Join(_)) => format!("`{}` joins others", cfg.name(*from)),
                    (BlockId::Join(_), _) => format!("the join leads to `{}`", cfg.name(*to)),
                    _ => format!("`{}` leads to `{}`", cfg.name(*from), cfg.name(*to)),
                };
                found = found.label(successor.span, text);
            }
        }
        found
    }

    /// Its blocks, from where it was looked for.
    pub fn blocks(&self) -> impl Iterator<Item = BlockId> + '_ {
        self.0.iter().copied()
    }

    /// `a -> b -> a`
    pub fn path(&self, cfg: &ControlFlowGraph) -> String {
        let blocks = self.0.iter().chain(self.0.first()).copied();
        cfg.path(blocks)
    }
}

/// Points at the arrows of a shortest cycle among some blocks, errors left out.
pub fn rounds(cfg: &ControlFlowGraph, group: &[BlockId], found: Diagnostic) -> Diagnostic {
    let inside = |_: BlockId, transition: &Transition, to: BlockId| {
        usual(transition) && group.binary_search(&to).is_ok()
    };
    let first = group.first();
    match first.and_then(|block| shortest(cfg, *block, inside)) {
        Some(cycle) => cycle.labels(cfg, found),
        None => found,
    }
}

/// A shortest cycle through a block, by the arrows that count.
pub fn shortest(
    cfg: &ControlFlowGraph,
    through: BlockId,
    take: impl Fn(BlockId, &Transition, BlockId) -> bool,
) -> Option<Cycle> {
    // Only what is come to has an entry: a flow may have thousands of small cycles.
    let mut from: HashMap<usize, BlockId> = HashMap::new();
    let mut open = VecDeque::from([through]);
    while let Some(block) = open.pop_front() {
        let successors = cfg.transitions(block).iter().flat_map(|transition| {
            transition
                .successors
                .iter()
                .map(move |successor| (transition, successor))
        });
        for (_, successor) in successors.filter(|(way, to)| take(block, way, to.to)) {
            if successor.to == through {
                return Some(back(cfg, &from, block, through));
            }
            let slot = cfg.number(successor.to).map(|n| from.entry(n));
            if let Some(Entry::Vacant(slot)) = slot {
                slot.insert(block);
                open.push_back(successor.to);
            }
        }
    }
    None
}

fn back(
    cfg: &ControlFlowGraph,
    from: &HashMap<usize, BlockId>,
    last: BlockId,
    first: BlockId,
) -> Cycle {
    let mut blocks = vec![last];
    let mut at = last;
    while at != first {
        match cfg.number(at).and_then(|n| from.get(&n)) {
            Some(before) => at = *before,
            None => break,
        }
        blocks.push(at);
    }
    blocks.reverse();
    Cycle(blocks)
}

/// Reports cycles made of `branch` nodes alone: a branch is followed without a super-step, so such
/// a cycle would never come to one.
pub fn branches(cfg: &ControlFlowGraph, diags: &mut Diagnostics) {
    let branch = |block: BlockId| match block {
        BlockId::Node(id) => cfg.nodes.get(id).filter(|node| node.synthetic.is_none()),
        _ => None,
    };
    for group in cfg.components_among(|block| cfg.is_branch(block), |_, _| true, Wanted::Any) {
        let inside = |_: BlockId, _: &Transition, to: BlockId| group.contains(&to);
        let first = group.first().copied();
        let (Some(node), Some(cycle)) = (
            first.and_then(branch),
            first.and_then(|block| shortest(cfg, block, inside)),
        ) else {
            continue;
        };
        let found = Diagnostic::new(
            &codes::BRANCH_CYCLE,
            format!("branches lead in a circle: `{}`", cycle.path(cfg)),
            node.span,
        )
        .help("a branch is followed at once, without a super-step; put a node that does something into the circle");
        diags.push(cycle.labels(cfg, found));
    }
}
