//! Findings on the ways of a graph that only follow from another mistake on them.
//!
//! Where a node leads nowhere, what it was to lead to is not reached, and what would have been written there is not
//! written: the rules for each of these see the same mistake. [`without`] keeps the one that is nearest to it. What holds
//! of names and of text that did not parse is the matter of the rest of [`aftermath`](super), when all findings are known.

mod alike;
mod islands;
mod missed;
mod places;

use std::collections::{BTreeMap, BTreeSet};

use crate::base::{FileId, Span};
use crate::diag::{Code, Diagnostic, Diagnostics, Fact, Level, codes};
use crate::ir::GraphId;
use crate::resolve::program::Program;

use super::super::calls::{called, callers};

use alike::alike;
use missed::{name_meant, name_missed};
use places::Places;

type Codes = &'static [&'static Code];

/// What was found in each graph, and how bad it is.
type Causes = BTreeMap<GraphId, Vec<(&'static Code, Level)>>;

/// All levels.
const LEVELS: [Level; 3] = [Level::Info, Level::Warning, Level::Error];

/// Behind which of `causes` findings of `codes` in the same graph, or in one that calls it, are left out.
struct Rule {
    codes: Codes,
    causes: Codes,
}

static VALUES: Codes = &[
    &codes::OUT_LEFT_UNWRITTEN,
    &codes::OUT_NEVER_WRITTEN,
    &codes::READ_BEFORE_WRITE,
];

/// Names of jumps that are not as they should be: where they lead is not known.
static JUMPS: Codes = &[
    &codes::LEAVE_UNDECLARED,
    &codes::TARGET_OUTSIDE_ENDS,
    &codes::MISSING_ENDS,
];

/// What is said of a node that a jump should have led to, or led to by mistake.
static TARGETS: Codes = &[&codes::UNREACHABLE_NODE, &codes::ERROR_LOOP];

/// What holds in callers too: what a called graph does is not what was meant.
static RULES: &[Rule] = &[
    Rule {
        codes: VALUES,
        causes: &[
            &codes::NO_WAY_ON,
            &codes::ROUTE_NOT_EXHAUSTIVE,
            &codes::ENDLESS_CYCLE,
            &codes::ENDLESS_CALLS,
            &codes::VISITS_CIRCLE,
            &codes::JOIN_NEVER_FIRES,
            &codes::JOIN_WITHOUT_FORK,
            &codes::EDGE_AND_GOTO,
        ],
    },
    Rule {
        codes: VALUES,
        causes: JUMPS,
    },
    Rule {
        codes: &[&codes::UNREACHABLE_NODE],
        causes: JUMPS,
    },
];

/// What holds in the graph itself alone.
static WITHIN: &[Rule] = &[
    Rule {
        codes: &[&codes::UNREACHABLE_NODE],
        causes: &[
            &codes::EDGE_AND_GOTO,
            &codes::ENDLESS_CYCLE,
            &codes::VISITS_CIRCLE,
        ],
    },
    Rule {
        codes: &[
            &codes::JOIN_WITHOUT_FORK,
            &codes::JOIN_MAY_WAIT,
            &codes::JOIN_NEVER_FIRES,
        ],
        causes: &[
            &codes::UNREACHABLE_NODE,
            &codes::UNREACHABLE_ARM,
            &codes::NO_WAY_ON,
        ],
    },
    Rule {
        codes: &[&codes::NO_WAY_ON],
        causes: &[&codes::DUPLICATE_NAME],
    },
    Rule {
        codes: &[&codes::EDGE_AND_GOTO],
        causes: &[&codes::JOIN_NEVER_FIRES],
    },
    Rule {
        codes: &[&codes::RUNS_TWICE],
        causes: &[
            &codes::READ_BEFORE_WRITE,
            &codes::DUPLICATE_EDGE,
            &codes::EDGE_AND_GOTO,
            &codes::NO_WAY_ON,
            &codes::UNREACHABLE_NODE,
            &codes::JOIN_NEVER_FIRES,
            &codes::JOIN_WITHOUT_FORK,
        ],
    },
    Rule {
        codes: &[&codes::UNUSED_FIELD],
        causes: &[
            &codes::STUCK_CYCLE,
            &codes::CONSTANT_CONDITION,
            &codes::UNREACHABLE_ARM,
        ],
    },
];

/// Hints at names of jumps that are not used, which an error in the same graph or one beside it may well be about.
static UNUSED: Codes = &[&codes::UNUSED_LEAVE, &codes::UNUSED_END];

/// Takes them out.
pub fn without(program: &Program, diags: &mut Diagnostics) {
    let places = Places::new(program);
    name_missed(program, &places, diags);
    name_meant(program, &places, diags);
    let mut of: Causes = BTreeMap::new();
    let mut targets: BTreeSet<GraphId> = BTreeSet::new();
    for found in diags.iter() {
        let Some(graph) = places.graph(found.span()) else {
            continue;
        };
        let seen = of.entry(graph).or_default();
        // Each once: findings are many, kinds of them few.
        let kind = (found.code, found.level);
        if !seen.contains(&kind) {
            seen.push(kind);
        }
        // A jump that can't be made as it is written: another target was meant, or it lacks what it brings.
        if found.facts.contains(&Fact::Arrow) {
            targets.insert(graph);
        }
    }
    let unreached = islands::unreached(&places, diags);
    let strange = of_other_kinds(program, diags);
    let errors = || diags.iter().filter(|found| found.level == Level::Error);
    let files: BTreeSet<FileId> = errors().map(|found| found.span().file).collect();
    let wrong = errors().filter(|found| !any(&[found.code], UNUSED));
    let wrong = wrong.filter_map(|found| places.graph(found.span()));
    let wrong = with_neighbours(program, wrong.collect());
    let empty = diags
        .iter()
        .any(|found| is(found.code, &codes::EMPTY_TOOLS));
    // By the level of what is found: a cause is at least as bad.
    let at_least = |least: Level| -> Vec<BTreeSet<GraphId>> {
        let graphs = RULES.iter().map(|rule| {
            let has = of
                .iter()
                .filter(|(_, seen)| causes(seen, rule.causes, least));
            with_callers(program, has.map(|(id, _)| *id).collect())
        });
        graphs.collect()
    };
    let spread = LEVELS.map(|level| (level, at_least(level)));
    let unsure = LEVELS.map(|level| (level, fed_by(program, &of, level)));
    let alike = alike(diags);
    diags.retain(|found| {
        let code = found.code;
        if empty && is(code, &codes::UNUSED_ITEM) {
            return false;
        }
        if is(code, &codes::UNUSED_IMPORT) && files.contains(&found.span().file) {
            return false;
        }
        let inside = |node: &Span| node.holds(found.span());
        if is(code, &codes::UNKNOWN_NAME) && strange.iter().any(inside) {
            return false;
        }
        let Some(graph) = places.graph(found.span()) else {
            return true;
        };
        let spread = of_level(&spread, found.level);
        let mut rules = RULES.iter().zip(spread.into_iter().flatten());
        let spread =
            rules.any(|(rule, graphs)| any(&[code], rule.codes) && graphs.contains(&graph));
        if any(&[code], UNUSED) && wrong.contains(&graph) {
            return false;
        }
        let seen = of.get(&graph).map_or(&[][..], Vec::as_slice);
        let mut rules = WITHIN.iter();
        let within =
            rules.any(|rule| any(&[code], rule.codes) && causes(seen, rule.causes, found.level));
        let island = is(code, &codes::UNREACHABLE_NODE)
            && islands::explained(program, graph, &unreached, seen);
        let target = targets.contains(&graph) && (any(&[code], TARGETS) || any(&[code], VALUES));
        let again = alike.says(found);
        let fed = any(&[code], VALUES)
            && of_level(&unsure, found.level).is_some_and(|fed| fed.contains(&graph));
        !(spread || within || island || target || again || fed)
    });
}

/// Nodes of a kind that was not meant: they speak of what another kind gives.
fn of_other_kinds(program: &Program, diags: &Diagnostics) -> Vec<Span> {
    let told = diags
        .iter()
        .filter(|found| is(found.code, &codes::PROPERTY_NOT_ALLOWED) && found.labels.len() > 2);
    let places: BTreeSet<Span> = told.map(Diagnostic::span).collect();
    if places.is_empty() {
        return Vec::new();
    }
    let nodes = program.graphs.iter().flat_map(|graph| &graph.nodes);
    let nodes = nodes.map(|node| node.span);
    let strange = |node: &Span| places.iter().any(|place| node.holds(*place));
    nodes.filter(strange).collect()
}

/// Graphs that call, directly or not, another one that does not write what it is to give back.
fn fed_by(program: &Program, of: &Causes, least: Level) -> BTreeSet<GraphId> {
    let lacking = of
        .iter()
        .filter(|(_, seen)| causes(seen, alike::GIVEN, least));
    let lacking: BTreeSet<GraphId> = lacking.map(|(id, _)| *id).collect();
    let mut fed = BTreeSet::new();
    let mut open: Vec<GraphId> = lacking.iter().copied().collect();
    let callers = callers(program);
    while let Some(id) = open.pop() {
        for (caller, _) in callers.get(id).into_iter().flatten() {
            if *caller != id && fed.insert(*caller) {
                open.push(*caller);
            }
        }
    }
    // In a circle of calls each would be left out for the other.
    let calls_back = |id: &GraphId| {
        let graph = program.graphs.get(*id);
        let nodes = graph.into_iter().flat_map(|graph| &graph.nodes);
        let mut inner = nodes.filter_map(called).map(|(child, _)| child);
        inner.any(|child| lacking.contains(&child) && !fed.contains(&child) || fed.contains(&child))
    };
    fed.iter().copied().filter(calls_back).collect()
}

/// Graphs, those that they call and those that call them.
fn with_neighbours(program: &Program, graphs: BTreeSet<GraphId>) -> BTreeSet<GraphId> {
    let mut all = graphs.clone();
    if graphs.is_empty() {
        return all;
    }
    for (id, graph) in program.graphs.entries() {
        for (child, _) in graph.nodes.iter().filter_map(called) {
            if graphs.contains(&id) {
                all.insert(child);
            }
            if graphs.contains(&child) {
                all.insert(id);
            }
        }
    }
    all
}

fn with_callers(program: &Program, mut graphs: BTreeSet<GraphId>) -> BTreeSet<GraphId> {
    if graphs.is_empty() {
        return graphs;
    }
    let callers = callers(program);
    let mut open: Vec<GraphId> = graphs.iter().copied().collect();
    while let Some(id) = open.pop() {
        for (caller, _) in callers.get(id).into_iter().flatten() {
            if graphs.insert(*caller) {
                open.push(*caller);
            }
        }
    }
    graphs
}

fn is(code: &Code, other: &'static Code) -> bool {
    std::ptr::eq(code, other)
}

/// The element of a level.
fn of_level<T>(all: &[(Level, T)], level: Level) -> Option<&T> {
    let found = all.iter().find(|(of, _)| *of == level);
    found.map(|(_, found)| found)
}

/// Whether one of the causes is among what was found, and is no less bad than `least`: a warning explains no error.
fn causes(seen: &[(&'static Code, Level)], of: Codes, least: Level) -> bool {
    seen.iter()
        .any(|(code, level)| *level >= least && any(&[code], of))
}

fn any(seen: &[&'static Code], of: &[&'static Code]) -> bool {
    seen.iter()
        .any(|code| of.iter().any(|other| is(code, other)))
}
