//! How two nodes come to run in the same super-step: both ways from their fork.

use std::collections::{HashMap, HashSet, VecDeque};

use crate::base::Span;
use crate::ir::{JoinId, NodeId};

use super::mhp::{Fork, MayHappenInParallel};
use super::model::BlockId;
use super::place::TokenPlace;

/// Most pairs of places that are gone back by. Where more lie between, the ways are not shown.
const MOST: usize = 10_000;

/// Two paths that begin at one fork and end in the same super-step.
pub struct Witness {
    /// The edge, arm or property that begins both.
    pub fork: Span,
    /// Names from the fork to the first node.
    pub first: String,
    /// Names from the fork to the second node.
    pub second: String,
}

type Pair = (TokenPlace, TokenPlace);

/// From where places are come to.
#[derive(Default)]
pub(super) struct Back {
    /// In one super-step.
    before: HashMap<TokenPlace, Vec<TokenPlace>>,
    /// By a fork.
    forks: HashMap<TokenPlace, Vec<usize>>,
}

impl MayHappenInParallel<'_> {
    /// How two nodes come to run together: the shortest way back to a fork.
    pub fn witness(&self, a: NodeId, b: NodeId) -> Option<Witness> {
        let back = self.back.get_or_init(|| self.lead_back());
        let last = (a.0, b.0);
        let mut after: HashMap<Pair, Pair> = HashMap::new();
        let mut seen: HashSet<Pair> = HashSet::from([last]);
        let mut open = VecDeque::from([last]);
        while let Some(pair) = open.pop_front() {
            let forks = back.forks.get(&pair.0).into_iter().flatten();
            let mut forks = forks.filter_map(|at| self.forks.get(*at));
            if let Some(fork) = forks.find(|fork| leads_to(fork, pair)) {
                let ways: Vec<Pair> =
                    std::iter::successors(Some(pair), |pair| after.get(pair).copied()).collect();
                let path = |of: fn(&Pair) -> TokenPlace| self.path(fork.from, ways.iter().map(of));
                return Some(Witness {
                    fork: fork.span,
                    first: path(|pair| pair.0),
                    second: path(|pair| pair.1),
                });
            }
            let sources = |place| back.before.get(&place).map_or(&[][..], Vec::as_slice);
            for x in sources(pair.0) {
                for y in sources(pair.1).iter().filter(|y| self.has(*x, **y)) {
                    if seen.len() < MOST && seen.insert((*x, *y)) {
                        after.insert((*x, *y), pair);
                        open.push_back((*x, *y));
                    }
                }
            }
        }
        None
    }

    fn lead_back(&self) -> Back {
        let Back {
            mut before,
            mut forks,
        } = Back::default();
        for (at, fork) in self.forks.iter().enumerate() {
            for place in fork.reached.iter().flat_map(|(places, _)| places.iter()) {
                forks.entry(*place).or_default().push(at);
            }
        }
        for from in (0..)
            .take(self.rows.len())
            .filter(|from| self.is_alive(*from))
        {
            for to in self.after_known(from) {
                before.entry(*to).or_default().push(from);
            }
            if let Some(node) = self.places.deferred(from) {
                before.entry(node.0).or_default().push(from);
            }
        }
        for id in self.fired.iter().map(JoinId) {
            for to in self.led(id).iter() {
                before
                    .entry(to)
                    .or_default()
                    .extend(self.joins.arriving(id));
            }
        }
        Back { before, forks }
    }

    /// `fork -> a -> b`, without the steps that a task waits.
    fn path(&self, from: Option<NodeId>, places: impl Iterator<Item = TokenPlace>) -> String {
        let fork = from.map_or("start", |node| self.cfg.name(BlockId::Node(node)));
        let nodes = places.filter_map(|place| self.places.running(place));
        let nodes = nodes.map(|node| self.cfg.name(BlockId::Node(node)));
        std::iter::once(fork)
            .chain(nodes)
            .collect::<Vec<_>>()
            .join(" -> ")
    }
}

/// Whether two tasks that a fork starts are at these places first.
fn leads_to(fork: &Fork, (a, b): Pair) -> bool {
    let at = |place: TokenPlace| {
        let of = move |(_, (places, _)): &(usize, &(std::rc::Rc<[TokenPlace]>, bool))| {
            places.contains(&place)
        };
        fork.reached.iter().enumerate().filter(of)
    };
    at(a).any(|(one, (_, many))| at(b).any(|(other, _)| if one == other { *many } else { a != b }))
}
