//! Checks of a resolved program: what can be known to be wrong before a run.
//!
//! [`check()`] is the stage. It takes a program of ids and gives back nothing that changes it: what is
//! wrong is in the diagnostics, and a [`Checked`] says that lowering may go on.
//!
//! Reading order: [`flow`] (where a run can go), [`types`] (expressions in their scopes), then a file for each group of
//! rules that need more than one graph or node: [`entry`], [`ends`], [`leave`], [`sends`], [`calls`], [`scope`],
//! [`context`], [`based`], [`cached`], [`lasting`], [`data`], [`unused`].

pub mod based;
pub mod cached;
pub mod calls;
pub mod context;
pub mod data;
pub mod ends;
pub mod entry;
pub mod flow;
pub mod lasting;
pub mod leave;
pub mod scope;
pub mod sends;
pub mod types;
pub mod unused;

use crate::base::{IdVec, SourceMap};
use crate::diag::Diagnostics;
use crate::ir::{GraphId, ToolId};
use crate::resolve::Program;

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
    scope::scopes(program, diags);
    scope::tool_fields(program, &sets, diags);
    let mut read = Vec::new();
    for (id, flow) in flows.entries() {
        read.push((id, graph(program, id, flow, (&flows, &written), diags)));
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
    (flows, written): (&IdVec<GraphId, Flow>, &Written),
    diags: &mut Diagnostics,
) -> std::collections::BTreeSet<crate::ir::FieldId> {
    let Some(graph) = program.graphs.get(id) else {
        return Default::default();
    };
    let ends = |child: GraphId| flows.get(child).is_some_and(calls::can_end);
    entry::entry(graph, diags);
    entry::ways_on(program, graph, flow, &ends, diags);
    leave::leaves(graph, diags);
    context::contexts(program, graph, diags);
    based::bases(graph, diags);
    cached::asking(program, graph, diags);
    lasting::lost(graph, diags);
    sends::without_input(graph, flow, diags);
    let together = Together::new(flow);
    topology(flow, &together, diags);
    let typed = walk::graph(program, id, flow, &together, written, diags);
    for (node, computed) in graph.nodes.iter().zip(&typed.computed) {
        ends::ends(program, graph, node, computed, diags);
    }
    data::unwritten_out(graph, id, written, diags);
    typed.read
}

/// The rules that need nothing but the flow.
fn topology(flow: &Flow, together: &Together, diags: &mut Diagnostics) {
    let reached = flow::reach::reached(flow);
    if !flow.broken {
        flow::reach::unreachable(flow, &reached, diags);
        flow::reach::trapped(flow, &reached, diags);
    }
    flow::cycle::branches(flow, diags);
    flow::join::never(flow, together, diags);
    flow::race::races(flow, together, diags);
}
