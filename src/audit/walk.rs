//! The heaviest way through a graph.
//!
//! Blocks are taken in cycles (strongly connected components), the last first. A block outside of all cycles costs
//! what its visit costs and then the dearest of its arms. A cycle is bounded where taking out nodes with `max_visits`
//! leaves none: each of those is passed so many times, and between two passes lies at most the longest way through what is left.
//! Where several ways of a cycle are under way at once, each block costs what its visits cost, as often as it is come to.

use std::collections::BTreeMap;

use crate::check::cfg::BlockId;
use crate::check::cfg::model::Synthetic;

use super::bound::Bound;
use super::count::Counts;
use super::cycle::Cycle;
use super::graph::BoundedGraph;

/// What several ways at once cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Together {
    /// As much as the longest.
    Longest,
    /// As much as all.
    Sum,
}

/// What a visit of each block costs; nothing where there is no entry.
type Weights = BTreeMap<BlockId, Bound>;

/// What all visits cost together, with what each block costs a visit.
pub(super) fn sum(graph: &BoundedGraph, counts: &Counts, weights: Weights) -> Bound {
    if weights.values().all(Bound::is_none) {
        return Bound::NONE;
    }
    // Two ways to count, none of which is more than a bound: along the ways, of which one is taken where there is a
    // choice; and by how often each block is come to.
    let by_block = weights.iter();
    let by_block = by_block.map(|(block, weight)| weight.clone().times(&counts.tasks_of(*block)));
    let by_block = by_block.sum();
    let walk = Walk::new(graph, weights, Together::Sum, counts);
    walk.cost(&[BlockId::Entry]).min(by_block)
}

/// The super-steps of the graph's own.
pub(super) fn longest(graph: &BoundedGraph, counts: &Counts) -> Bound {
    let nodes = graph.cfg.nodes.entries();
    let own = nodes.filter(|(_, node)| match node.synthetic {
        None => !node.branch,
        Some(synthetic) => synthetic != Synthetic::Choice,
    });
    let own = own.map(|(id, _)| (BlockId::Node(id), Bound::AtMost(1)));
    let own: Weights = own.collect();
    // In each super-step at least one node runs.
    let by_block = own.keys().map(|block| counts.steps_of(*block)).sum();
    let deferred = |block| match block {
        BlockId::Node(id) => graph.cfg.nodes.get(id).is_some_and(|node| node.defer),
        _ => false,
    };
    let waiting = graph.cfg.blocks().filter(|block| deferred(*block));
    // A node that waits for all others begins after them, whatever led to it: a run is what comes before the first such
    // wait, and behind each what comes before the next.
    let begins: Vec<BlockId> = std::iter::once(BlockId::Entry).chain(waiting).collect();
    let walk = Walk::new(graph, own, Together::Longest, counts);
    walk.cost(&begins).min(by_block)
}

struct Walk<'g> {
    graph: &'g BoundedGraph,
    weights: Weights,
    together: Together,
    counts: &'g Counts,
    /// Cost from a block on, where it is known.
    from: BTreeMap<BlockId, Bound>,
}

impl<'g> Walk<'g> {
    fn new(
        graph: &'g BoundedGraph,
        weights: Weights,
        together: Together,
        counts: &'g Counts,
    ) -> Self {
        Self {
            graph,
            weights,
            together,
            counts,
            from: BTreeMap::new(),
        }
    }

    /// The cost from some blocks on, as often as each is begun at. What leads to one of them ends there.
    fn cost(mut self, begins: &[BlockId]) -> Bound {
        let rest = |block| !begins.contains(&block);
        for members in self.graph.cfg.components_last_first(rest) {
            if self.graph.is_cycle(&members) {
                self.cycle(members);
                continue;
            }
            for block in members {
                let cost = self.begin(block);
                self.from.insert(block, cost);
            }
        }
        let begins = begins.iter();
        let costs = begins.map(|block| self.begin(*block).times(&self.counts.steps_of(*block)));
        costs.sum()
    }

    /// The cost from a block on that is in no cycle.
    fn begin(&self, block: BlockId) -> Bound {
        self.weight(block).plus(self.after(block, |_| true))
    }

    fn weight(&self, block: BlockId) -> Bound {
        self.weights.get(&block).cloned().unwrap_or(Bound::NONE)
    }

