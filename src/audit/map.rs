//! A graph as places and the ways between them.
//!
//! A place is a node, or the gate before a node with `max_visits`, from which the node is entered or, after so many times,
//! its other target is. A place has arms, of which one is taken; an arm leads to several places at once.

use petgraph::graph::{DiGraph, NodeIndex};

use crate::base::id::Id;
use crate::ir::Flow;
use crate::ir::graph::{Graph, Node, NodeId};
use crate::ir::jump::{Jump, Route, Target};
use crate::ir::node::Work;

use super::length::Scope;
use super::reach::tools_of;

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
}

/// A place.
#[derive(Debug, Clone, Default)]
pub(super) struct Spot {
    /// The node; `None` for the start and for gates.
    pub node: Option<NodeId>,
    /// Its name, in witnesses.
    pub name: String,
    /// `max_visits`
    pub cap: Option<u64>,
    /// Whether it waits until nothing else is left.
    pub defers: bool,
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
                arms: Vec::new(),
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
        let ways = Ways {
            scope: Scope {
                flow,
                graph,
                node: None,
            },
            gates: &gates,
        };
        let mut arms = vec![ways.route(&graph.start)];
        arms.extend(graph.nodes.entries().map(|(id, node)| ways.node(id, node)));
        for (id, node) in graph.nodes.entries() {
            if let Some(visits) = &node.max_visits {
                let enter = Way {
                    to: 1 + id.index(),
                    tasks: Tasks::One,
                    counts: true,
                };
                let mut gate = vec![vec![enter]];
                gate.extend(ways.jump(&visits.to));
                arms.push(gate);
            }
        }
        for (spot, arms) in map.spots.iter_mut().zip(arms) {
            spot.arms = arms;
        }
        map
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

    pub fn name(&self, spot: usize) -> &str {
        self.spots.get(spot).map_or("", |spot| &spot.name)
    }
}

struct Ways<'g> {
    /// What lists of sends are read in.
    scope: Scope<'g>,
    /// By node, the gate before it.
    gates: &'g [Option<usize>],
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
            gates: self.gates,
        };
        here.after(id, node)
    }

    fn after(&self, id: NodeId, node: &Node) -> Vec<Vec<Way>> {
        let mut arms = match &node.next {
            Some(route) => self.route(route),
            None => vec![Vec::new()],
        };
        for join in &node.joins {
            let Some(join) = self.scope.graph.joins.get(*join) else {
                continue;
            };
            let first = join.members.iter().min() == Some(&id);
            for after in self.jump(&join.to) {
                for arm in &mut arms {
                    arm.extend(after.iter().cloned().map(|way| Way {
                        counts: first,
                        ..way
                    }));
                }
            }
        }
        for skip in &node.skips {
            arms.extend(skip.to.iter().flat_map(|to| self.jump(to)));
        }
        if let Work::Interrupt {
            timeout: Some(timeout),
            ..
        } = &node.work
        {
            arms.extend(self.jump(&timeout.to));
        }
        arms.extend(node.on_error.iter().flat_map(|route| self.route(route)));
        // Tools and graphs that leave upward jump by these.
        if matches!(
            node.work,
            Work::Agent { .. } | Work::Tools { .. } | Work::Call { .. } | Work::Subgraph { .. }
        ) {
            arms.extend(node.ends.iter().map(|end| self.target(&end.to)));
        }
        for tool in tools_of(node) {
            let body = self
                .scope
                .flow
                .tools
                .get(tool)
                .and_then(|tool| tool.body.as_ref());
            if let Some(goto) = body.and_then(|body| body.goto.as_ref()) {
                arms.extend(
                    jumps_of(goto)
                        .into_iter()
                        .map(|jump| self.tool_jump(node, jump)),
                );
            }
        }
        arms
    }

    /// Where a tool's jump leads from a node: its names are those of the node's `ends`.
    fn tool_jump(&self, node: &Node, jump: &Jump) -> Vec<Way> {
        let named = |name: &str| {
            let end = node.ends.iter().find(|end| end.name == name);
            end.map(|end| self.target(&end.to)).unwrap_or_default()
        };
        let mut arm = Vec::new();
        for target in &jump.to {
            match target {
                Target::Named(name) => arm.extend(named(name)),
                Target::NamedEach {
                    var, items, worker, ..
                } => arm.extend(named(worker).into_iter().map(|way| Way {
                    tasks: self.tasks(var, &items.text),
                    ..way
                })),
                _ => {}
            }
        }
        arm
    }

    fn route(&self, route: &Route) -> Vec<Vec<Way>> {
        match route {
            Route::Always(jump) => self.jump(jump),
            Route::Arms(arms) => arms.iter().flat_map(|arm| self.jump(&arm.jump)).collect(),
        }
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
        let with = |end: &&crate::ir::graph::End| {
            let mut arm = sure.clone();
            arm.extend(self.target(&end.to));
            arm
        };
        computed.iter().map(with).collect()
    }

    fn target(&self, target: &Target) -> Vec<Way> {
        match target {
            Target::Node(id) => self.way(*id, Tasks::One),
            Target::Each {
                var, items, worker, ..
            } => self.way(*worker, self.tasks(var, &items.text)),
            _ => Vec::new(),
        }
    }

    fn tasks(&self, var: &str, items: &str) -> Tasks {
        match self.scope.most(items) {
            Some(count) => Tasks::Many(count),
            None => Tasks::Any(format!("each {var} in {items}")),
        }
    }

    fn way(&self, id: NodeId, tasks: Tasks) -> Vec<Way> {
        let gate = self.gates.get(id.index()).copied().flatten();
        vec![Way {
            to: gate.unwrap_or(1 + id.index()),
            tasks,
            counts: true,
        }]
    }
}

/// The jumps of a route.
pub(super) fn jumps_of(route: &Route) -> Vec<&Jump> {
    match route {
        Route::Always(jump) => vec![jump],
        Route::Arms(arms) => arms.iter().map(|arm| &arm.jump).collect(),
    }
}
