//! Checks of a resolved program: what can be known to be wrong before a run.
//!
//! [`check()`] is the stage. It takes a program of ids and gives back nothing that changes it: what is
//! wrong is in the diagnostics, and a [`Checked`] says that lowering may go on.
//!
//! Reading order: [`flow`] (where a run can go), [`types`] (expressions in their scopes), then a file for each group of
//! rules that need more than one graph or node: [`entry`], [`ends`], [`leave`], [`sends`], [`calls`], [`scope`], [`data`], [`unused`].
//! [`instance`] comes before them all: what they look at are the instances of graphs with parameters.
//! A folder of its own has what may be done without a person and what may flow where: [`safety`].

pub mod calls;
pub mod data;
pub mod ends;
pub mod entry;
pub mod flow;
pub mod instance;
pub mod leave;
pub mod safety;
pub mod scope;
pub mod sends;
pub mod types;
pub mod unused;

use std::collections::BTreeSet;

use crate::base::{IdVec, SourceMap};
use crate::diag::Diagnostics;
use crate::ir::{FieldId, GraphId, ToolId};
use crate::resolve::Program;

use flow::{Flow, Together, Written};
use instance::Instances;
use types::tool::Sets;
use types::walk;

/// Proof that a program has been checked: where no error was reported, lowering it can't fail.
#[derive(Debug)]
#[non_exhaustive]
pub struct Checked {
    /// The program of instances, where graphs have parameters: what is lowered in place of the program
    /// that was checked.
    pub instances: Option<Instances>,
}

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
    let instances = instance::expand(program, diags);
    // What can run: where graphs have parameters, their instances.
    let whole = instances.as_ref().map_or(program, |made| &made.program);
    let picture = Picture::of(whole);
    calls::endless(whole, &picture.flows, diags);
    scope::scopes(whole, diags);
    scope::tool_fields(whole, &sets, diags);
    safety::literal::literals(sources, diags);
    safety::safety(whole, &picture.flows, diags);
    let seen = whole.graphs.ids().map(|id| graph(whole, id, &picture));
    let seen: Vec<Seen> = seen.collect();
    let (read, picture) = match &instances {
        None => {
            let mut read = Vec::new();
            for graph in seen {
                diags.append(graph.diags);
                read.push(graph.read);
            }
            (read, picture)
        }
        Some(instances) => instance::merge::all(program, instances, seen, diags),
    };
    if !diags.has_errors() {
        for (id, read) in program.graphs.ids().zip(&read) {
            data::useless(program, id, &picture.written, read, diags);
        }
        unused::unused(program, sources, diags);
    }
    Checked { instances }
}

/// Where the graphs of a program can go, and what they write.
struct Picture {
    written: Written,
    flows: IdVec<GraphId, Flow>,
}

impl Picture {
    fn of(program: &Program) -> Self {
        let written = Written::new(program);
        let ids = program.graphs.ids();
        let flows = ids.map(|id| flow::build(program, id, &written)).collect();
        Self { written, flows }
    }
}

/// What is seen of one graph.
#[derive(Default)]
struct Seen {
    /// Fields that it reads.
    read: BTreeSet<FieldId>,
    /// What is wrong with it.
    diags: Diagnostics,
}

/// All rules on one graph.
fn graph(program: &Program, id: GraphId, picture: &Picture) -> Seen {
    let (Some(graph), Some(flow)) = (program.graphs.get(id), picture.flows.get(id)) else {
        return Seen::default();
    };
    let written = &picture.written;
    let mut diags = Diagnostics::new();
    let ends = |child: GraphId| picture.flows.get(child).is_some_and(calls::can_end);
    entry::entry(graph, &mut diags);
    entry::ways_on(program, graph, flow, &ends, &mut diags);
    leave::leaves(graph, &mut diags);
    sends::without_input(graph, flow, &mut diags);
    let together = Together::new(flow);
    topology(flow, &together, &mut diags);
    let typed = walk::graph(program, id, flow, &together, written, &mut diags);
    for (node, computed) in graph.nodes.iter().zip(&typed.computed) {
        ends::ends(program, graph, node, computed, &mut diags);
    }
    data::unwritten_out(graph, id, written, &mut diags);
    Seen {
        read: typed.read,
        diags,
    }
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
