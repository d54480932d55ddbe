//! A graph as blocks and the ways between them.
//!
//! A block is a node, a join, or the gate before a node with `max_visits`, from which the node is entered or, after so many
//! times, its other target is. A block has arms, of which one is taken; an arm leads to several blocks at once.

use std::cell::RefCell;

use petgraph::graph::{DiGraph, NodeIndex};

use crate::base::id::Id;
use crate::ir::graph::{End, Graph, Node, NodeId};
use crate::ir::jump::{EdgeKind, Jump, Route, Target};
use crate::ir::node::Work;
use crate::ir::{self, Flow};

use super::counter;
use super::length::Scope;

/// How many tasks a send makes of its list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Tasks {
    /// One, since it is no send.
    One,
    /// As many as a list has at most whose length is bounded.
    Many(u64),
    /// As many as any other list has; the send as it is written.
    Any(String),
}

/// One block that an arm leads to.
#[derive(Debug, Clone)]
pub(super) struct Way {
    /// The block.
    pub to: usize,
    /// How many tasks begin there.
    pub tasks: Tasks,
    /// Whether its cost is counted with this way. That of a join is with its first member.
    pub counts: bool,
}

impl Way {
    /// An arrow to a block.
    fn to(to: usize) -> Self {
        Self {
            to,
            tasks: Tasks::One,
            counts: true,
        }
    }
}

/// A block.
#[derive(Debug, Clone, Default)]
pub(super) struct Block {
    /// The node; `None` for the start, for gates, for joins and for fan-outs.
    pub node: Option<NodeId>,
    /// Its name, in witnesses.
    pub name: String,
    /// How often it is passed at most: by `max_visits`, or by a counter that its route looks at.
    pub cap: Option<u64>,
    /// The condition on the counter.
    pub counter: Option<String>,
    /// Whether it waits until nothing else is left.
    pub defers: bool,
    /// Whether each task that comes here goes on by itself, in the same super-step.
    pub branches: bool,
    /// A fan-out as a whole: it takes the super-step of its tasks, and then leads on.
    pub fan_out: bool,
    /// Of a join, the blocks that must arrive.
    pub members: Vec<usize>,
    /// Where it may lead.
    pub arms: Vec<Vec<Way>>,
    /// By arm of a node, what makes it be taken.
    pub kinds: Vec<EdgeKind>,
}

/// A graph as blocks; the start is the first.
pub(super) struct Map {
    pub blocks: Vec<Block>,
}

impl Map {
    pub fn of(flow: &Flow, graph: &Graph) -> Self {
        let mut map = Self {
            blocks: vec![Block {
                name: "start".to_owned(),
                ..Block::default()
            }],
        };
        for (id, node) in graph.nodes.entries() {
            map.blocks.push(Block {
                node: Some(id),
                name: node.name.clone(),
                cap: node.max_visits.as_ref().map(|visits| visits.limit.into()),
                defers: node.defer,
                branches: matches!(node.work, Work::Branch),
                ..Block::default()
            });
        }
        // Gates come behind all nodes, so that the number of a node is known before.
        let mut gates = vec![None; graph.nodes.len()];
        for (id, node) in graph.nodes.entries() {
            if node.max_visits.is_some()
                && let Some(gate) = gates.get_mut(id.index())
            {
                *gate = Some(map.blocks.len());
                map.blocks.push(Block {
                    name: node.name.clone(),
                    ..Block::default()
                });
            }
        }
        let first_join = map.blocks.len();
        for join in &graph.joins {
            map.blocks.push(Block {
                name: "a join".to_owned(),
                members: join.members.iter().map(|id| 1 + id.index()).collect(),
                ..Block::default()
            });
        }
        let fan_outs = RefCell::default();
        let ways = Ways {
            scope: Scope {
                flow,
                graph,
                node: None,
            },
            gates: &gates,
            first_join,
            fan_outs: &fan_outs,
        };
        let mut arms = vec![ways.route(&graph.start)];
        for (id, node) in graph.nodes.entries() {
            let (kinds, of): (Vec<_>, Vec<_>) = ways.node(id, node).into_iter().unzip();
            if let Some(block) = map.blocks.get_mut(arms.len()) {
                block.kinds = kinds;
            }
            arms.push(of);
        }
        for (id, node) in graph.nodes.entries() {
            if let Some(visits) = &node.max_visits {
                // What comes to a gate as one task each goes on as one task each.
                let enter = Way {
                    tasks: Tasks::Many(1),
                    ..Way::to(1 + id.index())
                };
                let mut gate = vec![vec![enter]];
                gate.extend(ways.jump(&visits.to, None));
                arms.push(gate);
            }
        }
        arms.extend(graph.joins.iter().map(|join| ways.jump(&join.to, None)));
        for (block, arms) in map.blocks.iter_mut().zip(arms) {
            block.arms = arms;
        }
        map.blocks.extend(fan_outs.into_inner());
        map
    }

