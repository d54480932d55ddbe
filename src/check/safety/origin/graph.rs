//! What leads to each place of a graph, and what is sent to each worker.

use std::collections::HashMap;

use crate::ast::Name;
use crate::ast::expr::Expr;
use crate::ast::item::NamedArg;
use crate::base::{IdVec, Span};
use crate::ir::{GraphId, NodeId};
use crate::resolve::jumps::{Maker, Why};
use crate::resolve::program::{Graph, Jump, Node, Program, TargetKind, Work};

use super::super::super::calls::callers;
use super::super::super::flow::{Cause, Flow, Spot, Way};

/// A graph, read backwards.
pub struct Backwards<'a> {
    /// For each place the ways that lead to it: the place that they leave (`None` for `start`) and which.
    into: Vec<Vec<(Option<usize>, usize)>>,
    /// What `each` sends to a node.
    pub sends: HashMap<NodeId, Vec<Send<'a>>>,
}

/// An `each` that sends to a worker.
pub struct Send<'a> {
    /// Who sends.
    pub by: Maker,
    /// Loop name.
    pub var: &'a Name,
    /// The list.
    pub items: &'a Expr,
    /// Values of the worker's `input`.
    pub with: &'a [NamedArg],
    /// The jump.
    pub way: Span,
}

/// The number of a place, with one each for the end and for leaving.
pub fn number(flow: &Flow, spot: Spot) -> Option<usize> {
    let count = flow.stops.len() + flow.joins.len();
    match spot {
        Spot::End => Some(count),
        Spot::Leave => Some(count + 1),
        Spot::Fail => None,
        spot => flow.number(spot),
    }
}

impl<'a> Backwards<'a> {
    /// Reads a graph backwards.
    pub fn new(graph: &'a Graph, flow: &Flow) -> Self {
        let mut into = vec![Vec::new(); flow.stops.len() + flow.joins.len() + 2];
        let mut enter = |from: Option<usize>, ways: &[Way]| {
            for (index, way) in ways.iter().enumerate() {
                for goal in &way.goals {
                    let at = number(flow, goal.to).and_then(|n| into.get_mut(n));
                    at.into_iter().for_each(|list| list.push((from, index)));
                }
            }
        };
        enter(None, &flow.start);
        for spot in flow.spots() {
            enter(flow.number(spot), flow.ways(spot));
        }
        let mut sends = HashMap::new();
        for (by, jump) in graph.jumps() {
            sent(&mut sends, by, jump);
        }
        Self { into, sends }
    }

    /// The ways that lead to a place.
    pub fn into(&self, number: usize) -> &[(Option<usize>, usize)] {
        self.into.get(number).map_or(&[], Vec::as_slice)
    }
}

fn sent<'a>(sends: &mut HashMap<NodeId, Vec<Send<'a>>>, by: Maker, jump: &'a Jump) {
    for target in &jump.to {
        if let TargetKind::Each(each) = &target.kind
            && let Some(worker) = each.worker
        {
            sends.entry(worker).or_default().push(Send {
                by,
                var: &each.var,
                items: &each.items,
                with: &each.with,
                way: jump.span,
            });
        }
    }
}

/// What makes a node take a jump that it writes, as the flow says it.
pub fn cause(why: Why) -> Cause {
    match why {
        Why::Edge => Cause::Edge,
        Why::Goto => Cause::Goto,
        Why::Skip => Cause::Skip,
        Why::Error => Cause::Error,
        Why::Visits => Cause::Visits,
        Why::Timeout => Cause::Timeout,
    }
}

/// For each graph whether a run can pass it, from `start` to its end, without asking a person.
pub fn unasked(program: &Program, flows: &IdVec<GraphId, Flow>) -> Vec<bool> {
    let callers = callers(program);
    let mut passes = vec![false; program.graphs.len()];
    let mut open: Vec<GraphId> = program.graphs.ids().collect();
    while let Some(id) = open.pop() {
        let known = passes.get(id.0 as usize).copied().unwrap_or(true);
        if known || !passes_through(program, flows, id, &passes) {
            continue;
        }
        if let Some(slot) = passes.get_mut(id.0 as usize) {
            *slot = true;
        }
        open.extend(
            callers
                .get(id)
                .into_iter()
                .flatten()
                .map(|(caller, _)| *caller),
        );
    }
    passes
}

fn passes_through(
    program: &Program,
    flows: &IdVec<GraphId, Flow>,
    id: GraphId,
    passes: &[bool],
) -> bool {
    let (Some(graph), Some(flow)) = (program.graphs.get(id), flows.get(id)) else {
        return true;
    };
    let mut seen = vec![false; flow.stops.len() + flow.joins.len()];
    let mut open: Vec<&Way> = flow.start.iter().collect();
    while let Some(way) = open.pop() {
        for goal in &way.goals {
            let Some(number) = flow.number(goal.to) else {
                match goal.to {
                    Spot::Fail => continue,
                    _ => return true,
                }
            };
            let Some(slot) = seen.get_mut(number).filter(|slot| !**slot) else {
                continue;
            };
            *slot = true;
            let node = match goal.to {
                Spot::Node(node) => graph.nodes.get(node),
                _ => None,
            };
            let asks = node.is_some_and(|node| asks_before(node) || asks(node, passes));
            let own = |way: &&Way| matches!(way.cause, Cause::Edge | Cause::Goto | Cause::Child);
            open.extend(flow.ways(goal.to).iter().filter(|way| !asks || !own(way)));
        }
    }
    false
}

/// Whether a person is asked before the node does anything.
pub fn asks_before(node: &Node) -> bool {
    node.stops.iter().any(|stop| !stop.after)
}

/// Whether a person is asked behind what the node does, before its own way on is taken.
pub fn asks(node: &Node, passes: &[bool]) -> bool {
    if node.skips.iter().any(|skip| skip.to.is_none()) {
        return false;
    }
    if node.stops.iter().any(|stop| stop.after) {
        return true;
    }
    match &node.work {
        Work::Interrupt { .. } => true,
        Work::Subgraph {
            graph: Some(child), ..
        } => !passes.get(child.0 as usize).copied().unwrap_or(true),
        _ => false,
    }
}