    fn known(&self, block: BlockId) -> Bound {
        self.from.get(&block).cloned().unwrap_or(Bound::NONE)
    }

    /// The dearest transition of a block, of the ways that `outside` takes.
    fn after(&self, from: BlockId, outside: impl Fn(BlockId) -> bool) -> Bound {
        let transitions = self.graph.transitions(from).map(|to| {
            let to = to.into_iter().filter(|to| outside(*to));
            match self.together {
                Together::Longest => Bound::greatest(to.map(|to| self.known(to))),
                Together::Sum => {
                    let to = to.filter(|to| self.counts_with(from, *to));
                    to.map(|to| self.led(from, to)).sum()
                }
            }
        });
        Bound::greatest(transitions)
    }

    /// Whether the cost of a block is counted with the way from another one. That of a join is with its first member.
    fn counts_with(&self, from: BlockId, to: BlockId) -> bool {
        match to {
            BlockId::Join(join) => {
                let first = self.graph.cfg.members(join).min();
                first.map(BlockId::Node) == Some(from)
            }
            _ => true,
        }
    }

    /// What begins where one task leads. Tasks of one send run in one super-step: where they have no choice, what they
    /// lead to is begun once.
    fn led(&self, from: BlockId, to: BlockId) -> Bound {
        let Some(tasks) = self.graph.sent(from, to) else {
            return self.known(to);
        };
        let once = |next: &BlockId| {
            let node = matches!(next, BlockId::Node(_)) && !self.graph.cfg.is_branch(*next);
            node && self.graph.sent(to, *next).is_none()
        };
        let transitions: Vec<_> = self.graph.transitions(to).collect();
        match transitions.as_slice() {
            [next] if next.iter().all(once) => {
                let next: Bound = next.iter().map(|next| self.known(*next)).sum();
                self.weight(to).times(tasks).plus(next)
            }
            _ => self.known(to).times(tasks),
        }
    }

    fn cycle(&mut self, members: Vec<BlockId>) {
        let cycle = Cycle::new(self.graph, members);
        let forks = self.together == Together::Sum && cycle.forks();
        let members = cycle.members.iter();
        let leaving = members.clone().map(|block| {
            let after = self.after(*block, |to| !cycle.members.contains(&to));
            match forks {
                true => after.times(&self.counts.tasks_of(*block)),
                false => after,
            }
        });
        let exits = match forks {
            true => leaving.sum(),
            false => Bound::greatest(leaving),
        };
        let free = members.clone().all(|block| self.weight(*block).is_none());
        let costs = match cycle.cut() {
            _ if free => BTreeMap::new(),
            // Several ways may be under way.
            Ok(_) if forks => {
                let all = members.clone();
                let all = all.map(|block| self.weight(*block).times(&self.counts.tasks_of(*block)));
                let all: Bound = all.sum();
                members.map(|block| (*block, all.clone())).collect()
            }
            Ok(cut) => self.around(&cycle, &cut),
            Err(reason) => {
                let why = Bound::unbounded(reason);
                members.map(|block| (*block, why.clone())).collect()
            }
        };
        for block in &cycle.members {
            let cost = costs.get(block).cloned().unwrap_or(Bound::NONE);
            self.from.insert(*block, cost.plus(exits.clone()));
        }
    }

    /// The costs of each member of a bounded cycle, from it on: between two visits of blocks that cut it lies at most the
    /// dearest way through blocks that don't.
    fn around(&self, cycle: &Cycle<'_>, cut: &BTreeMap<BlockId, u64>) -> Weights {
        let mut costs = Weights::new();
        let visit = |block: BlockId, within: &Weights| {
            let next = self.graph.successors(block);
            let next = next.filter_map(|to| within.get(&to).cloned());
            self.weight(block).plus(Bound::greatest(next))
        };
        let rest = cycle.last_first(|block| !cut.contains_key(&block));
        for block in rest.into_iter().flatten() {
            costs.insert(block, visit(block, &costs));
        }
        let rounds = cut.iter();
        let rounds = rounds.map(|(block, cap)| visit(*block, &costs).times(&Bound::AtMost(*cap)));
        let rounds: Bound = rounds.sum();
        for cost in costs.values_mut() {
            *cost = cost.clone().plus(rounds.clone());
        }
        costs.extend(cut.keys().map(|block| (*block, rounds.clone())));
        costs
    }
}
