//! A graph that calls itself with other values each time: what ends that may be what is wrong in it.

use std::collections::BTreeSet;

use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, Level, codes};
use crate::resolve::program::Work;

use super::ground::Ground;
use super::{TEXT, is};

/// Takes out that there are too many instances where the text of a graph with parameters did not parse, a name in it stands for
/// nothing, or a condition is wrong: all graphs of a circle that makes ever new instances have parameters.
pub fn behind_damage(ground: &Ground, diags: &mut Diagnostics) {
    if !diags
        .iter()
        .any(|found| is(found, &[&codes::LIMIT_EXCEEDED]))
    {
        return;
    }
    let graphs = ground.program.graphs.iter();
    let calls = graphs.flat_map(|graph| &graph.nodes);
    let calls: BTreeSet<Span> = calls
        .filter_map(|node| match &node.work {
            Work::Subgraph { name, .. } => Some(name.span),
            _ => None,
        })
        .collect();
    let too_many =
        |found: &Diagnostic| is(found, &[&codes::LIMIT_EXCEEDED]) && calls.contains(&found.span());
    let wrong = |found: &Diagnostic| {
        let at = found.span();
        let unclear = is(found, TEXT) || found.unknown_name().is_some() || ground.is_condition(at);
        let graph = || ground.program.graphs.get(ground.graph(at)?);
        found.level == Level::Error
            && unclear
            && !too_many(found)
            && graph().is_some_and(|graph| !graph.params.is_empty())
    };
    if diags.iter().any(wrong) {
        diags.retain(|found| !too_many(found));
    }
}
