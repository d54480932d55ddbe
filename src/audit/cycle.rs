//! Cycles of a graph, and what bounds them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::map::{Map, Tasks};

/// Members of a cycle, which are blocks.
pub(super) struct Cycle<'m> {
    pub map: &'m Map,
    pub graph: &'m str,
    pub members: Vec<usize>,
    pub inside: BTreeSet<usize>,
}

impl<'m> Cycle<'m> {
    pub fn new(map: &'m Map, graph: &'m str, members: Vec<usize>) -> Self {
        Self {
            map,
            graph,
            inside: members.iter().copied().collect(),
            members,
        }
    }

    /// Whether it has blocks from which several ways lead at once, one of them back into it, so that calls
    /// add up in ways that a single path does not show.
    pub fn forks(&self) -> bool {
        let arms = self.members.iter().flat_map(|block| self.map.arms(*block));
        arms.into_iter().any(|arm| {
            let back = arm.iter().any(|way| self.inside.contains(&way.to));
            let many = |way: &Tasks| !matches!(way, Tasks::One | Tasks::Many(0 | 1));
            back && (arm.len() > 1 || arm.iter().any(|way| many(&way.tasks)))
        })
    }

    /// Nodes with `max_visits` without which nothing in the cycle goes round, each with how often it is passed.
    ///
    /// # Errors
    /// The reason why there is no bound: a cycle that passes none of them.
    pub fn cut(&self) -> Result<BTreeMap<usize, u64>, String> {
        let members = self.members.iter();
        let capped = members.filter_map(|block| Some((*block, self.map.blocks.get(*block)?.cap?)));
        let mut capped: Vec<(usize, u64)> = capped.collect();
        capped.sort_by_key(|(_, cap)| *cap);
        for one in capped.iter().take(16) {
            let rest = |block: usize| block != one.0;
            if self.round(&rest).is_none() {
                return Ok(BTreeMap::from([*one]));
            }
        }
        let caps: BTreeMap<usize, u64> = capped.into_iter().collect();
        match self.round(&|block| !caps.contains_key(&block)) {
            None => Ok(caps),
            Some(reason) => Err(reason),
        }
    }

    /// Why what `rest` takes of the cycle has no bound: a cycle, by names, the shortest of one of its blocks.
    pub fn round(&self, rest: &dyn Fn(usize) -> bool) -> Option<String> {
        let part = self.part(rest);
        let cycles = kosaraju_scc(&part);
        let cycle = cycles.iter().find(|cycle| match cycle.as_slice() {
            [lone] => part.contains_edge(*lone, *lone),
            _ => true,
        })?;
        // The first in the order of the text is where a reader begins.
        let start = cycle.iter().min_by_key(|block| part.node_weight(**block))?;
        let path = shortest_round(&part, *start)?;
        let mut names: Vec<&str> = Vec::new();
        for block in path {
            let block = part
                .node_weight(block)
                .and_then(|block| self.map.blocks.get(*block));
            // A join is passed; a gate has the name of its node.
            let Some(block) = block.filter(|block| block.members.is_empty()) else {
                continue;
            };
            if names.last() != Some(&&*block.name) || names.len() == 1 {
                names.push(&block.name);
            }
        }
        Some(format!(
            "loop {} in graph `{}` has no cap",
            names.join(" -> "),
            self.graph
        ))
    }

    /// The blocks that `rest` takes, each behind those that it leads to.
    pub fn last_first(&self, rest: &dyn Fn(usize) -> bool) -> Vec<usize> {
        let part = self.part(rest);
        let order = kosaraju_scc(&part).into_iter().flatten();
        order
            .filter_map(|block| part.node_weight(block).copied())
            .collect()
    }

    fn part(&self, rest: &dyn Fn(usize) -> bool) -> DiGraph<usize, ()> {
        let mut part = DiGraph::<usize, ()>::new();
        let mut place = BTreeMap::new();
        for block in self.members.iter().filter(|block| rest(**block)) {
            place.insert(*block, part.add_node(*block));
        }
        for (block, from) in &place {
            for way in self.map.arms(*block).iter().flatten() {
                if let Some(to) = place.get(&way.to) {
                    part.add_edge(*from, *to, ());
                }
            }
        }
        part
    }
}

/// The shortest way from a block back to it, both ends included.
fn shortest_round(part: &DiGraph<usize, ()>, start: NodeIndex) -> Option<Vec<NodeIndex>> {
    let mut before: BTreeMap<NodeIndex, NodeIndex> = BTreeMap::new();
    let mut waiting = VecDeque::from([start]);
    while let Some(block) = waiting.pop_front() {
        for next in part.neighbors(block) {
            if next == start {
                let mut path = vec![start, block];
                let mut at = block;
                while at != start {
                    at = *before.get(&at)?;
                    path.push(at);
                }
                path.reverse();
                if block == start {
                    path = vec![start, start];
                }
                return Some(path);
            }
            before.entry(next).or_insert_with(|| {
                waiting.push_back(next);
                block
            });
        }
    }
    None
}
