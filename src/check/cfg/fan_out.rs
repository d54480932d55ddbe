//! Fan-outs that lead on as a whole: `each .. then ..`.
//!
//! Such a fan-out is a block of its own beside its tasks: it takes their super-step, waits with them where the worker is deferred,
//! and then leads on. Where the list is empty, or `max_visits` turns all tasks away, what comes behind it comes in its place.

use std::collections::{BTreeSet, HashMap};

use thin_vec::ThinVec;

use crate::base::Span;
use crate::ir::NodeId;
use crate::resolve::program::{Each, Node, Target, TargetKind, Then};
use crate::resolve::target::NamedEach;

use super::build::Builder;
use super::model::{Block, BlockId, ControlFlowGraph, EdgeKind, Successor, Transition};

/// The blocks of a graph's fan-outs.
#[derive(Default)]
pub(super) struct FanOuts {
    /// In the order found; their ids come behind those of the nodes.
    pub(super) all: Vec<Block>,
    /// By the place of the `each` and its worker: a handler of the whole graph is taken by many nodes.
    known: HashMap<(Span, NodeId), NodeId>,
    /// Workers whose `max_visits` is being followed: it may send to them again.
    following: BTreeSet<NodeId>,
}

impl Builder<'_> {
    /// What a fan-out with `then` may lead to at once, in alternatives.
    pub(super) fn fan_out(&mut self, each: &Each, span: Span) -> Vec<Vec<Successor>> {
        let (Some(worker), Some(then)) = (each.worker, &each.then) else {
            return vec![self.unknown()];
        };
        let behind = then
            .to
            .iter()
            .flat_map(|target| self.successors(target, None));
        let behind: Vec<Successor> = behind.collect();
        self.led_on(worker, then, behind, span)
    }

    /// The same in a tool's body, whose names are those that the node's `ends` have.
    pub(super) fn named_fan_out(
        &mut self,
        each: &NamedEach,
        node: &Node,
        span: Span,
    ) -> Vec<Vec<Successor>> {
        let workers = self.named(&each.worker, Some(node));
        let tasks = workers.into_iter().map(|successor| Successor {
            many: true,
            span,
            ..successor
        });
        let tasks: Vec<Successor> = tasks.collect();
        let (
            Some(then),
            [
                Successor {
                    to: BlockId::Node(worker),
                    ..
                },
            ],
        ) = (&each.then, tasks.as_slice())
        else {
            return vec![tasks];
        };
        let behind = then.to.iter().flat_map(|target| match &target.kind {
            TargetKind::Named(name) => self.named(name, Some(node)),
            TargetKind::End => self.end(target, node),
            _ => self.unknown(),
        });
        let behind: Vec<Successor> = behind.collect();
        self.led_on(*worker, then, behind, span)
    }

    fn end(&mut self, target: &Target, node: &Node) -> Vec<Successor> {
        let end = crate::base::Spanned::new("end".to_owned(), target.span);
        self.named(&end, Some(node))
    }

    fn led_on(
        &mut self,
        worker: NodeId,
        then: &Then,
        behind: Vec<Successor>,
        span: Span,
    ) -> Vec<Vec<Successor>> {
        let Some(node) = self.graph.nodes.get(worker) else {
            return vec![self.unknown()];
        };
        let successor = |to, many, span| Successor { to, many, span };
        let next = NodeId((self.graph.nodes.len() + self.fan_outs.all.len()) as u32);
        let block = *self.fan_outs.known.entry((span, worker)).or_insert(next);
        if block == next {
            self.fan_outs.all.push(Block {
                name: node.name.node.clone(),
                span: then.span,
                branch: false,
                fan_out: Some(worker),
                defer: node.defer,
                transitions: ThinVec::from([Transition {
                    kind: EdgeKind::Edge,
                    successors: behind.iter().cloned().collect(),
                    writes: ThinVec::new(),
                    span: then.span,
                }]),
                writes: ThinVec::new(),
            });
        }
        let tasks = vec![
            successor(BlockId::Node(worker), true, span),
            successor(BlockId::Node(block), false, then.span),
        ];
        let mut all = vec![tasks, behind.clone()];
        if let Some(max) = &node.max_visits
            && self.fan_outs.following.insert(worker)
        {
            let turned_away = self.transitions(&max.to, EdgeKind::Visits, Some(node));
            self.fan_outs.following.remove(&worker);
            all.extend(turned_away.into_iter().map(|transition| {
                let instead = transition
                    .successors
                    .into_iter()
                    .chain(behind.iter().cloned());
                instead.collect()
            }));
        }
        all
    }
}

impl ControlFlowGraph {
    /// Nodes that only fan-outs send to which lead on as a whole: they need no way of their own.
    pub fn led_on(&self) -> BTreeSet<NodeId> {
        let (mut sent, mut others) = (BTreeSet::new(), BTreeSet::new());
        let transitions = self.blocks().flat_map(|block| self.transitions(block));
        for transition in self.start.iter().chain(transitions) {
            let nodes = transition
                .successors
                .iter()
                .filter_map(|successor| match successor.to {
                    BlockId::Node(id) => Some((id, successor.many)),
                    _ => None,
                });
            let workers = nodes
                .clone()
                .filter_map(|(id, _)| self.nodes.get(id)?.fan_out);
            let workers: BTreeSet<NodeId> = workers.collect();
            for (id, many) in nodes {
                match many && workers.contains(&id) {
                    true => sent.insert(id),
                    false => others.insert(id),
                };
            }
        }
        sent.difference(&others).copied().collect()
    }
}