    /// The graph with the loops that a counter bounds.
    pub fn counted(flow: &Flow, graph: &Graph) -> Self {
        let mut map = Self::of(flow, graph);
        for cap in counter::caps(flow, graph, &map) {
            if let Some(block) = map.blocks.get_mut(cap.block) {
                block.cap = Some(block.cap.map_or(cap.visits, |own| own.min(cap.visits)));
                block.counter = Some(cap.condition);
            }
        }
        map
    }

    /// This one without the ways to some blocks.
    pub fn without(&self, gone: &dyn Fn(usize) -> bool) -> Self {
        let mut blocks = self.blocks.clone();
        for arm in blocks.iter_mut().flat_map(|block| &mut block.arms) {
            arm.retain(|way| !gone(way.to));
        }
        Self { blocks }
    }

    /// The blocks with an edge for each way.
    pub fn edges(&self) -> DiGraph<(), ()> {
        let mut edges = DiGraph::new();
        for _ in &self.blocks {
            edges.add_node(());
        }
        for (from, block) in self.blocks.iter().enumerate() {
            for way in block.arms.iter().flatten() {
                edges.add_edge(NodeIndex::new(from), NodeIndex::new(way.to), ());
            }
        }
        edges
    }

    pub fn arms(&self, block: usize) -> &[Vec<Way>] {
        self.blocks.get(block).map_or(&[], |block| &block.arms)
    }
}

#[derive(Clone, Copy)]
struct Ways<'g> {
    /// What lists of sends are read in.
    scope: Scope<'g>,
    /// By node, the gate before it.
    gates: &'g [Option<usize>],
    /// The block of the first join; the others follow.
    first_join: usize,
    /// Blocks of fan-outs that lead on as a whole, as far as they are known. They come behind the joins.
    fan_outs: &'g RefCell<Vec<Block>>,
}

impl<'g> Ways<'g> {
    /// All that may happen when a node is done, skipped or has failed.
    fn node(&self, id: NodeId, node: &'g Node) -> Vec<(EdgeKind, Vec<Way>)> {
        let Scope { flow, graph, .. } = self.scope;
        let here = Ways {
            scope: Scope {
                flow,
                graph,
                node: Some(node),
            },
            ..*self
        };
        here.after(id, node)
    }

    fn after(&self, id: NodeId, node: &Node) -> Vec<(EdgeKind, Vec<Way>)> {
        // Where visits are used up, its gate leads on.
        let jumps = node.jumps().filter(|(kind, _)| *kind != EdgeKind::Visits);
        let arms = |(kind, jump)| {
            let arms = self.jump(jump, None).into_iter();
            arms.map(move |arm| (kind, arm))
        };
        let mut arms: Vec<(EdgeKind, Vec<Way>)> = jumps.flat_map(arms).collect();
        if node.next.is_none() {
            arms.insert(0, (EdgeKind::Edge, Vec::new()));
        }
        for join_id in &node.joins {
            let Some(join) = self.scope.graph.joins.get(*join_id) else {
                continue;
            };
            let first = join.members.iter().min() == Some(&id);
            for (_, arm) in arms.iter_mut().filter(|(kind, _)| kind.is_own_way()) {
                arm.push(Way {
                    counts: first,
                    ..Way::to(self.first_join + join_id.index())
                });
            }
        }
        let called = node.called().and_then(|id| self.scope.flow.graphs.get(id));
        let leaves = called.into_iter().flat_map(|called| &called.leaves);
        let left = |name: &String| {
            let to = node.end(name);
            to.map_or(Vec::new(), |to| self.target(to, None))
        };
        arms.extend(leaves.map(|name| (EdgeKind::Child, left(name))));
        let tools = node.work.tools().iter();
        let bodies = tools.filter_map(|tool| self.scope.flow.tools.get(*tool)?.body.as_ref());
        let jumps = bodies.flat_map(|body| &body.goto).flat_map(Route::jumps);
        let jumped = jumps.flat_map(|jump| self.jump(jump, Some(node)));
        arms.extend(jumped.map(|arm| (EdgeKind::Tool, arm)));
        arms
    }

