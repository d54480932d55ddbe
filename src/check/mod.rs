//! Checks of a resolved program: what can be known to be wrong before a run.
//!
//! [`check()`] is the stage. It takes a program of ids and gives back nothing that changes it: what is
//! wrong is in the diagnostics, and a [`Checked`] says that lowering may go on.
//!
//! Reading order: [`flow`] (where a run can go), [`types`] (expressions in their scopes), then a file for each group of
//! rules that need more than one graph or node: [`entry`], [`ends`], [`leave`], [`sends`], [`handlers`], [`circle`], [`limit`], [`calls`], [`scope`], [`assign`], [`data`], [`unused`].

pub mod assign;
pub mod calls;
pub mod circle;
pub mod data;
pub mod ends;
pub mod entry;
pub mod flow;
pub mod handlers;
pub mod leave;
pub mod limit;
pub mod scope;
pub mod sends;
pub mod types;
pub mod unused;

use std::collections::BTreeSet;

use crate::base::{IdVec, SourceMap};
use crate::diag::Diagnostics;
use crate::ir::{GraphId, JoinId, ToolId};
use crate::resolve::Program;
use crate::resolve::program::Graph;

use flow::arrows::Arrows;
use flow::effect::Effects;
use flow::{Flow, Together, Written};
use types::tool::Sets;
use types::walk;

/// Proof that a program has been checked: where no error was reported, lowering it can't fail.
#[derive(Debug)]
#[non_exhaustive]
pub struct Checked {}

/// Checks a program. `sources` are the texts that it was made from.
///
/// Warnings that need the whole picture (fields and items of no use) are left out where there are
/// errors already: what is missing may be what would have used them.
pub fn check(program: &Program, sources: &SourceMap, diags: &mut Diagnostics) -> Checked {
    types::item::reducers(program, diags);
    types::item::defaults(program, diags);
    let sets: IdVec<ToolId, Sets> = program
        .tools
        .ids()
        .map(|id| types::tool::tool(program, id, diags))
        .collect();
    let written = Written::new(program);
    let flows: IdVec<GraphId, Flow> = program
        .graphs
        .ids()
        .map(|id| flow::build(program, id, &written))
        .collect();
    calls::endless(program, &flows, diags);
    limit::limits(program, &flows, diags);
    scope::scopes(program, diags);
    scope::tool_fields(program, &sets, diags);
    let effects = assign::effects(program, &flows, &written);
    let mut read = Vec::new();
    for ((id, flow), effects) in flows.entries().zip(&effects) {
        let whole = (&flows, &written, effects);
        read.push((id, graph(program, id, flow, whole, diags)));
    }
    if !diags.has_errors() {
        for (id, read) in read {
            data::useless(program, id, &written, &read, diags);
        }
        unused::unused(program, sources, diags);
    }
    Checked {}
}

/// All rules on one graph. Gives back the fields that it reads.
fn graph(
    program: &Program,
    id: GraphId,
    flow: &Flow,
    (flows, written, effects): (&IdVec<GraphId, Flow>, &Written, &Effects),
    diags: &mut Diagnostics,
) -> std::collections::BTreeSet<crate::ir::FieldId> {
    let Some(graph) = program.graphs.get(id) else {
        return Default::default();
    };
    let ends = |child: GraphId| flows.get(child).is_some_and(calls::can_end);
    entry::entry(graph, diags);
    entry::ways_on(program, graph, flow, &ends, diags);
    leave::leaves(graph, diags);
    sends::without_input(graph, flow, diags);
    let together = Together::new(flow);
    let arrows = Arrows::new(flow);
    let waiting = topology(graph, flow, &arrows, &together, diags);
    let typed = walk::graph(program, id, flow, &together, (written, effects), diags);
    for (node, computed) in graph.nodes.iter().zip(&typed.computed) {
        ends::ends(program, graph, node, computed, diags);
    }
    data::unwritten_out(graph, id, written, diags);
    let known = (written, &waiting);
    assign::left_unwritten(graph, id, flow, &arrows, effects, known, diags);
    typed.read
}

/// The rules on where a run can go. Gives back the joins that are waited at in vain.
fn topology(
    graph: &Graph,
    flow: &Flow,
    arrows: &Arrows,
    together: &Together,
    diags: &mut Diagnostics,
) -> BTreeSet<JoinId> {
    let reached = flow::reach::reached(flow);
    flow::cycle::branches(flow, diags);
    flow::repeat::repeated(flow, diags);
    let mut waiting = flow::join::never(flow, arrows, together, diags);
    flow::race::races(flow, together, diags);
    handlers::handlers(graph, flow, diags);
    if flow.broken {
        return waiting;
    }
    flow::reach::unreachable(flow, &reached, diags);
    // Which of its two ways on such a node takes is reported as unclear.
    let unclear = flow.stops.iter().any(|stop| {
        let has = |cause| stop.ways.iter().any(|way| way.cause == cause);
        has(flow::Cause::Edge) && has(flow::Cause::Goto)
    });
    if !unclear {
        waiting.extend(flow::half::half_filled(flow, arrows, together, diags));
    }
    let told = flow::visits::circles(flow, diags);
    let free = flow::finish::finishing(flow, arrows, &waiting);
    flow::reach::trapped(flow, &reached, &free, &told, diags);
    if !unclear {
        circle::circles(graph, flow, together, &reached, diags);
    }
    waiting
}
