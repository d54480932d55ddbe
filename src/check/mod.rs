//! Checks of a resolved program: what can be known to be wrong before a run.
//!
//! [`check()`] is the stage. It takes a program of ids and gives back nothing that changes it: what is
//! wrong is in the diagnostics, and a [`Checked`] says that lowering may go on.
//!
//! Reading order: [`cfg`](mod@cfg) (where a run can go), [`types`] (expressions in their scopes), then a file for each group of
//! rules that need more than one graph or node: [`entry`], [`ends`], [`leaves`], [`sends`], [`context`], [`based_on`], [`cached`], [`exits`], [`fan_outs`], `first_value`, [`untracked`], [`lifetime`], [`handlers`], [`error_node`], [`loops`], [`growth`], [`self_assignment`], [`limit`], [`calls`], [`narrow`], [`prompt`], [`scope`], [`tool_sends`], [`tool_targets`],
//! [`assign`], [`data`], [`unused`], [`unused_names`], and a folder for what may be done and may flow where: [`safety`] and [`cascade`], which suppresses what follows from an error.
//! [`instance`] comes before them all: what they look at are the instances of graphs with parameters.

pub mod assign;
mod barrier;
pub mod based_on;
pub mod cached;
pub mod calls;
pub mod cascade;
pub mod cfg;
pub mod context;
pub mod data;
pub mod ends;
pub mod entry;
pub mod error_node;
pub mod exits;
pub mod fan_outs;
mod first_value;
mod gathered_twice;
pub mod growth;
pub mod handlers;
pub mod instance;
pub mod leaves;
pub mod library;
pub mod lifetime;
pub mod limit;
pub mod loops;
mod memory_namespace;
pub mod narrow;
mod not_proven;
pub mod permit;
pub mod prompt;
mod replaced_beside;
pub mod safety;
pub mod scope;
pub mod self_assignment;
pub mod sends;
mod tool_fields;
pub mod tool_sends;
pub mod tool_targets;
pub mod types;
pub mod untracked;
pub mod unused;
pub mod unused_names;

use std::collections::BTreeSet;

use crate::base::{IdVec, SourceMap};
use crate::diag::Diagnostics;
use crate::ir::{FieldId, GraphId, JoinId, ToolId};
use crate::resolve::Program;
use crate::resolve::program::Graph;

use cfg::effect::WritesOnWays;
use cfg::incomplete_join::Arrivals;
use cfg::leaves_unwritten::Known;
use cfg::past_reducer::PastReducer;
use cfg::{BlockId, ControlFlowGraph, MayHappenInParallel, MhpCache, Written};
use instance::Instances;
use types::flow_typing;
use types::tool::BodyTypes;

/// Proof that a program has been checked: where no error was reported, lowering it can't fail.
#[derive(Debug)]
#[non_exhaustive]
pub struct Checked {
    /// The program of instances, where graphs have parameters: what is lowered in place of the program
    /// that was checked.
    pub instances: Option<Instances>,
}

