//! The same finding at several places: the first stands for all, and points at the others.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::{AccessPath, FileId, Span};
use crate::diag::{Code, Diagnostic, Diagnostics, Fact, Home, Label, Level, codes};
use crate::ir::GraphId;

use super::is;
use super::places::Places;

/// Most further places that one message points at.
const SHOWN: usize = 6;

/// Errors whose text says all that is wrong: where it is the same in one graph, it is the same mistake.
static ALIKE: &[&Code] = &[&codes::TARGET_OUTSIDE_ENDS, &codes::CONTEXT_MISMATCH];

/// What is said of a field without a value, where it is given back and where it is read.
static UNSET: &[&Code] = &[
    &codes::OUT_NEVER_WRITTEN,
    &codes::OUT_LEFT_UNWRITTEN,
    &codes::READ_BEFORE_WRITE,
];

/// What makes two findings one mistake.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Mistake {
    /// A name that stands for nothing: where it was looked for, and in which file or declaration.
    Unknown(Home, FileId, Option<Span>, String),
    /// A declaration that refuses values of one type.
    Refused(Home, String, String),
    /// A field without a value, wherever it is read.
    Unset(Level, Span),
    /// A value of the state that may be null.
    Null(GraphId, AccessPath),
    /// The same text in one graph.
    Alike(&'static str, GraphId, String),
    /// A property that all nodes of a declaration lack.
    Lacking(Span),
}

impl Mistake {
    fn of(places: &Places, found: &Diagnostic) -> Option<Self> {
        let at = found.span();
        if let Some(unknown) = found.unknown_name() {
            let module = found.facts.iter().find_map(|fact| match fact {
                Fact::Module(file) => Some(*file),
                _ => None,
            });
            let of = places.home(unknown.home, at);
            // What is declared by its place is told by the declaration alone.
            let home = match unknown.home {
                Home::State(_) => Home::State(None),
                Home::Nodes(_) => Home::Nodes(None),
                Home::Leaves(_) => Home::Leaves(None),
                Home::Scope(_) => Home::Scope(None),
                home => home,
            };
            return Some(Self::Unknown(
                home,
                module.unwrap_or(at.file),
                of,
                unknown.name.clone(),
            ));
        }
        for fact in &found.facts {
            if let Fact::Refused { by, name, found } = fact {
                return Some(Self::Refused(*by, name.clone(), found.clone()));
            }
        }
        let slug = found.code.slug;
        if is(found, UNSET) {
            return found.spoken_of().map(|of| Self::Unset(found.level, of));
        }
        if is(found, &[&codes::MISSING_PROPERTY]) {
            return found.spoken_of().map(Self::Lacking);
        }
        let graph = places.graph(at)?;
        if is(found, &[&codes::NULL_NOT_HANDLED]) {
            let value = found.value()?;
            let mut shared = ["state", "context"].into_iter();
            let shared = shared.any(|root| value.field_of(root).is_some());
            return shared.then(|| Self::Null(graph, value.clone()));
        }
        is(found, ALIKE).then(|| Self::Alike(slug, graph, found.message.clone()))
    }
}

/// Puts the findings of each mistake together to the first of them in the order of places, which points at the others.
pub fn together(places: &Places, diags: &mut Diagnostics) {
    let mut all = diags.take();
    all.sort_by_key(Diagnostic::span);
    let mut first: BTreeMap<Mistake, usize> = BTreeMap::new();
    let mut kept: Vec<(Diagnostic, Vec<Diagnostic>)> = Vec::new();
    for found in all {
        let mistake = Mistake::of(places, &found);
        let known = mistake.as_ref().and_then(|of| first.get(of));
        match known.and_then(|at| kept.get_mut(*at)) {
            Some((_, others)) => others.push(found),
            None => {
                first.extend(mistake.map(|of| (of, kept.len())));
                kept.push((found, Vec::new()));
            }
        }
    }
    for (mut found, others) in kept {
        if !found.fix.is_empty() && others.iter().all(|other| !other.fix.is_empty()) {
            for edit in others.iter().flat_map(|other| &other.fix) {
                if !found.fix.contains(edit) {
                    found.fix.push(edit.clone());
                }
            }
        }
        let labels = others.iter().flat_map(|other| other.labels.iter().take(1));
        let spans: BTreeSet<Span> = labels.map(|label| label.span).collect();
        let known: Vec<Span> = found.labels.iter().map(|label| label.span).collect();
        let spans: Vec<Span> = spans.into_iter().filter(|at| !known.contains(at)).collect();
        point_at(&mut found, &spans, "here too");
        diags.push(found);
    }
}

/// Adds labels at the places; the last of them counts those that there is no room for.
fn point_at(found: &mut Diagnostic, places: &[Span], too: &str) {
    let left = places.len().saturating_sub(SHOWN);
    for (number, span) in places.iter().take(SHOWN).enumerate() {
        let message = match (number + 1 == SHOWN, left) {
            (true, 1..) => format!("{too}, and in {left} more places"),
            _ => too.to_owned(),
        };
        found.labels.push(Label {
            span: *span,
            message,
        });
    }
}
