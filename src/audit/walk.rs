//! The heaviest way through a graph.
//!
//! Places are taken in circles (strongly connected components), the last first. A place outside of all circles costs
//! what its visit costs and then the dearest of its arms. A circle is bounded where taking out nodes with `max_visits`
//! leaves none: each of those is passed so many times, and between two passes lies at most the longest way through what is left.
//!
//! Two figures differ in what several ways at once mean: super-steps are those of the longest, calls are those of
//! all together.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::ir::{Flow, GraphId};

use super::bound::Bound;
use super::map::{Map, Tasks, Way};
use super::reach::Reach;
use super::weight::{Weights, weigh};

/// The worst of one graph.
#[derive(Debug, Clone)]
pub(super) struct Worst {
    /// Super-steps, those of called graphs included.
    pub steps: Bound,
    /// Calls of models, those that are tried again included.
    pub calls: Bound,
    /// Tokens that models write.
    pub tokens: Bound,
}

/// The worst of a graph and of all that it calls.
pub(super) fn worst(flow: &Flow, graph: GraphId, reach: &Reach) -> Worst {
    let mut known: BTreeMap<GraphId, Worst> = BTreeMap::new();
    // Called graphs stand before their callers.
    for id in &reach.order {
        if let Some(graph) = flow.graphs.get(*id) {
            let map = Map::of(flow, graph);
            let mut weights = vec![Weights::none(); map.spots.len()];
            for (slot, spot) in weights.iter_mut().zip(&map.spots) {
                if let Some(node) = spot.node.and_then(|node| graph.nodes.get(node)) {
                    *slot = weigh(flow, graph, node, &known, reach);
                }
            }
            let of = |pick: fn(&Weights) -> &Bound, together| {
                let weights: Vec<Bound> = weights.iter().map(|w| pick(w).clone()).collect();
                Walk::new(&map, &graph.name, weights, together).total()
            };
            let worst = Worst {
                steps: of(|w| &w.steps, Together::Longest),
                calls: of(|w| &w.calls, Together::Sum),
                tokens: of(|w| &w.tokens, Together::Sum),
            };
            known.insert(*id, worst);
        }
    }
    known.remove(&graph).unwrap_or(Worst {
        steps: Bound::NONE,
        calls: Bound::NONE,
        tokens: Bound::NONE,
    })
}

/// What several ways at once cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Together {
    /// As much as the longest.
    Longest,
    /// As much as all.
    Sum,
}

struct Walk<'m> {
    map: &'m Map,
    graph: &'m str,
    weights: Vec<Bound>,
    together: Together,
    edges: DiGraph<(), ()>,
    /// Cost from a place on, where it is known.
    from: Vec<Option<Bound>>,
}

impl<'m> Walk<'m> {
    fn new(map: &'m Map, graph: &'m str, weights: Vec<Bound>, together: Together) -> Self {
        Self {
            map,
            graph,
            weights,
            together,
            edges: map.edges(),
            from: vec![None; map.spots.len()],
        }
    }

    /// The cost from the start on.
    fn total(mut self) -> Bound {
        for circle in kosaraju_scc(&self.edges) {
            let members: Vec<usize> = circle.iter().map(|spot| spot.index()).collect();
            match members.as_slice() {
                [lone]
                    if !self
                        .edges
                        .contains_edge(NodeIndex::new(*lone), NodeIndex::new(*lone)) =>
                {
                    let cost = self.weight(*lone).plus(self.after(*lone, &|_| true));
                    self.set(*lone, cost);
                }
                _ => self.circle(&members),
            }
        }
        let total = self.from.first().cloned().flatten().unwrap_or(Bound::NONE);
        if self.together == Together::Sum {
            return total;
        }
        // A node that waits for all others begins after them: each such wait adds at most what is behind it.
        let spots = self.map.spots.iter().enumerate();
        let waiting = spots.filter(|(_, spot)| spot.defers);
        waiting.fold(total, |sum, (spot, _)| sum.plus(self.known(spot)))
    }

    fn weight(&self, spot: usize) -> Bound {
        self.weights.get(spot).cloned().unwrap_or(Bound::NONE)
    }

