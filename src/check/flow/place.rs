//! Where a token of a run can be between two super-steps, and where it goes from there.

use std::collections::{BTreeSet, HashMap};

use crate::ir::{JoinId, NodeId};

use super::model::{Cause, Flow, Goal, Spot, Way};

/// A number for a place: nodes first (as running), then members waiting at joins, then deferred nodes waiting.
pub type Place = u32;

/// The places of a flow. Branches have none: whoever goes to one is taken on at once.
pub struct Places<'a> {
    flow: &'a Flow,
    /// First place of each join's waiting members.
    waiting: Vec<Place>,
    /// The place of each member waiting at a join.
    members: HashMap<(JoinId, NodeId), Place>,
    /// First place of the deferred nodes waiting; one for each node.
    deferred: Place,
}

impl<'a> Places<'a> {
    /// Numbers the places of a flow.
    pub fn new(flow: &'a Flow) -> Self {
        let mut next = flow.stops.len() as Place;
        let waiting = flow.joins.iter().map(|join| {
            let first = next;
            next += join.members.len() as Place;
            first
        });
        let waiting: Vec<Place> = waiting.collect();
        let mut members = HashMap::new();
        for ((id, join), first) in flow.joins.entries().zip(&waiting) {
            for ((node, _), place) in join.members.iter().zip(*first..) {
                // A member that is named twice waits at its first place.
                members.entry((id, *node)).or_insert(place);
            }
        }
        Self {
            members,
            flow,
            waiting,
            deferred: next,
        }
    }

    /// How many places there are.
    pub fn count(&self) -> usize {
        self.deferred as usize + self.flow.stops.len()
    }

    /// The node that runs at a place.
    pub fn running(&self, place: Place) -> Option<NodeId> {
        ((place as usize) < self.flow.stops.len()).then_some(NodeId(place))
    }

    /// The node that waits at a place until nothing else is left.
    pub fn deferred(&self, place: Place) -> Option<NodeId> {
        place.checked_sub(self.deferred).map(NodeId)
    }

    /// Where a deferred node waits.
    pub fn deferring(&self, node: NodeId) -> Place {
        self.deferred + node.0
    }

    /// The join and the member that wait at a place.
    pub fn waits(&self, place: Place) -> Option<(JoinId, NodeId)> {
        if self.running(place).is_some() || place >= self.deferred {
            return None;
        }
        let after = self.waiting.partition_point(|first| *first <= place);
        let index = after.checked_sub(1)?;
        let (join, first) = (JoinId(index as u32), self.waiting.get(index)?);
        let member = self
            .flow
            .joins
            .get(join)?
            .members
            .get((place - first) as usize)?;
        Some((join, member.0))
    }

    /// Where a member waits at a join.
    pub fn wait(&self, join: JoinId, member: NodeId) -> Option<Place> {
        self.members.get(&(join, member)).copied()
    }

    /// The ways that a finished node, or one taken on through branches, can take.
    pub fn ways(&self, node: NodeId) -> impl Iterator<Item = &'a Way> + use<'a> {
        let ways = self.flow.ways(Spot::Node(node)).iter();
        ways.filter(|way| way.cause != Cause::Visits)
    }

    /// The place that a goal leads to itself, `from` being the node that arrives at a join. The ways that are taken on at
    /// once from there are handed to `passed`.
    pub fn step(
        &self,
        goal: &Goal,
        from: Option<NodeId>,
        passed: impl FnMut(&'a Way),
    ) -> Option<Place> {
        match goal.to {
            Spot::Node(id) => {
                let stop = self.flow.stops.get(id)?;
                let on = stop.ways.iter();
                let on = on.filter(|way| stop.branch || way.cause == Cause::Visits);
                on.for_each(passed);
                match (stop.branch, stop.defer) {
                    (true, _) => None,
                    (false, true) => Some(self.deferred + id.0),
                    (false, false) => Some(id.0),
                }
            }
            Spot::Join(join) => from.and_then(|member| self.wait(join, member)),
            Spot::End | Spot::Fail | Spot::Leave => None,
        }
    }

    /// The places that going to a spot may lead to, `from` being the node that arrives at a join.
    /// Branches are followed, and a node that has been visited too often is left for its `max_visits` target.
    /// The ways passed on the way are handed to `passed`.
    pub fn arrive(
        &self,
        goal: &Goal,
        from: Option<NodeId>,
        passed: impl FnMut(&'a Way),
    ) -> BTreeSet<Place> {
        self.arrive_but(goal, from, None, passed)
    }

    /// The same, where the node `but` is not left for its `max_visits` target.
    pub(super) fn arrive_but(
        &self,
        goal: &Goal,
        from: Option<NodeId>,
        but: Option<NodeId>,
        mut passed: impl FnMut(&'a Way),
    ) -> BTreeSet<Place> {
        let mut places = BTreeSet::new();
        let mut seen = BTreeSet::new();
        let mut open = vec![(goal.to, from)];
        while let Some((spot, via)) = open.pop() {
            if !seen.insert((spot, via)) {
                continue;
            }
            match spot {
                Spot::Node(id) => {
                    let Some(stop) = self.flow.stops.get(id) else {
                        continue;
                    };
                    match (stop.branch, stop.defer) {
                        (true, _) => {}
                        (false, true) => {
                            places.insert(self.deferred + id.0);
                        }
                        (false, false) => {
                            places.insert(id.0);
                        }
                    }
                    let taken = |way: &&Way| match way.cause {
                        Cause::Visits => but != Some(id),
                        _ => stop.branch,
                    };
                    for way in stop.ways.iter().filter(taken) {
                        passed(way);
                        open.extend(way.goals.iter().map(|goal| (goal.to, Some(id))));
                    }
                }
                Spot::Join(join) => {
                    places.extend(via.and_then(|member| self.wait(join, member)));
                }
                Spot::End | Spot::Fail | Spot::Leave => {}
            }
        }
        places
    }
}
