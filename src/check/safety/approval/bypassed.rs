//! Interrupts that nothing leads to, though they lead to what needs an approval: the question that a run goes past.

use std::collections::BTreeMap;

use crate::base::{IdVec, Span};
use crate::ir::{GraphId, NodeId};
use crate::resolve::program::{Program, Work};

use super::super::super::flow::reach::reached;
use super::super::super::flow::{Flow, Spot};

/// For each node of a graph, the interrupt behind which it would run: its name's place.
type Behind = BTreeMap<NodeId, Span>;

/// The interrupts of a program that nothing leads to.
pub struct Bypassed<'a> {
    program: &'a Program,
    flows: &'a IdVec<GraphId, Flow>,
    /// By graph, as far as was asked.
    behind: BTreeMap<GraphId, Behind>,
}

impl<'a> Bypassed<'a> {
    /// Nothing is looked at yet.
    pub fn new(program: &'a Program, flows: &'a IdVec<GraphId, Flow>) -> Self {
        Self {
            program,
            flows,
            behind: BTreeMap::new(),
        }
    }

    /// The name of an interrupt that leads to the node, where nothing leads to the interrupt.
    pub fn before(&mut self, graph: GraphId, node: NodeId) -> Option<Span> {
        let (program, flows) = (self.program, self.flows);
        let behind = self
            .behind
            .entry(graph)
            .or_insert_with(|| behind(program, flows, graph).unwrap_or_default());
        behind.get(&node).copied()
    }
}

fn behind(program: &Program, flows: &IdVec<GraphId, Flow>, id: GraphId) -> Option<Behind> {
    let (graph, flow) = (program.graphs.get(id)?, flows.get(id)?);
    let reached = reached(flow);
    let is_reached = |node: NodeId| reached.get(node.0 as usize).copied().unwrap_or(true);
    let mut behind = Behind::new();
    for (node, of) in graph.nodes.entries() {
        if !matches!(of.work, Work::Interrupt { .. }) || is_reached(node) {
            continue;
        }
        let mut open = vec![Spot::Node(node)];
        while let Some(spot) = open.pop() {
            let goals = flow.ways(spot).iter().flat_map(|way| &way.goals);
            for goal in goals {
                match goal.to {
                    Spot::Node(to) if behind.contains_key(&to) => {}
                    Spot::Node(to) => {
                        behind.insert(to, of.name.span);
                        open.push(goal.to);
                    }
                    _ => {}
                }
            }
        }
    }
    Some(behind)
}
