//! Ways that a node does not write itself: jumps of its tools, and names that its subgraph leaves by.

use crate::base::{Span, Spanned};
use crate::resolve::program::{Graph, Jump, Node, Route, Target, TargetKind, Work};

use super::build::{Builder, called_bodies};
use super::model::{Cause, Goal, Spot, Way};

impl Builder<'_> {
    pub(super) fn tool_ways(&mut self, node: &Node) -> Vec<Way> {
        let jumps: Vec<(Span, Spanned<String>)> = called_bodies(self.program, node)
            .into_iter()
            .flat_map(|(span, body)| body.jumps().into_iter().map(move |name| (span, name)))
            .collect();
        let way = |(span, name)| Way {
            cause: Cause::Tool,
            goals: self.named(&name, Some(node)),
            writes: Vec::new(),
            span,
        };
        jumps.into_iter().map(way).collect()
    }

    pub(super) fn child_ways(&mut self, node: &Node) -> Vec<Way> {
        let Work::Subgraph {
            graph: Some(child),
            name,
            ..
        } = &node.work
        else {
            return Vec::new();
        };
        let Some(child) = self.program.graphs.get(*child) else {
            return Vec::new();
        };
        let goals: Vec<Vec<Goal>> = child
            .leaves
            .iter()
            .map(|left| self.named(left, Some(node)))
            .collect();
        let way = |goals| Way {
            cause: Cause::Child,
            goals,
            writes: Vec::new(),
            span: name.span,
        };
        // Tasks that run side by side in the called graph may leave by several names at once.
        match goals.len() > 1 && splits(child) {
            true => vec![way(goals.into_iter().flatten().collect())],
            false => goals.into_iter().map(way).collect(),
        }
    }

    /// What a tool's or a leaving subgraph's name leads to: the node's `ends` say so. Where they
    /// lack it (which is reported), a node of that name is what was meant.
    pub(super) fn named(&mut self, name: &Spanned<String>, node: Option<&Node>) -> Vec<Goal> {
        if let Some(end) = node
            .and_then(|n| n.ends.as_ref())
            .and_then(|e| e.find(&name.node))
        {
            return self.goals(&end.to, None);
        }
        match self.graph.node(&name.node) {
            Some(id) => vec![Goal {
                to: Spot::Node(id),
                many: false,
                span: name.span,
            }],
            None if name.node == "end" => vec![Goal {
                to: Spot::End,
                many: false,
                span: name.span,
            }],
            None => self.unknown(),
        }
    }
}

/// Whether more than one task may run at once in a graph.
fn splits(graph: &Graph) -> bool {
    let several = |jump: &Jump| {
        let each = |target: &Target| matches!(target.kind, TargetKind::Each { .. });
        jump.to.len() > 1 || jump.to.iter().any(each)
    };
    let routes = graph.start.iter().chain(&graph.on_error);
    routes.flat_map(Route::jumps).any(several)
        || graph.nodes.iter().any(|node| {
            let goto = node.goto.iter().flat_map(|goto| goto.node.jumps());
            let skips = node.skips.iter().filter_map(|skip| skip.to.as_ref());
            let errors = node.on_error.iter().flat_map(Route::jumps);
            node.edges.len() + node.joins.len() > 1
                || goto
                    .chain(skips)
                    .chain(errors)
                    .chain(&node.edges)
                    .any(several)
        })
}
