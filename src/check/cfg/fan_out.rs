//! Blocks that are no nodes: fan-outs that lead on as a whole (`each .. then ..`), and choices.
//!
//! Such a fan-out is a block of its own beside its tasks: it takes their super-step, waits with them where the worker is deferred,
//! and then leads on. Where the list is empty, or `max_visits` turns all tasks away, what comes behind it comes in its place.
//!
//! A jump that leads to several targets at once, of which some are decided by themselves (a computed one, a fan-out), leads to a
//! choice for each of those, which is a branch. So no combinations are told apart.

use std::collections::{BTreeSet, HashMap};

use thin_vec::{ThinVec, thin_vec};

use crate::base::{Span, Spanned};
use crate::ir::NodeId;
use crate::resolve::program::{Each, Node, TargetKind, Then};

use super::build::Builder;
use super::model::{Block, BlockId, ControlFlowGraph, EdgeKind, Successor, Synthetic, Transition};

/// Most targets of a choice that its name has.
const NAMED: usize = 3;

/// Blocks that are no nodes.
#[derive(Default)]
pub(super) struct Synthetics {
    /// In the order found; their ids come behind those of the nodes.
    pub(super) all: Vec<Block>,
    /// Fan-outs by the place of the `each` and their worker: a handler of the whole graph is taken by many nodes.
    fan_outs: HashMap<(Span, NodeId), NodeId>,
    /// Where each worker is left for that is full.
    full: HashMap<NodeId, NodeId>,
}

/// What may be led to at once, in alternatives.
pub(super) type Alternatives = Vec<ThinVec<Successor>>;

