//! Who does not run beside a node that is visited often enough: what its `max_visits` leads to in its place.
//!
//! Two tasks that come to one node in the same super-step make one task of it. It is entered, or left for the target of
//! its `max_visits`; never both.

use std::collections::BTreeSet;

use super::model::{Cause, Spot, Way};
use super::place::Place;
use super::together::Together;

impl Together<'_> {
    /// The pairs of places in the next super-step of two tasks of which one is a node, and the other only its stand-in.
    pub(super) fn apart(
        &self,
        (a, left): (Place, &[Place]),
        (b, right): (Place, &[Place]),
    ) -> BTreeSet<(Place, Place)> {
        let mut apart = BTreeSet::new();
        for p in left.iter().filter(|p| self.capped(**p)) {
            let others = self.stand_ins(*p, a, (b, right));
            apart.extend(others.into_iter().map(|q| (*p, q)));
        }
        for q in right.iter().filter(|q| self.capped(**q)) {
            let others = self.stand_ins(*q, b, (a, left));
            apart.extend(others.into_iter().map(|p| (p, *q)));
        }
        apart
    }

    fn capped(&self, place: Place) -> bool {
        let node = self.places.running(place);
        let stop = node.and_then(|id| self.flow.stops.get(id));
        stop.is_some_and(|stop| stop.ways.iter().any(|way| way.cause == Cause::Visits))
    }

    /// Places behind a task that it only comes to in place of a capped node, which another task comes to.
    fn stand_ins(
        &self,
        capped: Place,
        one: Place,
        (other, after): (Place, &[Place]),
    ) -> Vec<Place> {
        let Some(node) = self.places.running(capped) else {
            return Vec::new();
        };
        // Tasks of an `each` are visits of their own.
        let sent = |way: &Way| {
            let mut goals = way.goals.iter();
            goals.any(|goal| goal.many && goal.to == Spot::Node(node))
        };
        let (Some(one), Some(from)) = (self.places.running(one), self.places.running(other)) else {
            return Vec::new();
        };
        if self
            .places
            .ways(one)
            .chain(self.places.ways(from))
            .any(sent)
        {
            return Vec::new();
        }
        let goals = self.places.ways(from).flat_map(|way| &way.goals);
        let plain: BTreeSet<Place> = goals
            .flat_map(|goal| self.places.arrive_but(goal, Some(from), Some(node), |_| {}))
            .collect();
        let only = after.iter().filter(|place| !plain.contains(place));
        only.copied().collect()
    }
}
