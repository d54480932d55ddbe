//! The control-flow graph of one graph as the analyses see it: who may follow whom, and in which alternatives.

use std::sync::OnceLock;

use thin_vec::ThinVec;

use crate::base::IdVec;
use crate::base::Span;
use crate::ir::{FieldId, JoinId, NodeId};

pub use crate::ir::EdgeKind;

use super::graph::BlockGraph;

/// Most names of a way that a message writes out.
const NAMED: usize = 8;

/// What a run can be at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BlockId {
    /// A node, a `branch` included.
    Node(NodeId),
    /// A join, which waits for its other members.
    Join(JoinId),
    /// `start`; nothing leads there.
    Entry,
    /// `end`
    End,
    /// `fail`
    Fail,
    /// `parent.name`
    Leave,
}

/// One of the blocks that a transition leads to at once.
#[derive(Debug, Clone)]
pub struct Successor {
    /// Which.
    pub to: BlockId,
    /// `each`: as many tasks as a list has elements.
    pub many: bool,
    /// Where it is written.
    pub span: Span,
}

/// A field that is written, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Write {
    /// The field.
    pub field: FieldId,
    /// The name in the `set`, or what stands for it.
    pub span: Span,
}

/// One alternative: a finished node takes exactly one of its transitions.
#[derive(Debug, Clone)]
pub struct Transition {
    /// What makes it be taken.
    pub kind: EdgeKind,
    /// All of these run in the next super-step.
    pub successors: ThinVec<Successor>,
    /// Written with the jump.
    pub writes: ThinVec<Write>,
    /// The edge, the arm or the property.
    pub span: Span,
}

/// What stands beside the nodes of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Synthetic {
    /// A fan-out as a whole (`each .. then ..`), by its worker, whose name it has: it takes the super-step of its tasks, and then
    /// leads on.
    FanOut(NodeId),
    /// One of several things that a jump leads to at once, where that is decided by itself: a branch.
    Choice,
}

/// A node, or what stands beside them.
#[derive(Debug, Clone)]
pub struct Block {
    /// Its name.
    pub name: String,
    /// Where it is declared: its name.
    pub span: Span,
    /// A `branch`: followed at once, no super-step.
    pub branch: bool,
    /// What it is where it is no node of the graph. Its id comes behind those of all nodes.
    pub synthetic: Option<Synthetic>,
    /// It waits until nothing else is left.
    pub defer: bool,
    /// Alternatives, in the order written.
    pub transitions: ThinVec<Transition>,
    /// What its work and its `set` may write.
    pub writes: ThinVec<Write>,
}

impl Block {
    /// The worker of the fan-out that it is.
    pub fn fan_out(&self) -> Option<NodeId> {
        match self.synthetic? {
            Synthetic::FanOut(worker) => Some(worker),
            Synthetic::Choice => None,
        }
    }

    /// Whether its visits are bounded.
    pub fn is_capped(&self) -> bool {
        let mut transitions = self.transitions.iter();
        transitions.any(|transition| transition.kind == EdgeKind::Visits)
    }
}

/// A join.
#[derive(Debug, Clone)]
pub struct JoinBlock {
    /// Those that must arrive, each with its place.
    pub members: Vec<(NodeId, Span)>,
    /// Where it leads; one transition.
    pub transitions: ThinVec<Transition>,
    /// All of it.
    pub span: Span,
}

/// Where a run of a graph can go: blocks, and the transitions between them.
#[derive(Debug, Clone, Default)]
pub struct ControlFlowGraph {
    /// Alternatives of the entry; empty where there is none (which is reported).
    pub start: Vec<Transition>,
    /// Nodes in the order declared, then fan-outs that lead on as a whole.
    pub nodes: IdVec<NodeId, Block>,
    /// Joins in the order declared.
    pub joins: IdVec<JoinId, JoinBlock>,
    /// Names of the fields whose writes in one super-step collide, by index; `None` for the others.
    pub colliding: Vec<Option<String>>,
    /// The graph has an `exit when`: it may end after any super-step.
    pub exits: bool,
    /// The way to the end that its first `exit when` is; not among the ways of any node.
    pub exit: Option<Transition>,
    /// A target is unknown (which is reported), so that what looks unreachable may not be meant so.
    pub broken: bool,
    /// The same blocks and edges for petgraph, built when something is first asked of them.
    pub(super) petgraph: OnceLock<BlockGraph>,
}

impl ControlFlowGraph {
    /// The graph of these blocks. A successor that is none of them can't be followed: the graph counts as broken then.
    pub fn new(
        start: Vec<Transition>,
        nodes: IdVec<NodeId, Block>,
        joins: IdVec<JoinId, JoinBlock>,
    ) -> Self {
        let mut cfg = Self {
            start,
            nodes,
            joins,
            ..Self::default()
        };
        let stray = |to: &Successor| to.to == BlockId::Entry || cfg.index(to.to).is_none();
        let mut all = cfg.all_transitions();
        let broken = all.any(|(_, way)| way.successors.iter().any(stray));
        drop(all);
        cfg.broken = broken;
        cfg
    }

