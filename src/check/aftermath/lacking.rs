//! What lacks, or can't be, because a piece of the text did not parse: that is no second mistake.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::{FileId, SourceMap, Span};
use crate::diag::{Code, Diagnostic, Diagnostics, codes};
use crate::resolve::Program;

use super::{TEXT, is};

/// What is said of properties that are not there.
static LACKING: &[&Code] = &[
    &codes::MISSING_ENDS,
    &codes::MISSING_PROPERTY,
    &codes::WRONG_BINDING,
];

/// What is said of fields and conditions by what else there is.
static DECIDED: &[&Code] = &[
    &codes::NEVER_STALE,
    &codes::NEVER_EQUAL,
    &codes::CONSTANT_CONDITION,
    &codes::UNREACHABLE_ARM,
];

/// Takes out what is said to lack in nodes with a piece that did not parse, and what is decided by parts of a graph, or by
/// items, of which one did not.
pub fn behind_pieces(program: &Program, diags: &mut Diagnostics) {
    let pieces = program.trees.iter().flat_map(|tree| &tree.damaged);
    let mut damaged: BTreeMap<FileId, Vec<u32>> = BTreeMap::new();
    for piece in pieces.clone() {
        damaged.entry(piece.file).or_default().push(piece.start);
    }
    if damaged.is_empty() {
        return;
    }
    damaged
        .values_mut()
        .for_each(|starts| starts.sort_unstable());
    let graphs = sorted(program.graphs.iter().map(|graph| graph.span));
    let nodes = program.graphs.iter().flat_map(|graph| graph.nodes.iter());
    let nodes = sorted(nodes.map(|node| node.span));
    let tools = sorted(program.tools.iter().map(|tool| tool.span));
    let items = pieces
        .clone()
        .any(|piece| around(&graphs, *piece).is_none());
    let torn = |whole: Option<Span>| {
        whole.is_some_and(|whole| {
            let starts = damaged.get(&whole.file).map_or(&[][..], Vec::as_slice);
            let first = starts.partition_point(|start| *start < whole.start);
            starts.get(first).is_some_and(|start| *start < whole.end)
        })
    };
    diags.retain(|found| {
        let at = found.span();
        let lacks = is(found, LACKING) && torn(around(&nodes, at));
        let decided = is(found, DECIDED) && (items || torn(around(&graphs, at)));
        // A tool whose `return` did not parse gives back something.
        let returns = is(found, &[&codes::TYPE_MISMATCH]) && torn(around(&tools, at));
        // The type of what the node gives may be what did not parse.
        let given = found
            .value()
            .and_then(|value| value.split(['.', '[']).next());
        let given = given.is_some_and(|root| matches!(root, "answer" | "output"));
        let untyped = given && is(found, &[&codes::TYPE_MISMATCH]) && torn(around(&nodes, at));
        // What brings the name into scope may be what did not parse.
        let scope = found.unknown_name().map(|unknown| unknown.name.as_str());
        let unnamed = match scope {
            Some("input" | "output") => torn(around(&nodes, at)),
            Some("context") => torn(around(&graphs, at)),
            _ => false,
        };
        !(unnamed || lacks || decided || returns || untyped)
    });
}

/// Takes out what is said to lack in a block right behind which stands what can't stand there: its `}` is one line too early.
pub fn behind_blocks(program: &Program, sources: &SourceMap, diags: &mut Diagnostics) {
    let errors = diags.iter().filter(|found| is(found, TEXT));
    let places: Vec<Span> = errors.map(Diagnostic::span).collect();
    if places.is_empty() {
        return;
    }
    let nodes = program.graphs.iter().flat_map(|graph| graph.nodes.iter());
    let nodes: Vec<Span> = nodes.map(|node| node.span).collect();
    let tools = program.tools.iter().map(|tool| tool.span);
    let blocks = nodes.iter().copied().chain(tools);
    let ends: BTreeMap<(FileId, u32), Span> = blocks
        .map(|block| ((block.file, block.end), block))
        .collect();
    let nodes = sorted(nodes.into_iter());
    let mut early: BTreeSet<Span> = BTreeSet::new();
    let mut arms: BTreeSet<Span> = BTreeSet::new();
    for place in places {
        let text = sources.file(place.file).map_or("", |file| &*file.text);
        let before = text.get(..place.start as usize).unwrap_or("").trim_end();
        let block = ends.get(&(place.file, before.len() as u32));
        early.extend(block);
        let behind = text.get(place.start as usize..).unwrap_or("");
        if before.ends_with('}') && (behind.starts_with("else") || behind.starts_with("when")) {
            arms.extend(block.copied().or_else(|| around(&nodes, place)));
        }
    }
    let blocks = sorted(ends.into_values());
    diags.retain(|found| {
        let Some(block) = around(&blocks, found.span()) else {
            return true;
        };
        let lacks = is(found, LACKING) || is(found, &[&codes::TYPE_MISMATCH]);
        let arm = is(found, &[&codes::ROUTE_NOT_EXHAUSTIVE]) && arms.contains(&block);
        !(lacks && early.contains(&block) || arm)
    });
}

/// Places in order.
fn sorted(spans: impl Iterator<Item = Span>) -> Vec<Span> {
    let mut spans: Vec<Span> = spans.collect();
    spans.sort_unstable_by_key(|span| (span.file, span.start));
    spans
}

/// Which of some places, that don't overlap, another one begins in.
fn around(spans: &[Span], at: Span) -> Option<Span> {
    let behind = spans.partition_point(|span| (span.file, span.start) <= (at.file, at.start));
    let span = spans.get(behind.checked_sub(1)?)?;
    (span.file == at.file && at.start < span.end).then_some(*span)
}
