//! The heaviest way through a graph.
//!
//! Places are taken in circles (strongly connected components), the last first. A place outside of all circles costs
//! what its visit costs and then the dearest of its arms. A circle is bounded where taking out nodes with `max_visits`
//! leaves none: each of those is passed so many times, and between two passes lies at most the longest way through what is left.
//! Where several ways of a circle are under way at once, each place costs what its visits cost, as often as it is come to.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::bound::Bound;
use super::circle::Circle;
use super::count::{Counts, tasks_of};
use super::map::{Map, Tasks, Way};

/// What several ways at once cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Together {
    /// As much as the longest.
    Longest,
    /// As much as all.
    Sum,
}

/// What all visits cost together, with what each place costs a visit.
pub(super) fn sum(map: &Map, graph: &str, counts: &Counts, weights: Vec<Bound>) -> Bound {
    if weights.iter().all(Bound::is_none) {
        return Bound::NONE;
    }
    // Three ways to count, none of which is more than a bound: along the ways, of which one is taken where there is a
    // choice; by how often each place is come to; and so in circles alone.
    let often = |spot: usize, weight: &Bound| weight.clone().times(&counts.tasks_of(spot));
    let all = weights.iter().enumerate();
    let by_place = all.fold(Bound::NONE, |sum, (spot, weight)| {
        sum.plus(often(spot, weight))
    });
    let mut rest = weights.clone();
    let mut round = Bound::NONE;
    for circle in kosaraju_scc(&map.edges()) {
        for spot in circle.iter().map(|spot| spot.index()) {
            let capped = map.spots.get(spot).is_some_and(|spot| spot.cap.is_some());
            if let Some(weight) = rest.get_mut(spot)
                && (capped || circle.len() > 1)
            {
                round = round.plus(often(spot, weight));
                *weight = Bound::NONE;
            }
        }
    }
    let walk = |weights| Walk::new(map, graph, weights, Together::Sum, counts).cost(&[0]);
    walk(weights).min(by_place).min(round.plus(walk(rest)))
}

