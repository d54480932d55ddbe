//! The control-flow graph of a graph of the IR, with what bounds its sends and loops.
//!
//! It is the checker's, so that the checker's analyses go over it. In front of each node with `max_visits` stands a block of its
//! own, the gate: from it the node is entered or, after so many times, its other target is.

use std::collections::{BTreeMap, BTreeSet};

use thin_vec::ThinVec;

use crate::base::{IdVec, Span};
use crate::check::cfg::model::{JoinBlock, Synthetic};
use crate::check::cfg::{Block, BlockId, ControlFlowGraph, Successor, Transition};
use crate::ir::graph::{End, Graph, Node, NodeId};
use crate::ir::jump::{EdgeKind, Jump, Route, Target};
use crate::ir::node::Work;
use crate::ir::{self, Flow};

use super::bound::Bound;
use super::counter;
use super::length::Scope;

/// A control-flow graph with bounds.
#[derive(Debug, Default)]
pub(super) struct BoundedGraph {
    /// Its name.
    pub name: String,
    /// Nodes by their ids, then gates, then fan-outs as a whole.
    pub cfg: ControlFlowGraph,
    /// How often a block is passed at most: by `max_visits`, or by a counter that its route looks at.
    pub caps: BTreeMap<BlockId, u64>,
    /// Conditions on counters, as they are written.
    pub counters: BTreeMap<BlockId, String>,
    /// How many tasks one task of a block makes at another, where a send leads there.
    sends: BTreeMap<(BlockId, BlockId), Bound>,
}

impl BoundedGraph {
    /// The graph with all of its bounds.
    pub fn of(flow: &Flow, graph: &Graph) -> Self {
        let mut bounded = Builder::of(flow, graph).build();
        for counter in counter::caps(flow, graph, &bounded) {
            let cap = bounded.caps.entry(counter.block).or_insert(u64::MAX);
            *cap = counter.visits.min(*cap);
            bounded.counters.insert(counter.block, counter.condition);
        }
        bounded
    }

    /// Of each transition out of a block the blocks that it leads to, ends left out.
    pub fn transitions(&self, from: BlockId) -> impl Iterator<Item = BTreeSet<BlockId>> {
        let transitions = self.cfg.transitions(from).iter();
        transitions.map(|transition| {
            let to = transition.successors.iter().map(|successor| successor.to);
            to.filter(|to| self.cfg.number(*to).is_some()).collect()
        })
    }

    /// The blocks that a block leads to.
    pub fn successors(&self, from: BlockId) -> impl Iterator<Item = BlockId> {
        self.cfg.successors(from).map(|successor| successor.to)
    }

    /// How many tasks one task of a block makes at another; `None` where no send leads there.
    pub fn sent(&self, from: BlockId, to: BlockId) -> Option<&Bound> {
        self.sends.get(&(from, to))
    }

    /// Whether one task of a block may make several at another.
    pub fn is_many(&self, from: BlockId, to: BlockId) -> bool {
        let sent = self.sent(from, to);
        sent.is_some_and(|tasks| tasks.exceeds(&Bound::AtMost(1)))
    }

    /// Whether a strongly connected component is a cycle.
    pub fn is_cycle(&self, component: &[BlockId]) -> bool {
        match component {
            [lone] => self.successors(*lone).any(|to| to == *lone),
            _ => true,
        }
    }
}

/// What is led to at once.
type Successors = ThinVec<Successor>;

/// Where a jump is written.
#[derive(Clone, Copy)]
enum Site<'g> {
    /// In the graph.
    Graph,
    /// In a node.
    Node(&'g Node),
    /// In the body of a tool that the node calls. Its names are those that the `ends` of the node have.
    Tool(&'g Node),
}

struct Builder<'g> {
    flow: &'g Flow,
    graph: &'g Graph,
    /// The gates before nodes.
    gates: BTreeMap<NodeId, NodeId>,
    /// Fan-outs that lead on as a whole, as far as they are known.
    fan_outs: Vec<Block>,
    /// Of the jump that is read, how many tasks its sends make, by where they lead.
    sending: BTreeMap<BlockId, Bound>,
    sends: BTreeMap<(BlockId, BlockId), Bound>,
}

impl<'g> Builder<'g> {
    fn of(flow: &'g Flow, graph: &'g Graph) -> Self {
        let nodes = graph.nodes.entries();
        let capped = nodes.filter(|(_, node)| node.max_visits.is_some());
        let ids = (graph.nodes.len() as u32..).map(NodeId);
        Self {
            flow,
            graph,
            gates: capped.map(|(id, _)| id).zip(ids).collect(),
            fan_outs: Vec::new(),
            sending: BTreeMap::new(),
            sends: BTreeMap::new(),
        }
    }

