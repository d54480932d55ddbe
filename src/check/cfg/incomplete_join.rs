//! Joins that are waited at in vain on some way: a member comes, and another one can't any more.
//!
//! For each two members the way of the first is followed backwards. Where an arrow has others beside it and one
//! of them may still lead to the second member, the ways part there: that is their fork. Where `start` is met before any
//! fork, the first member comes alone, whatever jump brings it there: an arm, a tool, an error, a cap, a timeout. Where the
//! join itself is met, a circle comes back to one of its members only. Behind the fork, a way that leads past a member
//! leaves the others waiting: it is reported where an arm or a `skip` takes it, and counts for what is written
//! behind the join whatever takes it.

use std::collections::{BTreeSet, HashMap};

use crate::base::{IdVec, Span};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{JoinId, NodeId};

use super::super::not_proven::in_doubt;
use super::graph::InEdge;
use super::mhp::MayHappenInParallel;
use super::model::{BlockId, ControlFlowGraph, EdgeKind, JoinBlock, Successor};

/// Most arrows of a way that a message points at.
const SHOWN: usize = 6;

/// Steps that all searches of a flow may make together. What is beyond is not looked at, so that a
/// flow of joins upon joins is checked in time; conditions that show only there are not reported.
const STEPS: usize = 4_000_000;

/// Above so many members, each is compared with the next one only.
const PAIRED: usize = 8;

/// A way behind a fork that leads past a member of a join.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Past {
    /// The member that does not come.
    pub member: NodeId,
    /// What takes it.
    pub from: BlockId,
    /// Which of its ways it is.
    pub transition: usize,
}

/// How the members of each join come to it, two by two.
#[derive(Debug, Default)]
pub struct Arrivals {
    joins: IdVec<JoinId, Vec<Pair>>,
    /// Joins of which not all was looked at.
    unknown: BTreeSet<JoinId>,
}

/// Two members of a join: how the first one comes without the other.
#[derive(Debug)]
struct Pair {
    member: NodeId,
    other: NodeId,
    lonely: Lonely,
    /// Ways behind their fork that lead past the first one.
    past: Vec<Past>,
}

impl Arrivals {
    /// Follows the members of all joins of a flow.
    pub fn of(cfg: &ControlFlowGraph) -> Self {
        if cfg.joins.is_empty() {
            return Self::default();
        }
        let (mut steps, mut unknown) = (STEPS, BTreeSet::new());
        let joins = cfg.joins.entries().map(|(id, join)| {
            let mut search = Search::new(cfg, id, &mut steps);
            let pairs = pairs(join).into_iter();
            let mut pairs: Vec<Pair> = pairs
                .map(|(member, other)| search.pair(member, other))
                .collect();
            if *search.steps == 0 {
                // Where not all was looked at, an arm may lead to the other member all the same.
                pairs.iter_mut().for_each(|pair| pair.past.clear());
                unknown.insert(id);
            }
            pairs
        });
        let joins = joins.collect();
        Self { joins, unknown }
    }

    /// The ways that lead past members of a join.
    pub fn past(&self, join: JoinId) -> BTreeSet<Past> {
        let pairs = self.joins.get(join).into_iter().flatten();
        pairs.flat_map(|pair| pair.past.iter().copied()).collect()
    }
}

/// Reports joins that are reached by one member alone, and adds them to those that are `waiting`; and joins that an arm leads
/// past.
pub fn half_filled(
    cfg: &ControlFlowGraph,
    mhp: &MayHappenInParallel,
    arrivals: &Arrivals,
    waiting: &mut BTreeSet<JoinId>,
    diags: &mut Diagnostics,
) {
    let mut steps = STEPS;
    for (id, join) in cfg.joins.entries() {
        if !mhp.fires(id) || waiting.contains(&id) {
            continue;
        }
        let pairs = arrivals.joins.get(id).map_or(&[][..], Vec::as_slice);
        let mut search = Search::new(cfg, id, &mut steps);
        let beside = |block| mhp.beside(block);
        let alone = pairs.iter().find(|pair| {
            let lonely = &pair.lonely;
            let brought = |search: &mut Search| {
                lonely.again && search.comes_from_beside(join, pair.other, beside)
            };
            !(lonely.path.is_empty() || brought(&mut search))
        });
        if let Some(pair) = alone {
            diags.push(search.alone(join, pair));
            waiting.insert(id);
            continue;
        }
        if arrivals.unknown.contains(&id) || *search.steps == 0 {
            let what = "too many ways lead to joins that lead to joins";
            diags.push(in_doubt(&codes::JOIN_MAY_WAIT, what, join.span));
        }
        let past = pairs.iter().find_map(|pair| search.past(join, pair));
        past.into_iter().for_each(|found| diags.push(found));
    }
}

struct Search<'a, 'b> {
    cfg: &'a ControlFlowGraph,
    join: JoinId,
    steps: &'b mut usize,
    /// Whether a block may lead to a member without passing the join.
    known: HashMap<(NodeId, BlockId), bool>,
}

