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
    let entries = Entries::of(graph, cfg);
    for (id, join) in cfg.joins.entries() {
        if !mhp.fires(id) || entries.at(BlockId::Join(id)) != Some(0) {
            continue;
        }
        let members = join.members.iter();
        let mut missing =
            members.filter(|(member, _)| entries.at(BlockId::Node(*member)) == Some(0));
        let found = missing
            .find_map(|(member, _)| Some((*member, entries.cap(graph, BlockId::Node(*member))?)));
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
    fn of(graph: &Graph, cfg: &'a ControlFlowGraph) -> Self {
        let mut entries = Self {
            cfg,
            most: vec![None; cfg.count()],
        };
        for block in cfg
            .in_order()
            .iter()
            .filter(|block| !cfg.goes_round(**block))
        {
            let most = entries.counted(graph, *block);
            let slot = cfg.number(*block).and_then(|n| entries.most.get_mut(n));
            slot.into_iter().for_each(|slot| *slot = most);
        }
        entries
    }

    fn at(&self, block: BlockId) -> Option<u64> {
        self.most.get(self.cfg.number(block)?).copied()?
    }

    /// How often a block is entered, from how often the others are.
    fn counted(&self, graph: &Graph, block: BlockId) -> Option<u64> {
        // A node takes one of its ways each time; that of its `max_visits` where it is not entered.
        let mut from: BTreeMap<(Option<BlockId>, bool), u64> = BTreeMap::new();
        for arrow in self.cfg.in_edges(block) {
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
    fn cap(&self, graph: &Graph, block: BlockId) -> Option<Unmet> {
        let mut seen = BTreeSet::from([block]);
        let mut open = vec![block];
        while let Some(block) = open.pop() {
            for arrow in self.cfg.in_edges(block) {
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