    fn build(mut self) -> BoundedGraph {
        let graph = self.graph;
        let mut start = Vec::new();
        for jump in graph.start.jumps() {
            start.extend(self.transitions(BlockId::Entry, (EdgeKind::Edge, jump), Site::Graph));
        }
        let mut nodes = IdVec::new();
        for (id, node) in graph.nodes.entries() {
            let transitions = self.after(BlockId::Node(id), node);
            nodes.push(block(node, None, transitions));
        }
        let mut joins = IdVec::new();
        for (id, join) in graph.joins.entries() {
            let (id, jump) = (BlockId::Join(id), (EdgeKind::Edge, &join.to));
            let members = join.members.iter();
            joins.push(JoinBlock {
                members: members.map(|member| (*member, Span::default())).collect(),
                transitions: self.transitions(id, jump, Site::Graph).into(),
                span: Span::default(),
            });
        }
        let mut caps = BTreeMap::new();
        for (id, node) in graph.nodes.entries() {
            let (entered, gate) = (BlockId::Node(id), self.way_in(id));
            let Some(visits) = &node.max_visits else {
                continue;
            };
            caps.insert(entered, visits.limit.into());
            // What comes to a gate as one task each goes on as one task each.
            self.sends.insert((gate, entered), Bound::AtMost(1));
            let mut to = vec![transition(EdgeKind::Edge, [successor(entered)].into())];
            to.extend(self.transitions(gate, (EdgeKind::Edge, &visits.to), Site::Graph));
            nodes.push(block(node, Some(Synthetic::Choice), to));
        }
        for (id, gate) in &self.gates {
            let many = self.sends.keys().any(|(_, to)| *to == BlockId::Node(*gate));
            let gate = nodes.get_mut(*gate);
            let entered = gate
                .into_iter()
                .flat_map(|gate| &mut gate.transitions)
                .flat_map(|to| &mut to.successors);
            entered
                .filter(|to| to.to == BlockId::Node(*id))
                .for_each(|to| to.many = many);
        }
        for fan_out in self.fan_outs {
            nodes.push(fan_out);
        }
        let mut cfg = ControlFlowGraph::new(start, nodes, joins);
        cfg.exits = !graph.exits.is_empty();
        BoundedGraph {
            name: graph.name.clone(),
            cfg,
            caps,
            counters: BTreeMap::new(),
            sends: self.sends,
        }
    }

    /// All that may happen when a node is done, skipped or has failed. Where its visits are used up, its gate leads on.
    fn after(&mut self, id: BlockId, node: &'g Node) -> Vec<Transition> {
        let flow = self.flow;
        let joins = node.joins.iter();
        let joins: Successors = joins.map(|join| successor(BlockId::Join(*join))).collect();
        let mut all = Vec::new();
        for jump in node.jumps().filter(|(kind, _)| *kind != EdgeKind::Visits) {
            all.extend(self.transitions(id, jump, Site::Node(node)));
        }
        for own in all.iter_mut().filter(|to| to.kind.is_own_way()) {
            own.successors.extend(joins.iter().cloned());
        }
        if node.next.is_none() {
            all.insert(0, transition(EdgeKind::Edge, joins));
        }
        let called = node.called().and_then(|id| flow.graphs.get(id));
        for name in called.into_iter().flat_map(|called| &called.leaves) {
            all.push(transition(EdgeKind::Child, self.named(name, node)));
        }
        let tools = node.work.tools().iter();
        let bodies = tools.filter_map(|tool| flow.tools.get(*tool)?.body.as_ref());
        for jump in bodies.flat_map(|body| &body.goto).flat_map(Route::jumps) {
            all.extend(self.transitions(id, (EdgeKind::Tool, jump), Site::Tool(node)));
        }
        all
    }