/// The super-steps of the graph's own.
pub(super) fn longest(map: &Map, graph: &str, counts: &Counts) -> Bound {
    let own = map.spots.iter().map(|spot| match spot.node {
        Some(_) if !spot.branches => Bound::AtMost(1),
        _ if spot.fan_out => Bound::AtMost(1),
        _ => Bound::NONE,
    });
    let own: Vec<Bound> = own.collect();
    let in_each = own.iter().enumerate().map(|(spot, weight)| {
        let steps = counts.steps_of(spot);
        weight.clone().times(&steps)
    });
    // In each super-step at least one node runs.
    let by_place = in_each.fold(Bound::NONE, Bound::plus);
    let deferred = |spot: usize| map.spots.get(spot).is_some_and(|spot| spot.defers);
    let waiting: Vec<usize> = (0..map.spots.len())
        .filter(|spot| deferred(*spot))
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
    /// Cost from a place on, where it is known.
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
            from: vec![None; map.spots.len()],
        }
    }

    /// The cost from some places on, as often as each is begun at.
    fn cost(mut self, begins: &[usize]) -> Bound {
        let edges: DiGraph<(), ()> = self.map.edges();
        for circle in kosaraju_scc(&edges) {
            let members: Vec<usize> = circle.iter().map(|spot| spot.index()).collect();
            match members.as_slice() {
                [lone] if !edges.contains_edge(NodeIndex::new(*lone), NodeIndex::new(*lone)) => {
                    let cost = self.weight(*lone).plus(self.after(*lone, &|_| true));
                    self.set(*lone, cost);
                }
                _ => self.circle(members),
            }
        }
        let costs = begins.iter().map(|spot| {
            let cost = self.known(*spot);
            cost.times(&self.counts.steps_of(*spot))
        });
        costs.fold(Bound::NONE, Bound::plus)
    }

    fn weight(&self, spot: usize) -> Bound {
        self.weights.get(spot).cloned().unwrap_or(Bound::NONE)
    }

    fn known(&self, spot: usize) -> Bound {
        let known = self.from.get(spot).cloned().flatten();
        known.unwrap_or(Bound::NONE)
    }

    fn set(&mut self, spot: usize, cost: Bound) {
        if let Some(slot) = self.from.get_mut(spot) {
            *slot = Some(cost);
        }
    }

    /// The dearest arm of a place, of the ways that `outside` takes.
    fn after(&self, spot: usize, outside: &dyn Fn(usize) -> bool) -> Bound {
        let arms = self.map.arms(spot).iter().map(|arm| {
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
        let Some(to) = self.map.spots.get(way.to) else {
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

    fn circle(&mut self, members: Vec<usize>) {
        let circle = Circle::new(self.map, self.graph, members);
        let forks = self.together == Together::Sum && circle.forks();
        let outside = |to: usize| !circle.inside.contains(&to);
        let leaving = circle.members.iter().map(|spot| {
            let after = self.after(*spot, &outside);
            match forks {
                true => after.times(&self.counts.tasks_of(*spot)),
                false => after,
            }
        });
        let exits = match forks {
            true => leaving.fold(Bound::NONE, Bound::plus),
            false => leaving.fold(Bound::NONE, Bound::max),
        };
        let free = circle
            .members
            .iter()
            .all(|spot| self.weight(*spot).is_none());
        let costs = match circle.cut() {
            _ if free => vec![Bound::NONE; circle.members.len()],
            Ok(_) if forks => self.many_rounds(&circle),
            Ok(cut) => self.around(&circle, &cut),
            Err(reason) => vec![Bound::unbounded(reason); circle.members.len()],
        };
        for (spot, cost) in circle.members.iter().zip(costs) {
            self.set(*spot, cost.plus(exits.clone()));
        }
    }

    /// The costs of each member of a bounded circle, from it on.
    fn around(&self, circle: &Circle<'_>, caps: &BTreeMap<usize, u64>) -> Vec<Bound> {
        let segment = self.segments(circle, caps);
        let within = |spot: usize| segment.get(&spot).cloned().unwrap_or(Bound::NONE);
        let rounds = caps.iter().map(|(spot, cap)| {
            let next = self.map.arms(*spot).iter().flatten();
            let next =
                next.filter(|way| circle.inside.contains(&way.to) && !caps.contains_key(&way.to));
            let longest = next.map(|way| within(way.to)).fold(Bound::NONE, Bound::max);
            let pass = self.weight(*spot).plus(longest);
            pass.times(&Bound::AtMost(*cap))
        });
        let rounds = rounds.fold(Bound::NONE, Bound::plus);
        let members = circle.members.iter();
        members
            .map(|spot| match caps.contains_key(spot) {
                true => rounds.clone(),
                false => within(*spot).plus(rounds.clone()),
            })
            .collect()
    }

    /// For each place that is not cut, the dearest way from it through places that aren't either.
    fn segments(&self, circle: &Circle<'_>, caps: &BTreeMap<usize, u64>) -> BTreeMap<usize, Bound> {
        let mut known: BTreeMap<usize, Bound> = BTreeMap::new();
        for spot in circle.last_first(&|spot| !caps.contains_key(&spot)) {
            let ways = self.map.arms(spot).iter().flatten();
            let ways =
                ways.filter(|way| circle.inside.contains(&way.to) && !caps.contains_key(&way.to));
            let next = ways
                .map(|way| known.get(&way.to).cloned().unwrap_or(Bound::NONE))
                .fold(Bound::NONE, Bound::max);
            known.insert(spot, self.weight(spot).plus(next));
        }
        known
    }

    /// A bounded circle in which several ways may be under way.
    fn many_rounds(&self, circle: &Circle<'_>) -> Vec<Bound> {
        let all = circle.members.iter().map(|spot| {
            let tasks = self.counts.tasks_of(*spot);
            self.weight(*spot).times(&tasks)
        });
        let all = all.fold(Bound::NONE, Bound::plus);
        vec![all; circle.members.len()]
    }
}

/// Why places go round without an end.
pub(super) fn endless(map: &Map, graph: &str, places: &BTreeSet<usize>) -> Option<String> {
    Circle::new(map, graph, places.iter().copied().collect()).round(&|_| true)
}
