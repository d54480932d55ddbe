//! `recursion_limit` against the shortest way to the end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::base::IdVec;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{GraphId, NodeId};
use crate::resolve::program::{Graph, Program, Work};

use super::calls::called;
use super::cfg::{BlockId, ControlFlowGraph, Transition};

/// Rounds in which the lengths of called graphs are handed up. Each round gives a lower bound, so that
/// stopping early reports less, never too much.
const ROUNDS: usize = 8;

/// Reports limits that no run can keep: the least number of super-steps to an end is more.
pub fn limits(program: &Program, cfgs: &IdVec<GraphId, ControlFlowGraph>, diags: &mut Diagnostics) {
    if program
        .graphs
        .iter()
        .all(|graph| graph.recursion_limit.is_none())
    {
        return;
    }
    let mut least: Vec<u64> = vec![0; program.graphs.len()];
    for _ in 0..ROUNDS {
        let next: Vec<u64> = program
            .graphs
            .entries()
            .map(|(id, graph)| {
                let cfg = cfgs.get(id);
                cfg.map_or(0, |cfg| shortest(graph, cfg, &least).unwrap_or(0))
            })
            .collect();
        if next == least {
            break;
        }
        least = next;
    }
    for (graph, least) in program.graphs.iter().zip(least) {
        let Some(limit) = graph.recursion_limit.filter(|l| u64::from(l.node) < least) else {
            continue;
        };
        let message = format!(
            "`recursion_limit` of `{}` is {}, but its shortest way to the end takes {least} super-steps",
            graph.name.node, limit.node
        );
        diags.push(
            Diagnostic::new(&codes::LIMIT_TOO_LOW, message, limit.span)
                .help(format!("write `recursion_limit {least}` or more")),
        );
    }
}

/// The least number of super-steps from `start` to an exit; `None` where there is none. A run
/// that waits for a person counts anew from there, so an interrupt is as good as an exit.
fn shortest(graph: &Graph, cfg: &ControlFlowGraph, least: &[u64]) -> Option<u64> {
    let mut seen = vec![false; cfg.nodes.len() + cfg.joins.len()];
    let mut open = BinaryHeap::new();
    let push = |open: &mut BinaryHeap<_>, transitions: &[Transition], steps: u64| -> bool {
        let successors = transitions
            .iter()
            .flat_map(|transition| &transition.successors);
        let mut out = false;
        for successor in successors {
            match cfg.number(successor.to) {
                Some(number) => open.push(Reverse((steps, number))),
                None => out |= successor.to != BlockId::Fail,
            }
        }
        out
    };
    if push(&mut open, &cfg.start, 0) {
        return Some(0);
    }
    if cfg.exits {
        return Some(1);
    }
    let mut exit: Option<u64> = None;
    while let Some(Reverse((steps, number))) = open.pop() {
        if exit.is_some_and(|exit| exit <= steps) {
            break;
        }
        let Some(slot) = seen.get_mut(number).filter(|slot| !**slot) else {
            continue;
        };
        *slot = true;
        let block = cfg.block(number);
        let (cost, waits) = match block {
            BlockId::Node(id) => cost(graph, id, least),
            _ => (0, false),
        };
        let steps = steps + cost;
        if push(&mut open, cfg.transitions(block), steps) || waits {
            exit = Some(exit.map_or(steps, |exit| exit.min(steps)));
        }
    }
    exit
}

/// The super-steps of a node, and whether it waits for a person.
fn cost(graph: &Graph, id: NodeId, least: &[u64]) -> (u64, bool) {
    let Some(node) = graph.nodes.get(id) else {
        return (0, true);
    };
    let inside = called(node).and_then(|(child, _)| least.get(child.0 as usize));
    let cost = match node.work {
        Work::Branch => 0,
        _ if node.skips.is_empty() && graph.on_error_of(id).is_none() => {
            1 + inside.copied().unwrap_or(0)
        }
        _ => 1,
    };
    let asks = matches!(node.work, Work::Interrupt { .. }) || !node.stops.is_empty();
    (cost, asks)
}