/// What following a member's ways backwards has found.
#[derive(Debug)]
struct Lonely {
    /// Arrows from `start`, or from the join itself, to the member; empty where all ways come from a fork.
    path: Vec<Span>,
    /// The path begins at the join itself.
    again: bool,
    /// Where the path comes into the member's usual ways, for a circle.
    back: Option<Span>,
    /// Blocks between the fork and the member.
    region: BTreeSet<BlockId>,
    /// Those of them that the fork leads to.
    begins: BTreeSet<BlockId>,
}

impl<'a, 'b> Search<'a, 'b> {
    fn new(cfg: &'a ControlFlowGraph, join: JoinId, steps: &'b mut usize) -> Self {
        Self {
            cfg,
            join,
            steps,
            known: HashMap::new(),
        }
    }

    fn pair(&mut self, member: NodeId, other: NodeId) -> Pair {
        let mut lonely = self.lonely(member, other);
        let past = match lonely.path.is_empty() {
            true => self.ways_past(member, &lonely),
            false => Vec::new(),
        };
        // Of many pairs only what is found is kept.
        (lonely.region, lonely.begins) = (BTreeSet::new(), BTreeSet::new());
        Pair {
            member,
            other,
            lonely,
            past,
        }
    }

    /// Follows the ways of a member backwards to where they part from those of another.
    fn lonely(&mut self, member: NodeId, other: NodeId) -> Lonely {
        let mut found = Lonely {
            path: Vec::new(),
            again: false,
            back: None,
            region: BTreeSet::from([BlockId::Node(member)]),
            begins: BTreeSet::new(),
        };
        let here = BlockId::Join(self.join);
        let arrives = self
            .cfg
            .transitions(BlockId::Node(member))
            .iter()
            .any(|transition| {
                let others = transition
                    .successors
                    .iter()
                    .filter(|successor| successor.to != here);
                let mut others =
                    others.filter(|successor| self.leads(successor, Some(member), other));
                transition
                    .successors
                    .iter()
                    .any(|successor| successor.to == here)
                    && others.next().is_none()
            });
        if !arrives {
            return found;
        }
        let mut after: HashMap<BlockId, (BlockId, Span)> = HashMap::new();
        let mut open = vec![BlockId::Node(member)];
        while let Some(block) = open.pop() {
            for arrow in self.cfg.in_edges(block) {
                if self.parts(&arrow, other) {
                    found.begins.insert(block);
                    continue;
                }
                let span = arrow
                    .successor()
                    .map_or(arrow.transition.span, |successor| successor.span);
                match arrow.from {
                    Some(from) if from != here && !found.region.insert(from) => {}
                    Some(from) if from != here => {
                        after.insert(from, (block, span));
                        open.push(from);
                    }
                    begin if found.path.is_empty() => {
                        found.again = begin.is_some();
                        self.trace(&mut found, &after, block, span);
                    }
                    _ => {}
                }
            }
        }
        found
    }

    /// Writes down the arrows from where a path begins.
    fn trace(
        &self,
        found: &mut Lonely,
        after: &HashMap<BlockId, (BlockId, Span)>,
        first: BlockId,
        span: Span,
    ) {
        let (mut at, mut span) = (first, span);
        loop {
            found.path.push(span);
            if found.back.is_none() && self.cfg.in_edges(at).count() > 1 {
                found.back = Some(span);
            }
            match after.get(&at) {
                Some((next, arrow)) => (at, span) = (*next, *arrow),
                None => return,
            }
        }
    }

    /// Whether the way of an arrow leads to the other member as well.
    fn parts(&mut self, arrow: &InEdge, other: NodeId) -> bool {
        let from = match arrow.from {
            Some(BlockId::Node(node)) => Some(node),
            _ => None,
        };
        *self.steps = self.steps.saturating_sub(arrow.transition.successors.len());
        let straight = |successor: &Successor| successor.to == BlockId::Node(other);
        *self.steps == 0
            || arrow.beside().any(straight)
            || arrow
                .beside()
                .any(|successor| self.leads(successor, from, other))
    }

    /// Whether a goal may lead to a member without passing the join.
    fn leads(&mut self, successor: &Successor, from: Option<NodeId>, member: NodeId) -> bool {
        if successor.to == BlockId::Join(self.join) {
            return from == Some(member);
        }
        if successor.to == BlockId::Node(member) {
            return true;
        }
        if let Some(known) = self.known.get(&(member, successor.to)) {
            return *known;
        }
        let mut seen = BTreeSet::from([successor.to]);
        let mut open = vec![successor.to];
        while let Some(block) = open.pop() {
            for next in self
                .cfg
                .transitions(block)
                .iter()
                .flat_map(|transition| &transition.successors)
            {
                *self.steps = self.steps.saturating_sub(1);
                let known = self.known.get(&(member, next.to)).copied();
                if *self.steps == 0 || next.to == BlockId::Node(member) || known == Some(true) {
                    self.known.insert((member, successor.to), true);
                    return true;
                }
                let passes = next.to != BlockId::Join(self.join) && known.is_none();
                if passes && seen.insert(next.to) {
                    open.push(next.to);
                }
            }
        }
        self.known
            .extend(seen.into_iter().map(|block| ((member, block), false)));
        false
    }

