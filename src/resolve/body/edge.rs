//! Edge statements of a graph: `a -> b`, `[a, b] -> c`.

use crate::ast::Name;
use crate::ast::graph::{Edge, Graph as Written, Member};
use crate::ast::target::TargetKind;
use crate::base::{Span, Spanned, name as names};
use crate::diag::{Diagnostic, Home, codes};
use crate::ir::NodeId;

use super::super::Resolver;
use super::super::graph::Join;
use super::super::names::{Seen, has_no};
use super::Inside;

impl Resolver<'_> {
    /// Adds every edge to its node, every join to the graph and its members.
    pub(super) fn edges(&mut self, inside: &Inside, written: &Written) {
        for member in &written.members {
            if let Member::Edge(edge) = member {
                match edge.join {
                    true => self.join(inside, edge),
                    false => self.edge(inside, edge),
                }
            }
        }
    }

    fn edge(&mut self, inside: &Inside, edge: &Edge) {
        let jump = self.jump(inside, &edge.to);
        if edge.from.len() == 1 && matches!(edge.to.target.kind, TargetKind::Node(_)) {
            let lines = self.lines(edge.span);
            let graph = &mut self.program.graphs[inside.graph];
            graph.plain_edges.insert(edge.to.target.span, lines);
        }
        for name in &edge.from {
            if let Some(node) = self.edge_source(inside, name, &edge.from) {
                let node = &mut self.program.graphs[inside.graph].nodes[node];
                node.edges.push(jump.clone());
            }
        }
    }

    fn join(&mut self, inside: &Inside, edge: &Edge) {
        let mut members: Vec<Spanned<NodeId>> = Vec::new();
        let mut seen = Seen::default();
        for name in &edge.from {
            if let Some(node) = self.edge_source(inside, name, &edge.from)
                && self.once(&mut seen, "member", name)
            {
                members.push(Spanned::new(node, name.span));
            }
        }
        if edge.from.is_empty() {
            self.bad_value("a join without members, expected nodes".into(), edge.span);
        }
        if let [only] = edge.from.as_slice() {
            let name = &only.node;
            let end = edge.to.span.start;
            let head = Span { end, ..edge.span };
            let message = format!("a join of `{name}` alone waits for nobody");
            let found = Diagnostic::new(&codes::JOIN_OF_ONE, message, edge.span);
            let help =
                format!("write an edge, `{name} -> ..`, or name the other members: `[{name}, ..]`");
            self.diags
                .push(found.help(help).fix(head, format!("{name} -> ")));
        }
        let to = self.jump(inside, &edge.to);
        if members.is_empty() {
            return;
        }
        let nodes: Vec<NodeId> = members.iter().map(|member| member.node).collect();
        let graph = &mut self.program.graphs[inside.graph];
        let join = graph.joins.push(Join {
            members,
            to,
            span: edge.span,
        });
        for node in nodes {
            graph.nodes[node].joins.push(join);
        }
    }

    /// The node that an edge comes from, one of several names; reported where there is none.
    fn edge_source(&mut self, inside: &Inside, name: &Name, all: &[Name]) -> Option<NodeId> {
        if let Some(node) = inside.nodes.get(&name.node) {
            return Some(*node);
        }
        // Some node lacks the edge that was meant for it.
        self.program.graphs[inside.graph].broken = true;
        if self.is_lost(inside.file, &name.node) {
            return None;
        }
        let named = |node: &&str| all.iter().any(|other| other.node == *node);
        let near: Vec<&str> = inside.nodes.keys().map(String::as_str).collect();
        let near: Vec<&str> = near.into_iter().filter(|node| !named(node)).collect();
        // A graph without an entry lacks just this.
        let entry = match self.program.graphs[inside.graph].start.is_some() {
            false => {
                ["start", "entry", "begin", "__start__", "root", "main"].contains(&&*name.node)
            }
            true => false,
        };
        let begins = names::closest(&name.node, ["start", "entry", "begin"]).is_some()
            && names::closest(&name.node, near.iter().copied()).is_none();
        let found = has_no(&inside.name, "", name, Home::Nodes(None), near);
        let other = |message: &str, help: &str| {
            Diagnostic::new(&codes::UNKNOWN_NODE, message, name.span).help(help)
        };
        self.diags.push(match name.node.as_str() {
            "end" => other("no edge leaves `end`", "take the edge out"),
            "fail" => other(
                "no edge leaves `fail`",
                "what fails is handled by `on_error -> NODE`, of the node or of the graph",
            ),
            _ if entry || begins => Diagnostic::new(&codes::UNKNOWN_NODE, found.message, name.span)
                .unknown(&name.node, Home::Nodes(None))
                .help("did you mean `start`?")
                .fix(name.span, "start"),
            _ => found,
        });
        inside.closest_node(name).filter(|node| {
            // One that has its way on already lacks none.
            let node = &self.program.graphs[inside.graph].nodes[*node];
            node.edges.is_empty() && node.goto.is_none() && node.joins.is_empty()
        })
    }
}
