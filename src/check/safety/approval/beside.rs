//! What a task beside writes holds for all that runs in the next super-step, wherever the other tasks go on to.

use std::collections::BTreeSet;

use crate::ir::NodeId;
use crate::resolve::jumps::Maker;
use crate::resolve::program::Graph;

use super::super::super::cfg::{BlockId, ControlFlowGraph, MayHappenInParallel};

/// Who runs beside whom in a graph.
pub struct Beside<'f> {
    cfg: &'f ControlFlowGraph,
    graph: &'f Graph,
    mhp: MayHappenInParallel<'f>,
    /// By node, what leads to it; only of branches.
    before: Vec<Vec<BlockId>>,
}

impl<'f> Beside<'f> {
    /// Follows all tasks of the graph.
    pub fn new(graph: &'f Graph, cfg: &'f ControlFlowGraph) -> Self {
        let is_branch = |to: NodeId| cfg.nodes.get(to).is_some_and(|node| node.branch);
        let mut before = vec![Vec::new(); cfg.nodes.len()];
        for block in cfg.blocks() {
            for successor in cfg
                .transitions(block)
                .iter()
                .flat_map(|transition| &transition.successors)
            {
                match successor.to {
                    BlockId::Node(to) if is_branch(to) => {
                        let to = before.get_mut(to.0 as usize);
                        to.into_iter()
                            .for_each(|to: &mut Vec<BlockId>| to.push(block));
                    }
                    _ => {}
                }
            }
        }
        Self {
            cfg,
            graph,
            mhp: MayHappenInParallel::new(cfg),
            before,
        }
    }

    /// The tasks that run, or wait, beside one that makes such a write; `seen` are those that need no more telling.
    pub fn of(&self, by: Maker, seen: &mut BTreeSet<BlockId>) -> Vec<BlockId> {
        let runners = match by {
            Maker::Start => Vec::new(),
            Maker::Node(node, _) => self.runners(BlockId::Node(node)),
            Maker::Join(join) => self.runners(BlockId::Join(join)),
            Maker::Handler => self.graph.served().collect(),
        };
        let beside = runners.into_iter().flat_map(|node| self.mhp.beside(node));
        beside.filter(|block| seen.insert(*block)).collect()
    }

    /// The nodes in whose super-step it is written: branches are followed at once, and so are joins.
    fn runners(&self, by: BlockId) -> Vec<NodeId> {
        let mut seen = BTreeSet::from([by]);
        let mut open = vec![by];
        let mut found = Vec::new();
        while let Some(block) = open.pop() {
            let before: Vec<BlockId> = match block {
                BlockId::Node(node) if self.cfg.nodes.get(node).is_some_and(|node| node.branch) => {
                    let before = self.before.get(node.0 as usize);
                    before.into_iter().flatten().copied().collect()
                }
                BlockId::Node(node) => {
                    found.push(node);
                    continue;
                }
                BlockId::Join(join) => {
                    let join = self.cfg.joins.get(join).into_iter();
                    let members = join.flat_map(|join| &join.members);
                    members.map(|(node, _)| BlockId::Node(*node)).collect()
                }
                BlockId::End | BlockId::Fail | BlockId::Leave => continue,
            };
            open.extend(before.into_iter().filter(|block| seen.insert(*block)));
        }
        found
    }
}
