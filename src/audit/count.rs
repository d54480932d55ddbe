//! How often each block of a graph is come to at most.
//!
//! Two numbers for each: in how many super-steps, and by how many tasks. Arrows from several tasks of one super-step into a
//! node make one task of it; each element of a send makes one of its own. A node with `max_visits` has no more tasks
//! than that, however it is come to.
//!
//! Every number is a bound, and what leads to a block bounds it in turn: going over all blocks again only makes
//! bounds smaller, and each time what they were holds still.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::NodeIndex;

use super::bound::Bound;
use super::map::{Map, Tasks, Way};

/// Times that all blocks are gone over.
const ROUNDS: usize = 3;

/// How often blocks are come to.
pub(super) struct Counts {
    /// By block, the super-steps in which it is come to.
    pub steps: Vec<Bound>,
    /// By block, the tasks that come to it.
    pub tasks: Vec<Bound>,
}

/// One way into a block.
struct Entry {
    from: usize,
    /// Whether it is an arrow.
    arrow: bool,
    /// What sends along it make of one task: those of the arm that makes most.
    sent: Bound,
}

impl Counts {
    /// Counts what comes to each block. `round` says why a cycle has no bound.
    pub fn of(map: &Map, graph: &str, round: &dyn Fn(&BTreeSet<usize>) -> Option<String>) -> Self {
        let entries = entries(map, graph);
        let count = map.blocks.len();
        let capped = |block: &usize| {
            map.blocks
                .get(*block)
                .is_some_and(|block| block.cap.is_some())
        };
        let unknown = || Bound::Unbounded(BTreeSet::new());
        let mut counts = Self {
            steps: vec![unknown(); count],
            tasks: vec![unknown(); count],
        };
        for (block, known) in map.blocks.iter().enumerate() {
            if let Some(cap) = known.cap {
                counts.set(block, Bound::AtMost(cap), Bound::AtMost(cap));
            }
        }
        // Without those, what still goes round has no bound.
        for cycle in cycles(map, &|block| !capped(&block)) {
            if goes_round(map, &cycle) {
                let members: BTreeSet<usize> = cycle.iter().copied().collect();
                let why = round(&members).map_or_else(unknown, Bound::unbounded);
                for block in cycle {
                    counts.set(block, why.clone(), why.clone());
                }
            } else if let [block] = cycle.as_slice()
                && !capped(block)
            {
                let (steps, tasks) = counts.come(map, &entries, *block);
                counts.set(*block, steps, tasks);
            }
        }
        let order = cycles(map, &|_| true);
        for _ in 0..ROUNDS {
            for block in order.iter().flatten() {
                let (steps, tasks) = counts.come(map, &entries, *block);
                let known = (counts.steps_of(*block), counts.tasks_of(*block));
                counts.set(*block, known.0.min(steps), known.1.min(tasks));
            }
        }
        counts
    }

    /// The super-steps in which a block is come to.
    pub fn steps_of(&self, block: usize) -> Bound {
        self.steps.get(block).cloned().unwrap_or(Bound::NONE)
    }

    /// The tasks that come to a block.
    pub fn tasks_of(&self, block: usize) -> Bound {
        self.tasks.get(block).cloned().unwrap_or(Bound::NONE)
    }

    fn set(&mut self, block: usize, steps: Bound, tasks: Bound) {
        if let (Some(known), Some(all)) = (self.steps.get_mut(block), self.tasks.get_mut(block)) {
            (*known, *all) = (steps.min(tasks.clone()), tasks);
        }
    }