impl Builder<'_> {
    /// The ways of a jump that leads to what is fixed and to one of each of some choices, which stand at their places.
    pub(super) fn chosen(
        &mut self,
        mut fixed: ThinVec<Successor>,
        mut choices: Vec<(Span, Alternatives)>,
    ) -> Alternatives {
        choices.retain(|(_, alternatives)| !alternatives.is_empty());
        if fixed.is_empty() && choices.len() == 1 {
            return choices.into_iter().flat_map(|(_, only)| only).collect();
        }
        for (span, alternatives) in choices {
            let transition = |successors| Transition {
                kind: EdgeKind::Edge,
                successors,
                writes: ThinVec::new(),
                span,
            };
            let transitions: ThinVec<Transition> =
                alternatives.into_iter().map(transition).collect();
            let nodes = transitions.iter().flat_map(|way| way.successors.first());
            let mut names = nodes.map(|successor| match successor.to {
                BlockId::Node(id) => self.name_of(id),
                _ => "end",
            });
            let mut name = names.by_ref().take(NAMED).collect::<Vec<_>>().join(" | ");
            if names.next().is_some() {
                name += " | ..";
            }
            let choice = self.choice(name, span, transitions);
            fixed.push(to(BlockId::Node(choice), span));
        }
        fixed.shrink_to_fit();
        vec![fixed]
    }

    fn name_of(&self, id: NodeId) -> &str {
        let behind = (id.0 as usize).checked_sub(self.graph.nodes.len());
        let synthetic = behind.and_then(|at| self.synthetics.all.get(at));
        let node = self.graph.nodes.get(id).map(|node| &node.name.node);
        node.or(synthetic.map(|block| &block.name))
            .map_or("?", String::as_str)
    }

    fn add(&mut self, block: Block) -> NodeId {
        self.synthetics.all.push(block);
        NodeId((self.graph.nodes.len() + self.synthetics.all.len() - 1) as u32)
    }

    fn choice(&mut self, name: String, span: Span, transitions: ThinVec<Transition>) -> NodeId {
        self.add(Block {
            name,
            span,
            branch: true,
            synthetic: Some(Synthetic::Choice),
            defer: false,
            transitions,
            writes: ThinVec::new(),
        })
    }

    /// What a fan-out with `then` may lead to at once.
    pub(super) fn fan_out(&mut self, each: &Each, span: Span) -> Alternatives {
        let (Some(worker), Some(then)) = (each.worker, &each.then) else {
            return vec![self.unknown().into()];
        };
        let behind = then.to.iter().flat_map(|to| self.successors(to, None));
        let behind = behind.collect();
        self.led_on(worker, then, behind, span)
    }

    /// The same in a tool's body, whose names are those that the node's `ends` have.
    pub(super) fn named_fan_out(&mut self, each: &Each, node: &Node, span: Span) -> Alternatives {
        let workers = self.named(&each.name, Some(node));
        let tasks = workers.into_iter().map(|successor| Successor {
            many: true,
            span,
            ..successor
        });
        let tasks: ThinVec<Successor> = tasks.collect();
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
            TargetKind::End => self.named(&Spanned::new("end".to_owned(), target.span), Some(node)),
            _ => self.unknown(),
        });
        let behind = behind.collect();
        self.led_on(*worker, then, behind, span)
    }

    fn led_on(
        &mut self,
        worker: NodeId,
        then: &Then,
        behind: ThinVec<Successor>,
        span: Span,
    ) -> Alternatives {
        let Some(node) = self.graph.nodes.get(worker) else {
            return vec![self.unknown().into()];
        };
        let fan_out = match self.synthetics.fan_outs.get(&(span, worker)) {
            Some(known) => *known,
            None => self.add(Block {
                name: node.name.node.clone(),
                span: then.span,
                branch: false,
                synthetic: Some(Synthetic::FanOut(worker)),
                defer: node.defer,
                transitions: thin_vec![Transition {
                    kind: EdgeKind::Edge,
                    successors: behind.clone(),
                    writes: ThinVec::new(),
                    span: then.span,
                }],
                writes: ThinVec::new(),
            }),
        };
        self.synthetics.fan_outs.insert((span, worker), fan_out);
        let tasks = Successor {
            many: true,
            ..to(BlockId::Node(worker), span)
        };
        let tasks = thin_vec![tasks, to(BlockId::Node(fan_out), then.span)];
        let full = self.full(worker, node);
        let full = full.map(|id| {
            let full = to(BlockId::Node(id), span);
            std::iter::once(full)
                .chain(behind.iter().cloned())
                .collect()
        });
        [tasks, behind.clone()].into_iter().chain(full).collect()
    }

    /// Where a worker is left for whose visits are bounded. It may send to itself again: its block is there before its ways are.
    fn full(&mut self, worker: NodeId, node: &Node) -> Option<NodeId> {
        let max = node.max_visits.as_ref()?;
        if let Some(known) = self.synthetics.full.get(&worker) {
            return Some(*known);
        }
        let id = self.choice(node.name.node.clone(), max.span, ThinVec::new());
        self.synthetics.full.insert(worker, id);
        let transitions = self.transitions(&max.to, EdgeKind::Edge, Some(node));
        let at = id.0 as usize - self.graph.nodes.len();
        if let Some(block) = self.synthetics.all.get_mut(at) {
            block.transitions = transitions.into();
        }
        Some(id)
    }
}

/// One task.
pub(super) fn to(to: BlockId, span: Span) -> Successor {
    let many = false;
    Successor { to, many, span }
}

impl ControlFlowGraph {
    /// Nodes that only fan-outs send to which lead on as a whole: they need no way of their own.
    pub fn led_on(&self) -> BTreeSet<NodeId> {
        let (mut sent, mut others) = (BTreeSet::new(), BTreeSet::new());
        for (_, transition) in self.all_transitions() {
            let nodes = transition
                .successors
                .iter()
                .filter_map(|successor| match successor.to {
                    BlockId::Node(id) => Some((id, successor.many)),
                    _ => None,
                });
            let workers = nodes
                .clone()
                .filter_map(|(id, _)| self.nodes.get(id)?.fan_out());
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
