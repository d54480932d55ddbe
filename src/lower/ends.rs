//! Where a node may go, by name: its `ends` as written, or all that its targets, its tools' jumps and
//! the graph it calls come to.

use std::collections::BTreeSet;

use crate::ir::NodeId;
use crate::resolve::graph::Graph;
use crate::resolve::node::Node;
use crate::resolve::target::{Route, Target as From, TargetKind};

use super::Lowering;
use crate::ir::graph::End;
use crate::ir::jump::Target;

/// Where the names of computed targets are looked up. Made for every node and seldom asked, so the
/// table is made only then.
#[derive(Clone, Copy)]
pub(super) struct Names<'a> {
    graph: Option<&'a Graph>,
    node: Option<(NodeId, &'a Node)>,
}

impl<'a> Names<'a> {
    /// Those of a node: its `ends` and the end.
    pub fn of_node(graph: &'a Graph, id: NodeId, node: &'a Node) -> Self {
        Self {
            graph: Some(graph),
            node: Some((id, node)),
        }
    }

    /// Those of a graph's entry and joins: all nodes and the end.
    pub fn of_graph(graph: &'a Graph) -> Self {
        Self {
            graph: Some(graph),
            node: None,
        }
    }

    /// None: a tool has no computed targets.
    pub fn none() -> Self {
        Self {
            graph: None,
            node: None,
        }
    }
}

impl Lowering<'_> {
    /// Every name that a jump from the node may use, and what it leads to.
    pub fn ends(&self, graph: &Graph, id: NodeId, node: &Node) -> Vec<End> {
        if let Some(ends) = &node.ends {
            let end = |end: &crate::resolve::node::End| {
                let to = self.target(&end.to, Names::of_graph(graph))?;
                let name = end.name.node.clone();
                Some(End { name, to })
            };
            return ends.items.iter().filter_map(end).collect();
        }
        let mut ends = Ends::default();
        let joins = node.joins.iter().filter_map(|join| graph.joins.get(*join));
        let handler = graph.on_error_of(id).into_iter().flat_map(Route::targets);
        let targets = node.targets().chain(handler);
        for target in targets.chain(joins.flat_map(|join| &join.to.to)) {
            ends.add(self.end_of(graph, target));
        }
        for name in self.jumps_from_outside(node) {
            ends.add(named(graph, &name));
        }
        ends.list.shrink_to_fit();
        ends.list
    }

    /// The names that a computed target may give, and what each leads to.
    pub fn table(&self, names: Names<'_>) -> Vec<End> {
        let Some(graph) = names.graph else {
            return Vec::new();
        };
        match names.node {
            Some((id, node)) if node.ends.is_some() => {
                let mut table = self.ends(graph, id, node);
                if table.iter().all(|known| known.name != "end") {
                    table.extend(named(graph, "end"));
                }
                table
            }
            _ => whole(graph),
        }
    }

    /// Names that tools jump to, or that the called graph leaves by.
    fn jumps_from_outside(&self, node: &Node) -> Vec<String> {
        let mut names = Vec::new();
        for tool in node.tools() {
            let tool = self.program.tools.get(tool.node);
            let body = tool.and_then(|tool| tool.body.as_ref());
            let jumps = body.map(|body| body.jumps()).unwrap_or_default();
            names.extend(jumps.into_iter().map(|name| name.node));
        }
        if let Some((graph, _)) = node.called()
            && let Some(called) = self.program.graphs.get(graph)
        {
            names.extend(called.leaves.iter().map(|name| name.node.clone()));
        }
        names
    }

    fn end_of(&self, graph: &Graph, target: &From) -> Option<End> {
        match &target.kind {
            TargetKind::End => named(graph, "end"),
            TargetKind::Parent(name) => Some(End {
                name: name.node.clone(),
                to: Target::Parent(name.node.clone()),
            }),
            _ => {
                let node = target.node()?;
                let name = graph.nodes.get(node)?.name.node.clone();
                Some(End {
                    name,
                    to: Target::Node(node),
                })
            }
        }
    }
}

/// Every node of a graph, and the end: what a computed entry may give.
fn whole(graph: &Graph) -> Vec<End> {
    let nodes = graph.nodes.entries().map(|(id, node)| End {
        name: node.name.node.clone(),
        to: Target::Node(id),
    });
    nodes.chain(named(graph, "end")).collect()
}

/// A name that is resolved in the graph itself.
fn named(graph: &Graph, name: &str) -> Option<End> {
    let to = match name {
        "end" => Target::End,
        other => Target::Node(graph.node(other)?),
    };
    Some(End {
        name: name.to_owned(),
        to,
    })
}

/// Ends in order, each name once.
#[derive(Default)]
struct Ends {
    list: Vec<End>,
    names: BTreeSet<String>,
}

impl Ends {
    fn add(&mut self, end: Option<End>) {
        if let Some(end) = end
            && self.names.insert(end.name.clone())
        {
            self.list.push(end);
        }
    }
}
