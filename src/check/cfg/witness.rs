//! How two nodes come to run in the same super-step: both ways from their fork.

use crate::base::Span;
use crate::ir::NodeId;

use super::mhp::{MayHappenInParallel, Origin};
use super::model::BlockId;
use super::place::TokenPlace;

/// Two paths that begin at one fork and end in the same super-step.
pub struct Witness {
    /// The edge, arm or property that begins both.
    pub fork: Span,
    /// Names from the fork to the first node.
    pub first: String,
    /// Names from the fork to the second node.
    pub second: String,
}

impl MayHappenInParallel<'_> {
    /// How two nodes come to run together.
    pub fn witness(&self, a: NodeId, b: NodeId) -> Option<Witness> {
        let (mut p, mut q) = (a.0, b.0);
        let (mut first, mut second) = (vec![p], vec![q]);
        for _ in 0..=self.pairs.len() {
            let swapped = p > q;
            match *self.pairs.get(&(p.min(q), p.max(q)))? {
                Origin::Step(left, right) => {
                    (p, q) = match swapped {
                        true => (right, left),
                        false => (left, right),
                    };
                    first.push(p);
                    second.push(q);
                }
                Origin::Fork { from, span } => {
                    return Some(Witness {
                        fork: span,
                        first: self.path(from, &first),
                        second: self.path(from, &second),
                    });
                }
            }
        }
        None
    }

    /// `fork -> a -> b`, without the steps that a task waits.
    fn path(&self, from: Option<NodeId>, backwards: &[TokenPlace]) -> String {
        let fork = from.map_or("start", |node| self.cfg.name(BlockId::Node(node)));
        let mut names = vec![fork];
        for place in backwards.iter().rev() {
            if let Some(node) = self.places.running(*place) {
                names.push(self.cfg.name(BlockId::Node(node)));
            }
        }
        names.join(" -> ")
    }
}
