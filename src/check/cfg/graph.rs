//! The blocks of a control-flow graph as one petgraph graph, and what is asked of it. The graph is built once, and each answer is
//! computed when it is first asked for.
//!
//! An edge of it is one successor of one transition. That a transition starts all of its successors, and that a join waits for
//! all of its members, can't be said with plain edges: what depends on that walks the transitions itself
//! ([`finish`](super::finish), [`leaves_unwritten`](super::leaves_unwritten), [`mhp`](super::mhp)).

use std::collections::VecDeque;
use std::sync::OnceLock;

use petgraph::Direction;
use petgraph::algo::dominators::{Dominators, simple_fast};
use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{Dfs, DfsPostOrder, EdgeFiltered, EdgeRef, NodeFiltered, Reversed};

use super::block_set::BlockSet;
use super::model::{BlockId, ControlFlowGraph, Successor, Transition};

/// An edge: which successor of which transition of its source it is.
#[derive(Debug, Clone, Copy)]
struct Edge {
    transition: u32,
    successor: u32,
}

/// One edge, seen from where it leads.
#[derive(Clone, Copy)]
pub struct InEdge<'a> {
    /// Where it comes from; `None` is `start`.
    pub from: Option<BlockId>,
    /// The transition that it is a part of.
    pub transition: &'a Transition,
    /// Which of the transition's successors it is.
    pub index: usize,
}

impl<'a> InEdge<'a> {
    /// The successor that it is.
    pub fn successor(&self) -> Option<&'a Successor> {
        self.transition.successors.get(self.index)
    }

    /// The other successors of its transition, which are started at the same time.
    pub fn beside(&self) -> impl Iterator<Item = &'a Successor> + use<'a> {
        let (successors, own) = (self.transition.successors.iter().enumerate(), self.index);
        successors
            .filter(move |(i, _)| *i != own)
            .map(|(_, successor)| successor)
    }
}

/// Strongly connected components.
#[derive(Debug, Clone)]
pub struct Components {
    /// The component of each node and join, by [`ControlFlowGraph::number`]: those that are led to have the larger numbers.
    of: Vec<usize>,
    /// Whether something in a component can be come to again, by component.
    cyclic: Vec<bool>,
}

/// Which components are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// Those that no other component leads to.
    Sources,
    /// Those that lead to no other component.
    Sinks,
    /// All of them.
    Any,
}

/// What is asked of a cycle: whether something holds of its blocks.
pub type OfCycle<'f> = &'f dyn Fn(&[BlockId]) -> bool;

/// The petgraph graph, with the answers that are known.
#[derive(Debug, Clone, Default)]
pub(super) struct BlockGraph {
    /// Nodes and joins by [`ControlFlowGraph::number`], then the entry and the exits.
    graph: DiGraph<BlockId, Edge>,
    reached: OnceLock<BlockSet>,
    components: OnceLock<Components>,
    order: OnceLock<Vec<NodeIndex>>,
    dominators: OnceLock<Option<Dominators<NodeIndex>>>,
}

impl BlockGraph {
    fn of(cfg: &ControlFlowGraph) -> Self {
        let outer = [BlockId::Entry, BlockId::End, BlockId::Fail, BlockId::Leave];
        let mut graph = DiGraph::with_capacity(cfg.count() + outer.len(), cfg.count());
        for block in cfg.blocks().chain(outer) {
            graph.add_node(block);
        }
        // petgraph gives the edges of a node from the last to the first: they are added the other way round.
        let blocks: Vec<BlockId> = std::iter::once(BlockId::Entry)
            .chain(cfg.blocks())
            .collect();
        for (block, from) in blocks
            .iter()
            .rev()
            .filter_map(|at| Some((*at, cfg.index(*at)?)))
        {
            for (transition, of) in cfg.transitions(block).iter().enumerate().rev() {
                for (successor, to) in of.successors.iter().enumerate().rev() {
                    let edge = Edge {
                        transition: transition as u32,
                        successor: successor as u32,
                    };
                    if let Some(to) = cfg.index(to.to) {
                        graph.add_edge(from, to, edge);
                    }
                }
            }
        }
        Self {
            graph,
            ..Self::default()
        }
    }
}

impl ControlFlowGraph {
    fn petgraph(&self) -> &BlockGraph {
        self.petgraph.get_or_init(|| BlockGraph::of(self))
    }

