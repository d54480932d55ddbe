//! The heaviest way through a graph.
//!
//! Blocks are taken in cycles (strongly connected components), the last first. A block outside of all cycles costs
//! what its visit costs and then the dearest of its arms. A cycle is bounded where taking out nodes with `max_visits`
//! leaves none: each of those is passed so many times, and between two passes lies at most the longest way through what is left.
//! Where several ways of a cycle are under way at once, each block costs what its visits cost, as often as it is come to.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::bound::Bound;
use super::count::{Counts, tasks_of};
use super::cycle::Cycle;
use super::map::{Map, Tasks, Way};

/// What several ways at once cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Together {
    /// As much as the longest.
    Longest,
    /// As much as all.
    Sum,
}

/// What all visits cost together, with what each block costs a visit.
pub(super) fn sum(map: &Map, graph: &str, counts: &Counts, weights: Vec<Bound>) -> Bound {
    if weights.iter().all(Bound::is_none) {
        return Bound::NONE;
    }
    // Two ways to count, none of which is more than a bound: along the ways, of which one is taken where there is a
    // choice; and by how often each block is come to.
    let by_block = weights.iter().enumerate().map(|(block, weight)| {
        let tasks = counts.tasks_of(block);
        weight.clone().times(&tasks)
    });
    let by_block = by_block.fold(Bound::NONE, Bound::plus);
    let walk = Walk::new(map, graph, weights, Together::Sum, counts);
    walk.cost(&[0]).min(by_block)
}

/// The super-steps of the graph's own.
pub(super) fn longest(map: &Map, graph: &str, counts: &Counts) -> Bound {
    let own = map.blocks.iter().map(|block| match block.node {
        Some(_) if !block.branches => Bound::AtMost(1),
        _ if block.fan_out => Bound::AtMost(1),
        _ => Bound::NONE,
    });
    let own: Vec<Bound> = own.collect();
    let in_each = own.iter().enumerate().map(|(block, weight)| {
        let steps = counts.steps_of(block);
        weight.clone().times(&steps)
    });
    // In each super-step at least one node runs.
    let by_place = in_each.fold(Bound::NONE, Bound::plus);
    let deferred = |block: usize| map.blocks.get(block).is_some_and(|block| block.defers);
    let waiting: Vec<usize> = (0..map.blocks.len())
        .filter(|block| deferred(*block))
        .collect();
    if waiting.is_empty() {
        let walk = Walk::new(map, graph, own, Together::Longest, counts);
        return walk.cost(&[0]).min(by_place);
    }
    // A node that waits for all others begins after them, whatever led to it: a run is what comes before the first such
    // wait, and behind each what comes before the next.
    let phases = map.without(&deferred);
    let walk = Walk::new(&phases, graph, own, Together::Longest, counts);
    let begins: Vec<usize> = std::iter::once(0).chain(waiting).collect();
    walk.cost(&begins).min(by_place)
}

struct Walk<'m> {
    map: &'m Map,
    graph: &'m str,
    weights: Vec<Bound>,
    together: Together,
    counts: &'m Counts,
    /// Cost from a block on, where it is known.
    from: Vec<Option<Bound>>,
}

impl<'m> Walk<'m> {
    fn new(
        map: &'m Map,
        graph: &'m str,
        weights: Vec<Bound>,
        together: Together,
        counts: &'m Counts,
    ) -> Self {
        Self {
            map,
            graph,
            weights,
            together,
            counts,
            from: vec![None; map.blocks.len()],
        }
    }

    /// The cost from some blocks on, as often as each is begun at.
    fn cost(mut self, begins: &[usize]) -> Bound {
        let edges: DiGraph<(), ()> = self.map.edges();
        for cycle in kosaraju_scc(&edges) {
            let members: Vec<usize> = cycle.iter().map(|block| block.index()).collect();
            match members.as_slice() {
                [lone] if !edges.contains_edge(NodeIndex::new(*lone), NodeIndex::new(*lone)) => {
                    let cost = self.weight(*lone).plus(self.after(*lone, &|_| true));
                    self.set(*lone, cost);
                }
                _ => self.cycle(members),
            }
        }
        let costs = begins.iter().map(|block| {
            let cost = self.known(*block);
            cost.times(&self.counts.steps_of(*block))
        });
        costs.fold(Bound::NONE, Bound::plus)
    }

    fn weight(&self, block: usize) -> Bound {
        self.weights.get(block).cloned().unwrap_or(Bound::NONE)
    }

    fn known(&self, block: usize) -> Bound {
        let known = self.from.get(block).cloned().flatten();
        known.unwrap_or(Bound::NONE)
    }

    fn set(&mut self, block: usize, cost: Bound) {
        if let Some(slot) = self.from.get_mut(block) {
            *slot = Some(cost);
        }
    }

    /// The dearest arm of a block, of the ways that `outside` takes.
    fn after(&self, block: usize, outside: &dyn Fn(usize) -> bool) -> Bound {
        let arms = self.map.arms(block).iter().map(|arm| {
            let ways = arm.iter().filter(|way| outside(way.to));
            match self.together {
                Together::Longest => ways
                    .map(|way| self.known(way.to))
                    .fold(Bound::NONE, Bound::max),
                Together::Sum => ways
                    .filter(|way| way.counts)
                    .map(|way| self.sent(way))
                    .fold(Bound::NONE, Bound::plus),
            }
        });
        arms.fold(Bound::NONE, Bound::max)
    }

