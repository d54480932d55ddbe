//! `recursion_limit` against the shortest way to the end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::base::IdVec;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{GraphId, NodeId};
use crate::resolve::program::{Graph, Program, Work};

use super::calls::settle;
use super::cfg::{BlockId, BlockSet, ControlFlowGraph};

/// Reports limits that no run can keep: the least number of super-steps to an end is more.
pub fn limits(program: &Program, cfgs: &IdVec<GraphId, ControlFlowGraph>, diags: &mut Diagnostics) {
    if program
        .graphs
        .iter()
        .all(|graph| graph.recursion_limit.is_none())
    {
        return;
    }
    for (graph, least) in program.graphs.iter().zip(least(program, cfgs)) {
        // That a graph never comes to its end is reported as such.
        let least = least.unwrap_or(0);
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

/// For each graph the least number of super-steps to an exit; `None` where it has none. Each graph is looked at again when one
/// that it calls turns out to take less.
fn least(program: &Program, cfgs: &IdVec<GraphId, ControlFlowGraph>) -> Vec<Option<u64>> {
    let mut least: Vec<Option<u64>> = vec![None; program.graphs.len()];
    settle(program, |id| {
        let steps = program.graphs.get(id).zip(cfgs.get(id));
        let steps = steps.and_then(|(graph, cfg)| shortest(graph, cfg, &least));
        let known = least.get_mut(id.0 as usize);
        let less = |known: &&mut Option<u64>| {
            steps.is_some_and(|steps| known.is_none_or(|known| steps < known))
        };
        let known = known.filter(less);
        known.map(|known| *known = steps).is_some()
    });
    least
}

/// The least number of super-steps from `start` to an exit; `None` where there is none. A run
/// that waits for a person counts anew from there, so an interrupt is as good as an exit.
fn shortest(graph: &Graph, cfg: &ControlFlowGraph, least: &[Option<u64>]) -> Option<u64> {
    let mut seen = BlockSet::new(cfg);
    let mut open = BinaryHeap::new();
    let push = |open: &mut BinaryHeap<_>, from: BlockId, steps: u64| -> bool {
        let mut out = false;
        for successor in cfg.successors(from) {
            match cfg.number(successor.to) {
                Some(number) => open.push(Reverse((steps, number))),
                None => out |= successor.to != BlockId::Fail,
            }
        }
        out
    };
    if push(&mut open, BlockId::Entry, 0) {
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
        let block = cfg.block(number);
        if !seen.insert(block) {
            continue;
        }
        let cost = match block {
            BlockId::Node(id) => cost(graph, id, least),
            _ => Some((0, false)),
        };
        let Some((cost, waits)) = cost else { continue };
        let steps = steps + cost;
        if push(&mut open, block, steps) || waits {
            exit = Some(exit.map_or(steps, |exit| exit.min(steps)));
        }
    }
    exit
}

/// The super-steps of a node, and whether it waits for a person; `None` where the graph that it calls never ends.
fn cost(graph: &Graph, id: NodeId, least: &[Option<u64>]) -> Option<(u64, bool)> {
    let Some(node) = graph.nodes.get(id) else {
        return Some((0, true));
    };
    let inside = node
        .called()
        .and_then(|(child, _)| least.get(child.0 as usize));
    let cost = match node.work {
        Work::Branch => 0,
        _ if node.skips.is_empty() && graph.on_error_of(id).is_none() => {
            1 + inside.copied().unwrap_or(Some(0))?
        }
        _ => 1,
    };
    let asks = matches!(node.work, Work::Interrupt { .. }) || !node.stops.is_empty();
    Some((cost, asks))
}
