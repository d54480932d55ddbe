//! What a graph gives back: on every way to its end, or not.

use std::collections::BTreeSet;

use crate::base::{IdVec, Span};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{FieldId, FieldMode, GraphId};
use crate::resolve::program::{Field, Graph, Program};

use super::calls::{callers, settle};
use super::cfg::effect::{Given, WritesOnWays};
use super::cfg::exit::Exits;
use super::cfg::field_set::Tracked;
use super::cfg::incomplete_join::Arrivals;
use super::cfg::leaves_unwritten::{Count, Known, LeavesUnwritten, Step};
use super::cfg::{BlockId, ControlFlowGraph, EdgeKind, Written};
use super::first_value;
use super::types::flow_state::begins_set;

/// Most arrows of a way that a message points at.
const SHOWN: usize = 6;

/// Most fields of a graph that are reported with their way; of more, only the field is named.
const TRACED: usize = 20;

/// The writes on all ways of all graphs.
///
/// What a graph gives back depends on what those that it calls do. All are taken to give back all that
/// they may, and looked at again where a called one turns out to give less.
pub fn effects(
    program: &Program,
    cfgs: &IdVec<GraphId, ControlFlowGraph>,
    arrivals: &IdVec<GraphId, Arrivals>,
    written: &Written,
) -> IdVec<GraphId, WritesOnWays> {
    let mut given: Given = program
        .graphs
        .entries()
        .map(|(id, graph)| possible(graph, id, written))
        .collect();
    let callers = callers(program);
    settle(program, |id| {
        let (Some(graph), Some(cfg), Some(arrivals)) =
            (program.graphs.get(id), cfgs.get(id), arrivals.get(id))
        else {
            return false;
        };
        if callers.get(id).is_none_or(Vec::is_empty) {
            return false;
        }
        let always = always(program, graph, (cfg, arrivals), id, written, &given);
        let known = given.get_mut(id).filter(|known| **known != always);
        known.map(|known| *known = always).is_some()
    });
    let all = program.graphs.entries().map(|(id, graph)| {
        let cfg = cfgs.get(id);
        let empty = ControlFlowGraph::default();
        let tracked = tracked(graph, id, written);
        WritesOnWays::new(
            program,
            graph,
            cfg.unwrap_or(&empty),
            written,
            &given,
            tracked,
        )
    });
    all.collect()
}

fn possible(graph: &Graph, id: GraphId, written: &Written) -> BTreeSet<FieldId> {
    let fields = graph.fields.entries();
    let given = fields.filter(|(field, of)| of.mode.is_out() && written.has(id, *field));
    given.map(|(field, _)| field).collect()
}

fn tracked(graph: &Graph, id: GraphId, written: &Written) -> Tracked {
    let wanted = |field: FieldId| {
        let of = graph.fields.get(field);
        of.is_some_and(|of| !begins_set(of) || (of.mode.is_out() && written.has(id, field)))
    };
    Tracked::new(graph.fields.len(), wanted)
}

/// The fields that a graph gives back whenever it comes to its end. Of a field without a first value
/// that is expected, and reported where it does not hold.
fn always(
    program: &Program,
    graph: &Graph,
    (cfg, arrivals): (&ControlFlowGraph, &Arrivals),
    id: GraphId,
    written: &Written,
    given: &Given,
) -> BTreeSet<FieldId> {
    let mut always = possible(graph, id, written);
    let wanted =
        |field: FieldId| always.contains(&field) && graph.fields.get(field).is_some_and(begins_set);
    let tracked = Tracked::new(graph.fields.len(), wanted);
    if tracked.is_empty() {
        return always;
    }
    let effects = WritesOnWays::new(program, graph, cfg, written, given, tracked);
    let waiting = BTreeSet::new();
    let exits = Exits::of(program, graph, cfg);
    let known = Known {
        exits: exits.as_ref(),
        arrivals,
        waiting: &waiting,
    };
    let avoided = LeavesUnwritten::new(cfg, &effects, Count::Certain, known);
    let left = avoided.at_start();
    for field in left.list() {
        always.remove(&field);
    }
    always
}

/// Reports `out` fields without a first value that some way to `end` does not surely write; conditions count as free. `is_read` says which
/// fields the graph or a caller reads.
pub fn unwritten(
    program: &Program,
    (graph, id): (&Graph, GraphId),
    cfg: &ControlFlowGraph,
    (written, effects): (&Written, &WritesOnWays),
    (known, is_read): (Known, &dyn Fn(&FieldId) -> bool),
    diags: &mut Diagnostics,
) {
    let needed = |field: FieldId| {
        let of = graph.fields.get(field);
        // One that is reset, and has nothing to go back to, is reported as that.
        let reset = |of: &Field| of.based_on.as_ref().is_some_and(|based| based.reset);
        of.is_some_and(|of| of.mode == FieldMode::Out && !begins_set(of) && !reset(of))
            && written.has(id, field)
    };
    if cfg.broken || !graph.fields.ids().any(needed) {
        return;
    }
    let avoided = LeavesUnwritten::new(cfg, effects, Count::Sure, known);
    let left = avoided.at_start();
    let fields = left.list().filter(|field| needed(*field));
    for (number, id) in fields.enumerate() {
        let path = match number < TRACED {
            true => avoided.witness(id),
            false => Vec::new(),
        };
        if let Some(field) = graph.fields.get(id) {
            let found = report(program, cfg, field, &path);
            diags.push(match is_read(&id) {
                true => found,
                false => first_value::or_null(found, field),
            });
        }
    }
}

fn report(program: &Program, cfg: &ControlFlowGraph, field: &Field, path: &[Step]) -> Diagnostic {
    let name = &field.name.node;
    let message = match path.is_empty() {
        false => format!(
            "`out` field `{name}` is not written on the way `{}`",
            cfg.path(std::iter::once(BlockId::Entry).chain(path.iter().map(|step| step.2.to)))
        ),
        true => format!("`out` field `{name}` is not written on every way to `end`"),
    };
    let found = Diagnostic::new(&codes::OUT_LEFT_UNWRITTEN, message, field.name.span)
        .about(field.name.span);
    let write = format!("write `{name}` on that way too");
    let mut found = first_value::ways_out(found, &program.types, field, &write);
    for (span, text) in turns(cfg, path).into_iter().take(SHOWN) {
        found = found.label(span, text);
    }
    found
}

/// The arrows of a way where another could have been taken, and its last one.
fn turns(cfg: &ControlFlowGraph, path: &[Step]) -> Vec<(Span, String)> {
    let mut turns = Vec::new();
    for (number, (from, transition, successor)) in path.iter().enumerate() {
        let transitions = from.map_or(cfg.start.len(), |block| cfg.transitions(block).len());
        let last = number + 1 == path.len();
        if transitions > 1 || last {
            let text = match last {
                true if transition.kind == EdgeKind::Exit => {
                    "the graph may end here without it".to_owned()
                }
                true => "it has no value here".to_owned(),
                false if matches!(successor.to, BlockId::Join(_)) => {
                    "on to the join without it".to_owned()
                }
                false => format!("on to `{}` without it", cfg.name(successor.to)),
            };
            let turn = (successor.span, text);
            if !turns.contains(&turn) {
                turns.push(turn);
            }
        }
    }
    // The end of the way says most: where there is not room for all, the first ones go.
    let over = turns.len().saturating_sub(SHOWN);
    turns.split_off(over)
}