    /// What begins at the end of a way that one task takes. Tasks of one send run in one super-step: where they have no
    /// choice, they all take the same ways on.
    fn sent(&self, way: &Way) -> Bound {
        if way.tasks == Tasks::One {
            return self.known(way.to);
        }
        let tasks = tasks_of(way, self.graph);
        match self.map.arms(way.to) {
            [arm] => {
                let ways = arm.iter().filter(|way| way.counts);
                let after = ways.map(|way| self.taken(way, &tasks));
                let after = after.fold(Bound::NONE, Bound::plus);
                self.weight(way.to).times(&tasks).plus(after)
            }
            _ => self.known(way.to).times(&tasks),
        }
    }

    /// What begins at the end of a way that so many tasks of one super-step take.
    fn taken(&self, way: &Way, tasks: &Bound) -> Bound {
        let known = self.known(way.to);
        let Some(to) = self.map.blocks.get(way.to) else {
            return known;
        };
        match &way.tasks {
            // Each decides by itself.
            Tasks::One if to.branches => known.times(tasks),
            Tasks::One if to.members.is_empty() => known,
            Tasks::One => known.times(&tasks.clone().min(self.counts.tasks_of(way.to))),
            _ => known.times(&tasks.clone().times(&tasks_of(way, self.graph))),
        }
    }

    fn cycle(&mut self, members: Vec<usize>) {
        let cycle = Cycle::new(self.map, self.graph, members);
        let forks = self.together == Together::Sum && cycle.forks();
        let outside = |to: usize| !cycle.inside.contains(&to);
        let leaving = cycle.members.iter().map(|block| {
            let after = self.after(*block, &outside);
            match forks {
                true => after.times(&self.counts.tasks_of(*block)),
                false => after,
            }
        });
        let exits = match forks {
            true => leaving.fold(Bound::NONE, Bound::plus),
            false => leaving.fold(Bound::NONE, Bound::max),
        };
        let free = cycle
            .members
            .iter()
            .all(|block| self.weight(*block).is_none());
        let costs = match cycle.cut() {
            _ if free => vec![Bound::NONE; cycle.members.len()],
            Ok(_) if forks => self.many_rounds(&cycle),
            Ok(cut) => self.around(&cycle, &cut),
            Err(reason) => vec![Bound::unbounded(reason); cycle.members.len()],
        };
        for (block, cost) in cycle.members.iter().zip(costs) {
            self.set(*block, cost.plus(exits.clone()));
        }
    }

    /// The costs of each member of a bounded cycle, from it on.
    fn around(&self, cycle: &Cycle<'_>, caps: &BTreeMap<usize, u64>) -> Vec<Bound> {
        let segment = self.segments(cycle, caps);
        let within = |block: usize| segment.get(&block).cloned().unwrap_or(Bound::NONE);
        let rounds = caps.iter().map(|(block, cap)| {
            let next = self.map.arms(*block).iter().flatten();
            let next =
                next.filter(|way| cycle.inside.contains(&way.to) && !caps.contains_key(&way.to));
            let longest = next.map(|way| within(way.to)).fold(Bound::NONE, Bound::max);
            let pass = self.weight(*block).plus(longest);
            pass.times(&Bound::AtMost(*cap))
        });
        let rounds = rounds.fold(Bound::NONE, Bound::plus);
        let members = cycle.members.iter();
        members
            .map(|block| match caps.contains_key(block) {
                true => rounds.clone(),
                false => within(*block).plus(rounds.clone()),
            })
            .collect()
    }

    /// For each block that is not cut, the dearest way from it through blocks that aren't either.
    fn segments(&self, cycle: &Cycle<'_>, caps: &BTreeMap<usize, u64>) -> BTreeMap<usize, Bound> {
        let mut known: BTreeMap<usize, Bound> = BTreeMap::new();
        for block in cycle.last_first(&|block| !caps.contains_key(&block)) {
            let ways = self.map.arms(block).iter().flatten();
            let ways =
                ways.filter(|way| cycle.inside.contains(&way.to) && !caps.contains_key(&way.to));
            let next = ways
                .map(|way| known.get(&way.to).cloned().unwrap_or(Bound::NONE))
                .fold(Bound::NONE, Bound::max);
            known.insert(block, self.weight(block).plus(next));
        }
        known
    }

    /// A bounded cycle in which several ways may be under way.
    fn many_rounds(&self, cycle: &Cycle<'_>) -> Vec<Bound> {
        let all = cycle.members.iter().map(|block| {
            let tasks = self.counts.tasks_of(*block);
            self.weight(*block).times(&tasks)
        });
        let all = all.fold(Bound::NONE, Bound::plus);
        vec![all; cycle.members.len()]
    }
}

/// Why blocks go round without an end.
pub(super) fn endless(map: &Map, graph: &str, places: &BTreeSet<usize>) -> Option<String> {
    Cycle::new(map, graph, places.iter().copied().collect()).round(&|_| true)
}
