//! What a node lacks because it did not parse: that is no second mistake.

use std::collections::BTreeMap;

use crate::base::{FileId, Span};
use crate::diag::{Code, Diagnostic, Diagnostics, codes};
use crate::resolve::Program;

/// What is said of properties that are not there.
static LACKING: &[&Code] = &[&codes::MISSING_ENDS, &codes::MISSING_PROPERTY];

/// Takes out what is said to lack in nodes with a piece that did not parse.
pub fn settle(program: &Program, diags: &mut Diagnostics) {
    let pieces = program.trees.iter().flat_map(|tree| &tree.damaged);
    let mut damaged: BTreeMap<FileId, Vec<u32>> = BTreeMap::new();
    for piece in pieces {
        damaged.entry(piece.file).or_default().push(piece.start);
    }
    if damaged.is_empty() {
        return;
    }
    damaged
        .values_mut()
        .for_each(|starts| starts.sort_unstable());
    let nodes = program.graphs.iter().flat_map(|graph| graph.nodes.iter());
    let mut nodes: Vec<Span> = nodes.map(|node| node.span).collect();
    nodes.sort_unstable_by_key(|span| (span.file, span.start));
    let is_torn = |found: &Diagnostic| {
        let at = found.span();
        let behind = nodes.partition_point(|node| (node.file, node.start) <= (at.file, at.start));
        let node = behind.checked_sub(1).and_then(|node| nodes.get(node));
        node.filter(|node| node.file == at.file && at.start < node.end)
            .zip(damaged.get(&at.file))
            .is_some_and(|(node, starts)| {
                let first = starts.partition_point(|start| *start < node.start);
                starts.get(first).is_some_and(|start| *start < node.end)
            })
    };
    let lacks = |found: &Diagnostic| LACKING.iter().any(|code| std::ptr::eq(*code, found.code));
    diags.retain(|found| !(lacks(found) && is_torn(found)));
}
