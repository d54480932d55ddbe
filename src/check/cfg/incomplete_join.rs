//! Joins that are waited at in vain on some way: a member comes, and another one can't any more.
//!
//! Each member is compared with the next one, and the last with the first: where the ways of all part from those of another
//! member, some two neighbours part there too. The way of the first is followed backwards. Where an arrow has others beside it
//! and one of them may still lead to the second member, the ways part there: that is their fork. Where `start` is met before any
//! fork, the first member comes alone, whatever jump brings it there: an arm, a tool, an error, a cap, a timeout. Where the
//! join itself is met, a cycle comes back to one of its members only. Behind the fork, a way that leads past a member
//! leaves the others waiting: it is reported where a jump of a node takes it, and counts for what is written behind the join
//! whatever takes it.

use std::collections::{BTreeSet, HashMap};

use crate::base::{IdVec, Span};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{JoinId, NodeId};
use crate::resolve::program::Graph;

use super::super::not_proven::in_doubt;
use super::block_set::BlockSet;
use super::graph::InEdge;
use super::mhp::MayHappenInParallel;
use super::model::{BlockId, ControlFlowGraph, EdgeKind, JoinBlock};

/// Most arrows of a way that a message points at.
const SHOWN: usize = 6;

/// Most blocks that are looked at for one join. What needs more is not proven.
const STEPS: usize = 10_000_000;

/// A way behind a fork that leads past a member of a join.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Past {
    /// The member that does not come.
    pub member: NodeId,
    /// What takes it.
    pub from: BlockId,
    /// Which of its ways it is.
    pub transition: usize,
    /// Whether it may come back to the member in another round.
    pub back: bool,
}

/// How the members of each join come to it, two by two.
#[derive(Debug, Default)]
pub struct Arrivals {
    /// None of a join where there are too many ways.
    joins: IdVec<JoinId, Option<Vec<Pair>>>,
}

/// Two members of a join: how the first one comes without the other.
#[derive(Debug)]
struct Pair {
    member: NodeId,
    other: NodeId,
    /// Arrows from `start`, or from the join itself, to the first; empty where all ways come from a fork.
    path: Vec<Span>,
    /// The path begins at the join itself.
    again: bool,
    /// Where the path comes into the member's usual ways, for a cycle.
    back: Option<Span>,
    /// Ways behind their fork that lead past the first one.
    past: Vec<Past>,
}

impl Arrivals {
    /// Follows the members of all joins of a flow.
    pub fn of(cfg: &ControlFlowGraph) -> Self {
        let joins = cfg.joins.entries().map(|(id, join)| {
            let mut search = Search::new(cfg, id);
            let next = join.members.iter().cycle().skip(1);
            let pairs = join.members.iter().zip(next);
            let pairs = pairs.filter(|((member, _), (other, _))| member != other);
            let pairs = pairs.map(|((member, _), (other, _))| search.pair(*member, *other));
            let pairs = pairs.collect();
            (search.steps > 0).then_some(pairs)
        });
        let joins = joins.collect();
        Self { joins }
    }

    fn pairs(&self, join: JoinId) -> Option<&[Pair]> {
        self.joins.get(join)?.as_deref()
    }

    /// The ways that lead past members of a join.
    pub fn past(&self, join: JoinId) -> BTreeSet<Past> {
        let pairs = self.pairs(join).into_iter().flatten();
        pairs.flat_map(|pair| pair.past.iter().copied()).collect()
    }
}

/// Reports joins that are reached by one member alone, and adds them to those that are `waiting`; and joins that a jump leads
/// past.
pub fn half_filled(
    cfg: &ControlFlowGraph,
    mhp: &MayHappenInParallel,
    arrivals: &Arrivals,
    graph: &Graph,
    waiting: &mut BTreeSet<JoinId>,
    diags: &mut Diagnostics,
) {
    for (id, join) in cfg.joins.entries() {
        if !mhp.fires(id) || waiting.contains(&id) {
            continue;
        }
        let Some(pairs) = arrivals.pairs(id) else {
            let what = "too many ways lead to its members";
            diags.push(in_doubt(&codes::JOIN_MAY_WAIT, what, join.span));
            continue;
        };
        let mut search = Search::new(cfg, id);
        let alone = pairs.iter().find(|pair| {
            let brought = |search: &mut Search| pair.again && search.is_brought(mhp, pair.other);
            !(pair.path.is_empty() || brought(&mut search))
        });
        if let Some(pair) = alone {
            diags.push(search.alone(join, pair));
            waiting.insert(id);
        } else {
            let past = pairs.iter().find_map(|pair| search.past(graph, join, pair));
            past.into_iter().for_each(|found| diags.push(found));
        }
    }
}

/// A block that was come to backwards: by the arrow that leads on from it, and where the block behind that arrow stands.
type Visit = (BlockId, Option<(usize, Span)>);

