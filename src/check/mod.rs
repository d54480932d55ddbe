//! Checks of a resolved program: what can be known to be wrong before a run.
//!
//! [`check()`] is the stage. It takes a program of ids and gives back nothing that changes it: what is
//! wrong is in the diagnostics, and a [`Checked`] says that lowering may go on.
//!
//! Reading order: [`flow`] (where a run can go), [`types`] (expressions in their scopes), then a file for each group of
//! rules that need more than one graph or node: [`entry`], [`ends`], [`leave`], [`sends`], [`context`], [`based`], [`cached`], [`exits`], `first_value`, [`lasting`], [`handlers`], [`error_node`], [`circle`], [`growth`], [`idle`], [`order`], [`limit`], [`calls`], [`narrow`], [`prompt`], [`scope`], [`tool_sends`], [`tool_targets`],
//! [`assign`], [`data`], [`unused`], [`unused_names`], and a folder for what may be done and may flow where: [`safety`]; [`poison`] and [`aftermath`] keep out what follows from another finding.
//! [`poison`] makes declarations that are wrong themselves go with everything. [`instance`] comes before them all: what they look at are the instances of graphs with parameters.

pub mod aftermath;
pub mod assign;
mod barrier;
pub mod based;
pub mod cached;
pub mod calls;
pub mod circle;
pub mod context;
pub mod data;
pub mod ends;
pub mod entry;
pub mod error_node;
pub mod exits;
mod first_value;
pub mod flow;
pub mod growth;
pub mod handlers;
pub mod idle;
pub mod instance;
pub mod lasting;
pub mod leave;
pub mod limit;
pub mod narrow;
pub mod order;
mod pinned;
pub mod poison;
pub mod prompt;
pub mod safety;
pub mod scope;
pub mod sends;
mod tool_fields;
pub mod tool_sends;
pub mod tool_targets;
pub mod types;
pub mod unused;
pub mod unused_names;

use std::collections::BTreeSet;
use std::rc::Rc;

use crate::base::{IdVec, SourceMap};
use crate::diag::{Diagnostics, codes};
use crate::ir::{FieldId, GraphId, ToolId};
use crate::resolve::Program;
use crate::resolve::program::Graph;

use flow::arrows::Arrows;
use flow::effect::Effects;
use flow::half::Waiting;
use flow::{Abreast, Flow, Spot, Together, Written};
use instance::Instances;
use types::tool::BodyTypes;
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
    let poisoned = poison::poisoned(program, diags);
    let program = poisoned.as_ref().unwrap_or(program);
    let bodies: IdVec<ToolId, BodyTypes> = program
        .tools
        .ids()
        .map(|id| types::tool::tool(program, id, diags))
        .collect();
    let instances = instance::expand(program, diags);
    // What can run: where graphs have parameters, their instances.
    let whole = instances.as_ref().map_or(program, |made| &made.program);
    let picture = Picture::of(whole);
    calls::endless(whole, &picture.flows, diags);
    limit::limits(whole, &picture.flows, diags);
    prompt::texts(program, diags);
    let wrong = narrow::narrowings(program, diags);
    scope::scopes(whole, sources, &wrong, diags);
    tool_fields::tool_fields(whole, &bodies, diags);
    tool_sends::sends(whole, &bodies, diags);
    tool_targets::targets(whole, &picture.written.lost, diags);
    safety::literal::literals(sources, diags);
    let abreast = Rc::new(Abreast::new(&picture.flows));
    safety::safety(whole, &abreast, diags);
    let ids = whole.graphs.ids();
    let seen: Vec<Seen> = ids.map(|id| graph(whole, id, &picture, &abreast)).collect();
    drop(abreast);
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
        unused_names::tools(program, diags);
        prompt::unused(program, diags);
        instance::unused::unused(program, sources, diags);
        unused::unused(program, sources, diags);
    } else {
        // What is wrong may be what would have read it.
        let unread = [
            &codes::UNREAD_OUTPUT,
            &codes::UNREAD_RESULT,
            &codes::UNUSED_LET,
        ];
        diags.retain(|found| !unread.contains(&found.code));
    }
    aftermath::ways::without(program, diags);
    Checked { instances }
}

/// Where the graphs of a program can go, and what they write.
struct Picture {
    written: Written,
    flows: IdVec<GraphId, Flow>,
    effects: IdVec<GraphId, Effects>,
}

