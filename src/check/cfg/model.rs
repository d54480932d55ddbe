//! The flow of one graph as the analyses see it: who may follow whom, and in which alternatives.

use thin_vec::ThinVec;

use crate::base::IdVec;
use crate::base::Span;
use crate::ir::{FieldId, JoinId, NodeId};

/// Where a way leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BlockId {
    /// A node, a `branch` included.
    Node(NodeId),
    /// A join, which waits for its other members.
    Join(JoinId),
    /// `end`
    End,
    /// `fail`
    Fail,
    /// `parent.name`
    Leave,
}

/// One of the places that a way leads to at once.
#[derive(Debug, Clone)]
pub struct Successor {
    /// Which.
    pub to: BlockId,
    /// `each`: as many tasks as a list has elements.
    pub many: bool,
    /// Where it is written.
    pub span: Span,
}

/// What makes a node take a way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeKind {
    /// A static edge, `start` included.
    Edge,
    /// Its `goto`, one arm of it.
    Goto,
    /// `skip when .. -> target`
    Skip,
    /// A tool that jumps.
    Tool,
    /// A subgraph that leaves by a name.
    Child,
    /// `on_error`
    Error,
    /// `max_visits`: taken instead of entering the node.
    Visits,
    /// The timeout of an interrupt.
    Timeout,
    /// `exit when` of the graph: taken instead of all that a super-step leads to.
    Exit,
}

/// A field that is written, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Write {
    /// The field.
    pub field: FieldId,
    /// The name in the `set`, or what stands for it.
    pub span: Span,
}

/// One alternative: a finished node takes exactly one of its ways.
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

/// A node.
#[derive(Debug, Clone)]
pub struct Block {
    /// Its name.
    pub name: String,
    /// Where it is declared: its name.
    pub span: Span,
    /// A `branch`: followed at once, no super-step.
    pub branch: bool,
    /// A fan-out as a whole (`each .. then ..`), by its worker: it takes the super-step of its tasks, and then leads on. It is
    /// no node of the graph; it has an id behind them all, and its worker's name.
    pub fan_out: Option<NodeId>,
    /// It waits until nothing else is left.
    pub defer: bool,
    /// Alternatives, in the order written.
    pub transitions: ThinVec<Transition>,
    /// What its work and its `set` may write.
    pub writes: ThinVec<Write>,
}

/// A join.
#[derive(Debug, Clone)]
pub struct JoinBlock {
    /// Those that must arrive, each with its place.
    pub members: Vec<(NodeId, Span)>,
    /// Where it leads; one way.
    pub transitions: ThinVec<Transition>,
    /// All of it.
    pub span: Span,
}

/// A graph's flow.
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
}

impl ControlFlowGraph {
    /// The ways out of a node or a join.
    pub fn transitions(&self, block: BlockId) -> &[Transition] {
        match block {
            BlockId::Node(at) => self.nodes.get(at).map_or(&[], |node| &node.transitions),
            BlockId::Join(meet) => self.joins.get(meet).map_or(&[], |join| &join.transitions),
            BlockId::End | BlockId::Fail | BlockId::Leave => &[],
        }
    }

    /// The name of a node, or what else a block is, for a path in a message.
    pub fn name(&self, block: BlockId) -> &str {
        match block {
            BlockId::Node(at) => self.nodes.get(at).map_or("?", |node| &node.name),
            BlockId::Join(_) => "join",
            BlockId::End => "end",
            BlockId::Fail => "fail",
            BlockId::Leave => "parent",
        }
    }

    /// All blocks that can be left: nodes, then joins.
    pub fn blocks(&self) -> impl Iterator<Item = BlockId> {
        let nodes = self.nodes.ids().map(BlockId::Node);
        nodes.chain(self.joins.ids().map(BlockId::Join))
    }

    /// A number for a node or a join, dense from 0, for bit sets and graphs; `None` for an exit.
    pub fn number(&self, block: BlockId) -> Option<usize> {
        match block {
            BlockId::Node(at) => Some(at.0 as usize),
            BlockId::Join(meet) => Some(self.nodes.len() + meet.0 as usize),
            BlockId::End | BlockId::Fail | BlockId::Leave => None,
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
