//! Names that are misspelt where they are declared.
//!
//! Where a name is unknown at several places, and the declared one that is close stands nowhere else in all sources, it is the declaration that is misspelt.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::{FileId, SourceMap, Span, name};
use crate::check::words::Words;
use crate::diag::{Diagnostic, Diagnostics, Home, codes};
use crate::resolve::Program;
use crate::resolve::naming::IN_SCOPE;

use super::is;
use super::places::Places;
use super::same::point_at;

/// Puts the findings on each such name together to one at the declaration.
pub fn declarations(
    program: &Program,
    places: &Places,
    sources: &SourceMap,
    diags: &mut Diagnostics,
) {
    let mut all = diags.take();
    let mut uses: BTreeMap<(String, String), Vec<usize>> = BTreeMap::new();
    for (at, found) in all.iter().enumerate() {
        if let Some(unknown) = found.unknown_name()
            && let Some(near) = &unknown.near
            && !IN_SCOPE.contains(&near.as_str())
        {
            uses.entry((near.clone(), unknown.name.clone()))
                .or_default()
                .push(at);
        }
    }
    if uses.is_empty() {
        all.into_iter().for_each(|found| diags.push(found));
        return;
    }
    let both = uses.keys().flat_map(|(near, name)| [near.as_str(), name]);
    let mut words = Words::new(both);
    words.read(sources);
    let names = Declared::of(program);
    let mut moved: BTreeSet<Span> = BTreeSet::new();
    let mut gone: BTreeSet<usize> = BTreeSet::new();
    for ((near, unknown), group) in &uses {
        let [declared] = words.places(near) else {
            continue;
        };
        let agree = words.places(unknown).len() > 1;
        let group = group.iter().filter(|at| {
            let found = all.get(**at);
            found.is_some_and(|found| names.has(places, found, *declared))
        });
        let group: Vec<usize> = group.copied().collect();
        // What is found elsewhere (that a caller lacks what has the misspelt name) says less than that a name is unknown.
        let says = |at: &&usize| {
            let found = all.get(**at);
            found.is_some_and(|found| sources.text(found.span()).ends_with(unknown.as_str()))
        };
        let first = group.iter().find(says).or(group.first());
        let Some(first) = first.filter(|_| agree) else {
            continue;
        };
        let found = |at: &usize| all.get(*at).map(Diagnostic::span);
        let spans: BTreeSet<Span> = group
            .iter()
            .filter_map(found)
            .filter(|at| at != declared)
            .collect();
        let spans: Vec<Span> = spans.into_iter().collect();
        let inner = names.inner.contains(declared);
        if let Some(found) = all.get_mut(*first) {
            at_declaration(found, (near, unknown), *declared, &spans, inner);
            moved.insert(*declared);
            gone.extend(group.iter().filter(|at| *at != first));
        }
    }
    // What else is said of the declaration follows from that.
    for (at, found) in all.into_iter().enumerate() {
        let own = found.unknown_name().is_some();
        let naming = is(&found, &[&codes::NAMING]) && moved.contains(&found.span());
        let about = found
            .spoken_of()
            .is_some_and(|of| !own && moved.contains(&of));
        if !(naming || about || gone.contains(&at)) {
            diags.push(found);
        }
    }
}

/// Where the names of a program are declared.
struct Declared {
    /// Files of the standard library, which spells its names as it means them.
    standard: BTreeSet<FileId>,
    /// Those of items.
    items: BTreeSet<Span>,
    /// Those that nothing outside of their graph or prompt can know: of `let`s, parameters of prompts, fields of the state that
    /// are neither taken nor given back.
    inner: BTreeSet<Span>,
}

impl Declared {
    fn of(program: &Program) -> Self {
        let standard = program.trees.iter().filter(|tree| tree.standard);
        let items = program.trees.iter().flat_map(|tree| &tree.items);
        let fields = program.graphs.iter().flat_map(|graph| &graph.fields);
        let fields = fields.filter(|field| !field.mode.is_in() && !field.mode.is_out());
        let nodes = program.graphs.iter().flat_map(|graph| &graph.nodes);
        let lets = nodes.flat_map(|node| &node.lets).map(|of| of.name.span);
        let prompts = program.prompts.iter().flat_map(|prompt| &prompt.params);
        let inner = fields.map(|field| field.name.span).chain(lets);
        Self {
            standard: standard.map(|tree| tree.file).collect(),
            items: items.filter_map(|item| Some(item.name()?.span)).collect(),
            inner: inner.chain(prompts.map(|param| param.name.span)).collect(),
        }
    }

    /// Whether the only place of a name is where it is declared among those that the finding looked through.
    fn has(&self, places: &Places, found: &Diagnostic, at: Span) -> bool {
        let own = |_: &_| !self.standard.contains(&at.file);
        let home = found.unknown_name().filter(own).map(|unknown| unknown.home);
        home.is_some_and(|home| match home {
            Home::Items => self.items.contains(&at),
            home => {
                let of = places.home(home, found.span());
                of.is_some_and(|of| of.holds(at))
            }
        })
    }
}

/// Moves a finding to the declaration. Only a name that nothing outside can know is mended there: that of a field of the
/// input, of a tool, of what a model answers is a promise.
fn at_declaration(
    found: &mut Diagnostic,
    (near, unknown): (&str, &str),
    at: Span,
    uses: &[Span],
    inner: bool,
) {
    let message = format!(
        "{}: `{near}` is declared, and named nowhere else",
        found.message
    );
    let count = match uses.len() {
        1 => "its use".to_owned(),
        count => format!("its {count} uses"),
    };
    let mut moved = Diagnostic::new(found.code, message, at)
        .here(format!("declared as `{near}`"))
        .help(match inner {
            true => format!("did you mean `{unknown}`?"),
            false => format!(
                "did you mean `{unknown}`? Where `{near}` is right, which others may know it by, write that in {count}"
            ),
        });
    if inner && name::certain(near, [unknown]).is_some() {
        moved = moved.fix(at, unknown);
    }
    moved.level = found.level;
    moved.facts = std::mem::take(&mut found.facts);
    point_at(&mut moved, uses, &format!("`{unknown}` is used here"));
    *found = moved;
}
