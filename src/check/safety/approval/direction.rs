//! The direction of each field that holds answers: a fixpoint over all writes that answers come into.
//!
//! A field may be written straight here and turned there; then nobody knows what was said where it says yes, and it
//! counts as a no either way. So does what an arm writes that is taken whatever was answered.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::ast::expr::Expr;
use crate::expr::Type;
use crate::ir::GraphId;
use crate::resolve::program::{Node, Program};

use super::super::reads::{Mention, mentions};
use super::answer::Says;
use super::decided::Place;
use super::decision::is_decision;
use super::held::Held;
use super::place::{LetsOf, places};
use super::reader::Reader;
use super::sense::{Heard, Sense};
use super::writes::Find;

/// Where a field gets something from.
enum Source<'a> {
    /// Another field.
    Copy(Place),
    /// A value, in a node, behind an arm of its question.
    Value {
        of: (GraphId, Option<&'a Node>),
        value: &'a Expr,
        arm: Option<Says>,
    },
}

/// Follows all of them until nothing is new.
pub fn directions<'a>(
    program: &'a Program,
    fields: &BTreeSet<Place>,
    find: &Find<'a>,
) -> BTreeMap<Place, Held> {
    let mut sources: Vec<(Place, Source<'a>)> = Vec::new();
    let copies = find
        .copies
        .iter()
        .map(|(from, to)| (*to, Source::Copy(*from)));
    sources.extend(copies);
    for write in &find.writes {
        let graph = program.graphs.get(write.to.0);
        let node = graph.and_then(|graph| graph.nodes.get(write.by.node()?));
        if let Some(value) = write.value {
            let of = (write.to.0, node);
            let arm = write.arm;
            sources.push((write.to, Source::Value { of, value, arm }));
        }
    }
    for given in &find.given {
        let (graph, node) = given.by;
        let value = Source::Value {
            of: (graph, Some(node)),
            value: given.value,
            arm: None,
        };
        sources.push((given.to, value));
    }
    sources.retain(|(to, _)| fields.contains(to));
    let mut read_by: BTreeMap<Place, Vec<usize>> = BTreeMap::new();
    let mut known = LetsOf::default();
    for (at, (_, source)) in sources.iter().enumerate() {
        for place in reads_of(program, &mut known, source) {
            read_by.entry(place).or_default().push(at);
        }
    }
    let mut held: BTreeMap<Place, Held> = BTreeMap::new();
    let mut open: VecDeque<usize> = (0..sources.len()).collect();
    let mut waits = vec![true; sources.len()];
    while let Some(at) = open.pop_front() {
        if let Some(waits) = waits.get_mut(at) {
            *waits = false;
        }
        let Some((to, source)) = sources.get(at) else {
            continue;
        };
        let mut own = held.remove(to).unwrap_or_default();
        let before = own.sides();
        tell(program, (fields, &held), source, (*to, &mut own));
        let changed = before != own.sides();
        held.insert(*to, own);
        let behind = read_by.get(to).into_iter().flatten();
        for next in behind.filter(|_| changed) {
            if let Some(waits) = waits.get_mut(*next).filter(|waits| !**waits) {
                *waits = true;
                open.push_back(*next);
            }
        }
    }
    held
}

/// The fields that a source reads.
fn reads_of<'a>(program: &'a Program, known: &mut LetsOf<'a>, source: &Source<'a>) -> Vec<Place> {
    let (of, value) = match source {
        Source::Copy(from) => return vec![*from],
        Source::Value { of, value, .. } => (of, value),
    };
    let (id, node) = *of;
    let all = mentions(value, known.of(node)).into_iter();
    all.flat_map(|mention| places(program, (id, node), mention))
        .collect()
}

/// Adds what a source writes.
fn tell<'a>(
    program: &'a Program,
    (fields, held): (&BTreeSet<Place>, &BTreeMap<Place, Held>),
    source: &Source<'a>,
    (to, own): (Place, &mut Held),
) {
    let before = own.so_far();
    let sense = |place: Place| {
        let known = match place == to {
            true => before,
            false => held.get(&place).map_or(Sense::NEVER, Held::so_far),
        };
        fields.contains(&place).then_some(known)
    };
    let ((id, node), value, arm) = match source {
        Source::Copy(from) => {
            own.add(sense(*from).unwrap_or(Sense::NEVER));
            return;
        }
        Source::Value { of, value, arm } => (*of, *value, *arm),
    };
    let heard = |mention: Mention<'_>| {
        if node.is_some_and(|node| is_decision(program, node, mention)) {
            return Some(Heard::ANSWER);
        }
        let all = places(program, (id, node), mention).into_iter();
        all.filter_map(sense).reduce(Sense::or).map(Heard::of)
    };
    let reader = Reader::new(node.map_or(&[], |node| &node.lets), &heard);
    if arm.is_some() || reader.depends(value) {
        let truth = is_truth(program, to);
        reader.tell((value, truth), arm, own);
    }
}

/// Whether a field is yes or no.
pub fn is_truth(program: &Program, (graph, field): Place) -> bool {
    let declared = program.graphs.get(graph);
    let declared = declared.and_then(|graph| graph.fields.get(field));
    declared.is_some_and(|field| matches!(field.ty.node.without_null(), Type::Bool))
}
