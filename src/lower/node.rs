//! Nodes: what all kinds have.

use crate::ir::NodeId;
use crate::resolve::graph::Graph;
use crate::resolve::node as from;

use super::Lowering;
use super::ends::Names;
use crate::ir::graph::{MaxVisits, Node};
use crate::ir::jump::Route;
use crate::ir::node::{Cache, Skip, Stop};

impl Lowering<'_> {
    /// A node.
    pub fn node(&self, graph: &Graph, id: NodeId, node: &from::Node) -> Node {
        let names = Names::of_node(graph, id, node);
        let handler = graph.on_error_of(id);
        Node {
            name: node.name.node.clone(),
            doc: node.doc.clone(),
            work: self.work(graph, node, names),
            stops: node
                .stops
                .iter()
                .filter_map(|stop| self.stop(stop))
                .collect(),
            input: self.fields(&node.input),
            skips: self.skips(node, names),
            lets: self.lets(node.lets_ahead()),
            requires: self.requires(&node.requires),
            lets_within: self.lets(node.lets_within()),
            lets_behind: self.lets(node.lets_behind()),
            set: self.set(&node.set),
            emits: self.emits(&node.emits),
            next: self.next(node, names),
            joins: node.joins.to_vec(),
            ends: self.ends(graph, id, node),
            retry: node.retry.as_ref().map(|retry| retry.value.clone()),
            timeout_ms: node.timeout_ms.as_ref().map(|timeout| timeout.value),
            on_error: handler.map(|route| self.route(route, names)),
            max_visits: node.max_visits.as_ref().map(|max| MaxVisits {
                limit: max.limit,
                to: self.jump(&max.to, names),
            }),
            defer: node.defer,
            cache: node.cache.as_ref().map(|cache| Cache {
                key: self.maybe(&cache.key),
                ttl_ms: cache.ttl_ms,
            }),
            narrowed: self.narrowed_in(graph, node),
            tags: node.tags.to_vec(),
            at: self.place(node.span),
        }
    }

    fn stop(&self, stop: &from::Stop) -> Option<Stop> {
        Some(Stop {
            name: stop.name.node.clone(),
            after: stop.after,
            ask: self.ask(stop.ask.as_ref()?),
            expect: stop.expect.as_ref()?.node.clone(),
            permits: self.permits(&stop.name.node, &[], &stop.permits),
            at: self.place(stop.span),
        })
    }

    fn skips(&self, node: &from::Node, names: Names<'_>) -> Vec<Skip> {
        let skip = |skip: &from::Skip| Skip {
            when: self.expr(&skip.when),
            to: skip.to.as_ref().map(|jump| self.jump(jump, names)),
        };
        node.skips.iter().map(skip).collect()
    }

    /// Its `goto`, or its static edges as one jump.
    fn next(&self, node: &from::Node, names: Names<'_>) -> Option<Route> {
        if let Some(goto) = &node.goto {
            return Some(self.route(&goto.node, names));
        }
        let edges = (!node.edges.is_empty()).then(|| self.edges(&node.edges, names));
        edges.map(Route::Always)
    }
}
