//! What is found in several instances of one graph, said once.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::Span;
use crate::base::name::list;
use crate::diag::{Code, Diagnostic, Diagnostics, Level, codes};
use crate::ir::{FieldId, GraphId};
use crate::resolve::Program;
use crate::resolve::program::Graph;

use super::super::cfg::MhpCache;
use super::super::{GraphReport, ProgramAnalyses};
use super::Instances;
use super::unreached::unreached;

/// Codes that depend on where a run can go: they hold of an instance, not of the graph as it is written.
const OF_INSTANCES: [&Code; 19] = [
    &codes::NULL_NOT_HANDLED,
    &codes::READ_BEFORE_WRITE,
    &codes::ROUTE_NOT_EXHAUSTIVE,
    &codes::SKIP_NEEDS_TARGET,
    &codes::UNREACHABLE_NODE,
    &codes::NO_WAY_ON,
    &codes::ENDLESS_CYCLE,
    &codes::BRANCH_CYCLE,
    &codes::JOIN_NEVER_FIRES,
    &codes::JOIN_WITHOUT_FORK,
    &codes::JOIN_MAY_WAIT,
    &codes::VISITS_CIRCLE,
    &codes::STUCK_CYCLE,
    &codes::UNBOUNDED_LOOP,
    &codes::ERROR_LOOP,
    &codes::WRITE_CONFLICT,
    &codes::OUT_NEVER_WRITTEN,
    &codes::OUT_LEFT_UNWRITTEN,
    &codes::BAD_VALUE,
];

/// Puts together what was seen of all instances, and looks at graphs with parameters as they are written. Gives
/// back, for each graph of the program, the fields that it reads, and the picture of that program.
pub(in crate::check) fn all(
    program: &Program,
    instances: &Instances,
    seen: Vec<GraphReport>,
    diags: &mut Diagnostics,
) -> (Vec<BTreeSet<FieldId>>, ProgramAnalyses) {
    let analyses = ProgramAnalyses::of(program);
    let mut of: BTreeMap<GraphId, Vec<(&Graph, Diagnostics)>> = BTreeMap::new();
    let mut read = vec![BTreeSet::new(); program.graphs.len()];
    for (id, seen) in instances.made_from.ids().zip(seen) {
        let from = instances.made_from.get(id).copied().unwrap_or(id);
        if let Some(fields) = read.get_mut(from.0 as usize) {
            fields.extend(&seen.read);
        }
        let mut found = instances.found.get(id).cloned().unwrap_or_default();
        found.append(seen.diags);
        if let Some(graph) = instances.program.graphs.get(id) {
            of.entry(from).or_default().push((graph, found));
        }
    }
    let mhp_cache = MhpCache::new(&analyses.cfgs);
    let mut made: BTreeMap<Span, Vec<(&Graph, Diagnostics)>> = BTreeMap::new();
    for (id, graph) in program.graphs.entries() {
        let found = of.remove(&id).unwrap_or_default();
        if !instances.is_template(id, graph) {
            match graph.bound.is_empty() {
                true => found.into_iter().for_each(|(_, found)| diags.append(found)),
                false => made.entry(graph.name.span).or_default().extend(found),
            }
            continue;
        }
        let template = super::super::graph(program, id, &analyses, &mhp_cache);
        if let Some(fields) = read.get_mut(id.0 as usize) {
            fields.extend(&template.read);
        }
        merge(template.diags, found, diags);
        if let Some(cfg) = analyses.cfgs.get(id) {
            unreached(program, id, cfg, instances, diags);
        }
    }
    drop(mhp_cache);
    made.into_values().for_each(|found| of_items(found, diags));
    (read, analyses)
}

/// Puts together what was found in graphs that are made of one by other items: what is found in all of them is said once, and what
/// is found in some names them.
fn of_items(found: Vec<(&Graph, Diagnostics)>, diags: &mut Diagnostics) {
    let count = found.len();
    if count == 1 {
        found.into_iter().for_each(|(_, found)| diags.append(found));
        return;
    }
    let mut all: BTreeMap<Key, (Diagnostic, Vec<&str>)> = BTreeMap::new();
    for (graph, found) in found {
        let name = graph.shown_name();
        for found in found {
            let (_, names) = all.entry(key(&found)).or_insert((found, Vec::new()));
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    for (mut found, names) in all.into_values() {
        if names.len() < count {
            found.message = format!("in {}, {}", list(names.into_iter()), found.message);
        }
        diags.push(found);
    }
}

/// A finding, in any instance.
type Key = (&'static str, Span);

/// Puts together what was found in a graph as it is written and in its instances.
///
/// Mistakes of the graph itself are said once. What holds in all instances is said as if there were one; what
/// holds in some names them. Warnings about what is of no use in an instance are none: it may be of use in
/// another.
pub fn merge(
    template: Diagnostics,
    instances: Vec<(&Graph, Diagnostics)>,
    diags: &mut Diagnostics,
) {
    let mut known: BTreeMap<Key, ()> = BTreeMap::new();
    for found in template {
        if !OF_INSTANCES.contains(&found.code) {
            known.insert(key(&found), ());
            diags.push(found);
        }
    }
    let count = instances.len();
    let graphs: Vec<&Graph> = instances.iter().map(|(graph, _)| *graph).collect();
    let mut order: Vec<(Key, Diagnostic, Vec<&str>)> = Vec::new();
    let mut places: BTreeMap<Key, usize> = BTreeMap::new();
    for (graph, found) in instances {
        let name = graph.shown_name();
        for found in found {
            let key = key(&found);
            let counts = OF_INSTANCES.contains(&found.code) || found.level == Level::Error;
            if !counts || known.contains_key(&key) {
                continue;
            }
            match places.get(&key).and_then(|at| order.get_mut(*at)) {
                Some((_, _, names)) => {
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
                None => {
                    places.insert(key, order.len());
                    order.push((key, found, vec![name]));
                }
            }
        }
    }
    for (_, mut found, names) in order {
        if names.len() < count {
            for graph in graphs
                .iter()
                .filter(|graph| names.contains(&graph.shown_name()))
            {
                let instance = graph.instance.as_ref();
                if let Some(declared) = instance.and_then(|of| of.declared.as_ref()) {
                    found = found.label(declared.name.span, "this instance");
                }
            }
            let names = list(names.iter().copied());
            found.message = format!("in {names}, {}", found.message);
        }
        diags.push(found);
    }
}

fn key(found: &Diagnostic) -> Key {
    (found.code.slug, found.span())
}
