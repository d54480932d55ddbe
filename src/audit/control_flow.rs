//! From a graph's blocks to the control-flow graph that the checker's analyses go over.

use std::collections::BTreeSet;

use crate::base::{IdVec, Span};
use crate::check::cfg::model::{JoinBlock, Synthetic};
use crate::check::cfg::{Block, BlockId, ControlFlowGraph, Successor, Transition};
use crate::ir::graph::{Graph, JoinId, NodeId};
use crate::ir::jump::EdgeKind;

use super::map::{self, Map, Tasks, Way};

/// A graph as the checker sees it. What stands in front of a node with `max_visits` is a block of its own.
pub(super) fn control_flow(map: &Map, graph: &Graph) -> ControlFlowGraph {
    let (mut nodes, mut joins) = (0, 0);
    let blocks = map.blocks.iter().enumerate().map(|(at, place)| {
        if at == 0 {
            return BlockId::Entry;
        }
        let (next, block): (&mut u32, fn(u32) -> BlockId) = match place.members.is_empty() {
            true => (&mut nodes, |id| BlockId::Node(NodeId(id))),
            false => (&mut joins, |id| BlockId::Join(JoinId(id))),
        };
        *next += 1;
        block(*next - 1)
    });
    let blocks: Vec<BlockId> = blocks.collect();
    let ways = map
        .blocks
        .iter()
        .flat_map(|place| place.arms.iter().flatten());
    let sent: BTreeSet<usize> = ways.filter(|way| is_many(way)).map(|way| way.to).collect();
    let transitions = |(at, place): (usize, &map::Block)| -> Vec<Transition> {
        let handed_on = place.node.is_none() && sent.contains(&at);
        let successor = |way: &Way| Successor {
            to: blocks.get(way.to).copied().unwrap_or(BlockId::End),
            many: is_many(way) || handed_on,
            span: Span::default(),
        };
        let arms = place.arms.iter().enumerate().map(|(index, arm)| {
            let end = Successor {
                to: BlockId::End,
                many: false,
                span: Span::default(),
            };
            let end = arm.is_empty().then_some(end);
            Transition {
                kind: place.kinds.get(index).copied().unwrap_or(EdgeKind::Edge),
                successors: arm.iter().map(successor).chain(end).collect(),
                writes: Default::default(),
                span: Span::default(),
            }
        });
        arms.collect()
    };
    let mut places = map.blocks.iter().enumerate();
    let start = places.next().map_or(Vec::new(), transitions);
    let (mut nodes, mut joins) = (IdVec::new(), IdVec::new());
    for (at, place) in places {
        let transitions = transitions((at, place)).into();
        if !place.members.is_empty() {
            let members = place.members.iter();
            let members = members.map(|member| (NodeId(*member as u32 - 1), Span::default()));
            joins.push(JoinBlock {
                members: members.collect(),
                transitions,
                span: Span::default(),
            });
            continue;
        }
        nodes.push(Block {
            name: place.name.clone(),
            span: Span::default(),
            branch: place.branches,
            synthetic: place.node.is_none().then_some(Synthetic::Choice),
            defer: place.defers,
            transitions,
            writes: Default::default(),
        });
    }
    let mut cfg = ControlFlowGraph::new(start, nodes, joins);
    cfg.exits = !graph.exits.is_empty();
    cfg
}

/// Whether it may make several tasks.
fn is_many(way: &Way) -> bool {
    !matches!(way.tasks, Tasks::One | Tasks::Many(0 | 1))
}
