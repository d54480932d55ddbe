//! A no behind a yes: a person has agreed to something on the way, and a later question, whose answer is no, leads to the
//! tool. The nearest question counts, where its yes does not lead there too.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::{IdVec, Span};
use crate::ir::{GraphId, NodeId};
use crate::resolve::program::{Graph, Program, Work};

use super::super::super::cfg::{BlockId, ControlFlowGraph, EdgeKind};
use super::answer::Says;
use super::destroys;
use super::person::Persons;

/// Most steps that are followed in a program; behind later questions of more nothing is said.
const MOST: usize = 400_000;

/// A destructive tool behind a no.
pub struct Refused {
    /// The graph.
    pub graph: GraphId,
    /// The interrupt.
    pub by: NodeId,
    /// Its arm where the answer is no.
    pub arm: Span,
    /// The node that runs the tool.
    pub node: NodeId,
}

/// Finds them, in each graph for itself.
pub fn refused(program: &Program, cfgs: &IdVec<GraphId, ControlFlowGraph>) -> Vec<Refused> {
    let persons = Persons::new(program);
    let mut found = Vec::new();
    let mut steps = 0;
    for (id, graph) in program.graphs.entries() {
        let destroying: BTreeSet<NodeId> = (graph.nodes.entries())
            .filter(|(_, node)| !destroys(program, graph, node).is_empty())
            .map(|(node, _)| node)
            .collect();
        let Some(cfg) = cfgs.get(id).filter(|cfg| !cfg.broken) else {
            continue;
        };
        for (by, node) in graph.nodes.entries() {
            if destroying.is_empty() || !matches!(node.work, Work::Interrupt { .. }) {
                continue;
            }
            let mut said: BTreeMap<bool, Vec<(Span, BlockId)>> = BTreeMap::new();
            for transition in cfg.transitions(BlockId::Node(by)) {
                let own = matches!(transition.kind, EdgeKind::Goto | EdgeKind::Edge);
                let says = persons.on_way(id, node, transition.kind, transition.span);
                if own {
                    let to = transition
                        .successors
                        .iter()
                        .map(|successor| (transition.span, successor.to));
                    said.entry(says == Says::No).or_default().extend(to);
                }
            }
            let (Some(no), Some(yes)) = (said.remove(&true), said.remove(&false)) else {
                continue;
            };
            let all = |node: NodeId| node != by;
            let allowed = reach(cfg, yes, &mut steps, &all);
            // A yes that leads round to the question asks for more of the same.
            if allowed.contains_key(&by) {
                continue;
            }
            let unasked = |node: NodeId| !is_asked(&persons, id, graph, node);
            let denied = reach(cfg, no, &mut steps, &unasked);
            if steps > MOST {
                return found;
            }
            let runs = denied.into_iter().filter(|(node, _)| {
                destroying.contains(node) && !allowed.contains_key(node) && unasked(*node)
            });
            found.extend(runs.map(|(node, arm)| Refused {
                graph: id,
                by,
                arm,
                node,
            }));
        }
    }
    found
}

/// Whether a person is asked in the node or around it, or it goes on only where one has agreed.
fn is_asked(persons: &Persons<'_>, id: GraphId, graph: &Graph, node: NodeId) -> bool {
    let Some(node) = graph.nodes.get(node) else {
        return true;
    };
    let calls = matches!(node.work, Work::Interrupt { .. } | Work::Subgraph { .. });
    let agreed = matches!(persons.behind_guards(id, node), Says::Yes | Says::Something);
    calls || !node.stops.is_empty() || agreed
}

/// Nodes that these places lead to, each with the way that was begun with. Behind a node that is not `through` nothing is.
fn reach(
    cfg: &ControlFlowGraph,
    mut open: Vec<(Span, BlockId)>,
    steps: &mut usize,
    through: &dyn Fn(NodeId) -> bool,
) -> BTreeMap<NodeId, Span> {
    let mut seen: BTreeSet<BlockId> = BTreeSet::new();
    let mut nodes = BTreeMap::new();
    while let Some((arm, block)) = open.pop() {
        *steps += 1;
        if !seen.insert(block) || *steps > MOST {
            continue;
        }
        if let BlockId::Node(node) = block {
            nodes.insert(node, arm);
            if !through(node) {
                continue;
            }
        }
        let successors = cfg
            .transitions(block)
            .iter()
            .flat_map(|transition| &transition.successors);
        open.extend(successors.map(|successor| (arm, successor.to)));
    }
    nodes
}
