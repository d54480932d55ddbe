//! Interrupts that nothing leads to, though they lead to what needs an approval: the question that a run goes past.

use std::collections::BTreeMap;

use crate::base::{IdVec, Span};
use crate::ir::{GraphId, NodeId};
use crate::resolve::program::{Program, Work};

use super::super::super::cfg::reach::reached;
use super::super::super::cfg::{BlockId, ControlFlowGraph};

/// For each node of a graph, the interrupt behind which it would run: its name's place.
type Behind = BTreeMap<NodeId, Span>;

/// The interrupts of a program that nothing leads to.
pub struct Bypassed<'a> {
    program: &'a Program,
    cfgs: &'a IdVec<GraphId, ControlFlowGraph>,
    /// By graph, as far as was asked.
    behind: BTreeMap<GraphId, Behind>,
}

impl<'a> Bypassed<'a> {
    /// Nothing is looked at yet.
    pub fn new(program: &'a Program, cfgs: &'a IdVec<GraphId, ControlFlowGraph>) -> Self {
        Self {
            program,
            cfgs,
            behind: BTreeMap::new(),
        }
    }

    /// The name of an interrupt that leads to the node, where nothing leads to the interrupt.
    pub fn before(&mut self, graph: GraphId, node: NodeId) -> Option<Span> {
        let (program, cfgs) = (self.program, self.cfgs);
        let behind = self
            .behind
            .entry(graph)
            .or_insert_with(|| behind(program, cfgs, graph).unwrap_or_default());
        behind.get(&node).copied()
    }
}

fn behind(
    program: &Program,
    cfgs: &IdVec<GraphId, ControlFlowGraph>,
    id: GraphId,
) -> Option<Behind> {
    let (graph, cfg) = (program.graphs.get(id)?, cfgs.get(id)?);
    let reached = reached(cfg);
    let is_reached = |node: NodeId| reached.get(node.0 as usize).copied().unwrap_or(true);
    let mut behind = Behind::new();
    for (node, of) in graph.nodes.entries() {
        if !matches!(of.work, Work::Interrupt { .. }) || is_reached(node) {
            continue;
        }
        let mut open = vec![BlockId::Node(node)];
        while let Some(block) = open.pop() {
            let successors = cfg
                .transitions(block)
                .iter()
                .flat_map(|transition| &transition.successors);
            for successor in successors {
                match successor.to {
                    BlockId::Node(to) if behind.contains_key(&to) => {}
                    BlockId::Node(to) => {
                        behind.insert(to, of.name.span);
                        open.push(successor.to);
                    }
                    _ => {}
                }
            }
        }
    }
    Some(behind)
}
