//! Where a token of a run can be between two super-steps, and where it goes from there.

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use crate::ir::{JoinId, NodeId};

use super::model::{BlockId, ControlFlowGraph, EdgeKind, Successor, Transition};

/// A number for a place: nodes first (as running), then members waiting at joins, then deferred nodes waiting.
pub type TokenPlace = u32;

/// The places of a flow. Branches have none: whoever goes to one is taken on at once.
pub struct Marking<'a> {
    cfg: &'a ControlFlowGraph,
    /// First place of each join's waiting members.
    waiting: Vec<TokenPlace>,
    /// The place of each member waiting at a join.
    members: HashMap<(JoinId, NodeId), TokenPlace>,
    /// First place of the deferred nodes waiting; one for each node.
    deferred: TokenPlace,
}

impl<'a> Marking<'a> {
    /// Numbers the places of a flow.
    pub fn new(cfg: &'a ControlFlowGraph) -> Self {
        let mut next = cfg.nodes.len() as TokenPlace;
        let waiting = cfg.joins.iter().map(|join| {
            let first = next;
            next += join.members.len() as TokenPlace;
            first
        });
        let waiting: Vec<TokenPlace> = waiting.collect();
        let mut members = HashMap::new();
        for ((id, join), first) in cfg.joins.entries().zip(&waiting) {
            for ((node, _), place) in join.members.iter().zip(*first..) {
                // A member that is named twice waits at its first place.
                members.entry((id, *node)).or_insert(place);
            }
        }
        Self {
            members,
            cfg,
            waiting,
            deferred: next,
        }
    }

    /// How many places there are.
    pub fn count(&self) -> usize {
        self.deferred as usize + self.cfg.nodes.len()
    }

    /// The node that runs at a place.
    pub fn running(&self, place: TokenPlace) -> Option<NodeId> {
        ((place as usize) < self.cfg.nodes.len()).then_some(NodeId(place))
    }

    /// The node that waits at a place until nothing else is left.
    pub fn deferred(&self, place: TokenPlace) -> Option<NodeId> {
        place.checked_sub(self.deferred).map(NodeId)
    }

    /// Where a deferred node waits.
    pub fn deferring(&self, node: NodeId) -> TokenPlace {
        self.deferred + node.0
    }

    /// Where a task is that goes to a node; a branch is no place.
    fn place(&self, id: NodeId) -> Option<TokenPlace> {
        let node = self.cfg.nodes.get(id).filter(|node| !node.branch)?;
        Some(match node.defer {
            true => self.deferring(id),
            false => id.0,
        })
    }

    /// The join and the member that wait at a place.
    pub fn waits(&self, place: TokenPlace) -> Option<(JoinId, NodeId)> {
        if self.running(place).is_some() || place >= self.deferred {
            return None;
        }
        let after = self.waiting.partition_point(|first| *first <= place);
        let index = after.checked_sub(1)?;
        let (join, first) = (JoinId(index as u32), self.waiting.get(index)?);
        let member = self
            .cfg
            .joins
            .get(join)?
            .members
            .get((place - first) as usize)?;
        Some((join, member.0))
    }

    /// Where a member waits at a join.
    pub fn wait(&self, join: JoinId, member: NodeId) -> Option<TokenPlace> {
        self.members.get(&(join, member)).copied()
    }

    /// Where the members of a join wait. A member that is named twice never comes to its second place.
    pub fn waits_at(&self, join: JoinId) -> Range<TokenPlace> {
        let first = self.waiting.get(join.0 as usize).copied().unwrap_or(0);
        first..first + self.cfg.members(join).count() as TokenPlace
    }

    /// The ways that a finished node, or one taken on through branches, can take.
    pub fn transitions(&self, node: NodeId) -> impl Iterator<Item = &'a Transition> + use<'a> {
        let transitions = self.cfg.transitions(BlockId::Node(node)).iter();
        transitions.filter(|transition| transition.kind != EdgeKind::Visits)
    }

    /// The place that a goal leads to itself, `from` being the node that arrives at a join. The ways that are taken on at
    /// once from there are handed to `passed`.
    pub fn step(
        &self,
        successor: &Successor,
        from: Option<NodeId>,
        passed: impl FnMut(&'a Transition),
    ) -> Option<TokenPlace> {
        match successor.to {
            BlockId::Node(id) => {
                let node = self.cfg.nodes.get(id)?;
                let on = node.transitions.iter();
                let on = on.filter(|transition| node.branch || transition.kind == EdgeKind::Visits);
                on.for_each(passed);
                self.place(id)
            }
            BlockId::Join(join) => from.and_then(|member| self.wait(join, member)),
            BlockId::Entry | BlockId::End | BlockId::Fail | BlockId::Leave => None,
        }
    }

    /// The places that going to some blocks may lead to, `from` being the node that arrives at a join.
    /// Branches are followed, and a node that has been visited too often is left for its `max_visits` target.
    /// The ways passed on the way are handed to `passed`.
    pub fn arrive<'s>(
        &self,
        successors: impl IntoIterator<Item = &'s Successor>,
        from: Option<NodeId>,
        passed: impl FnMut(&'a Transition),
    ) -> BTreeSet<TokenPlace> {
        self.arrive_but(successors, from, None, passed)
    }

    /// The same, where the node `but` is not left for its `max_visits` target.
    pub(super) fn arrive_but<'s>(
        &self,
        successors: impl IntoIterator<Item = &'s Successor>,
        from: Option<NodeId>,
        but: Option<NodeId>,
        mut passed: impl FnMut(&'a Transition),
    ) -> BTreeSet<TokenPlace> {
        let mut places = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let successors = successors.into_iter();
        let mut open: Vec<_> = successors.map(|successor| (successor.to, from)).collect();
        while let Some((block, via)) = open.pop() {
            if !seen.insert((block, via)) {
                continue;
            }
            match block {
                BlockId::Node(id) => {
                    let Some(node) = self.cfg.nodes.get(id) else {
                        continue;
                    };
                    places.extend(self.place(id));
                    let taken = |transition: &&Transition| match transition.kind {
                        EdgeKind::Visits => but != Some(id),
                        _ => node.branch,
                    };
                    for transition in node.transitions.iter().filter(taken) {
                        passed(transition);
                        let successors = transition.successors.iter();
                        open.extend(successors.map(|successor| (successor.to, Some(id))));
                    }
                }
                BlockId::Join(join) => {
                    places.extend(via.and_then(|member| self.wait(join, member)));
                }
                BlockId::Entry | BlockId::End | BlockId::Fail | BlockId::Leave => {}
            }
        }
        places
    }
}