    /// What comes to a block by all ways into it.
    fn come(&self, map: &Map, entries: &[Vec<Entry>], block: usize) -> (Bound, Bound) {
        if block == 0 {
            return (Bound::AtMost(1), Bound::AtMost(1));
        }
        let Some(here) = map.blocks.get(block) else {
            return (Bound::NONE, Bound::NONE);
        };
        let (mut steps, mut tasks) = (Bound::NONE, Bound::NONE);
        for entry in entries.get(block).into_iter().flatten() {
            let from = (self.steps_of(entry.from), self.tasks_of(entry.from));
            if entry.arrow {
                tasks = tasks.plus(match here.branches {
                    true => from.1.clone(),
                    false => from.0.clone(),
                });
            }
            tasks = tasks.plus(entry.sent.clone().times(&from.1));
            steps = steps.plus(from.0);
        }
        if !here.members.is_empty() {
            tasks = self.joined(&here.members);
        }
        match here.cap {
            Some(cap) => (steps, tasks.min(Bound::AtMost(cap))),
            None => (steps, tasks),
        }
    }

    /// How often all members of a join have arrived. Arrivals stand in the order of the nodes, so that in one super-step it
    /// is twice at most; and once where each member runs in one super-step alone.
    fn joined(&self, members: &[usize]) -> Bound {
        let once = Bound::AtMost(1);
        let steps = members.iter().map(|member| self.steps_of(*member));
        let tasks = members.iter().map(|member| self.tasks_of(*member));
        let fewest = |all: &mut dyn Iterator<Item = Bound>| all.reduce(Bound::min);
        if steps.clone().all(|steps| !steps.exceeds(&once)) {
            return once;
        }
        let twice = fewest(&mut steps.into_iter()).map(|steps| steps.times(&Bound::AtMost(2)));
        let all = twice.into_iter().chain(tasks);
        all.reduce(Bound::min).unwrap_or(Bound::NONE)
    }
}

/// By block, the ways into it.
fn entries(map: &Map, graph: &str) -> Vec<Vec<Entry>> {
    let mut entries: Vec<Vec<Entry>> = map.blocks.iter().map(|_| Vec::new()).collect();
    for (from, block) in map.blocks.iter().enumerate() {
        for arm in &block.arms {
            let mut all: BTreeMap<usize, (bool, Bound)> = BTreeMap::new();
            for way in arm {
                let (arrow, sent) = all.entry(way.to).or_insert((false, Bound::NONE));
                if way.tasks == Tasks::One {
                    *arrow = true;
                } else {
                    let before = std::mem::replace(sent, Bound::NONE);
                    *sent = before.plus(tasks_of(way, graph));
                }
            }
            for (to, (arrow, sent)) in all {
                let Some(into) = entries.get_mut(to) else {
                    continue;
                };
                match into.last_mut().filter(|entry| entry.from == from) {
                    Some(entry) => {
                        entry.arrow |= arrow;
                        let before = std::mem::replace(&mut entry.sent, Bound::NONE);
                        entry.sent = before.max(sent);
                    }
                    None => into.push(Entry { from, arrow, sent }),
                }
            }
        }
    }
    entries
}

/// The tasks that one task makes along a way.
pub(super) fn tasks_of(way: &Way, graph: &str) -> Bound {
    match &way.tasks {
        Tasks::One => Bound::AtMost(1),
        Tasks::Many(count) => Bound::AtMost(*count),
        Tasks::Any(send) => Bound::unbounded(format!(
            "`{send}` in graph `{graph}` makes any number of tasks"
        )),
    }
}

/// The blocks that `takes` takes in cycles, those that lead to others first.
fn cycles(map: &Map, takes: &dyn Fn(usize) -> bool) -> Vec<Vec<usize>> {
    let mut edges = map.edges();
    edges.retain_edges(|edges, edge| {
        let ends = edges.edge_endpoints(edge);
        ends.is_some_and(|(from, to)| takes(from.index()) && takes(to.index()))
    });
    let cycles = kosaraju_scc(&edges).into_iter().rev();
    cycles
        .map(|cycle| cycle.into_iter().map(NodeIndex::index).collect())
        .collect()
}

/// Whether a way leads from a cycle back into it.
fn goes_round(map: &Map, cycle: &[usize]) -> bool {
    match cycle {
        [lone] => {
            let capped = map
                .blocks
                .get(*lone)
                .is_some_and(|block| block.cap.is_some());
            !capped && map.arms(*lone).iter().flatten().any(|way| way.to == *lone)
        }
        _ => true,
    }
}
