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
    /// By block, transition and successor, how many tasks a send makes of its list.
    sends: BTreeMap<(BlockId, usize, usize), Bound>,
}

/// One block that a transition leads to.
#[derive(Clone, Copy)]
pub(super) struct Edge<'g> {
    /// The block.
    pub to: BlockId,
    /// How many tasks a send makes there; `None` where it is none.
    pub tasks: Option<&'g Bound>,
}

impl Edge<'_> {
    /// Whether it may make several tasks.
    pub fn is_many(&self) -> bool {
        self.tasks.is_some_and(is_many)
    }
}

fn is_many(tasks: &Bound) -> bool {
    tasks.exceeds(&Bound::AtMost(1))
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

    /// This one where nothing leads to some blocks.
    pub fn without(&self, gone: impl Fn(BlockId) -> bool) -> Self {
        let lead_on = |mut transition: Transition| {
            let successors = transition.successors.iter_mut();
            successors
                .filter(|successor| gone(successor.to))
                .for_each(|successor| successor.to = BlockId::End);
            transition
        };
        let all = |from: &[Transition]| from.iter().cloned().map(lead_on).collect();
        let nodes = self.cfg.nodes.iter().map(|node| Block {
            transitions: all(&node.transitions),
            ..node.clone()
        });
        let joins = self.cfg.joins.iter().map(|join| JoinBlock {
            transitions: all(&join.transitions),
            ..join.clone()
        });
        let start: ThinVec<Transition> = all(&self.cfg.start);
        let cfg = ControlFlowGraph::new(
            start.into_iter().collect(),
            nodes.collect(),
            joins.collect(),
        );
        Self {
            name: self.name.clone(),
            cfg,
            caps: self.caps.clone(),
            sends: self.sends.clone(),
            ..Self::default()
        }
    }

    /// The start, and all blocks that can be left.
    pub fn blocks(&self) -> impl Iterator<Item = BlockId> {
        std::iter::once(BlockId::Entry).chain(self.cfg.blocks())
    }

    /// Of each transition out of a block the blocks that it leads to, ends left out.
    pub fn transitions(&self, from: BlockId) -> impl Iterator<Item = Vec<Edge<'_>>> {
        let transitions = self.cfg.transitions(from).iter().enumerate();
        transitions.map(move |(number, transition)| {
            let edges = transition.successors.iter().enumerate();
            let edges = edges.map(|(index, successor)| Edge {
                to: successor.to,
                tasks: self.sends.get(&(from, number, index)),
            });
            edges
                .filter(|edge| self.cfg.number(edge.to).is_some())
                .collect()
        })
    }

    /// The blocks that a block leads to.
    pub fn successors(&self, from: BlockId) -> impl Iterator<Item = BlockId> {
        self.cfg.successors(from).map(|successor| successor.to)
    }

    /// Whether a strongly connected component is a cycle.
    pub fn is_cycle(&self, component: &[BlockId]) -> bool {
        match component {
            [lone] => self.successors(*lone).any(|to| to == *lone),
            _ => true,
        }
    }
}

