//! Cycles of a graph, and what bounds them.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::cfg::BlockId;
use crate::check::cfg::cycle::shortest;

use super::graph::BoundedGraph;

/// A strongly connected component.
pub(super) struct Cycle<'g> {
    pub graph: &'g BoundedGraph,
    pub members: BTreeSet<BlockId>,
}

impl<'g> Cycle<'g> {
    pub fn new(graph: &'g BoundedGraph, members: Vec<BlockId>) -> Self {
        Self {
            graph,
            members: members.into_iter().collect(),
        }
    }

    /// Whether it has blocks from which several ways lead at once, one of them back into it, so that calls
    /// add up in ways that a single path does not show.
    pub fn forks(&self) -> bool {
        self.members.iter().any(|from| {
            let mut transitions = self.graph.transitions(*from);
            transitions.any(|to| {
                let back = to.iter().any(|to| self.members.contains(to));
                back && (to.len() > 1 || to.iter().any(|to| self.graph.is_many(*from, *to)))
            })
        })
    }

    /// Nodes with `max_visits` without which nothing in the cycle goes round, each with how often it is passed.
    ///
    /// # Errors
    /// The reason why there is no bound: a cycle that passes none of them.
    pub fn cut(&self) -> Result<BTreeMap<BlockId, u64>, String> {
        let caps = self.members.iter();
        let caps = caps.filter_map(|block| Some((*block, *self.graph.caps.get(block)?)));
        let caps: BTreeMap<BlockId, u64> = caps.collect();
        let mut least: Vec<(BlockId, u64)> = caps.clone().into_iter().collect();
        least.sort_by_key(|(_, cap)| *cap);
        for one in least.into_iter().take(16) {
            if self.round(|block| block != one.0).is_none() {
                return Ok(BTreeMap::from([one]));
            }
        }
        match self.round(|block| !caps.contains_key(&block)) {
            None => Ok(caps),
            Some(reason) => Err(reason),
        }
    }

    /// Why what `rest` takes of the cycle has no bound: a cycle, by names, the shortest of one of its blocks.
    pub fn round(&self, rest: impl Fn(BlockId) -> bool) -> Option<String> {
        let cfg = &self.graph.cfg;
        let components = self.last_first(&rest);
        let cycle = components.iter().find(|of| self.graph.is_cycle(of))?;
        // The first in the order of the text is where a reader begins.
        let start = cycle.iter().min()?;
        let inside = |to| self.members.contains(&to) && rest(to);
        let path = shortest(cfg, *start, |_, _, to| inside(to))?;
        let mut names: Vec<&str> = Vec::new();
        for block in path.blocks().chain([*start]) {
            // A join is passed; a gate has the name of its node.
            let name = cfg.name(block);
            let is_join = matches!(block, BlockId::Join(_));
            if !is_join && (names.last() != Some(&name) || names.len() == 1) {
                names.push(name);
            }
        }
        let (names, graph) = (names.join(" -> "), &self.graph.name);
        Some(format!("loop {names} in graph `{graph}` has no cap"))
    }

    /// The strongly connected components of what `rest` takes of it, each behind those that it leads to.
    pub fn last_first(&self, rest: impl Fn(BlockId) -> bool) -> Vec<Vec<BlockId>> {
        let inside = |block| self.members.contains(&block) && rest(block);
        self.graph.cfg.components_last_first(inside)
    }
}
