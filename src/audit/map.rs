//! A graph as places and the ways between them.
//!
//! A place is a node, a join, or the gate before a node with `max_visits`, from which the node is entered or, after so many
//! times, its other target is. A place has arms, of which one is taken; an arm leads to several places at once.

use std::cell::RefCell;

use petgraph::graph::{DiGraph, NodeIndex};

use crate::base::id::Id;
use crate::ir::graph::{End, Graph, Node, NodeId};
use crate::ir::jump::{Jump, Route, Target};
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

/// One place that an arm leads to.
#[derive(Debug, Clone)]
pub(super) struct Way {
    /// The place.
    pub to: usize,
    /// How many tasks begin there.
    pub tasks: Tasks,
    /// Whether its cost is counted with this way. That of a join is with its first member.
    pub counts: bool,
    /// Whether it is taken ahead of what the place asks a person, or though nobody has answered.
    pub unasked: bool,
    /// Whether a called graph leaves by it, past what is asked behind the node.
    pub leaves: bool,
}

impl Way {
    /// An arrow to a place.
    fn to(to: usize) -> Self {
        Self {
            to,
            tasks: Tasks::One,
            counts: true,
            unasked: false,
            leaves: false,
        }
    }
}

/// A place.
#[derive(Debug, Clone, Default)]
pub(super) struct Spot {
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
    /// Of a join, the places that must arrive.
    pub members: Vec<usize>,
    /// Where it may lead.
    pub arms: Vec<Vec<Way>>,
}

/// A graph as places; the start is the first.
pub(super) struct Map {
    pub spots: Vec<Spot>,
}