    fn known(&self, spot: usize) -> Bound {
        self.from
            .get(spot)
            .cloned()
            .flatten()
            .unwrap_or(Bound::NONE)
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

    /// What begins at the end of a way. Tasks of one send run in one super-step, so that what they all go on to
    /// runs once, where they have no choice.
    fn sent(&self, way: &Way) -> Bound {
        let tasks = match &way.tasks {
            Tasks::One => return self.known(way.to),
            Tasks::Many(count) => Bound::AtMost(*count),
            Tasks::Any(send) => Bound::unbounded(format!(
                "`{send}` in graph `{}` makes any number of tasks",
                self.graph
            )),
        };
        match self.map.arms(way.to) {
            [_] => {
                let after = self.after(way.to, &|_| true);
                self.weight(way.to).times(&tasks).plus(after)
            }
            _ => self.known(way.to).times(&tasks),
        }
    }

    fn circle(&mut self, members: &[usize]) {
        let inside: BTreeSet<usize> = members.iter().copied().collect();
        let exits = self.exits(members, &inside);
        let costs = match self.cut(members, &inside) {
            Ok(cut) => self.around(members, &inside, &cut),
            Err(reason) => {
                let free = members.iter().all(|spot| self.weight(*spot).is_none());
                let cost = match free {
                    true => Bound::NONE,
                    false => Bound::unbounded(reason),
                };
                members.iter().map(|_| cost.clone()).collect()
            }
        };
        for (spot, cost) in members.iter().zip(costs) {
            self.set(*spot, cost.plus(exits.clone()));
        }
    }

    /// What comes after a circle.
    fn exits(&self, members: &[usize], inside: &BTreeSet<usize>) -> Bound {
        let outside = |to: usize| !inside.contains(&to);
        let each = members.iter().map(|spot| self.after(*spot, &outside));
        if self.forks(members, inside) {
            // A way may leave at each round.
            let leaving: Vec<Bound> = each.filter(|cost| !cost.is_none()).collect();
            return match leaving.is_empty() {
                true => Bound::NONE,
                false => {
                    let rounds = match self.cut(members, inside) {
                        Ok(cut) => {
                            let passes = cut.iter().map(|(_, cap)| cap + 1).sum::<u64>();
                            Bound::AtMost(passes.saturating_mul(members.len() as u64))
                        }
                        Err(reason) => Bound::unbounded(reason),
                    };
                    leaving
                        .into_iter()
                        .fold(Bound::NONE, Bound::plus)
                        .times(&rounds)
                }
            };
        }
        each.fold(Bound::NONE, Bound::max)
    }

    /// Whether a circle has places from which several ways lead at once, one of them back into it, so that
    /// calls add up in ways that a single path does not show.
    fn forks(&self, members: &[usize], inside: &BTreeSet<usize>) -> bool {
        self.together == Together::Sum
            && members.iter().any(|spot| {
                self.map.arms(*spot).iter().any(|arm| {
                    let back = arm.iter().any(|way| inside.contains(&way.to));
                    let many = arm.len() > 1 || arm.iter().any(|way| way.tasks != Tasks::One);
                    back && many
                })
            })
    }

    /// Nodes with `max_visits` without which nothing in the circle goes round, each with how often it is passed.
    ///
    /// # Errors
    /// The reason why there is no bound: a circle that passes none of them.
    fn cut(
        &self,
        members: &[usize],
        inside: &BTreeSet<usize>,
    ) -> Result<Vec<(usize, u64)>, String> {
        let capped = members
            .iter()
            .filter_map(|spot| Some((*spot, self.map.spots.get(*spot)?.cap?)));
        let mut capped: Vec<(usize, u64)> = capped.collect();
        capped.sort_by_key(|(_, cap)| *cap);
        for one in capped.iter().take(16) {
            let rest = |spot: usize| inside.contains(&spot) && spot != one.0;
            if self.round(members, &rest).is_none() {
                return Ok(vec![*one]);
            }
        }
        let caps: BTreeSet<usize> = capped.iter().map(|(spot, _)| *spot).collect();
        let rest = |spot: usize| inside.contains(&spot) && !caps.contains(&spot);
        match self.round(members, &rest) {
            None => Ok(capped),
            Some(round) => Err(format!(
                "loop {} in graph `{}` has no cap",
                round.join(" -> "),
                self.graph
            )),
        }
    }

    /// A circle among the places that `rest` takes, by names, the shortest of one of its places.
    fn round(&self, members: &[usize], rest: &dyn Fn(usize) -> bool) -> Option<Vec<String>> {
        let mut part = DiGraph::<usize, ()>::new();
        let mut place = BTreeMap::new();
        for spot in members.iter().filter(|spot| rest(**spot)) {
            place.insert(*spot, part.add_node(*spot));
        }
        for (spot, from) in &place {
            for way in self.map.arms(*spot).iter().flatten() {
                if let Some(to) = place.get(&way.to) {
                    part.add_edge(*from, *to, ());
                }
            }
        }
        let circles = kosaraju_scc(&part);
        let circle = circles.iter().find(|circle| match circle.as_slice() {
            [lone] => part.contains_edge(*lone, *lone),
            _ => true,
        })?;
        // The first in the order of the text is where a reader begins.
        let start = circle.iter().min_by_key(|spot| part.node_weight(**spot))?;
        let path = shortest_round(&part, *start)?;
        let mut names: Vec<String> = Vec::new();
        for spot in path {
            let name = part
                .node_weight(spot)
                .map_or("", |spot| self.map.name(*spot));
            // A gate has the name of its node.
            if names.last().map(String::as_str) != Some(name) || names.len() == 1 {
                names.push(name.to_owned());
            }
        }
        Some(names)
    }

    /// The costs of each member of a bounded circle, from it on.
    fn around(
        &self,
        members: &[usize],
        inside: &BTreeSet<usize>,
        cut: &[(usize, u64)],
    ) -> Vec<Bound> {
        let caps: BTreeMap<usize, u64> = cut.iter().copied().collect();
        let segment = self.segments(members, inside, &caps);
        let within = |spot: usize| segment.get(&spot).cloned().unwrap_or(Bound::NONE);
        if self.forks(members, inside) {
            return self.many_rounds(members, inside, &caps);
        }
        let rounds = caps.iter().map(|(spot, cap)| {
            let next = self.map.arms(*spot).iter().flatten();
            let next = next.filter(|way| inside.contains(&way.to) && !caps.contains_key(&way.to));
            let longest = next.map(|way| within(way.to)).fold(Bound::NONE, Bound::max);
            let pass = self.weight(*spot).plus(longest);
            pass.times(&Bound::AtMost(*cap))
        });
        let rounds = rounds.fold(Bound::NONE, Bound::plus);
        members
            .iter()
            .map(|spot| match caps.contains_key(spot) {
                true => rounds.clone(),
                false => within(*spot).plus(rounds.clone()),
            })
            .collect()
    }

    /// For each place that is not cut, the dearest way from it through places that aren't either.
    fn segments(
        &self,
        members: &[usize],
        inside: &BTreeSet<usize>,
        caps: &BTreeMap<usize, u64>,
    ) -> BTreeMap<usize, Bound> {
        let mut known: BTreeMap<usize, Bound> = BTreeMap::new();
        for spot in self.last_first(members, caps) {
            let ways = self.map.arms(spot).iter().flatten();
            let ways = ways.filter(|way| inside.contains(&way.to) && !caps.contains_key(&way.to));
            let next = ways
                .map(|way| known.get(&way.to).cloned().unwrap_or(Bound::NONE))
                .fold(Bound::NONE, Bound::max);
            known.insert(spot, self.weight(spot).plus(next));
        }
        known
    }

    /// The places of a circle that are not cut, each behind those that it leads to.
    fn last_first(&self, members: &[usize], caps: &BTreeMap<usize, u64>) -> Vec<usize> {
        let mut part = DiGraph::<usize, ()>::new();
        let mut place = BTreeMap::new();
        for spot in members.iter().filter(|spot| !caps.contains_key(spot)) {
            place.insert(*spot, part.add_node(*spot));
        }
        for (spot, from) in &place {
            for way in self.map.arms(*spot).iter().flatten() {
                if let Some(to) = place.get(&way.to) {
                    part.add_edge(*from, *to, ());
                }
            }
        }
        let order = kosaraju_scc(&part).into_iter().flatten();
        order
            .filter_map(|spot| part.node_weight(spot).copied())
            .collect()
    }

    /// A bounded circle in which several ways may be under way: each place is entered at most as often as all that lead to it
    /// together are left.
    fn many_rounds(
        &self,
        members: &[usize],
        inside: &BTreeSet<usize>,
        caps: &BTreeMap<usize, u64>,
    ) -> Vec<Bound> {
        let mut entered: BTreeMap<usize, Bound> = BTreeMap::new();
        for spot in members {
            // One entry from outside; a cut place is entered as often as it may be.
            let count = caps.get(spot).copied().unwrap_or(1);
            entered.insert(*spot, Bound::AtMost(count));
        }
        let give = |from: usize, entered: &mut BTreeMap<usize, Bound>| {
            let count = entered.get(&from).cloned().unwrap_or(Bound::NONE);
            for way in self.map.arms(from).iter().flatten() {
                if !inside.contains(&way.to) || caps.contains_key(&way.to) {
                    continue;
                }
                let tasks = match &way.tasks {
                    Tasks::One => Bound::AtMost(1),
                    Tasks::Many(count) => Bound::AtMost(*count),
                    Tasks::Any(send) => Bound::unbounded(format!(
                        "`{send}` in graph `{}` makes any number of tasks",
                        self.graph
                    )),
                };
                let more = count.clone().times(&tasks);
                let sum = entered.remove(&way.to).unwrap_or(Bound::NONE).plus(more);
                entered.insert(way.to, sum);
            }
        };
        for spot in caps.keys() {
            give(*spot, &mut entered);
        }
        for spot in self.last_first(members, caps).into_iter().rev() {
            give(spot, &mut entered);
        }
        let all = members.iter().map(|spot| {
            let count = entered.get(spot).cloned().unwrap_or(Bound::NONE);
            self.weight(*spot).times(&count)
        });
        let all = all.fold(Bound::NONE, Bound::plus);
        members.iter().map(|_| all.clone()).collect()
    }
}

/// The shortest way from a place back to it, both ends included.
fn shortest_round(part: &DiGraph<usize, ()>, start: NodeIndex) -> Option<Vec<NodeIndex>> {
    let mut before: BTreeMap<NodeIndex, NodeIndex> = BTreeMap::new();
    let mut waiting = VecDeque::from([start]);
    while let Some(spot) = waiting.pop_front() {
        for next in part.neighbors(spot) {
            if next == start {
                let mut path = vec![start, spot];
                let mut at = spot;
                while at != start {
                    at = *before.get(&at)?;
                    path.push(at);
                }
                path.reverse();
                if spot == start {
                    path = vec![start, start];
                }
                return Some(path);
            }
            before.entry(next).or_insert_with(|| {
                waiting.push_back(next);
                spot
            });
        }
    }
    None
}