impl Picture {
    fn of(program: &Program) -> Self {
        let written = Written::new(program);
        let ids = program.graphs.ids();
        let flows = ids.map(|id| flow::build(program, id, &written)).collect();
        let effects = assign::effects(program, &flows, &written);
        Self {
            written,
            flows,
            effects,
        }
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
fn graph(program: &Program, id: GraphId, picture: &Picture, abreast: &Abreast) -> Seen {
    let (Some(graph), Some(flow), Some(effects), Some(together)) = (
        program.graphs.get(id),
        picture.flows.get(id),
        picture.effects.get(id),
        abreast.take(id),
    ) else {
        return Seen::default();
    };
    let written = &picture.written;
    let mut diags = Diagnostics::new();
    let ends = |child: GraphId| picture.flows.get(child).is_some_and(calls::can_end);
    entry::entry(graph, &mut diags);
    entry::ways_on(program, graph, flow, &ends, &mut diags);
    leave::leaves(graph, &mut diags);
    context::contexts(program, graph, &mut diags);
    pinned::constants(program, graph, &mut diags);
    based::bases(graph, &mut diags);
    cached::asking(program, graph, &mut diags);
    lasting::lost(graph, &mut diags);
    error_node::names(program, graph, &mut diags);
    exits::unchanging(graph, id, &picture.written, &mut diags);
    sends::without_input(graph, flow, &mut diags);
    let together = &*together;
    let arrows = Arrows::new(flow);
    let waiting = topology(graph, flow, &arrows, together, &mut diags);
    let Waiting { always, at_times } = &waiting;
    order::dependent(program, graph, flow, together, &mut diags);
    growth::fan_outs(program, graph, &mut diags);
    let known = (written, effects);
    let group = flow::avoid::circles_of(flow);
    let exits = flow::exit::Exits::of(program, graph, flow);
    let all = (group.as_slice(), exits.as_ref());
    let unwritten = assign::unwritten(
        graph,
        id,
        (flow, &arrows),
        all,
        effects,
        (written, always, at_times),
    );
    let asked = unwritten.as_ref().map_or(&[][..], |found| &found.fields);
    let asked = (asked, at_times);
    let typed = walk::graph(program, id, flow, together, known, asked, &mut diags);
    for (node, computed) in graph.nodes.iter().zip(&typed.computed) {
        ends::ends(program, graph, node, (computed, written), &mut diags);
    }
    data::unwritten_out(graph, id, written, &mut diags);
    first_value::missing(program, graph, &mut diags);
    barrier::names(graph, &mut diags);
    if let Some(found) = &unwritten {
        found.report(graph, (flow, &arrows), &typed.left, &mut diags);
    }
    Seen {
        read: typed.read,
        diags,
    }
}

/// The rules on where a run can go. Gives back the joins that are waited at in vain.
fn topology(
    graph: &Graph,
    flow: &Flow,
    arrows: &Arrows,
    together: &Together,
    diags: &mut Diagnostics,
) -> Waiting {
    let reached = flow::reach::reached(flow);
    flow::cycle::branches(flow, diags);
    flow::repeat::repeated(graph, flow, diags);
    let before = diags.len();
    let mut waiting = Waiting {
        always: flow::join::never(flow, arrows, together, diags),
        ..Waiting::default()
    };
    if flow.broken {
        // What leads to its members is not known.
        diags.truncate(before);
    }
    let twice = flow::twice::found(graph, flow);
    let told = flow::race::races(flow, together, &twice, diags);
    flow::fork::races(flow, arrows, together, diags);
    flow::gathered::races(flow, together, diags);
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
        let unmet = flow::unmet::unmet(graph, flow, arrows, together, diags);
        waiting.always.extend(unmet);
        flow::half::half_filled(flow, arrows, together, &mut waiting, diags);
    }
    let free = flow::finish::finishing(flow, arrows, &waiting.always);
    let endings = exits::Endings::of(graph, flow, together);
    let exits = |circle: &[Spot]| endings.end(circle);
    let of = (&waiting.always, &exits as flow::group::OfCircle);
    let capped = flow::visits::circles(flow, arrows, (&reached, &free), of, diags);
    flow::reach::trapped(flow, &reached, &free, (&capped, &exits), diags);
    flow::twice::twice(flow, &twice, &told, diags);
    if !unclear {
        circle::circles(graph, flow, together, (&reached, &exits), diags);
        growth::growing(graph, flow, &reached, diags);
    }
    waiting
}