    fn route(&self, route: &Route) -> Vec<Vec<Way>> {
        let jumps = route.jumps();
        jumps.flat_map(|jump| self.jump(jump, None)).collect()
    }

    /// The arms of a jump: one, or one for each name that it may compute. The names of a tool's jump are those that the `ends`
    /// of its node have.
    fn jump(&self, jump: &Jump, caller: Option<&Node>) -> Vec<Vec<Way>> {
        let mut sure = Vec::new();
        let mut computed: Vec<&[End]> = Vec::new();
        for target in &jump.to {
            match (target, caller) {
                (Target::Computed { .. }, Some(node)) => computed.push(&node.ends),
                (Target::Computed { table, .. }, None) => computed.push(table),
                _ => sure.extend(self.target(target, caller)),
            }
        }
        computed.retain(|ends| !ends.is_empty());
        let ways = |end: &End| self.target(&end.to, None);
        match computed.as_slice() {
            [] => vec![sure],
            [ends] => {
                let with = |end| sure.iter().cloned().chain(ways(end)).collect();
                ends.iter().map(with).collect()
            }
            // One name of each at once: all names of all are more than that.
            several => {
                sure.extend(several.iter().copied().flatten().flat_map(ways));
                vec![sure]
            }
        }
    }

    fn target(&self, target: &Target, caller: Option<&Node>) -> Vec<Way> {
        let end = |name: &str| caller?.end(name);
        match target {
            Target::Node(id) => self.way(*id, Tasks::One),
            Target::Named(name) => end(name).map_or(Vec::new(), |to| self.target(to, None)),
            Target::Each {
                var,
                items,
                worker,
                then,
                ..
            } => self.send(*worker, self.tasks(var, items), (then, None)),
            Target::NamedEach {
                var,
                items,
                worker,
                then,
                ..
            } => {
                let Some(Target::Node(worker)) = end(worker) else {
                    return Vec::new();
                };
                // What the list of a tool reads is none of its node's.
                let scope = Scope {
                    node: None,
                    ..self.scope
                };
                let tasks = Ways { scope, ..*self }.tasks(var, items);
                self.send(*worker, tasks, (then, caller))
            }
            _ => Vec::new(),
        }
    }

    fn send(
        &self,
        worker: NodeId,
        tasks: Tasks,
        (then, caller): (&[Target], Option<&Node>),
    ) -> Vec<Way> {
        let mut ways = self.way(worker, tasks);
        let behind = then.iter().flat_map(|target| self.target(target, caller));
        ways.extend(self.fan_out(worker, behind.collect()));
        ways
    }

    /// The way to a block for a fan-out as a whole, where it leads on: to what comes behind its tasks.
    fn fan_out(&self, worker: NodeId, behind: Vec<Way>) -> Option<Way> {
        let worker = self.scope.graph.nodes.get(worker)?;
        let mut fan_outs = self.fan_outs.borrow_mut();
        let place = self.first_join + self.scope.graph.joins.len() + fan_outs.len();
        let leads = !behind.is_empty();
        leads.then(|| {
            fan_outs.push(Block {
                name: worker.name.clone(),
                defers: worker.defer,
                fan_out: true,
                arms: vec![behind],
                ..Block::default()
            });
            Way::to(place)
        })
    }

    fn tasks(&self, var: &str, items: &ir::Expr) -> Tasks {
        match self.scope.most(items) {
            Some(count) => Tasks::Many(count),
            None => Tasks::Any(format!("each {var} in {}", items.text)),
        }
    }

    fn way(&self, id: NodeId, tasks: Tasks) -> Vec<Way> {
        let gate = self.gates.get(id.index()).copied().flatten();
        vec![Way {
            tasks,
            ..Way::to(gate.unwrap_or(1 + id.index()))
        }]
    }
}
