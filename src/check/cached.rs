//! `cache` on nodes: what a person has answered is not to be answered from a cache.

use std::collections::BTreeSet;

use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::GraphId;
use crate::resolve::program::{Graph, Node, Program, Work};

use super::safety::in_scope;

/// Who asks a person, and where.
type Asker = (String, Span);

/// Reports cached work that may ask a person: calls of graphs that do on the way, and of tools that ask.
pub fn asking(program: &Program, graph: &Graph, diags: &mut Diagnostics) {
    for node in &graph.nodes {
        let Some(cache) = &node.cache else { continue };
        let asked = match node.called() {
            Some((child, name)) => asks(program, child).map(|(asks, place)| {
                let asks = format!("`{asks}` in `{}`", name.node);
                let help = "cache the nodes whose results may be used again, one by one";
                (asks, place, help)
            }),
            None => approved(program, graph, node).map(|(tool, place)| {
                let help = "leave `cache` out: a call that a person has to approve is made and asked for each time";
                (format!("`{tool}`"), place, help)
            }),
        };
        if let Some((asks, place, help)) = asked {
            let message = format!(
                "`{}` is cached, but {asks} asks a person, who would not be asked again",
                node.name.node
            );
            diags.push(
                Diagnostic::new(&codes::CACHED_QUESTION, message, cache.span)
                    .label(place, "asked here")
                    .help(help),
            );
        }
    }
}

/// The first tool that a node may call and that asks a person. An `llm` only asks for calls.
fn approved(program: &Program, graph: &Graph, node: &Node) -> Option<Asker> {
    if matches!(node.work, Work::Llm(_)) {
        return None;
    }
    in_scope(graph, node).into_iter().find_map(|used| {
        let tool = program.tools.get(used.node).filter(|tool| tool.asks())?;
        Some((tool.name.node.clone(), used.span))
    })
}

/// The first interrupt, or tool that asks a person, in a graph or in one that it calls.
fn asks(program: &Program, graph: GraphId) -> Option<Asker> {
    let mut seen = BTreeSet::from([graph]);
    let mut open = vec![graph];
    while let Some(id) = open.pop() {
        let Some(graph) = program.graphs.get(id) else {
            continue;
        };
        for node in &graph.nodes {
            if let Some(stop) = node.stops.first() {
                return Some((stop.name.node.clone(), stop.name.span));
            }
            if let Work::Interrupt { .. } = node.work {
                return Some((node.name.node.clone(), node.name.span));
            }
            let called = node.called().map(|(child, _)| child);
            open.extend(called.filter(|child| seen.insert(*child)));
            if let Some(asker) = approved(program, graph, node) {
                return Some(asker);
            }
        }
    }
    None
}