    /// The place of a block in the petgraph graph; `None` for what is no block of this graph.
    pub(super) fn index(&self, block: BlockId) -> Option<NodeIndex> {
        let outer = match block {
            BlockId::Node(at) => return self.nodes.get(at).map(|_| NodeIndex::new(at.0 as usize)),
            BlockId::Join(at) => {
                let number = self.number(block)?;
                return self.joins.get(at).map(|_| NodeIndex::new(number));
            }
            BlockId::Entry => 0,
            BlockId::End => 1,
            BlockId::Fail => 2,
            BlockId::Leave => 3,
        };
        Some(NodeIndex::new(self.count() + outer))
    }

    /// The edges that lead to a block: those of `start`, then of nodes and joins in the order declared.
    pub fn in_edges(&self, block: BlockId) -> impl Iterator<Item = InEdge<'_>> + '_ {
        let graph = &self.petgraph().graph;
        let index = self.index(block).into_iter();
        let edges = index.flat_map(move |at| graph.edges_directed(at, Direction::Incoming));
        edges.filter_map(move |edge| {
            let from = *graph.node_weight(edge.source())?;
            let transition = self
                .transitions(from)
                .get(edge.weight().transition as usize)?;
            Some(InEdge {
                from: (from != BlockId::Entry).then_some(from),
                transition,
                index: edge.weight().successor as usize,
            })
        })
    }

