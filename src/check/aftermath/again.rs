//! Findings that say one thing again: of each place that reads a field without a value, of a name that a text was to
//! read.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::{SourceMap, Span};
use crate::diag::{Code, Diagnostic, Diagnostics, Fact, Home, codes};

use crate::ir::GraphId;

use super::ground::Ground;
use super::is;

/// Most further places that one message points at.
pub const SHOWN: usize = 6;

/// What is said of a field that has no value where it is read.
static UNSET: &[&Code] = &[&codes::READ_BEFORE_WRITE];

/// What is said of names that nothing reads.
static UNREAD: &[&Code] = &[
    &codes::UNUSED_FIELD,
    &codes::UNUSED_LET,
    &codes::UNUSED_PARAMETER,
];

/// A field without a value is one mistake, however many places read it: the first one stands for all.
pub fn reads(diags: &mut Diagnostics) {
    let mut all = diags.take();
    let mut of: BTreeMap<(&str, Span), Vec<usize>> = BTreeMap::new();
    for (at, found) in all.iter().enumerate().filter(|(_, found)| is(found, UNSET)) {
        if let Some(field) = found.spoken_of() {
            of.entry((found.code.slug, field)).or_default().push(at);
        }
    }
    let groups: Vec<Vec<usize>> = of.into_values().collect();
    together(&mut all, groups, "read here too");
    all.into_iter().for_each(|found| diags.push(found));
}

/// A declaration that refuses values of one type in several places: one of the two is wrong, and said once.
pub fn refused(diags: &mut Diagnostics) {
    let mut all = diags.take();
    let mut of: BTreeMap<(Home, String, String), Vec<usize>> = BTreeMap::new();
    for (at, finding) in all.iter().enumerate() {
        for fact in &finding.facts {
            if let Fact::Refused { by, name, found } = fact {
                let key = (*by, name.clone(), found.clone());
                of.entry(key).or_default().push(at);
            }
        }
    }
    let groups: Vec<Vec<usize>> = of.into_values().collect();
    together(&mut all, groups, "here too");
    all.into_iter().for_each(|found| diags.push(found));
}

/// Nodes that lead nowhere, of a graph where nothing leads to another: the arrow that is missing is one, a join as it may be.
pub fn dead_ends(ground: &Ground, diags: &mut Diagnostics) {
    let unreached = diags
        .iter()
        .filter(|found| is(found, &[&codes::UNREACHABLE_NODE]));
    let unreached = unreached.filter_map(|found| ground.graph(found.span()));
    let unreached: BTreeSet<GraphId> = unreached.collect();
    if unreached.is_empty() {
        return;
    }
    let mut all = diags.take();
    let mut of: BTreeMap<GraphId, Vec<usize>> = BTreeMap::new();
    for (at, found) in all.iter().enumerate() {
        let graph = ground.graph(found.span());
        let graph = graph.filter(|_| is(found, &[&codes::NO_WAY_ON]));
        if let Some(graph) = graph.filter(|graph| unreached.contains(graph)) {
            of.entry(graph).or_default().push(at);
        }
    }
    let groups: Vec<Vec<usize>> = of.into_values().collect();
    together(&mut all, groups, "this leads nowhere either");
    all.into_iter().for_each(|found| diags.push(found));
}

/// Puts each group of findings together to the first of them in the order of places, which points at the others; their
/// mends go along.
pub(super) fn together(all: &mut Vec<Diagnostic>, groups: Vec<Vec<usize>>, too: &str) {
    let mut gone = BTreeSet::new();
    for mut group in groups.into_iter().filter(|group| group.len() > 1) {
        let place = |at: &usize| all.get(*at).map(Diagnostic::span);
        group.sort_by_key(place);
        let Some((first, others)) = group.split_first() else {
            continue;
        };
        let mut seen = BTreeSet::from_iter(place(first));
        let mut more: Vec<Diagnostic> = Vec::new();
        for other in others {
            gone.insert(*other);
            let other = all.get(*other);
            more.extend(other.filter(|other| seen.insert(other.span())).cloned());
        }
        let Some(first) = all.get_mut(*first) else {
            continue;
        };
        let mended = !first.fix.is_empty() && more.iter().all(|other| !other.fix.is_empty());
        if mended {
            let mends = more.iter().flat_map(|other| &other.fix).cloned();
            let mends: Vec<_> = mends.filter(|mend| !first.fix.contains(mend)).collect();
            first.fix.extend(mends);
        }
        let places: Vec<Span> = more.iter().map(Diagnostic::span).collect();
        point_at(first, &places, too);
    }
    let mut at = 0;
    all.retain(|_| {
        at += 1;
        !gone.contains(&(at - 1))
    });
}

/// Adds labels at the places; the last of them counts those that there is no room for.
pub(super) fn point_at(found: &mut Diagnostic, places: &[Span], too: &str) {
    for (number, place) in places.iter().take(SHOWN).enumerate() {
        let left = places.len() - SHOWN.min(places.len());
        let said = match (number + 1 == SHOWN, left) {
            (true, 1..) => format!("{too}, and in {left} more places"),
            _ => too.to_owned(),
        };
        found.labels.push(crate::diag::Label {
            span: *place,
            message: said,
        });
    }
}

/// A placeholder that stays text was meant to read what it names.
pub fn meant_by_text(sources: &SourceMap, diags: &mut Diagnostics) {
    let facts = diags.iter().flat_map(|found| &found.facts);
    let meant = facts.filter_map(|fact| match fact {
        Fact::Meant(name) => Some(name),
        _ => None,
    });
    let meant: BTreeSet<String> = meant
        .flat_map(|name| name.split('.'))
        .map(str::to_owned)
        .collect();
    if !meant.is_empty() {
        diags.retain(|found| !is(found, UNREAD) || !meant.contains(sources.text(found.span())));
    }
}
