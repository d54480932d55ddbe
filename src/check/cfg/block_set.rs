//! Sets of the blocks of one control-flow graph.

use super::model::{BlockId, ControlFlowGraph};

/// A set of nodes and joins. Entry and exits are in none.
#[derive(Debug, Clone, Default)]
pub struct BlockSet {
    /// By [`ControlFlowGraph::number`].
    of: Vec<bool>,
    nodes: usize,
}

impl BlockSet {
    /// The empty set of blocks of a graph.
    pub fn new(cfg: &ControlFlowGraph) -> Self {
        Self {
            of: vec![false; cfg.count()],
            nodes: cfg.nodes.len(),
        }
    }

    /// The blocks of which something holds.
    pub fn of(cfg: &ControlFlowGraph, holds: impl Fn(BlockId) -> bool) -> Self {
        let mut set = Self::new(cfg);
        for block in cfg.blocks().filter(|block| holds(*block)) {
            set.insert(block);
        }
        set
    }

    fn place(&self, block: BlockId) -> Option<usize> {
        match block {
            BlockId::Node(id) => Some(id.0 as usize),
            BlockId::Join(id) => Some(self.nodes + id.0 as usize),
            BlockId::Entry | BlockId::End | BlockId::Fail | BlockId::Leave => None,
        }
    }

    /// Whether a block is in it.
    pub fn contains(&self, block: BlockId) -> bool {
        let slot = self.place(block).and_then(|at| self.of.get(at));
        slot.copied().unwrap_or(false)
    }

    /// Adds a block; whether it was not in it.
    pub fn insert(&mut self, block: BlockId) -> bool {
        let slot = self.place(block).and_then(|at| self.of.get_mut(at));
        slot.is_some_and(|slot| !std::mem::replace(slot, true))
    }

    /// Takes a block out.
    pub fn remove(&mut self, block: BlockId) {
        let slot = self.place(block).and_then(|at| self.of.get_mut(at));
        slot.into_iter().for_each(|slot| *slot = false);
    }
}
