//! `error.node` in a handler: it names one of the nodes that the handler serves.

use std::collections::BTreeSet;

use crate::ast::expr::{BinaryOp, Expr, ExprKind, Literal, LogicalOp, UnaryOp};
use crate::base::name::{closest, list};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::infer::path;
use crate::ir::{GraphId, NodeId};
use crate::resolve::program::{Graph, Program, Route, Work};

/// Reports comparisons of `error.node` with a text that names no node whose errors come to the handler.
pub fn names(program: &Program, graph: &Graph, diags: &mut Diagnostics) {
    for (id, node) in graph.nodes.entries() {
        if let Some(route) = &node.on_error {
            of(program, graph, route, &[id], diags);
        }
    }
    if let Some(route) = &graph.on_error {
        let served = graph.nodes.entries();
        let served = served.filter(|(_, node)| node.on_error.is_none());
        let served: Vec<NodeId> = served.map(|(id, _)| id).collect();
        of(program, graph, route, &served, diags);
    }
}

fn of(program: &Program, graph: &Graph, route: &Route, served: &[NodeId], diags: &mut Diagnostics) {
    let mut said: Vec<(&str, &Expr)> = Vec::new();
    for when in route.conditions() {
        compared(when, &mut said);
    }
    if said.is_empty() || graph.broken {
        return;
    }
    let Some(meant) = meant(program, graph, served) else {
        return;
    };
    for (name, place) in said.into_iter().filter(|(name, _)| !meant.contains(name)) {
        let message = format!("`error.node` is never `{name}`: no node of that name fails to here");
        let help = match closest(name, meant.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("it is {}", list(meant.iter().copied().take(8))),
        };
        diags.push(Diagnostic::new(&codes::NEVER_EQUAL, message, place.span).help(help));
    }
}

/// Texts that a condition compares `error.node` with.
fn compared<'a>(when: &'a Expr, said: &mut Vec<(&'a str, &'a Expr)>) {
    let is_node = |expr: &Expr| path(expr).is_some_and(|path| path == "error.node");
    let mut note = |expr: &'a Expr| {
        if let ExprKind::Literal(Literal::String(text)) = &expr.kind {
            said.push((text.as_ref(), expr));
        }
    };
    let mut open = vec![when];
    while let Some(expr) = open.pop() {
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => open.push(inner),
            ExprKind::Logical(LogicalOp::And | LogicalOp::Or, operands) => {
                open.extend(operands.iter().rev());
            }
            ExprKind::Binary(op, left, right) => match (op.node, is_node(left), is_node(right)) {
                (BinaryOp::Equal | BinaryOp::NotEqual, true, _) => note(right),
                (BinaryOp::Equal | BinaryOp::NotEqual, _, true) => note(left),
                (BinaryOp::In, true, _) => {
                    if let ExprKind::List(elements) = &right.kind {
                        elements.iter().for_each(|element| note(&element.value));
                    }
                }
                _ => {}
            },
            _ => {}
        }
    }
}

/// Names of the nodes whose errors come to a handler: those that it serves, and those in the graphs that they call;
/// `None` where one of these is not known.
fn meant<'a>(
    program: &'a Program,
    graph: &'a Graph,
    served: &[NodeId],
) -> Option<BTreeSet<&'a str>> {
    let mut names = BTreeSet::new();
    let mut seen: BTreeSet<GraphId> = BTreeSet::new();
    let mut open: Vec<GraphId> = Vec::new();
    let served = served.iter().filter_map(|id| graph.nodes.get(*id));
    let mut nodes: Vec<_> = served.collect();
    loop {
        for node in nodes {
            names.insert(node.name.node.as_str());
            match (&node.work, node.called()) {
                (Work::Subgraph { .. }, None) => return None,
                (_, Some((child, _))) if seen.insert(child) => open.push(child),
                _ => {}
            }
        }
        let Some(next) = open.pop() else {
            return Some(names);
        };
        nodes = program.graphs.get(next)?.nodes.iter().collect();
    }
}