struct Search<'a> {
    cfg: &'a ControlFlowGraph,
    join: JoinId,
    /// How many blocks may still be looked at.
    steps: usize,
    /// What leads to members, where it was asked for.
    before: HashMap<NodeId, BlockSet>,
}

impl<'a> Search<'a> {
    fn new(cfg: &'a ControlFlowGraph, join: JoinId) -> Self {
        Self {
            cfg,
            join,
            steps: STEPS,
            before: HashMap::new(),
        }
    }

    /// Follows the ways of a member backwards to where they part from those of another.
    fn pair(&mut self, member: NodeId, other: NodeId) -> Pair {
        let mut pair = Pair {
            member,
            other,
            path: Vec::new(),
            again: false,
            back: None,
            past: Vec::new(),
        };
        // Blocks between the fork and the member, and those of them that the fork leads to.
        let mut region = BlockSet::new(self.cfg);
        region.insert(BlockId::Node(member));
        let mut begins = BTreeSet::new();
        let here = BlockId::Join(self.join);
        let mut walk: Vec<Visit> = Vec::new();
        let mut open = Vec::new();
        if self.arrives(member, other) {
            walk.push((BlockId::Node(member), None));
            open.push(0);
        }
        while let Some((at, block)) = open.pop().and_then(|at| Some((at, walk.get(at)?.0))) {
            self.steps = self.steps.saturating_sub(1);
            for arrow in self.cfg.in_edges(block) {
                if self.parts(&arrow, other) {
                    begins.insert(block);
                    continue;
                }
                let to = arrow.successor();
                let span = to.map_or(arrow.transition.span, |to| to.span);
                match arrow.from {
                    Some(from) if from != here => {
                        if region.insert(from) {
                            open.push(walk.len());
                            walk.push((from, Some((at, span))));
                        }
                    }
                    begin => {
                        pair.again = begin.is_some();
                        self.trace(&mut pair, &walk, (at, span));
                        return pair;
                    }
                }
            }
        }
        pair.past = self.ways_past(member, &region, begins);
        pair
    }

    /// Whether a member comes to the join by some way that doesn't lead to the other one itself.
    fn arrives(&mut self, member: NodeId, other: NodeId) -> bool {
        let here = BlockId::Join(self.join);
        let transitions = self.cfg.transitions(BlockId::Node(member)).iter();
        let mut arriving = transitions.filter(|way| way.successors.iter().any(|to| to.to == here));
        arriving.any(|way| {
            let mut others = way.successors.iter().filter(|to| to.to != here);
            !others.any(|to| self.leads(to.to, Some(member), other))
        })
    }

    /// Writes down the arrows from where a path begins.
    fn trace(&self, pair: &mut Pair, walk: &[Visit], first: (usize, Span)) {
        let mut next = Some(first);
        while let Some((at, span)) = next {
            pair.path.push(span);
            let Some((block, before)) = walk.get(at).copied() else {
                break;
            };
            if pair.back.is_none() && self.cfg.in_edges(block).count() > 1 {
                pair.back = Some(span);
            }
            next = before;
        }
    }

    /// Whether the way of an arrow leads to the other member as well.
    fn parts(&mut self, arrow: &InEdge, other: NodeId) -> bool {
        let from = match arrow.from {
            Some(BlockId::Node(node)) => Some(node),
            _ => None,
        };
        let mut straight = self.cfg.in_edges(BlockId::Node(other));
        let straight = straight
            .any(|to| std::ptr::eq(to.transition, arrow.transition) && to.index != arrow.index);
        let mut beside = arrow.beside();
        straight || beside.any(|to| self.leads(to.to, from, other))
    }

    /// Whether a block that `from` leads to may lead to a member without passing the join.
    fn leads(&mut self, first: BlockId, from: Option<NodeId>, member: NodeId) -> bool {
        if first == BlockId::Join(self.join) {
            return from == Some(member);
        }
        first == BlockId::Node(member) || self.before(member).contains(first)
    }

    /// The blocks that may lead to a member without passing the join.
    fn before(&mut self, member: NodeId) -> &BlockSet {
        let (cfg, here) = (self.cfg, BlockId::Join(self.join));
        self.before.entry(member).or_insert_with(|| {
            let mut before = BlockSet::new(cfg);
            let mut open = vec![BlockId::Node(member)];
            while let Some(block) = open.pop().filter(|_| self.steps > 0) {
                let new = |from: &BlockId| *from != here && before.insert(*from);
                open.extend(cfg.predecessors(block).filter(new));
                self.steps = self.steps.saturating_sub(1);
            }
            before
        })
    }

    /// Whether something that runs beside what the join leads to may bring a member again.
    fn is_brought(&mut self, mhp: &MayHappenInParallel, member: NodeId) -> bool {
        let mut seen = BTreeSet::new();
        let mut open = vec![BlockId::Join(self.join)];
        while let Some(block) = open.pop() {
            for to in self.cfg.successors(block).map(|to| to.to) {
                let BlockId::Node(node) = to else { continue };
                if !seen.insert(node) {
                    continue;
                }
                if self.cfg.is_branch(to) {
                    open.push(to);
                } else if mhp
                    .beside(node)
                    .into_iter()
                    .any(|beside| self.leads(beside, None, member))
                {
                    return true;
                }
            }
        }
        false
    }