impl Map {
    pub fn of(flow: &Flow, graph: &Graph) -> Self {
        let mut map = Self {
            spots: vec![Spot {
                name: "start".to_owned(),
                ..Spot::default()
            }],
        };
        for (id, node) in graph.nodes.entries() {
            map.spots.push(Spot {
                node: Some(id),
                name: node.name.clone(),
                cap: node.max_visits.as_ref().map(|visits| visits.limit.into()),
                defers: node.defer,
                branches: matches!(node.work, Work::Branch),
                ..Spot::default()
            });
        }
        // Gates come behind all nodes, so that a node's place is known before.
        let mut gates = vec![None; graph.nodes.len()];
        for (id, node) in graph.nodes.entries() {
            if node.max_visits.is_some()
                && let Some(gate) = gates.get_mut(id.index())
            {
                *gate = Some(map.spots.len());
                map.spots.push(Spot {
                    name: node.name.clone(),
                    ..Spot::default()
                });
            }
        }
        let first_join = map.spots.len();
        for join in &graph.joins {
            map.spots.push(Spot {
                name: "a join".to_owned(),
                members: join.members.iter().map(|id| 1 + id.index()).collect(),
                ..Spot::default()
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
        arms.extend(graph.nodes.entries().map(|(id, node)| ways.node(id, node)));
        for (id, node) in graph.nodes.entries() {
            if let Some(visits) = &node.max_visits {
                // What comes to a gate as one task each goes on as one task each.
                let enter = Way {
                    tasks: Tasks::Many(1),
                    ..Way::to(1 + id.index())
                };
                let mut gate = vec![vec![enter]];
                gate.extend(ways.jump(&visits.to));
                arms.push(gate);
            }
        }
        arms.extend(graph.joins.iter().map(|join| ways.jump(&join.to)));
        for (spot, arms) in map.spots.iter_mut().zip(arms) {
            spot.arms = arms;
        }
        map.spots.extend(fan_outs.into_inner());
        map
    }

    /// The graph with the loops that a counter bounds.
    pub fn counted(flow: &Flow, graph: &Graph) -> Self {
        let mut map = Self::of(flow, graph);
        for cap in counter::caps(flow, graph, &map) {
            if let Some(spot) = map.spots.get_mut(cap.spot) {
                spot.cap = Some(spot.cap.map_or(cap.visits, |own| own.min(cap.visits)));
                spot.counter = Some(cap.condition);
            }
        }
        map
    }

    /// This one without the ways to some places.
    pub fn without(&self, gone: &dyn Fn(usize) -> bool) -> Self {
        let mut spots = self.spots.clone();
        for arm in spots.iter_mut().flat_map(|spot| &mut spot.arms) {
            arm.retain(|way| !gone(way.to));
        }
        Self { spots }
    }

    /// The places with an edge for each way.
    pub fn edges(&self) -> DiGraph<(), ()> {
        let mut edges = DiGraph::new();
        for _ in &self.spots {
            edges.add_node(());
        }
        for (from, spot) in self.spots.iter().enumerate() {
            for way in spot.arms.iter().flatten() {
                edges.add_edge(NodeIndex::new(from), NodeIndex::new(way.to), ());
            }
        }
        edges
    }

    pub fn arms(&self, spot: usize) -> &[Vec<Way>] {
        self.spots.get(spot).map_or(&[], |spot| &spot.arms)
    }
}

#[derive(Clone, Copy)]
struct Ways<'g> {
    /// What lists of sends are read in.
    scope: Scope<'g>,
    /// By node, the gate before it.
    gates: &'g [Option<usize>],
    /// The place of the first join; the others follow.
    first_join: usize,
    /// Places of fan-outs that lead on as a whole, as far as they are known. They come behind the joins.
    fan_outs: &'g RefCell<Vec<Spot>>,
}

impl<'g> Ways<'g> {
    /// All that may happen when a node is done, skipped or has failed.
    fn node(&self, id: NodeId, node: &'g Node) -> Vec<Vec<Way>> {
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

    fn after(&self, id: NodeId, node: &Node) -> Vec<Vec<Way>> {
        let mut arms = match &node.next {
            Some(route) => self.route(route),
            None => vec![Vec::new()],
        };
        for join_id in &node.joins {
            let Some(join) = self.scope.graph.joins.get(*join_id) else {
                continue;
            };
            let first = join.members.iter().min() == Some(&id);
            for arm in &mut arms {
                arm.push(Way {
                    counts: first,
                    ..Way::to(self.first_join + join_id.index())
                });
            }
        }
        let mut unasked = Vec::new();
        for skip in &node.skips {
            unasked.extend(skip.to.iter().flat_map(|to| self.jump(to)));
        }
        if let Work::Interrupt {
            timeout: Some(timeout),
            ..
        } = &node.work
        {
            unasked.extend(self.jump(&timeout.to));
        }
        unasked.extend(node.on_error.iter().flat_map(|route| self.route(route)));
        let ways = unasked.iter_mut().flatten();
        ways.for_each(|way| way.unasked = true);
        arms.extend(unasked);
        if let Work::Subgraph { graph, .. } = &node.work {
            let called = self.scope.flow.graphs.get(*graph);
            let leaves = called.map_or(&[][..], |called| &called.leaves);
            for name in leaves {
                let leaves = |way| Way {
                    unasked: true,
                    leaves: true,
                    ..way
                };
                let arm = self.named(node, name).into_iter();
                arms.push(arm.map(leaves).collect());
            }
        }
        let tools = node.work.tools().iter();
        let bodies = tools.filter_map(|tool| self.scope.flow.tools.get(*tool)?.body.as_ref());
        let jumps = bodies.flat_map(|body| &body.goto).flat_map(Route::jumps);
        arms.extend(jumps.flat_map(|jump| self.tool_jump(node, jump)));
        arms
    }

    /// The way to what a node's `ends` call so.
    fn named(&self, node: &Node, name: &str) -> Vec<Way> {
        let end = node.ends.iter().find(|end| end.name == name);
        end.map(|end| self.target(&end.to)).unwrap_or_default()
    }

    /// The arms of a tool's jump from a node: its names are those of the node's `ends`.
    fn tool_jump(&self, node: &Node, jump: &Jump) -> Vec<Vec<Way>> {
        let mut sure = Vec::new();
        let mut computed = false;
        for target in &jump.to {
            match target {
                Target::Named(name) => sure.extend(self.named(node, name)),
                Target::NamedEach {
                    var,
                    items,
                    worker,
                    then,
                    ..
                } => {
                    sure.extend(self.named(node, worker).into_iter().map(|way| Way {
                        tasks: self.tasks(var, items),
                        ..way
                    }));
                    let behind = then.iter().flat_map(|target| match target {
                        Target::Named(name) => self.named(node, name),
                        _ => Vec::new(),
                    });
                    let mut ends = node.ends.iter();
                    let worker = ends.find_map(|end| match end.to {
                        Target::Node(id) if end.name == *worker => Some(id),
                        _ => None,
                    });
                    sure.extend(worker.and_then(|id| self.fan_out(id, behind.collect())));
                }
                Target::Computed { .. } => computed = true,
                _ => {}
            }
        }
        if !computed {
            return vec![sure];
        }
        let ends = node.ends.iter();
        let with = |end: &End| sure.iter().cloned().chain(self.target(&end.to)).collect();
        ends.map(with).collect()
    }

    fn route(&self, route: &Route) -> Vec<Vec<Way>> {
        route.jumps().flat_map(|jump| self.jump(jump)).collect()
    }

    /// The arms of a jump: one, or one for each name that it may compute.
    fn jump(&self, jump: &Jump) -> Vec<Vec<Way>> {
        let mut sure = Vec::new();
        let mut computed = Vec::new();
        for target in &jump.to {
            match target {
                Target::Computed { table, .. } => computed.extend(table),
                target => sure.extend(self.target(target)),
            }
        }
        if computed.is_empty() {
            return vec![sure];
        }
        let several = jump
            .to
            .iter()
            .filter(|to| matches!(to, Target::Computed { .. }));
        if several.count() > 1 {
            // One name of each at once: all names of all are more than that.
            sure.extend(computed.iter().flat_map(|end| self.target(&end.to)));
            return vec![sure];
        }
        let with = |end: &&End| sure.iter().cloned().chain(self.target(&end.to)).collect();
        computed.iter().map(with).collect()
    }

    fn target(&self, target: &Target) -> Vec<Way> {
        match target {
            Target::Node(id) => self.way(*id, Tasks::One),
            Target::Each {
                var,
                items,
                worker,
                then,
                ..
            } => {
                let mut ways = self.way(*worker, self.tasks(var, items));
                let behind = then.iter().flat_map(|target| self.target(target));
                ways.extend(self.fan_out(*worker, behind.collect()));
                ways
            }
            _ => Vec::new(),
        }
    }

    /// The way to a place for a fan-out as a whole, where it leads on: to what comes behind its tasks.
    fn fan_out(&self, worker: NodeId, behind: Vec<Way>) -> Option<Way> {
        let worker = self.scope.graph.nodes.get(worker)?;
        let mut fan_outs = self.fan_outs.borrow_mut();
        let place = self.first_join + self.scope.graph.joins.len() + fan_outs.len();
        let leads = !behind.is_empty();
        leads.then(|| {
            fan_outs.push(Spot {
                name: worker.name.clone(),
                defers: worker.defer,
                fan_out: true,
                arms: vec![behind],
                ..Spot::default()
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