    /// Whether something that runs beside what the join leads to may bring the member again.
    fn comes_from_beside(
        &mut self,
        join: &JoinBlock,
        member: NodeId,
        beside: impl Fn(NodeId) -> Vec<BlockId>,
    ) -> bool {
        let mut seen = BTreeSet::new();
        let mut open: Vec<&Successor> = join
            .transitions
            .iter()
            .flat_map(|transition| &transition.successors)
            .collect();
        while let Some(successor) = open.pop() {
            let BlockId::Node(node) = successor.to else {
                continue;
            };
            if !seen.insert(node) {
                continue;
            }
            if self.cfg.nodes.get(node).is_some_and(|node| node.branch) {
                open.extend(
                    self.cfg
                        .transitions(successor.to)
                        .iter()
                        .flat_map(|transition| &transition.successors),
                );
                continue;
            }
            for block in beside(node) {
                let successor = Successor {
                    to: block,
                    many: false,
                    span: Span::default(),
                };
                if self.leads(&successor, None, member) {
                    return true;
                }
            }
        }
        false
    }

    /// Ways behind the fork that lead past the member.
    fn ways_past(&mut self, member: NodeId, lonely: &Lonely) -> Vec<Past> {
        let mut past = Vec::new();
        let mut seen = lonely.begins.clone();
        let mut open: Vec<BlockId> = seen.iter().copied().collect();
        while let Some(block) = open.pop() {
            let node = match block {
                BlockId::Node(node) => Some(node),
                _ => None,
            };
            for (at, transition) in self.cfg.transitions(block).iter().enumerate() {
                // A cap is met only where a circle leads back.
                if transition.kind == EdgeKind::Visits && !self.comes_back(block) {
                    continue;
                }
                // What the member leads to itself runs when it has come.
                let on = transition
                    .successors
                    .iter()
                    .filter(|_| node != Some(member));
                let within = on.filter(|successor| lonely.region.contains(&successor.to));
                open.extend(
                    within
                        .map(|successor| successor.to)
                        .filter(|to| seen.insert(*to)),
                );
                let stops =
                    |successor: &Successor| matches!(successor.to, BlockId::Fail | BlockId::Leave);
                let mut successors = transition.successors.iter();
                if !transition.successors.iter().any(stops)
                    && !successors.any(|successor| self.leads(successor, node, member))
                {
                    past.push(Past {
                        member,
                        from: block,
                        transition: at,
                    });
                }
            }
        }
        past
    }

    /// Whether some arrow leads to a block from its own circle.
    fn comes_back(&self, block: BlockId) -> bool {
        let mut before = self.cfg.predecessors(block);
        before.any(|from| self.cfg.same_component(from, block))
    }

    fn alone(&self, join: &JoinBlock, pair: &Pair) -> Diagnostic {
        let name = |id| self.cfg.name(BlockId::Node(id));
        let (one, missing, lonely) = (name(pair.member), name(pair.other), &pair.lonely);
        let both = format!(
            "lead to both, as in `-> [{one}, {missing}]`, or write an edge from each member instead of the join"
        );
        if lonely.again {
            let at = lonely.back.or(lonely.path.last().copied());
            let message = format!(
                "the way back from this join comes to `{one}` but not to `{missing}`, so the join then waits for ever for `{missing}`"
            );
            let mut found =
                Diagnostic::new(&codes::JOIN_WITHOUT_FORK, message, at.unwrap_or(join.span))
                    .here(format!("back to `{one}`"))
                    .label(join.span, format!("waits for `{missing}` too"))
                    .help(both);
            for span in lonely
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
        for span in lonely.path.iter().take(SHOWN) {
            found = found.label(*span, format!("on the way to `{one}` alone"));
        }
        found
    }

    /// The arms that lead past the first member of a pair.
    fn past(&self, join: &JoinBlock, pair: &Pair) -> Option<Diagnostic> {
        let name = |id| self.cfg.name(BlockId::Node(id));
        let (member, other) = (pair.member, pair.other);
        let transitions = pair.past.iter();
        let transitions =
            transitions.filter_map(|past| self.cfg.transitions(past.from).get(past.transition));
        let chosen = transitions
            .filter(|transition| matches!(transition.kind, EdgeKind::Goto | EdgeKind::Skip));
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

/// Which members are compared: all with all, of many each with the next.
fn pairs(join: &JoinBlock) -> Vec<(NodeId, NodeId)> {
    let members: Vec<NodeId> = join.members.iter().map(|(member, _)| *member).collect();
    let others = |i: usize| -> Vec<NodeId> {
        match members.len() > PAIRED {
            true => members
                .iter()
                .cycle()
                .skip(i + 1)
                .take(1)
                .copied()
                .collect(),
            false => members
                .iter()
                .enumerate()
                .filter(|(at, _)| *at != i)
                .map(|(_, other)| *other)
                .collect(),
        }
    };
    let each = members.iter().enumerate();
    each.flat_map(|(i, member)| others(i).into_iter().map(move |other| (*member, other)))
        .collect()
}
