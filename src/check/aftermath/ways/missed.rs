//! The arrow that is missing: what leads nowhere, and what nothing leads to.

use std::collections::BTreeMap;

use crate::base::Span;
use crate::base::name::list;
use crate::diag::{Diagnostic, Diagnostics, Label, codes};
use crate::ir::GraphId;
use crate::resolve::program::Program;

use super::is;
use super::places::Places;

/// Names the nodes that nothing leads to where others of the graph lead nowhere: the arrow between them is what is missing.
pub(super) fn name_missed(program: &Program, places: &Places, diags: &mut Diagnostics) {
    let lost = diags.iter().any(|found| is(found.code, &codes::NO_WAY_ON));
    let mut missed: BTreeMap<GraphId, Vec<Span>> = BTreeMap::new();
    let islands = diags
        .iter()
        .filter(|found| is(found.code, &codes::UNREACHABLE_NODE));
    for found in islands.filter(|_| lost) {
        if let Some(graph) = places.graph(found.span()) {
            missed.entry(graph).or_default().push(found.span());
        }
    }
    if missed.is_empty() {
        return;
    }
    let mut all = diags.take();
    for found in all
        .iter_mut()
        .filter(|found| is(found.code, &codes::NO_WAY_ON))
    {
        // The first of a graph stands for all.
        let graph = places.graph(found.span());
        let Some((graph, spans)) = graph.and_then(|id| Some((id, missed.remove(&id)?))) else {
            continue;
        };
        let nodes = program
            .graphs
            .get(graph)
            .into_iter()
            .flat_map(|graph| &graph.nodes);
        let names = nodes.filter(|node| spans.contains(&node.name.span));
        let names: Vec<(&str, Span)> = names
            .map(|node| (&*node.name.node, node.name.span))
            .collect();
        let shown = list(names.iter().map(|(name, _)| *name));
        found.message = format!("{}, and nothing leads to {shown}", found.message);
        found
            .labels
            .extend(names.into_iter().map(|(name, span)| Label {
                span,
                message: format!("nothing leads to `{name}`"),
            }));
    }
    all.into_iter().for_each(|found| diags.push(found));
}

/// A node named twice where another one, that nothing leads to, was likely meant.
pub(super) fn name_meant(program: &Program, places: &Places, diags: &mut Diagnostics) {
    let doubled = |found: &Diagnostic| is(found.code, &codes::DUPLICATE_EDGE);
    if !diags.iter().any(doubled) {
        return;
    }
    let mut islands: BTreeMap<GraphId, Vec<Span>> = BTreeMap::new();
    for found in diags.iter() {
        if is(found.code, &codes::UNREACHABLE_NODE)
            && let Some(graph) = places.graph(found.span())
        {
            islands.entry(graph).or_default().push(found.span());
        }
    }
    let mut all = diags.take();
    for found in all.iter_mut().filter(|found| doubled(found)) {
        let graph = places.graph(found.span());
        let Some([only]) = graph.and_then(|id| islands.get(&id)).map(Vec::as_slice) else {
            continue;
        };
        let graph = graph.and_then(|id| program.graphs.get(id));
        let nodes = graph.into_iter().flat_map(|graph| &graph.nodes);
        let mut nodes = nodes.filter(|node| node.name.span == *only);
        if let Some(node) = nodes.next() {
            let name = &node.name.node;
            found.help = Some(format!("did you mean `{name}`? Nothing leads to it"));
            found.fix = Vec::new();
        }
    }
    all.into_iter().for_each(|found| diags.push(found));
}
