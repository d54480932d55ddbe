//! Nodes: what all kinds have.

use crate::ir::NodeId;
use crate::resolve::graph::Graph;
use crate::resolve::node as from;

use super::super::graph::{End, MaxVisits, Node};
use super::super::jump::Route;
use super::super::node::Skip;
use super::Lowering;

impl Lowering<'_> {
    /// A node.
    pub fn node(&self, graph: &Graph, id: NodeId, node: &from::Node) -> Node {
        let table = self.table(graph, id, node);
        let handler = graph.on_error_of(id);
        Node {
            name: node.name.node.clone(),
            doc: node.doc.clone(),
            work: self.work(graph, node, &table),
            input: self.fields(&node.input),
            skips: self.skips(node, &table),
            lets: self.lets(&node.lets),
            requires: self.requires(&node.requires),
            set: self.set(&node.set),
            emits: self.emits(&node.emits),
            next: self.next(node, &table),
            joins: node.joins.clone(),
            ends: self.ends(graph, id, node),
            retry: node.retry.clone(),
            timeout_ms: node.timeout_ms,
            on_error: handler.map(|route| self.route(route, &table)),
            max_visits: node.max_visits.as_ref().map(|max| MaxVisits {
                limit: max.limit,
                to: self.jump(&max.to, &table),
            }),
            defer: node.defer,
            tags: node.tags.clone(),
            at: self.place(node.span),
        }
    }

    fn skips(&self, node: &from::Node, table: &[End]) -> Vec<Skip> {
        let skip = |skip: &from::Skip| Skip {
            when: self.expr(&skip.when),
            to: skip.to.as_ref().map(|jump| self.jump(jump, table)),
        };
        node.skips.iter().map(skip).collect()
    }

    /// Its `goto`, or its static edges as one jump.
    fn next(&self, node: &from::Node, table: &[End]) -> Option<Route> {
        if let Some(goto) = &node.goto {
            return Some(self.route(&goto.node, table));
        }
        let edges = (!node.edges.is_empty()).then(|| self.edges(&node.edges, table));
        edges.map(Route::Always)
    }
}
