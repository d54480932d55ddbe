//! `cache` on nodes: what a person has answered is not to be answered from a cache.

use std::collections::BTreeSet;

use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::GraphId;
use crate::resolve::program::{Graph, Program, Work};

/// Reports cached calls of graphs that ask a person on the way.
pub fn asking(program: &Program, graph: &Graph, diags: &mut Diagnostics) {
    for node in &graph.nodes {
        let (
            Some(cache),
            Work::Subgraph {
                graph: Some(child),
                name,
                ..
            },
        ) = (&node.cache, &node.work)
        else {
            continue;
        };
        if let Some((asks, place)) = asks(program, *child) {
            let message = format!(
                "`{}` is cached, but `{asks}` in `{}` asks a person, who would not be asked again",
                node.name.node, name.node
            );
            diags.push(
                Diagnostic::new(&codes::CACHED_QUESTION, message, cache.span)
                    .label(place, "asked here")
                    .help("cache the nodes whose results may be used again, one by one"),
            );
        }
    }
}

/// The first interrupt in a graph or in one that it calls.
fn asks(program: &Program, graph: GraphId) -> Option<(String, Span)> {
    let mut seen = BTreeSet::from([graph]);
    let mut open = vec![graph];
    while let Some(id) = open.pop() {
        for node in program
            .graphs
            .get(id)
            .into_iter()
            .flat_map(|graph| &graph.nodes)
        {
            if let Some(stop) = node.stops.first() {
                return Some((stop.name.node.clone(), stop.name.span));
            }
            match &node.work {
                Work::Interrupt { .. } => return Some((node.name.node.clone(), node.name.span)),
                Work::Subgraph {
                    graph: Some(child), ..
                } if seen.insert(*child) => {
                    open.push(*child);
                }
                _ => {}
            }
        }
    }
    None
}
