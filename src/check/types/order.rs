//! The order in which a run comes to nodes, and what may be written beside each.

use std::collections::HashMap;
use std::ops::Range;

use crate::base::SharedSet;
use crate::ir::{FieldId, NodeId};

use super::super::cfg::{ControlFlowGraph, MayHappenInParallel, writes_of};

/// For each node the fields that other tasks may write in its super-step.
pub fn beside(cfg: &ControlFlowGraph, mhp: &MayHappenInParallel) -> Vec<SharedSet<FieldId>> {
    let writes = |id: NodeId| writes_of(cfg, id).into_iter().map(|write| write.field);
    let mut blocks = Blocks {
        nodes: cfg.nodes.ids().map(|id| writes(id).collect()).collect(),
        known: HashMap::new(),
    };
    let partners = cfg.nodes.ids().map(|id| mhp.partners(id));
    partners
        .map(|partners| blocks.of(partners.iter().map(|node| node as usize)))
        .collect()
}

/// What is written by nodes that stand in a row, so that a task beside a thousand others is told from a few sets.
struct Blocks {
    /// By node.
    nodes: Vec<SharedSet<FieldId>>,
    /// By level and place: blocks of two nodes, of four, and so on.
    known: HashMap<(u32, usize), SharedSet<FieldId>>,
}

impl Blocks {
    /// What some nodes write, given in order. Other numbers are no nodes.
    fn of(&mut self, nodes: impl Iterator<Item = usize>) -> SharedSet<FieldId> {
        let count = self.nodes.len();
        let mut all = SharedSet::new();
        // Where a row of nodes begins, and where it ends.
        let mut row = 0..0;
        for node in nodes.filter(|node| *node < count) {
            if node != row.end {
                self.row(row, &mut all);
                row = node..node;
            }
            row.end = node + 1;
        }
        self.row(row, &mut all);
        all
    }

    fn row(&mut self, row: Range<usize>, all: &mut SharedSet<FieldId>) {
        let mut at = row.start;
        while at < row.end {
            // The largest block that begins here and ends in the row.
            let level = at.trailing_zeros().min((row.end - at).ilog2());
            all.join(&self.block(level, at >> level));
            at += 1 << level;
        }
    }

    fn block(&mut self, level: u32, place: usize) -> SharedSet<FieldId> {
        if level == 0 {
            return self.nodes.get(place).cloned().unwrap_or_default();
        }
        if let Some(known) = self.known.get(&(level, place)) {
            return known.clone();
        }
        let mut both = self.block(level - 1, 2 * place);
        both.join(&self.block(level - 1, 2 * place + 1));
        self.known.insert((level, place), both.clone());
        both
    }
}
