//! The same finding at several places: the first stands for all, and points at the others.

use std::collections::{BTreeMap, BTreeSet};

use crate::ast::item::Item;
use crate::base::{FileId, SourceMap, Span};
use crate::diag::{Code, Diagnostic, Diagnostics, Fact, codes};
use crate::ir::{GraphId, NodeId};
use crate::resolve::program::Work;

use super::again::together;
use super::ground::Ground;
use super::is;

/// Errors whose whole text says all that is wrong: where it is the same, it is the same mistake.
static SAME: &[&Code] = &[
    &codes::TARGET_OUTSIDE_ENDS,
    &codes::TOOL_OUT_OF_SCOPE,
    &codes::CONTEXT_MISMATCH,
];

/// What is said of arrows that are there already.
static TWICE: &[&Code] = &[&codes::DUPLICATE_EDGE, &codes::DUPLICATE_PROPERTY];

/// Names of what a node's work gives.
const GIVEN: [&str; 3] = ["answer", "output", "result"];

/// A place of the state that nothing guards, in several nodes: one guard is lost, or was forgotten, for all of them. Of a place
/// and a part of it that are read at once it is the place.
pub fn nulls(ground: &Ground, diags: &mut Diagnostics) {
    let mut all = diags.take();
    let mut of: BTreeMap<(GraphId, String), Vec<usize>> = BTreeMap::new();
    let mut wholes: BTreeSet<(Span, String)> = BTreeSet::new();
    for (at, found) in all.iter().enumerate() {
        let value = found
            .value()
            .filter(|_| is(found, &[&codes::NULL_NOT_HANDLED]));
        let Some(value) = value else { continue };
        wholes.insert((start(found), value.to_owned()));
        let graph = ground.graph(found.span());
        let state = value.starts_with("state.") || value.starts_with("context.");
        if let Some(graph) = graph.filter(|_| state) {
            of.entry((graph, value.to_owned())).or_default().push(at);
        }
    }
    let groups: Vec<Vec<usize>> = of.into_values().collect();
    together(&mut all, groups, "here too");
    for found in all {
        let value = found
            .value()
            .filter(|_| is(&found, &[&codes::NULL_NOT_HANDLED]));
        let part = value.is_some_and(|value| {
            let mut ends = value.match_indices(['.', '[']).map(|(end, _)| end);
            ends.any(|end| {
                let whole = value.get(..end).unwrap_or("").to_owned();
                wholes.contains(&(start(&found), whole))
            })
        });
        if !part {
            diags.push(found);
        }
    }
}

/// Where a finding begins, as an empty place.
fn start(found: &Diagnostic) -> Span {
    let at = found.span();
    Span {
        end: at.start,
        ..at
    }
}

/// Errors with the same text in one graph; what does not fit what a node was given, in that node; names of one import.
pub fn same(ground: &Ground, sources: &SourceMap, diags: &mut Diagnostics) {
    let mut all = diags.take();
    let mut texts: BTreeMap<(&str, Option<GraphId>, String), Vec<usize>> = BTreeMap::new();
    let mut given: BTreeMap<(GraphId, NodeId, &str), Vec<usize>> = BTreeMap::new();
    let mut imported: BTreeMap<Span, Vec<usize>> = BTreeMap::new();
    let mut tools: BTreeMap<Span, Vec<usize>> = BTreeMap::new();
    let mut lines: BTreeMap<(FileId, usize), Vec<usize>> = BTreeMap::new();
    let imports = imports(ground);
    for (at, found) in all.iter().enumerate() {
        let place = found.span();
        if is(found, SAME) && (!is(found, &[&codes::TOOL_OUT_OF_SCOPE]) || calls(ground, place)) {
            let key = (found.code.slug, ground.graph(place), found.message.clone());
            texts.entry(key).or_default().push(at);
        }
        // A chain that stands there twice is one line too much.
        if is(found, TWICE) {
            let file = sources.file(place.file).map_or("", |file| &*file.text);
            let before = file.get(..place.start as usize).unwrap_or("");
            let line = before.rfind('\n').map_or(0, |end| end + 1);
            lines.entry((place.file, line)).or_default().push(at);
        }
        // What all nodes of a graph lack, the graph lacks.
        if is(found, &[&codes::MISSING_PROPERTY])
            && let Some(graph) = found.spoken_of()
        {
            tools.entry(graph).or_default().push(at);
        }
        if is(found, &[&codes::TYPE_MISMATCH])
            && let Some(value) = found.value()
            && let Some(root) = GIVEN.iter().find(|root| is_of(value, root))
            && let (Some(graph), Some(node)) = (ground.graph(place), ground.node(place))
        {
            given.entry((graph, node, root)).or_default().push(at);
        }
        let twice = |fact: &Fact| matches!(fact, Fact::Twice(..));
        if found.facts.iter().any(twice)
            && let Some(import) = imports.iter().find(|import| import.holds(place))
        {
            imported.entry(*import).or_default().push(at);
        }
        if is(found, &[&codes::TOOL_NEEDS_FIELD]) && ground.tool(place).is_some() {
            tools.entry(place).or_default().push(at);
        }
    }
    for group in tools.values() {
        all_labels(&mut all, group);
    }
    let groups = texts.into_values().chain(given.into_values());
    let groups = groups
        .chain(imported.into_values())
        .chain(tools.into_values());
    let groups = groups.chain(lines.into_values());
    let groups: Vec<Vec<usize>> = groups.collect();
    together(&mut all, groups, "here too");
    all.into_iter().for_each(|found| diags.push(found));
}

/// Of findings at one place, the first points at what the others point at too.
fn all_labels(all: &mut [Diagnostic], group: &[usize]) {
    let Some((first, others)) = group.split_first() else {
        return;
    };
    let others = others.iter().filter_map(|at| all.get(*at));
    let labels = others.flat_map(|other| other.labels.iter().skip(1).cloned());
    let labels: Vec<_> = labels.collect();
    if let Some(first) = all.get_mut(*first) {
        for label in labels {
            if first.labels.iter().all(|own| own.span != label.span) {
                first.labels.push(label);
            }
        }
    }
}

/// Whether a place lies in a node that calls a graph.
fn calls(ground: &Ground, place: Span) -> bool {
    let graph = ground
        .graph(place)
        .and_then(|id| ground.program.graphs.get(id));
    let node = graph.and_then(|graph| graph.nodes.get(ground.node(place)?));
    node.is_some_and(|node| matches!(node.work, Work::Subgraph { .. }))
}

fn imports(ground: &Ground) -> Vec<Span> {
    let items = ground.program.trees.iter().flat_map(|tree| &tree.items);
    let imports = items.filter_map(|item| match item {
        Item::Import(import) => Some(import.span),
        _ => None,
    });
    imports.collect()
}

/// Whether a value is a thing, or a part of it.
fn is_of(value: &str, root: &str) -> bool {
    let rest = value.strip_prefix(root);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}
