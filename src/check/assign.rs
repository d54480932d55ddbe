//! What a graph gives back: on every way to its end, or not.

use std::collections::{BTreeSet, VecDeque};

use crate::base::{IdVec, Span};
use crate::diag::{Diagnostic, Diagnostics, Level, codes};
use crate::ir::{FieldId, FieldMode, GraphId, JoinId};
use crate::resolve::program::{Field, Graph, Program, Work};

use super::calls::callers;
use super::cfg::bits::Tracked;
use super::cfg::effect::{Effects, Given};
use super::cfg::exit::Exits;
use super::cfg::leaves_unwritten::{Count, LeavesUnwritten, components_of, loses};
use super::cfg::predecessors::Predecessors;
use super::cfg::{BlockId, ControlFlowGraph, EdgeKind, Written};
use super::types::facts::begins_set;
use super::types::paths::Step;
use super::types::tell::{Asked, Left};

/// Most arrows of a way that a message points at.
const SHOWN: usize = 6;

/// Most names of a way that a message writes out.
const NAMED: usize = 8;

/// Most fields behind joins that are waited at in vain at times for which whole runs are followed.
const FOLLOWED: usize = 32;

/// Most fields of a graph that are reported with their way; of more, only the field is named.
const TRACED: usize = 20;

/// The writes on all ways of all graphs.
///
/// What a graph gives back depends on what those that it calls do. All are taken to give back all that
/// they may, and looked at again where a called one turns out to give less.
pub fn effects(
    program: &Program,
    cfgs: &IdVec<GraphId, ControlFlowGraph>,
    written: &Written,
) -> IdVec<GraphId, Effects> {
    let mut given: Given = program
        .graphs
        .entries()
        .map(|(id, graph)| possible(graph, id, written))
        .collect();
    let callers = callers(program);
    // What is called stands mostly behind what calls it.
    let mut open: VecDeque<GraphId> = program.graphs.ids().rev().collect();
    let mut waits = vec![true; program.graphs.len()];
    while let Some(id) = open.pop_front() {
        waits
            .get_mut(id.0 as usize)
            .into_iter()
            .for_each(|w| *w = false);
        let (Some(graph), Some(cfg)) = (program.graphs.get(id), cfgs.get(id)) else {
            continue;
        };
        if callers.get(id).is_none_or(Vec::is_empty) {
            continue;
        }
        let always = always(program, graph, cfg, id, written, &given);
        let Some(known) = given.get_mut(id).filter(|known| **known != always) else {
            continue;
        };
        *known = always;
        for (caller, _) in callers.get(id).into_iter().flatten() {
            let slot = waits.get_mut(caller.0 as usize);
            if let Some(slot) = slot.filter(|waits| !**waits) {
                *slot = true;
                open.push_back(*caller);
            }
        }
    }
    let all = program.graphs.entries().map(|(id, graph)| {
        let cfg = cfgs.get(id);
        let empty = ControlFlowGraph::default();
        let tracked = tracked(graph, id, written);
        Effects::new(
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
    cfg: &ControlFlowGraph,
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
    let effects = Effects::new(program, graph, cfg, written, given, tracked);
    let (predecessors, group, waiting) =
        (Predecessors::new(cfg), components_of(cfg), BTreeSet::new());
    let exits = Exits::of(program, graph, cfg);
    let known = (group.as_slice(), exits.as_ref());
    let avoided = LeavesUnwritten::new(
        cfg,
        &predecessors,
        &effects,
        Count::Certain,
        &waiting,
        known,
    );
    let left = avoided.at_start();
    for field in effects.tracked.list(&left) {
        always.remove(&field);
    }
    always
}

/// `out` fields without a first value that some way to `end` seems not to write.
pub struct Unwritten<'a> {
    possible: LeavesUnwritten<'a>,
    sure: LeavesUnwritten<'a>,
    /// The fields, and what is asked of them.
    pub fields: Vec<(FieldId, Asked)>,
}

/// Finds them, all conditions taken as free. `known` are [`components_of`] the flow, and its exits.
pub fn unwritten<'a>(
    graph: &Graph,
    id: GraphId,
    (cfg, predecessors): (&'a ControlFlowGraph, &Predecessors),
    known: (&'a [usize], Option<&'a Exits<'a>>),
    effects: &'a Effects,
    (written, waiting, at_times): (&Written, &'a BTreeSet<JoinId>, &BTreeSet<JoinId>),
) -> Option<Unwritten<'a>> {
    let needed = |field: FieldId| {
        let of = graph.fields.get(field);
        // One that is reset, and has nothing to go back to, is reported as that.
        let reset = |of: &Field| of.based_on.as_ref().is_some_and(|based| based.reset);
        of.is_some_and(|of| of.mode == FieldMode::Out && !begins_set(of) && !reset(of))
            && written.has(id, field)
    };
    if cfg.broken || !graph.fields.ids().any(needed) {
        return None;
    }
    let of = |count| LeavesUnwritten::new(cfg, predecessors, effects, count, waiting, known);
    let (possible, sure) = (of(Count::Possible), of(Count::Sure));
    let (never, hoped) = (possible.at_start(), sure.at_start());
    let fields = effects.tracked.list(&hoped).filter(|field| needed(*field));
    let certain = |field: FieldId| match effects.tracked.has(&never, field) {
        true => (field, Asked::Never),
        false => (field, Asked::Hoped),
    };
    let mut fields: Vec<(FieldId, Asked)> = fields.map(certain).collect();
    if !at_times.is_empty() {
        let mut cut = vec![false; cfg.nodes.len() + cfg.joins.len()];
        let joins = at_times.iter().map(|id| cfg.number(BlockId::Join(*id)));
        for number in joins.flatten() {
            cut.get_mut(number).into_iter().for_each(|cut| *cut = true);
        }
        let known = (known.0, known.1, cut);
        let behind =
            LeavesUnwritten::cut_off(cfg, predecessors, effects, Count::Sure, waiting, known)
                .at_start();
        let behind = effects.tracked.list(&behind);
        let behind = behind.filter(|field| needed(*field) && !effects.tracked.has(&hoped, *field));
        fields.extend(behind.take(FOLLOWED).map(|field| (field, Asked::Behind)));
    }
    Some(Unwritten {
        possible,
        sure,
        fields,
    })
}

impl Unwritten<'_> {
    /// Reports those that a run can leave unwritten. `left` says what their conditions leave of each.
    pub fn report(
        &self,
        graph: &Graph,
        (cfg, predecessors): (&ControlFlowGraph, &Predecessors),
        left: &[Left],
        diags: &mut Diagnostics,
    ) {
        for (number, ((field, asked), left)) in self.fields.iter().zip(left).enumerate() {
            let (never, path) = match left {
                Left::Never(path) => (true, path),
                Left::Perhaps(path) => (false, path),
                Left::TooMuch => {
                    let why = "there is too much to be told apart on the ways to the end";
                    if let Some(found) = report(graph, cfg, *field, Err(why), &[]) {
                        diags.push(found);
                    }
                    continue;
                }
                Left::Written => continue,
            };
            let by = match asked {
                Asked::Never => &self.possible,
                Asked::Hoped | Asked::Behind => &self.sure,
            };
            let path = match (path.is_empty(), number < TRACED) {
                (false, _) => path.clone(),
                (true, true) if *asked != Asked::Behind => by.witness(predecessors, *field),
                (true, _) => Vec::new(),
            };
            let doubt = doubt(graph, cfg, &path);
            let sure = if never { Ok(()) } else { Err(doubt.as_str()) };
            if let Some(found) = report(graph, cfg, *field, sure, &path) {
                diags.push(found);
            }
        }
    }
}

fn report(
    graph: &Graph,
    cfg: &ControlFlowGraph,
    field: FieldId,
    certain: Result<(), &str>,
    path: &[Step],
) -> Option<Diagnostic> {
    let declared = graph.fields.get(field)?;
    let name = &declared.name.node;
    let transition = written_out(cfg, path);
    let message = match (certain, transition.is_empty()) {
        (Ok(()), false) => format!("`out` field `{name}` is not written on the way `{transition}`"),
        (Ok(()), true) => format!("`out` field `{name}` is not written on every way to `end`"),
        (Err(doubt), _) => format!("`out` field `{name}` may be left unwritten: {doubt}"),
    };
    let mut found = Diagnostic::new(&codes::OUT_LEFT_UNWRITTEN, message, declared.name.span)
        .about(declared.name.span)
        .help(
        format!("write `{name}` on that way too, or give it a first value: `= ..` behind its type, or a `?` type"),
    );
    if certain.is_err() {
        found.level = Level::Warning;
    }
    for (span, text) in turns(cfg, path).into_iter().take(SHOWN) {
        found = found.label(span, text);
    }
    Some(found)
}

/// Why it is not sure that a field is left unwritten on a way.
fn doubt(graph: &Graph, cfg: &ControlFlowGraph, path: &[Step]) -> String {
    let node = |block: &BlockId| match block {
        BlockId::Node(id) => graph.nodes.get(*id),
        _ => None,
    };
    let lost = path
        .iter()
        .any(|(from, _, successor)| loses(cfg, successor.to, *from));
    let failed = path.iter().find_map(|(from, transition, _)| {
        let fails = matches!(transition.kind, EdgeKind::Error | EdgeKind::Timeout);
        let member = from
            .as_ref()
            .and_then(node)
            .filter(|node| fails && !node.joins.is_empty());
        member.map(|node| node.name.node.as_str())
    });
    let decided = path.iter().any(|(_, _, successor)| {
        let work = node(&successor.to).map(|node| &node.work);
        matches!(
            work,
            Some(Work::Agent { .. } | Work::Tools { .. } | Work::Subgraph { .. } | Work::Llm(_))
        )
    });
    match failed {
        Some(failed) => {
            format!("where `{failed}` fails, the join that waits for it never leads on")
        }
        None if lost => "where a member of the join fails, it never leads on".to_owned(),
        None if decided || path.is_empty() => {
            "it is up to a model or a called graph whether it is written".to_owned()
        }
        None => "it is up to tasks beside whether it is written in time".to_owned(),
    }
}

/// `start -> a -> b -> end`, the middle of a long way left out.
fn written_out(cfg: &ControlFlowGraph, path: &[Step]) -> String {
    let names = path
        .iter()
        .filter_map(|(_, _, successor)| match successor.to {
            BlockId::Join(_) => None,
            block => Some(cfg.name(block)),
        });
    let names: Vec<&str> = std::iter::once("start").chain(names).collect();
    if path.is_empty() {
        return String::new();
    }
    let (head, tail) = (NAMED / 2, NAMED / 2);
    match names.len() > NAMED {
        true => {
            let first = names.iter().take(head).copied();
            let last = names.iter().skip(names.len() - tail).copied();
            let all: Vec<&str> = first.chain(["..."]).chain(last).collect();
            all.join(" -> ")
        }
        false => names.join(" -> "),
    }
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
