//! All jumps of a graph, each with who makes it. Rules that gather jumps by hand forget one kind or another; here are all.

use std::collections::BTreeSet;

use crate::ast::expr::Expr;
use crate::ir::{EdgeKind, JoinId, NodeId};

use super::graph::Graph;
use super::node::{Node, Work};
use super::target::{Jump, Route, SetItem, TargetKind};

/// Who makes a jump.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Maker {
    /// The entry.
    Start,
    /// A node.
    Node(NodeId, EdgeKind),
    /// A join, when its members have come.
    Join(JoinId),
    /// The graph's `on_error`, for each node that has none of its own.
    Handler,
}

impl Maker {
    /// The node that makes it.
    pub fn node(self) -> Option<NodeId> {
        match self {
            Maker::Node(node, _) => Some(node),
            Maker::Start | Maker::Join(_) | Maker::Handler => None,
        }
    }
}

impl Node {
    /// Every jump that is written on it: edges, `goto`, `skip`, own `on_error`, `max_visits` and an interrupt's `timeout`,
    /// in this order.
    pub fn jumps(&self) -> impl Iterator<Item = (EdgeKind, &Jump)> {
        let timeout = match &self.work {
            Work::Interrupt {
                timeout: Some(timeout),
                ..
            } => Some(&timeout.to),
            _ => None,
        };
        let goto = self.goto.iter().flat_map(|goto| goto.node.jumps());
        let skips = self.skips.iter().filter_map(|skip| skip.to.as_ref());
        let errors = self.on_error.iter().flat_map(|route| route.jumps());
        let visits = self.max_visits.iter().map(|max| &max.to);
        let edges = self.edges.iter().map(|jump| (EdgeKind::Edge, jump));
        edges
            .chain(goto.map(|jump| (EdgeKind::Goto, jump)))
            .chain(skips.map(|jump| (EdgeKind::Skip, jump)))
            .chain(errors.map(|jump| (EdgeKind::Error, jump)))
            .chain(visits.map(|jump| (EdgeKind::Visits, jump)))
            .chain(timeout.map(|jump| (EdgeKind::Timeout, jump)))
    }
}

impl Node {
    /// The conditions that are asked ahead of the work: of each `require` and `skip`.
    pub fn asked_ahead(&self) -> impl Iterator<Item = &Expr> {
        let required = self.requires.iter().map(|require| &require.condition);
        required.chain(self.skips.iter().map(|skip| &skip.when))
    }

    /// The same, and the conditions of its `goto`.
    pub fn conditions(&self) -> impl Iterator<Item = &Expr> {
        let routed = self.goto.iter().flat_map(|goto| goto.node.conditions());
        self.asked_ahead().chain(routed)
    }
}

impl Graph {
    /// Every jump of the graph: those of its entry, of its nodes, of its joins and of its `on_error`, in this order.
    /// What tools do is in the flow alone: theirs name nodes of whichever graph calls them.
    pub fn jumps(&self) -> impl Iterator<Item = (Maker, &Jump)> {
        let start = self.start.iter().flat_map(Route::jumps);
        let nodes = self.nodes.entries().flat_map(|(id, node)| {
            let own = node.jumps();
            own.map(move |(why, jump)| (Maker::Node(id, why), jump))
        });
        let joins = self.joins.entries();
        let joins = joins.map(|(id, join)| (Maker::Join(id), &join.to));
        let errors = self.on_error.iter().flat_map(Route::jumps);
        start
            .map(|jump| (Maker::Start, jump))
            .chain(nodes)
            .chain(joins)
            .chain(errors.map(|jump| (Maker::Handler, jump)))
    }

    /// Every `set` of the graph: of its nodes, then of its jumps.
    pub fn sets(&self) -> impl Iterator<Item = &SetItem> {
        let nodes = self.nodes.iter().flat_map(|node| &node.set);
        nodes.chain(self.jumps().flat_map(|(_, jump)| &jump.set))
    }

    /// Nodes to which some jump sends a task for each element of a list.
    pub fn workers(&self) -> BTreeSet<NodeId> {
        let targets = self.jumps().flat_map(|(_, jump)| &jump.to);
        let workers = targets.filter_map(|target| match &target.kind {
            TargetKind::Each(each) => each.worker,
            _ => None,
        });
        workers.collect()
    }

    /// Nodes that the graph's `on_error` serves.
    pub fn served(&self) -> impl Iterator<Item = NodeId> {
        let nodes = self.nodes.ids();
        nodes.filter(|id| self.inherited_by(*id).is_some())
    }
}
