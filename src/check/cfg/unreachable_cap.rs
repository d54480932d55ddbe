//! Joins that wait for what only a `max_visits` leads to that is never met.
//!
//! A node that no circle leads to is entered so many times at most: as often as arrows into it are taken, and each is taken
//! no more often than where it comes from is entered. A join leads on no more often than the rarest of its members arrives.
//! Where a node can't be entered more often than its `max_visits` allows, nothing comes to the target.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{JoinId, NodeId};
use crate::resolve::program::Graph;

use super::mhp::MayHappenInParallel;
use super::model::{BlockId, ControlFlowGraph, EdgeKind};
use super::predecessors::Predecessors;

/// A cap that is never met.
struct Unmet {
    /// The capped node.
    node: NodeId,
    /// How often it is entered at most.
    entries: u64,
    /// The `max_visits`.
    span: Span,
}

/// Reports these joins; gives them back.
pub fn unmet(
    graph: &Graph,
    cfg: &ControlFlowGraph,
    predecessors: &Predecessors,
    mhp: &MayHappenInParallel,
    diags: &mut Diagnostics,
) -> BTreeSet<JoinId> {
    let mut silent = BTreeSet::new();
    let capped = |node: &super::model::Block| {
        node.transitions
            .iter()
            .any(|transition| transition.kind == EdgeKind::Visits)
    };
    if cfg.joins.is_empty() || !cfg.nodes.iter().any(capped) {
        return silent;
    }
    let entries = Entries::of(graph, cfg, predecessors);
    for (id, join) in cfg.joins.entries() {
        if !mhp.fires(id) || entries.at(BlockId::Join(id)) != Some(0) {
            continue;
        }
        let members = join.members.iter();
        let mut missing =
            members.filter(|(member, _)| entries.at(BlockId::Node(*member)) == Some(0));
        let found = missing.find_map(|(member, _)| {
            Some((
                *member,
                entries.cap(graph, predecessors, BlockId::Node(*member))?,
            ))
        });
        let Some((member, cap)) = found else { continue };
        let (missing, node) = (
            cfg.name(BlockId::Node(member)),
            cfg.name(BlockId::Node(cap.node)),
        );
        let times = match cap.entries {
            1 => "once".to_owned(),
            more => format!("{more} times"),
        };
        silent.insert(id);
        diags.push(
            Diagnostic::new(
                &codes::JOIN_NEVER_FIRES,
                format!(
                    "this join waits for `{missing}`, to which only `max_visits` of `{node}` leads: `{node}` is entered {times} at most, so that it is never met"
                ),
                join.span,
            )
            .label(cap.span, "never met")
            .help(format!("lead to `{missing}` by an edge, or take it out of the join")),
        );
    }
    silent
}

/// How often each block is entered at most, by its number; `None` where nothing bounds that.
struct Entries<'a> {
    cfg: &'a ControlFlowGraph,
    most: Vec<Option<u64>>,
}

impl<'a> Entries<'a> {
    /// Counts, what is led to behind what leads there. What a circle leads to is not come to.
    fn of(graph: &Graph, cfg: &'a ControlFlowGraph, predecessors: &Predecessors) -> Self {
        let blocks: Vec<BlockId> = cfg.blocks().collect();
        let mut waits: Vec<usize> = blocks
            .iter()
            .map(|block| {
                predecessors
                    .into(cfg, *block)
                    .iter()
                    .filter(|arrow| arrow.from.is_some())
                    .count()
            })
            .collect();
        let mut entries = Self {
            cfg,
            most: vec![None; blocks.len()],
        };
        let mut open: Vec<usize> = (0..blocks.len())
            .filter(|at| waits.get(*at) == Some(&0))
            .collect();
        while let Some(at) = open.pop() {
            let block = cfg.block(at);
            let most = entries.counted(graph, predecessors, block);
            if let Some(slot) = entries.most.get_mut(at) {
                *slot = most;
            }
            for successor in cfg
                .transitions(block)
                .iter()
                .flat_map(|transition| &transition.successors)
            {
                let next = cfg.number(successor.to);
                if let Some((next, left)) = next.and_then(|next| Some((next, waits.get_mut(next)?)))
                {
                    *left -= 1;
                    if *left == 0 {
                        open.push(next);
                    }
                }
            }
        }
        entries
    }

    fn at(&self, block: BlockId) -> Option<u64> {
        self.most.get(self.cfg.number(block)?).copied()?
    }

    /// How often a block is entered, from how often the others are.
    fn counted(&self, graph: &Graph, predecessors: &Predecessors, block: BlockId) -> Option<u64> {
        // A node takes one of its ways each time; that of its `max_visits` where it is not entered.
        let mut from: BTreeMap<(Option<BlockId>, bool), u64> = BTreeMap::new();
        for arrow in predecessors.into(self.cfg, block) {
            let taken = match arrow.from {
                None => 1,
                Some(source) => self.taken(graph, source, arrow.transition.kind)?,
            };
            if taken > 0 && arrow.successor().is_none_or(|successor| successor.many) {
                return None;
            }
            let instead = arrow.transition.kind == EdgeKind::Visits;
            let most = from.entry((arrow.from, instead)).or_default();
            *most = taken.max(*most);
        }
        let BlockId::Join(id) = block else {
            return Some(from.into_values().fold(0, u64::saturating_add));
        };
        let members = self.cfg.joins.get(id)?.members.iter();
        let arrives = members.map(|(member, _)| {
            let transitions = [true, false].map(|instead| (Some(BlockId::Node(*member)), instead));
            let transitions =
                transitions.map(|transition| from.get(&transition).copied().unwrap_or_default());
            transitions.into_iter().fold(0, u64::saturating_add)
        });
        arrives.min()
    }

    /// How often the ways out of a block are taken that have this cause.
    fn taken(&self, graph: &Graph, block: BlockId, kind: EdgeKind) -> Option<u64> {
        let most = self.at(block)?;
        let BlockId::Node(id) = block else {
            return Some(most);
        };
        let max = graph
            .nodes
            .get(id)
            .and_then(|node| node.max_visits.as_ref());
        let Some(max) = max else {
            return Some(most);
        };
        // Each instance has its own number, which is at least one.
        let limit = max.limit_by.is_none().then_some(u64::from(max.limit));
        Some(match kind {
            EdgeKind::Visits => most.saturating_sub(limit.unwrap_or(1)),
            _ => most.min(limit.unwrap_or(most)),
        })
    }

    /// The cap that alone leads to a block, and is never met.
    fn cap(&self, graph: &Graph, predecessors: &Predecessors, block: BlockId) -> Option<Unmet> {
        let mut seen = BTreeSet::from([block]);
        let mut open = vec![block];
        while let Some(block) = open.pop() {
            for arrow in predecessors.into(self.cfg, block) {
                let Some(from) = arrow.from else { continue };
                if let (EdgeKind::Visits, BlockId::Node(node), Some(entries @ 1..)) =
                    (arrow.transition.kind, from, self.at(from))
                {
                    let max = graph.nodes.get(node)?.max_visits.as_ref()?;
                    return Some(Unmet {
                        node,
                        entries,
                        span: max.span,
                    });
                }
                if seen.insert(from) {
                    open.push(from);
                }
            }
        }
        None
    }
}
