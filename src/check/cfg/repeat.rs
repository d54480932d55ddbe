//! The same arrow twice, and the same join.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::base::Span;
use crate::base::name::list;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::NodeId;
use crate::resolve::program::Graph;

use super::model::{Block, BlockId, ControlFlowGraph, JoinBlock, Transition};

/// Reports targets that one way names twice, and joins that are written twice.
pub fn repeated(graph: &Graph, cfg: &ControlFlowGraph, diags: &mut Diagnostics) {
    // A computed target may give what stands beside it; its goals have their places in `ends`.
    let ends = graph.nodes.iter().filter_map(|node| node.ends.as_ref());
    let mut ends: HashSet<Span> = ends
        .flat_map(|ends| &ends.items)
        .map(|end| end.to.span)
        .collect();
    // What stands behind `then` comes in the place of an empty list, beside what the same way names. Its own list is a block's.
    let is_fan_out = |from: Option<BlockId>| from.is_some_and(|from| is_fan_out(cfg, from));
    for (from, transition) in cfg.all_transitions().filter(|(from, _)| is_fan_out(*from)) {
        twice((graph, cfg), from, transition, &ends, diags);
        let behind = transition.successors.iter();
        ends.extend(behind.map(|successor| successor.span));
    }
    for (from, transition) in cfg.all_transitions().filter(|(from, _)| !is_fan_out(*from)) {
        twice((graph, cfg), from, transition, &ends, diags);
    }
    let mut known: BTreeMap<Vec<NodeId>, &JoinBlock> = BTreeMap::new();
    for join in &cfg.joins {
        let mut members: Vec<NodeId> = join.members.iter().map(|(node, _)| *node).collect();
        members.sort();
        match known.get(&members) {
            Some(first) if successor(first) == successor(join) => {
                diags.push(same(cfg, first, join));
            }
            _ => drop(known.insert(members, join)),
        }
    }
}

fn is_fan_out(cfg: &ControlFlowGraph, block: BlockId) -> bool {
    let node = |id| cfg.nodes.get(id).and_then(Block::fan_out);
    matches!(block, BlockId::Node(id) if node(id).is_some())
}

fn successor(join: &JoinBlock) -> Option<BlockId> {
    match join.transitions.as_slice() {
        [transition] => match transition.successors.as_slice() {
            [successor] => Some(successor.to),
            _ => None,
        },
        _ => None,
    }
}

fn twice(
    (graph, cfg): (&Graph, &ControlFlowGraph),
    from: Option<BlockId>,
    transition: &Transition,
    ends: &HashSet<Span>,
    diags: &mut Diagnostics,
) {
    let mut known: HashMap<BlockId, Span> = HashMap::new();
    let named = |successor: &&super::model::Successor| {
        // What leads to an unknown target has no place of its own.
        let written = successor.span != Span::default() && !ends.contains(&successor.span);
        written && !successor.many && matches!(successor.to, BlockId::Node(_) | BlockId::End)
    };
    for successor in transition.successors.iter().filter(named) {
        let Some(first) = known
            .insert(successor.to, successor.span)
            .filter(|first| *first != successor.span)
        else {
            continue;
        };
        let to = cfg.name(successor.to);
        let from = match from {
            Some(block) if is_fan_out(cfg, block) => "`then`".to_owned(),
            Some(BlockId::Join(_)) => "this join".to_owned(),
            Some(block) => format!("`{}`", cfg.name(block)),
            None => "`start`".to_owned(),
        };
        let found = Diagnostic::new(
            &codes::DUPLICATE_EDGE,
            format!("{from} leads to `{to}` twice"),
            successor.span,
        )
        .label(first, "the first time")
        .help("take one of the two out: it runs once either way");
        // What another place says as well goes with all its text; an element of a list is left to the writer.
        diags.push(match graph.plain_edges.get(&successor.span) {
            Some(lines) => found.fix(*lines, ""),
            None => found,
        });
    }
}

fn same(cfg: &ControlFlowGraph, first: &JoinBlock, join: &JoinBlock) -> Diagnostic {
    let names = join
        .members
        .iter()
        .map(|(node, _)| cfg.name(BlockId::Node(*node)));
    let message = format!("the join of {} is written twice", list(names));
    Diagnostic::new(&codes::DUPLICATE_EDGE, message, join.span)
        .label(first.span, "the first time")
        .help("take one of the two out")
}