    /// All transitions, each with where it comes from: those of `start`, of nodes, of joins.
    pub fn all_transitions(&self) -> impl Iterator<Item = (Option<BlockId>, &Transition)> {
        let starts = self.start.iter().map(|transition| (None, transition));
        starts.chain(self.blocks().flat_map(|block| {
            let transitions = self.transitions(block).iter();
            transitions.map(move |transition| (Some(block), transition))
        }))
    }

    /// How many nodes and joins there are.
    pub fn count(&self) -> usize {
        self.nodes.len() + self.joins.len()
    }

    /// The transitions out of a block.
    pub fn transitions(&self, block: BlockId) -> &[Transition] {
        match block {
            BlockId::Node(at) => self.nodes.get(at).map_or(&[], |node| &node.transitions),
            BlockId::Join(meet) => self.joins.get(meet).map_or(&[], |join| &join.transitions),
            BlockId::Entry => &self.start,
            BlockId::End | BlockId::Fail | BlockId::Leave => &[],
        }
    }

    /// The name of a node, or what else a block is, for a path in a message.
    pub fn name(&self, block: BlockId) -> &str {
        match block {
            BlockId::Node(at) => self.nodes.get(at).map_or("?", |node| &node.name),
            BlockId::Join(_) => "join",
            BlockId::Entry => "start",
            BlockId::End => "end",
            BlockId::Fail => "fail",
            BlockId::Leave => "parent",
        }
    }

    /// The members of a join.
    pub fn members(&self, join: JoinId) -> impl Iterator<Item = NodeId> + Clone + '_ {
        let members = self.joins.get(join).into_iter();
        let members = members.flat_map(|join| &join.members);
        members.map(|(member, _)| *member)
    }

    /// `start -> a -> b`, the middle of a long way left out.
    pub fn path(&self, blocks: impl Iterator<Item = BlockId>) -> String {
        let mut names = self.names(blocks);
        if names.len() > NAMED {
            names.splice(NAMED / 2..names.len() - NAMED / 2, ["..."]);
        }
        names.join(" -> ")
    }

    /// The names of some blocks for a path in a message: joins and choices have none.
    pub fn names(&self, blocks: impl Iterator<Item = BlockId>) -> Vec<&str> {
        let is_choice = |id| {
            let node = self.nodes.get(id);
            node.is_some_and(|node| node.synthetic == Some(Synthetic::Choice))
        };
        let named = blocks.filter(move |block| match block {
            BlockId::Join(_) => false,
            BlockId::Node(id) => !is_choice(*id),
            _ => true,
        });
        named.map(|block| self.name(block)).collect()
    }

    /// Whether a block is a `branch`.
    pub fn is_branch(&self, block: BlockId) -> bool {
        matches!(block, BlockId::Node(id) if self.nodes.get(id).is_some_and(|node| node.branch))
    }

    /// What all transitions of a block lead to.
    pub fn successors(&self, block: BlockId) -> impl Iterator<Item = &Successor> {
        let transitions = self.transitions(block).iter();
        transitions.flat_map(|transition| &transition.successors)
    }

    /// What a block and its transitions may write.
    pub fn writes(&self, block: BlockId) -> impl Iterator<Item = &Write> {
        let own = match block {
            BlockId::Node(id) => self.nodes.get(id).map_or(&[][..], |node| &node.writes),
            _ => &[],
        };
        let transitions = self.transitions(block).iter();
        own.iter().chain(transitions.flat_map(|of| &of.writes))
    }

    /// All blocks that can be left: nodes, then joins.
    pub fn blocks(&self) -> impl Iterator<Item = BlockId> {
        let nodes = self.nodes.ids().map(BlockId::Node);
        nodes.chain(self.joins.ids().map(BlockId::Join))
    }

    /// A number for a node or a join, dense from 0, for bit sets; `None` for the entry and the exits.
    pub fn number(&self, block: BlockId) -> Option<usize> {
        match block {
            BlockId::Node(at) => Some(at.0 as usize),
            BlockId::Join(meet) => Some(self.nodes.len() + meet.0 as usize),
            BlockId::Entry | BlockId::End | BlockId::Fail | BlockId::Leave => None,
        }
    }

    /// The block of a number.
    pub fn block(&self, number: usize) -> BlockId {
        match number.checked_sub(self.nodes.len()) {
            None => BlockId::Node(NodeId(number as u32)),
            Some(join) => BlockId::Join(JoinId(join as u32)),
        }
    }
}
