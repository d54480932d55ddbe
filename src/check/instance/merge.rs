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
    &codes::MAX_VISITS_CYCLE,
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
    let mut made: BTreeMap<Span, Vec<(&Graph, Vec<Diagnostic>)>> = BTreeMap::new();
    for (id, graph) in program.graphs.entries() {
        let found = of.remove(&id).unwrap_or_default();
        if !instances.is_template(id, graph) {
            match graph.bound.is_empty() {
                true => found.into_iter().for_each(|(_, found)| diags.append(found)),
                false => {
                    let found = found
                        .into_iter()
                        .map(|(graph, found)| (graph, found.into_iter().collect()));
                    made.entry(graph.name.span).or_default().extend(found);
                }
            }
            continue;
        }
        let template = super::super::graph(program, id, &analyses, &mhp_cache);
        if let Some(fields) = read.get_mut(id.0 as usize) {
            fields.extend(&template.read);
        }
        match graph.bound.is_empty() {
            true => merge(template.diags, found, diags),
            false => {
                let found = of_each(template.diags, found);
                made.entry(graph.name.span).or_default().extend(found);
            }
        }
        if let Some(cfg) = analyses.cfgs.get(id) {
            unreached(program, id, cfg, instances, diags);
        }
    }
    drop(mhp_cache);
    for found in made.into_values() {
        once(found, diags);
    }
    (read, analyses)
}

/// A finding, in any instance.
type Key = (&'static str, Span);

/// What was found in a graph as it is written, and in its instances what counts beside that. Warnings about what is of no use
/// in an instance are none: it may be of use in another.
fn parts(
    template: Diagnostics,
    instances: Vec<(&Graph, Diagnostics)>,
) -> (Vec<Diagnostic>, Vec<(&Graph, Vec<Diagnostic>)>) {
    let of_instance = |found: &Diagnostic| OF_INSTANCES.contains(&found.code);
    let own: Vec<Diagnostic> = template
        .into_iter()
        .filter(|found| !of_instance(found))
        .collect();
    let known: BTreeSet<Key> = own.iter().map(key).collect();
    let counts = |found: &Diagnostic| {
        (of_instance(found) || found.level == Level::Error) && !known.contains(&key(found))
    };
    let instances = instances.into_iter();
    let instances =
        instances.map(|(graph, found)| (graph, found.into_iter().filter(counts).collect()));
    let instances = instances.collect();
    (own, instances)
}

/// Puts together what was found in a graph as it is written and in its instances. Mistakes of the graph itself are said once.
fn merge(template: Diagnostics, instances: Vec<(&Graph, Diagnostics)>, diags: &mut Diagnostics) {
    let (own, instances) = parts(template, instances);
    own.into_iter().for_each(|found| diags.push(found));
    once(instances, diags);
}

/// What was found in each instance. What is made of a graph with some items is one of several that are made of it with others:
/// a mistake of its own is one of all its instances, and may be none of theirs.
fn of_each(
    template: Diagnostics,
    instances: Vec<(&Graph, Diagnostics)>,
) -> Vec<(&Graph, Vec<Diagnostic>)> {
    let (own, mut instances) = parts(template, instances);
    for (_, found) in &mut instances {
        found.extend(own.iter().cloned());
    }
    instances
}

/// Says once what was found in graphs that are made of one: what is found in some of them names these.
fn once(found: Vec<(&Graph, Vec<Diagnostic>)>, diags: &mut Diagnostics) {
    let count = found.len();
    let mut all: BTreeMap<Key, (Diagnostic, Vec<&Graph>)> = BTreeMap::new();
    for (graph, found) in found {
        for found in found {
            let (_, graphs) = all.entry(key(&found)).or_insert((found, Vec::new()));
            let name = graph.shown_name();
            if graphs.iter().all(|known| known.shown_name() != name) {
                graphs.push(graph);
            }
        }
    }
    for (mut found, graphs) in all.into_values() {
        if graphs.len() < count {
            let declared = graphs.iter().filter_map(|graph| graph.instance.as_ref());
            for declared in declared.filter_map(|instance| instance.declared.as_ref()) {
                found = found.label(declared.name.span, "this instance");
            }
            let names = list(graphs.iter().map(|graph| graph.shown_name()));
            found.message = format!("in {names}, {}", found.message);
        }
        diags.push(found);
    }
}

fn key(found: &Diagnostic) -> Key {
    (found.code.slug, found.span())
}
