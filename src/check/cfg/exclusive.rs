//! Who does not run beside a node that is visited often enough: what its `max_visits` leads to in its place.
//!
//! Two tasks that come to one node in the same super-step make one task of it. It is entered, or left for the target of
//! its `max_visits`; never both.

use std::collections::BTreeSet;

use super::mhp::MayHappenInParallel;
use super::model::{BlockId, EdgeKind, Transition};
use super::place::TokenPlace;

impl MayHappenInParallel<'_> {
    /// The pairs of places in the next super-step of two tasks of which one is a node, and the other only its stand-in.
    pub(super) fn apart(
        &self,
        (a, left): (TokenPlace, &[TokenPlace]),
        (b, right): (TokenPlace, &[TokenPlace]),
    ) -> BTreeSet<(TokenPlace, TokenPlace)> {
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

    fn capped(&self, place: TokenPlace) -> bool {
        let node = self.places.running(place);
        let node = node.and_then(|id| self.cfg.nodes.get(id));
        node.is_some_and(|node| {
            node.transitions
                .iter()
                .any(|transition| transition.kind == EdgeKind::Visits)
        })
    }

    /// Places behind a task that it only comes to in place of a capped node, which another task comes to.
    fn stand_ins(
        &self,
        capped: TokenPlace,
        one: TokenPlace,
        (other, after): (TokenPlace, &[TokenPlace]),
    ) -> Vec<TokenPlace> {
        let Some(node) = self.places.running(capped) else {
            return Vec::new();
        };
        // Tasks of an `each` are visits of their own.
        let sent = |transition: &Transition| {
            let mut successors = transition.successors.iter();
            successors.any(|successor| successor.many && successor.to == BlockId::Node(node))
        };
        let (Some(one), Some(from)) = (self.places.running(one), self.places.running(other)) else {
            return Vec::new();
        };
        if self
            .places
            .transitions(one)
            .chain(self.places.transitions(from))
            .any(sent)
        {
            return Vec::new();
        }
        let successors = self
            .places
            .transitions(from)
            .flat_map(|transition| &transition.successors);
        let plain: BTreeSet<TokenPlace> = successors
            .flat_map(|successor| {
                self.places
                    .arrive_but(successor, Some(from), Some(node), |_| {})
            })
            .collect();
        let only = after.iter().filter(|place| !plain.contains(place));
        only.copied().collect()
    }
}