    /// The transitions of a jump of a block: one, or one for each name that it may compute.
    fn transitions(
        &mut self,
        from: BlockId,
        (kind, jump): (EdgeKind, &'g Jump),
        site: Site<'g>,
    ) -> Vec<Transition> {
        let mut sure = Successors::new();
        let mut computed: Vec<&[End]> = Vec::new();
        for target in &jump.to {
            match (target, site) {
                (Target::Computed { .. }, Site::Tool(node)) => computed.push(&node.ends),
                (Target::Computed { table, .. }, _) => computed.push(table),
                _ => sure.extend(self.target(target, site)),
            }
        }
        computed.retain(|ends| !ends.is_empty());
        let mut named = |end: &'g End| self.target(&end.to, Site::Graph);
        let all: Vec<Successors> = match computed.as_slice() {
            [] => vec![sure],
            [ends] => {
                let with = |end| sure.iter().cloned().chain(named(end)).collect();
                ends.iter().map(with).collect()
            }
            // One name of each at once: all names of all are more than that.
            several => {
                sure.extend(several.iter().copied().flatten().flat_map(named));
                vec![sure]
            }
        };
        for (to, mut tasks) in std::mem::take(&mut self.sending) {
            // An arrow beside a send makes one more. An arrow of another transition makes one.
            if all
                .iter()
                .flatten()
                .any(|arrow| arrow.to == to && !arrow.many)
            {
                tasks = tasks.plus(Bound::AtMost(1));
            }
            let known = self.sends.remove(&(from, to)).unwrap_or(Bound::AtMost(1));
            self.sends.insert((from, to), known.max(tasks));
        }
        all.into_iter().map(|to| transition(kind, to)).collect()
    }

    fn target(&mut self, target: &'g Target, site: Site<'g>) -> Successors {
        let to = match (target, site) {
            (Target::Node(id), _) => self.way_in(*id),
            (Target::End, _) => BlockId::End,
            (Target::Fail { .. }, _) => BlockId::Fail,
            (Target::Parent(_), _) => BlockId::Leave,
            (Target::Named(name), Site::Tool(node)) => return self.named(name, node),
            (
                Target::Each {
                    var,
                    items,
                    worker,
                    then,
                    ..
                },
                _,
            ) => {
                return self.send(*worker, (var, items), then, site);
            }
            (
                Target::NamedEach {
                    var,
                    items,
                    worker,
                    then,
                    ..
                },
                Site::Tool(node),
            ) => {
                return match node.end(worker) {
                    Some(Target::Node(worker)) => self.send(*worker, (var, items), then, site),
                    _ => Successors::new(),
                };
            }
            _ => return Successors::new(),
        };
        [successor(to)].into()
    }

    /// Where the `ends` of a node lead by a name.
    fn named(&mut self, name: &str, node: &'g Node) -> Successors {
        let to = node.end(name);
        to.map_or(Successors::new(), |to| self.target(to, Site::Graph))
    }

    /// A send. Where its fan-out leads on as a whole, that is a block of its own, which leads to what comes behind its tasks.
    fn send(
        &mut self,
        worker: NodeId,
        (var, items): (&str, &ir::Expr),
        then: &'g [Target],
        site: Site<'g>,
    ) -> Successors {
        let scope = Scope {
            flow: self.flow,
            graph: self.graph,
            // What the list of a tool reads is none of its node's.
            node: match site {
                Site::Node(node) => Some(node),
                Site::Graph | Site::Tool(_) => None,
            },
        };
        let unbounded = || {
            let (list, graph) = (&items.text, &self.graph.name);
            Bound::unbounded(format!(
                "`each {var} in {list}` in graph `{graph}` makes any number of tasks"
            ))
        };
        let tasks = scope.most(items).map_or_else(unbounded, Bound::AtMost);
        let tasks_at = Successor {
            many: true,
            ..successor(self.way_in(worker))
        };
        let before = self.sending.remove(&tasks_at.to);
        self.sending
            .insert(tasks_at.to, before.into_iter().chain([tasks]).sum());
        let mut behind: Successors = then
            .iter()
            .flat_map(|target| self.target(target, site))
            .collect();
        let leads_on = behind.iter().any(|to| matches!(to.to, BlockId::Node(_)));
        if let Some(node) = self.graph.nodes.get(worker).filter(|_| leads_on) {
            let count = self.graph.nodes.len() + self.gates.len() + self.fan_outs.len();
            let to = vec![transition(EdgeKind::Edge, behind)];
            self.fan_outs
                .push(block(node, Some(Synthetic::FanOut(worker)), to));
            behind = [successor(BlockId::Node(NodeId(count as u32)))].into();
        }
        behind.insert(0, tasks_at);
        behind
    }

    /// The gate of a node, or the node.
    fn way_in(&self, id: NodeId) -> BlockId {
        BlockId::Node(self.gates.get(&id).copied().unwrap_or(id))
    }
}

fn successor(to: BlockId) -> Successor {
    Successor {
        to,
        many: false,
        span: Span::default(),
    }
}

/// A transition; what leads nowhere leads to the end.
fn transition(kind: EdgeKind, mut successors: Successors) -> Transition {
    if successors.is_empty() {
        successors.push(successor(BlockId::End));
    }
    Transition {
        kind,
        successors,
        writes: ThinVec::new(),
        span: Span::default(),
    }
}

/// A node, or what stands beside it.
fn block(node: &Node, synthetic: Option<Synthetic>, transitions: Vec<Transition>) -> Block {
    Block {
        name: node.name.clone(),
        span: Span::default(),
        branch: synthetic.is_none() && matches!(node.work, Work::Branch),
        defer: synthetic != Some(Synthetic::Choice) && node.defer,
        synthetic,
        transitions: transitions.into(),
        writes: ThinVec::new(),
    }
}