    /// The blocks that lead to a block, `start` left out; one that has several edges there is named for each.
    pub fn predecessors(&self, block: BlockId) -> impl Iterator<Item = BlockId> + '_ {
        self.in_edges(block).filter_map(|edge| edge.from)
    }

    /// Which nodes and joins `start` leads to. A join counts as soon as one member does: whether all of them can arrive is the
    /// question of [`join`](super::join).
    pub fn reached(&self) -> &BlockSet {
        let known = self.petgraph();
        known.reached.get_or_init(|| {
            let mut reached = BlockSet::new(self);
            let mut visit = self
                .index(BlockId::Entry)
                .map(|entry| Dfs::new(&known.graph, entry));
            while let Some(at) = visit.as_mut().and_then(|visit| visit.next(&known.graph)) {
                let block = known.graph.node_weight(at);
                block.map(|block| reached.insert(*block));
            }
            reached
        })
    }

    /// Looks at some blocks, and again at those that a look names, until none is left: first in, first out, so that a fork is
    /// seen behind all of its targets where these come first.
    pub fn settle(
        &self,
        first: impl Iterator<Item = BlockId>,
        mut look: impl FnMut(BlockId, &mut Vec<BlockId>),
    ) {
        let mut open: VecDeque<BlockId> = first.collect();
        let mut waiting = BlockSet::new(self);
        open.iter().for_each(|block| _ = waiting.insert(*block));
        let mut again = Vec::new();
        while let Some(block) = open.pop_front() {
            waiting.remove(block);
            look(block, &mut again);
            open.extend(again.drain(..).filter(|block| waiting.insert(*block)));
        }
    }

    /// All blocks that lead to a block, and itself.
    pub fn all_before(&self, block: BlockId) -> impl Iterator<Item = BlockId> + '_ {
        let graph = Reversed(&self.petgraph().graph);
        let mut visit = self.index(block).map(|at| Dfs::new(graph, at));
        let next = move || visit.as_mut()?.next(graph);
        std::iter::from_fn(next).filter_map(move |at| graph.0.node_weight(at).copied())
    }

    /// Blocks in reverse postorder from `start`: each behind all that lead to it, but for arrows that lead back. What is not
    /// reached is not among them.
    fn reverse_postorder(&self) -> &[NodeIndex] {
        let known = self.petgraph();
        known.order.get_or_init(|| {
            let entry = self.index(BlockId::Entry);
            let mut visit = entry.map(|entry| DfsPostOrder::new(&known.graph, entry));
            let next = || visit.as_mut()?.next(&known.graph);
            let mut order: Vec<NodeIndex> = std::iter::from_fn(next).collect();
            order.reverse();
            order
        })
    }

    /// The place of each node and join in a reverse postorder, by [`ControlFlowGraph::number`].
    pub fn places(&self) -> Vec<usize> {
        let mut places = vec![usize::MAX; self.count()];
        for (place, at) in self.reverse_postorder().iter().enumerate() {
            places
                .get_mut(at.index())
                .into_iter()
                .for_each(|slot| *slot = place);
        }
        places
    }

    /// Whether every way from `start` to a block comes by another one, or is it.
    pub fn dominates(&self, first: BlockId, block: BlockId) -> bool {
        let known = self.petgraph();
        let entry = self.index(BlockId::Entry);
        let dominators = || entry.map(|entry| simple_fast(&known.graph, entry));
        let dominators = known.dominators.get_or_init(dominators).as_ref();
        let Some((first, at)) = self.index(first).zip(self.index(block)) else {
            return false;
        };
        let mut above = dominators
            .and_then(|all| all.dominators(at))
            .into_iter()
            .flatten();
        above.any(|above| above == first)
    }

    /// The strongly connected components. (`kosaraju_scc`, since `tarjan_scc` recurses and a long chain would overflow the stack.)
    pub fn components(&self) -> &Components {
        let known = self.petgraph();
        known.components.get_or_init(|| {
            let count = self.count();
            let mut components = Components {
                of: vec![0; count],
                cyclic: Vec::new(),
            };
            // What is led to comes first.
            for members in kosaraju_scc(&known.graph).into_iter().rev() {
                let number = components.cyclic.len();
                let itself = |at: &NodeIndex| known.graph.contains_edge(*at, *at);
                components
                    .cyclic
                    .push(members.len() > 1 || members.iter().any(itself));
                for at in members.iter().filter(|at| at.index() < count) {
                    components
                        .of
                        .get_mut(at.index())
                        .into_iter()
                        .for_each(|of| *of = number);
                }
            }
            components
        })
    }

    /// The component of a node or a join.
    pub fn component(&self, block: BlockId) -> Option<usize> {
        self.components().of.get(self.number(block)?).copied()
    }

    /// Whether a block can be come to from itself.
    pub fn goes_round(&self, block: BlockId) -> bool {
        let cyclic = |component| self.components().cyclic.get(component).copied();
        self.component(block).and_then(cyclic).unwrap_or(false)
    }

    /// Whether two blocks lead to each other, or are the same.
    pub fn same_component(&self, a: BlockId, b: BlockId) -> bool {
        self.component(a) == self.component(b)
    }

    /// The strongly connected components among some blocks, `start` and the ends included, each behind those that it leads to.
    pub fn components_last_first(&self, among: impl Fn(BlockId) -> bool) -> Vec<Vec<BlockId>> {
        let graph = &self.petgraph().graph;
        let block = |at: NodeIndex| graph.node_weight(at).copied();
        let part = NodeFiltered::from_fn(graph, |at| block(at).is_some_and(&among));
        let found = kosaraju_scc(&part).into_iter();
        found
            .map(|members| members.into_iter().filter_map(block).collect())
            .collect()
    }

    /// The strongly connected components among some blocks, by the transitions that `take` lets through, each in the order
    /// declared.
    pub fn components_among(
        &self,
        among: impl Fn(BlockId) -> bool,
        take: impl Fn(BlockId, &Transition) -> bool,
        wanted: Wanted,
    ) -> Vec<Vec<BlockId>> {
        if !self.blocks().any(&among) {
            return Vec::new();
        }
        let among = BlockSet::of(self, among);
        let graph = &self.petgraph().graph;
        let inside = |at: NodeIndex| {
            let block = graph.node_weight(at);
            block.is_some_and(|block| among.contains(*block))
        };
        let part = EdgeFiltered::from_fn(graph, |edge| {
            let from = graph.node_weight(edge.source()).copied();
            inside(edge.source())
                && inside(edge.target())
                && from.is_some_and(|from| {
                    let of = self
                        .transitions(from)
                        .get(edge.weight().transition as usize);
                    of.is_some_and(|transition| take(from, transition))
                })
        });
        let found = kosaraju_scc(&part);
        let mut component = vec![0; graph.node_count()];
        for (number, members) in found.iter().enumerate() {
            for at in members {
                component
                    .get_mut(at.index())
                    .into_iter()
                    .for_each(|of| *of = number);
            }
        }
        let mut left_out = vec![false; found.len()];
        for edge in graph.edge_references().filter(|_| wanted != Wanted::Any) {
            let of = |at: NodeIndex| component.get(at.index()).copied().unwrap_or(0);
            let (from, to) = (of(edge.source()), of(edge.target()));
            let other = if wanted == Wanted::Sources { to } else { from };
            if let Some(slot) = left_out.get_mut(other)
                && from != to
                && (part.1)(edge)
            {
                *slot = true;
            }
        }
        let found = found.into_iter().zip(left_out).filter(|(_, out)| !out);
        let blocks = found.map(|(members, _)| {
            let members = members.into_iter().filter(|at| inside(*at));
            let blocks = members.filter_map(|at| graph.node_weight(at).copied());
            let mut blocks: Vec<BlockId> = blocks.collect();
            blocks.sort();
            blocks
        });
        let mut components: Vec<_> = blocks.filter(|blocks| !blocks.is_empty()).collect();
        components.sort();
        components
    }
}