/// Checks a program. `sources` are the texts that it was made from. `go_on` is asked before each graph.
///
/// Warnings that need the whole picture (fields and items of no use) are left out where there are
/// errors already: what is missing may be what would have used them.
///
/// # Errors
/// What `go_on` says to stop it.
pub fn check<C>(
    program: &Program,
    sources: &SourceMap,
    go_on: &dyn Fn() -> Result<(), C>,
    diags: &mut Diagnostics,
) -> Result<Checked, C> {
    go_on()?;
    types::item::reducers(program, diags);
    types::item::defaults(program, diags);
    let bodies: IdVec<ToolId, BodyTypes> = program
        .tools
        .ids()
        .map(|id| types::tool::tool(program, id, diags))
        .collect();
    let instances = instance::expand(program, diags);
    // What can run: where graphs have parameters, their instances.
    let whole = instances.as_ref().map_or(program, |made| &made.program);
    let analyses = ProgramAnalyses::of(whole);
    calls::endless(whole, &analyses.cfgs, diags);
    limit::limits(whole, &analyses.cfgs, diags);
    prompt::texts(program, diags);
    let wrong = narrow::narrowings(program, diags);
    scope::scopes(whole, sources, &wrong, diags);
    tool_fields::tool_fields(whole, &bodies, diags);
    tool_sends::sends(whole, &bodies, diags);
    tool_targets::targets(whole, &analyses.written.lost, diags);
    safety::literal::literals(sources, diags);
    let mhp_cache = MhpCache::new(&analyses.cfgs);
    go_on()?;
    safety::safety(whole, &analyses.cfgs, diags);
    let reports = whole.graphs.ids().map(|id| {
        go_on()?;
        Ok(graph(whole, id, &analyses, &mhp_cache))
    });
    let seen: Vec<GraphReport> = reports.collect::<Result<_, C>>()?;
    drop(mhp_cache);
    let (read, analyses) = match &instances {
        None => {
            let mut read = Vec::new();
            for graph in seen {
                diags.append(graph.diags);
                read.push(graph.read);
            }
            (read, analyses)
        }
        Some(instances) => instance::merge::all(program, instances, seen, diags),
    };
    if !diags.has_errors() {
        for (id, read) in program.graphs.ids().zip(&read) {
            data::useless(program, id, &analyses.written, read, diags);
        }
        unused_names::tools(program, diags);
        prompt::unused(program, diags);
        instance::unused::unused(program, diags);
        unused::unused(program, diags);
    }
    Ok(Checked { instances })
}

/// Where the graphs of a program can go, and what they write.
struct ProgramAnalyses {
    written: Written,
    cfgs: IdVec<GraphId, ControlFlowGraph>,
    /// How the members of joins come to them.
    arrivals: IdVec<GraphId, Arrivals>,
    /// Graphs that some node calls.
    called: BTreeSet<GraphId>,
    effects: IdVec<GraphId, WritesOnWays>,
    past_reducer: PastReducer,
    /// Graphs whose state some node keeps from call to call.
    lasting: BTreeSet<GraphId>,
}

impl ProgramAnalyses {
    fn of(program: &Program) -> Self {
        let written = Written::new(program);
        let ids = program.graphs.ids();
        let cfgs: IdVec<GraphId, ControlFlowGraph> =
            ids.map(|id| cfg::build(program, id, &written)).collect();
        let arrivals = cfgs.iter().map(Arrivals::of).collect();
        let effects = assign::effects(program, &cfgs, &arrivals, &written);
        Self {
            past_reducer: PastReducer::new(program, &written),
            lasting: lifetime::lasting(program),
            written,
            cfgs,
            arrivals,
            called: program
                .graphs
                .iter()
                .flat_map(|graph| &graph.nodes)
                .filter_map(|node| Some(node.called()?.0))
                .collect(),
            effects,
        }
    }
}

/// What is seen of one graph.
#[derive(Default)]
struct GraphReport {
    /// Fields that it reads.
    read: BTreeSet<FieldId>,
    /// What is wrong with it.
    diags: Diagnostics,
}