/// Blocks that are led to at once, each with how many tasks a send makes there.
type Successors = Vec<(BlockId, Option<Bound>)>;

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
    sends: BTreeMap<(BlockId, usize, usize), Bound>,
    /// Blocks to which several tasks are sent.
    sent: BTreeSet<BlockId>,
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
            sends: BTreeMap::new(),
            sent: BTreeSet::new(),
        }
    }

    fn build(mut self) -> BoundedGraph {
        let graph = self.graph;
        let start = graph.start.jumps();
        let start: Vec<_> = start
            .flat_map(|jump| self.jump(jump, Site::Graph))
            .map(|to| (EdgeKind::Edge, to))
            .collect();
        let start = self.transitions(BlockId::Entry, start);
        let mut nodes = IdVec::new();
        for (id, node) in graph.nodes.entries() {
            let after = self.after(node);
            let transitions = self.transitions(BlockId::Node(id), after);
            nodes.push(block(node, None, transitions));
        }
        let mut joins = IdVec::new();
        for (id, join) in graph.joins.entries() {
            let to = self.alone(&join.to);
            let members = join.members.iter();
            joins.push(JoinBlock {
                members: members.map(|member| (*member, Span::default())).collect(),
                transitions: self.transitions(BlockId::Join(id), to),
                span: Span::default(),
            });
        }
        let mut caps = BTreeMap::new();
        let mut gates = Vec::new();
        for (id, gate) in self.gates.clone() {
            let node = graph.nodes.get(id);
            let Some((node, visits)) =
                node.and_then(|node| Some((node, node.max_visits.as_ref()?)))
            else {
                continue;
            };
            caps.insert(BlockId::Node(id), visits.limit.into());
            // What comes to a gate as one task each goes on as one task each.
            let enter = vec![(BlockId::Node(id), Some(Bound::AtMost(1)))];
            let mut to = vec![(EdgeKind::Edge, enter)];
            to.extend(self.alone(&visits.to));
            let gate = BlockId::Node(gate);
            gates.push((
                gate,
                block(node, Some(Synthetic::Choice), self.transitions(gate, to)),
            ));
        }
        for (id, mut gate) in gates {
            if let Some(enter) = gate
                .transitions
                .first_mut()
                .and_then(|t| t.successors.first_mut())
            {
                enter.many = self.sent.contains(&id);
            }
            nodes.push(gate);
        }
        self.fan_outs
            .into_iter()
            .for_each(|block| _ = nodes.push(block));
        let mut cfg = ControlFlowGraph::new(start.into_iter().collect(), nodes, joins);
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
    fn after(&mut self, node: &'g Node) -> Vec<(EdgeKind, Successors)> {
        let mut all = Vec::new();
        if node.next.is_none() {
            all.push((EdgeKind::Edge, Vec::new()));
        }
        for (kind, jump) in node.jumps().filter(|(kind, _)| *kind != EdgeKind::Visits) {
            let to = self.jump(jump, Site::Node(node)).into_iter();
            all.extend(to.map(|to| (kind, to)));
        }
        for (_, to) in all.iter_mut().filter(|(kind, _)| kind.is_own_way()) {
            to.extend(node.joins.iter().map(|join| (BlockId::Join(*join), None)));
        }
        let called = node.called().and_then(|id| self.flow.graphs.get(id));
        for name in called.into_iter().flat_map(|called| &called.leaves) {
            all.push((EdgeKind::Child, self.named(name, node)));
        }
        let tools = node
            .work
            .tools()
            .iter()
            .filter_map(|tool| self.flow.tools.get(*tool));
        let bodies = tools.filter_map(|tool| tool.body.as_ref());
        for jump in bodies.flat_map(|body| &body.goto).flat_map(Route::jumps) {
            let to = self.jump(jump, Site::Tool(node)).into_iter();
            all.extend(to.map(|to| (EdgeKind::Tool, to)));
        }
        all
    }

    /// The transitions of a block, what leads nowhere to the end.
    fn transitions(
        &mut self,
        from: BlockId,
        all: Vec<(EdgeKind, Successors)>,
    ) -> ThinVec<Transition> {
        let mut transitions = ThinVec::with_capacity(all.len());
        for (number, (kind, mut to)) in all.into_iter().enumerate() {
            if to.is_empty() {
                to.push((BlockId::End, None));
            }
            let successors = to.into_iter().enumerate().map(|(index, (to, tasks))| {
                let many = tasks.as_ref().is_some_and(is_many);
                if many {
                    self.sent.insert(to);
                }
                if let Some(tasks) = tasks {
                    self.sends.insert((from, number, index), tasks);
                }
                Successor {
                    to,
                    many,
                    span: Span::default(),
                }
            });
            transitions.push(Transition {
                kind,
                successors: successors.collect(),
                writes: ThinVec::new(),
                span: Span::default(),
            });
        }
        transitions
    }

    /// A jump that is the only way on.
    fn alone(&mut self, jump: &'g Jump) -> Vec<(EdgeKind, Successors)> {
        let to = self.jump(jump, Site::Graph).into_iter();
        to.map(|to| (EdgeKind::Edge, to)).collect()
    }

    /// The alternatives of a jump: one, or one for each name that it may compute.
    fn jump(&mut self, jump: &'g Jump, site: Site<'g>) -> Vec<Successors> {
        let mut sure = Vec::new();
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
        match computed.as_slice() {
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
        }
    }

    fn target(&mut self, target: &'g Target, site: Site<'g>) -> Successors {
        match (target, site) {
            (Target::Node(id), _) => vec![(self.way_in(*id), None)],
            (Target::End, _) => vec![(BlockId::End, None)],
            (Target::Fail { .. }, _) => vec![(BlockId::Fail, None)],
            (Target::Parent(_), _) => vec![(BlockId::Leave, None)],
            (Target::Named(name), Site::Tool(node)) => self.named(name, node),
            (
                Target::Each {
                    var,
                    items,
                    worker,
                    then,
                    ..
                },
                _,
            ) => self.send(*worker, (var, items), then, site),
            (
                Target::NamedEach {
                    var,
                    items,
                    worker,
                    then,
                    ..
                },
                Site::Tool(node),
            ) => match node.end(worker) {
                Some(Target::Node(worker)) => self.send(*worker, (var, items), then, site),
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    /// Where the `ends` of a node lead by a name.
    fn named(&mut self, name: &str, node: &'g Node) -> Successors {
        let to = node.end(name);
        to.map_or(Vec::new(), |to| self.target(to, Site::Graph))
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
        let tasks = scope.most(items).map_or_else(
            || {
                let (list, graph) = (&items.text, &self.graph.name);
                Bound::unbounded(format!(
                    "`each {var} in {list}` in graph `{graph}` makes any number of tasks"
                ))
            },
            Bound::AtMost,
        );
        let mut to = vec![(self.way_in(worker), Some(tasks))];
        let behind = then.iter().flat_map(|target| self.target(target, site));
        let behind: Successors = behind.collect();
        let leads_on = behind.iter().any(|(to, _)| matches!(to, BlockId::Node(_)));
        let Some(node) = self.graph.nodes.get(worker).filter(|_| leads_on) else {
            to.extend(behind);
            return to;
        };
        let count = self.graph.nodes.len() + self.gates.len() + self.fan_outs.len();
        let id = BlockId::Node(NodeId(count as u32));
        let transitions = self.transitions(id, vec![(EdgeKind::Edge, behind)]);
        let fan_out = Some(Synthetic::FanOut(worker));
        self.fan_outs.push(block(node, fan_out, transitions));
        to.push((id, None));
        to
    }

    /// The gate of a node, or the node.
    fn way_in(&self, id: NodeId) -> BlockId {
        BlockId::Node(self.gates.get(&id).copied().unwrap_or(id))
    }
}

/// A node, or what stands beside it.
fn block(node: &Node, synthetic: Option<Synthetic>, transitions: ThinVec<Transition>) -> Block {
    Block {
        name: node.name.clone(),
        span: Span::default(),
        branch: synthetic.is_none() && matches!(node.work, Work::Branch),
        defer: synthetic != Some(Synthetic::Choice) && node.defer,
        synthetic,
        transitions,
        writes: ThinVec::new(),
    }
}