    /// Ways behind the fork that lead past the member.
    fn ways_past(
        &mut self,
        member: NodeId,
        region: &BlockSet,
        begins: BTreeSet<BlockId>,
    ) -> Vec<Past> {
        let mut past = Vec::new();
        let mut open: Vec<BlockId> = begins.into_iter().collect();
        let mut seen = BlockSet::new(self.cfg);
        open.iter().for_each(|block| _ = seen.insert(*block));
        while let Some(block) = open.pop() {
            let node = match block {
                BlockId::Node(node) => Some(node),
                _ => None,
            };
            for (at, transition) in self.cfg.transitions(block).iter().enumerate() {
                // A cap is met only where a cycle leads back.
                if transition.kind == EdgeKind::Visits && !self.cfg.goes_round(block) {
                    continue;
                }
                let to = || transition.successors.iter().map(|successor| successor.to);
                // What the member leads to itself runs when it has come.
                if node != Some(member) {
                    let within = to().filter(|to| region.contains(*to) && seen.insert(*to));
                    open.extend(within);
                }
                let stops = to().any(|to| matches!(to, BlockId::Fail | BlockId::Leave));
                if stops {
                    continue;
                }
                let back = to().any(|to| self.leads(to, node, member));
                if back && to().any(|to| region.contains(to)) {
                    continue;
                }
                past.push(Past {
                    member,
                    from: block,
                    transition: at,
                    back,
                });
            }
        }
        past
    }

    fn alone(&self, join: &JoinBlock, pair: &Pair) -> Diagnostic {
        let name = |id| self.cfg.name(BlockId::Node(id));
        let (one, missing) = (name(pair.member), name(pair.other));
        let both = format!(
            "lead to both, as in `-> [{one}, {missing}]`, or write an edge from each member instead of the join"
        );
        if pair.again {
            let at = pair.back.or(pair.path.last().copied());
            let message = format!(
                "the way back from this join comes to `{one}` but not to `{missing}`, so the join then waits for ever for `{missing}`"
            );
            let mut found =
                Diagnostic::new(&codes::JOIN_WITHOUT_FORK, message, at.unwrap_or(join.span))
                    .here(format!("back to `{one}`"))
                    .label(join.span, format!("waits for `{missing}` too"))
                    .help(both);
            for span in pair
                .path
                .iter()
                .filter(|span| Some(**span) != at)
                .take(SHOWN)
            {
                found = found.label(*span, "on the way back");
            }
            return found;
        }
        let message = format!(
            "this join waits for `{missing}`, which never comes where `{one}` is reached without it: no fork leads to both"
        );
        let mut found = Diagnostic::new(&codes::JOIN_WITHOUT_FORK, message, join.span).help(both);
        for span in pair.path.iter().take(SHOWN) {
            found = found.label(*span, format!("on the way to `{one}` alone"));
        }
        found
    }

    /// The jumps that lead past the first member of a pair. What the graph's own handler takes up ends what was under way.
    fn past(&self, graph: &Graph, join: &JoinBlock, pair: &Pair) -> Option<Diagnostic> {
        let name = |id| self.cfg.name(BlockId::Node(id));
        let (member, other) = (pair.member, pair.other);
        let handles = |block: BlockId| match block {
            BlockId::Node(id) => graph.nodes.get(id).is_some_and(|n| n.on_error.is_some()),
            _ => false,
        };
        let past = pair.past.iter().filter(|past| !past.back);
        let chosen = past.filter_map(|past| {
            let transition = self.cfg.transitions(past.from).get(past.transition)?;
            let chosen = match transition.kind {
                EdgeKind::Goto | EdgeKind::Skip | EdgeKind::Visits | EdgeKind::Timeout => true,
                EdgeKind::Error => handles(past.from),
                _ => false,
            };
            chosen.then_some(transition)
        });
        let mut arms: Vec<Span> = chosen.map(|transition| transition.span).collect();
        arms.sort();
        let first = *arms.first()?;
        let message = format!(
            "where this is taken, the join waits for `{}` in vain, and what `{}` has brought is lost",
            name(member),
            name(other)
        );
        let mut found = Diagnostic::new(&codes::JOIN_MAY_WAIT, message, first)
            .here(format!("leads past `{}`", name(member)))
            .label(join.span, "the join");
        for span in arms.iter().skip(1).take(SHOWN) {
            found = found.label(*span, format!("leads past `{}` too", name(member)));
        }
        Some(found.help(format!(
            "lead every arm to `{}`, or write an edge from each member (`{} -> ..`) instead of the join",
            name(member),
            name(other)
        )))
    }
}