/// All rules on one graph.
fn graph(
    program: &Program,
    id: GraphId,
    analyses: &ProgramAnalyses,
    mhp_cache: &MhpCache,
) -> GraphReport {
    let (Some(graph), Some(cfg), Some(arrivals), Some(effects), Some(mhp)) = (
        program.graphs.get(id),
        analyses.cfgs.get(id),
        analyses.arrivals.get(id),
        analyses.effects.get(id),
        mhp_cache.take(id),
    ) else {
        return GraphReport::default();
    };
    let written = &analyses.written;
    let mut diags = Diagnostics::new();
    let ends = |child: GraphId| analyses.cfgs.get(child).is_some_and(calls::can_end);
    entry::entry(graph, &mut diags);
    entry::computed(graph, &mut diags);
    entry::ways_on(program, graph, cfg, &ends, &mut diags);
    leaves::leaves(graph, &mut diags);
    context::contexts(program, graph, &mut diags);
    memory_namespace::constants(program, graph, &mut diags);
    based_on::bases(graph, &mut diags);
    cached::asking(program, graph, &mut diags);
    permit::needless(program, graph, &mut diags);
    gathered_twice::writes(program, graph, &mut diags);
    untracked::lost(graph, &mut diags);
    error_node::names(program, graph, &mut diags);
    exits::unchanging(graph, id, &analyses.written, &mut diags);
    sends::without_input(graph, cfg, &mut diags);
    let mhp = &*mhp;
    let waiting = topology(graph, cfg, arrivals, mhp, &mut diags);
    let handed_on = analyses.past_reducer.of(id);
    replaced_beside::writes(graph, cfg, mhp, handed_on, &mut diags);
    fan_outs::decided(graph, cfg, &mut diags);
    let known = (written, effects);
    let typed = flow_typing::graph(program, id, cfg, mhp, known, &mut diags);
    for (node, computed) in graph.nodes.iter().zip(&typed.computed) {
        ends::ends(program, graph, node, (computed, written), &mut diags);
    }
    data::unwritten_out(graph, id, written, &mut diags);
    first_value::missing(program, graph, &mut diags);
    barrier::names(graph, &mut diags);
    let exits = cfg::exit::Exits::of(program, graph, cfg);
    let transitions = Known {
        exits: exits.as_ref(),
        arrivals,
        waiting: &waiting,
    };
    if !cfg.broken {
        fan_outs::passed_over(graph, cfg, (effects, transitions), &mut diags);
    }
    let read: BTreeSet<FieldId> = typed.read.iter().map(|(field, _)| *field).collect();
    let seen = |field: &FieldId| analyses.called.contains(&id) || read.contains(field);
    assign::unwritten(
        program,
        (graph, id),
        cfg,
        known,
        (transitions, &seen),
        &mut diags,
    );
    lifetime::useless_persist(graph, &mut diags);
    if !analyses.lasting.contains(&id) {
        let mut reads = lifetime::Reads::new(graph, cfg, &typed.read);
        reads.never_seen(program, &mut diags);
        lifetime::never_stale(graph, id, written, &mut diags);
    }
    GraphReport { read, diags }
}

/// The rules on where a run can go. Gives back the joins that never lead on.
fn topology(
    graph: &Graph,
    cfg: &ControlFlowGraph,
    arrivals: &Arrivals,
    mhp: &MayHappenInParallel,
    diags: &mut Diagnostics,
) -> BTreeSet<JoinId> {
    cfg::cycle::branches(cfg, diags);
    cfg::repeat::repeated(graph, cfg, diags);
    let mut waiting = cfg::join::never(cfg, mhp, diags);
    waiting.extend(fan_outs::joined(graph, cfg, diags));
    let twice = cfg::duplicate_activation::found(graph, cfg, diags);
    let reported = cfg::conflicting_tasks::races(cfg, mhp, &twice, diags);
    cfg::conflicting_siblings::races(cfg, mhp, diags);
    handlers::handlers(graph, cfg, diags);
    if cfg.broken {
        return waiting;
    }
    cfg::reach::unreachable(cfg, cfg.reached(), diags);
    cfg::incomplete_join::half_filled(cfg, mhp, arrivals, graph, &mut waiting, diags);
    let free = cfg::finish::finishing(cfg, &waiting);
    let endings = exits::Endings::of(graph, cfg, mhp);
    let exits = |cycle: &[BlockId]| endings.end(cycle);
    let of = (&waiting, &exits as cfg::graph::OfCycle);
    let capped = cfg::visits::cycles(cfg, &free, of, diags);
    cfg::reach::trapped(cfg, &free, (&capped, &exits), diags);
    cfg::duplicate_activation::twice(cfg, &twice, &reported, diags);
    loops::loops(graph, cfg, mhp, &exits, diags);
    growth::growing(graph, cfg, diags);
    waiting
}
