//! How often each block of a graph is come to at most.
//!
//! Two numbers for each: in how many super-steps, and by how many tasks. Arrows from several tasks of one super-step into a
//! node make one task of it; each element of a send makes one of its own. A node with `max_visits` has no more tasks
//! than that, however it is come to.
//!
//! Every number is a bound, and what leads to a block bounds it in turn: going over all blocks again only makes
//! bounds smaller, and each time what they were holds still.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::cfg::BlockId;
use crate::ir::JoinId;

use super::bound::Bound;
use super::cycle::Cycle;
use super::graph::BoundedGraph;

/// Times that all blocks are gone over.
const ROUNDS: usize = 3;

/// How often a block is come to.
#[derive(Debug, Clone)]
struct Count {
    /// In how many super-steps.
    steps: Bound,
    /// By how many tasks.
    tasks: Bound,
}

/// How often blocks are come to.
pub(super) struct Counts(BTreeMap<BlockId, Count>);

impl Counts {
    /// Counts what comes to each block.
    pub fn of(graph: &BoundedGraph) -> Self {
        let mut counts = Self(BTreeMap::new());
        for (block, cap) in &graph.caps {
            counts.set(*block, Bound::AtMost(*cap), Bound::AtMost(*cap));
        }
        // Without those, what still goes round has no bound.
        let uncapped = graph
            .cfg
            .components_last_first(|block| !graph.caps.contains_key(&block));
        for members in uncapped.into_iter().rev() {
            if graph.is_cycle(&members) {
                let cycle = Cycle::new(graph, members);
                let why = cycle.round(|_| true).map_or(Bound::NONE, Bound::unbounded);
                for block in &cycle.members {
                    counts.set(*block, why.clone(), why.clone());
                }
            } else {
                for block in members {
                    let (steps, tasks) = counts.come(graph, block);
                    counts.set(block, steps, tasks);
                }
            }
        }
        let order = graph.cfg.components_last_first(|_| true);
        for _ in 0..ROUNDS {
            for block in order.iter().rev().flatten() {
                let (steps, tasks) = counts.come(graph, *block);
                let known = (counts.steps_of(*block), counts.tasks_of(*block));
                counts.set(*block, known.0.min(steps), known.1.min(tasks));
            }
        }
        counts
    }

    /// The super-steps in which a block is come to.
    pub fn steps_of(&self, block: BlockId) -> Bound {
        let count = self.0.get(&block);
        count.map_or(Bound::NONE, |count| count.steps.clone())
    }

    /// The tasks that come to a block.
    pub fn tasks_of(&self, block: BlockId) -> Bound {
        let count = self.0.get(&block);
        count.map_or(Bound::NONE, |count| count.tasks.clone())
    }

    fn set(&mut self, block: BlockId, steps: Bound, tasks: Bound) {
        let steps = steps.min(tasks.clone());
        self.0.insert(block, Count { steps, tasks });
    }

    /// What comes to a block by all that leads to it.
    fn come(&self, graph: &BoundedGraph, block: BlockId) -> (Bound, Bound) {
        if block == BlockId::Entry {
            return (Bound::AtMost(1), Bound::AtMost(1));
        }
        let (mut steps, mut tasks) = (Bound::NONE, Bound::NONE);
        let edges = graph.cfg.in_edges(block);
        let from = edges.map(|edge| edge.from.unwrap_or(BlockId::Entry));
        for from in from.collect::<BTreeSet<BlockId>>() {
            tasks = tasks.plus(match graph.sent(from, block) {
                Some(sent) => self.tasks_of(from).times(sent),
                None if graph.cfg.is_branch(block) => self.tasks_of(from),
                None => self.steps_of(from),
            });
            steps = steps.plus(self.steps_of(from));
        }
        if let BlockId::Join(join) = block {
            tasks = self.joined(graph, join);
        }
        match graph.caps.get(&block) {
            Some(cap) => (steps, tasks.min(Bound::AtMost(*cap))),
            None => (steps, tasks),
        }
    }

    /// How often all members of a join have arrived. Arrivals stand in the order of the nodes, so that in one super-step it
    /// is twice at most; and once where each member runs in one super-step alone.
    fn joined(&self, graph: &BoundedGraph, join: JoinId) -> Bound {
        let members = graph.cfg.members(join).map(BlockId::Node);
        let steps = members.clone().map(|member| self.steps_of(member));
        let once = Bound::AtMost(1);
        if steps.clone().all(|steps| !steps.exceeds(&once)) {
            return once;
        }
        let twice = steps.map(|steps| steps.times(&Bound::AtMost(2)));
        let tasks = members.map(|member| self.tasks_of(member));
        twice.chain(tasks).reduce(Bound::min).unwrap_or(Bound::NONE)
    }
}
