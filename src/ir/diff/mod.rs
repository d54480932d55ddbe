//! Two versions of a flow, held against each other as a contract.
//!
//! [`diff`] says what changes for three sides: callers (input, output, events, tools that somebody serves), threads
//! that rest between two super-steps or at an interrupt, and people who read what the flow asks and answers. Things are
//! matched by name; what has no name in the other version is gone.
//!
//! Not here: whether one certain thread fits; the runtime looks at its values when it goes on
//! (`run::engine`), for it has the old version's name alone.
//!
//! What is part of the contract is looked at thing by thing, and claimed by its path. Then both flows are walked as
//! trees, and whatever differs and nobody has claimed is said too: there is no part of the IR that no comparison has.
//!
//! Reading order: [`finding`], [`fit`] (is every value of one type one of the other?), then one file for each
//! subject of the contract: [`graphs`], [`parametric`], [`joins`], [`fields`], [`kept`] and [`lost`] (of them, in threads), [`members`] (values given by their names), [`context`], [`nodes`], [`work`], [`outside`]; then [`tree`] (a flow in names), [`mod@used`] (where types show), [`rest`]
//! with [`order`] and [`scope`], and [`things`] (all else) and [`words`] (what its parts are called).

mod context;
mod fields;
mod finding;
mod fit;
mod graphs;
mod joins;
mod kept;
mod lost;
mod members;
mod nodes;
mod order;
mod outside;
mod parametric;
mod rest;
mod scope;
mod things;
mod tree;
mod used;
mod words;
mod work;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use super::flow::Flow;
use super::text::Place;

use tree::Tree;
use used::{Used, used};

pub use finding::{Finding, Group, Side};

/// What changes from one version of a flow to the next, the worst first.
pub fn diff(old: &Flow, new: &Flow) -> Vec<Finding> {
    let renames = |name: &str| {
        let graph = new.graph(name).and_then(|id| new.graphs.get(id));
        graph.map(|graph| &graph.migrate)
    };
    let trees = (Tree::of(old, renames), Tree::of(new, |_| None));
    let mut versions = Versions {
        old,
        new,
        trees: (&trees.0, &trees.1),
        found: Vec::new(),
        claimed: BTreeSet::new(),
        alone: false,
        used: Default::default(),
    };
    versions.entry_graph();
    versions.graphs();
    versions.parametric();
    versions.events();
    versions.tools();
    versions.models();
    versions.rest();
    let mut found = versions.found;
    found.sort_by_key(|finding| (std::cmp::Reverse(finding.group), finding.side));
    found
}

/// A thing of one version: its name and place.
type Named<'n> = (&'n str, Place);

/// Both versions, and what was found so far.
struct Versions<'f> {
    old: &'f Flow,
    new: &'f Flow,
    /// Both as trees.
    trees: (&'f Tree, &'f Tree),
    found: Vec<Finding>,
    /// Paths of what has been said.
    claimed: BTreeSet<String>,
    /// Whether nothing was found but what follows from other parts.
    alone: bool,
    /// Where the types of both show, once it was asked for.
    used: (OnceCell<Used>, OnceCell<Used>),
}

impl Versions<'_> {
    /// Notes a finding at a place of the old version, of the new one, or both.
    fn say(
        &mut self,
        group: Group,
        side: Side,
        code: &'static str,
        places: (Option<Place>, Option<Place>),
        message: String,
    ) {
        self.found.push(Finding {
            group,
            side,
            code,
            message,
            old: places.0,
            new: places.1,
        });
    }

    /// Notes that something, with its name and place, is in one version only, and `more` of it.
    fn alone(
        &mut self,
        what: &str,
        (old, new): (Option<Named<'_>>, Option<Named<'_>>),
        (group, side, code): (Group, Side, &'static str),
        more: &str,
    ) {
        let Some((name, _)) = old.or(new) else { return };
        let how = if old.is_some() { "is gone" } else { "is new" };
        self.claim(format!("/{what}s/{name}"));
        let at = (old.map(|(_, at)| at), new.map(|(_, at)| at));
        self.say(
            group,
            side,
            code,
            at,
            format!("{what} `{name}` {how}{more}"),
        );
    }

    /// Where a type or a graph of that name shows in both versions.
    fn shown_at(&self, name: &str) -> (Option<Place>, Option<Place>) {
        let old = self.used.0.get_or_init(|| used(self.trees.0));
        let new = self.used.1.get_or_init(|| used(self.trees.1));
        (old.get(name).copied(), new.get(name).copied())
    }

    /// Notes that what is at a path has been said, with all that is in it.
    fn claim(&mut self, path: String) {
        self.claimed.insert(path);
    }
}

/// Things of both versions by name: those of the old in its order, each with the new one of its name, then
/// those that are new.
fn pairs<'t, T>(
    old: impl Iterator<Item = &'t T>,
    new: impl Iterator<Item = &'t T>,
    name: impl for<'n> Fn(&'n T) -> &'n str,
) -> Vec<(Option<&'t T>, Option<&'t T>)> {
    renamed(old, new, name, &BTreeMap::new())
}

/// The same, where things have other names now.
fn renamed<'t, T>(
    old: impl Iterator<Item = &'t T>,
    new: impl Iterator<Item = &'t T>,
    name: impl for<'n> Fn(&'n T) -> &'n str,
    names: &BTreeMap<String, String>,
) -> Vec<(Option<&'t T>, Option<&'t T>)> {
    let new: Vec<&'t T> = new.collect();
    let mut left: BTreeMap<&str, &'t T> = BTreeMap::new();
    for thing in &new {
        left.entry(name(thing)).or_insert(thing);
    }
    let mut pairs: Vec<_> = old
        .map(|thing| {
            let now = names.get(name(thing)).map_or(name(thing), String::as_str);
            (Some(thing), left.remove(now))
        })
        .collect();
    let added = new
        .into_iter()
        .filter(|thing| left.contains_key(name(thing)));
    pairs.extend(added.map(|thing| (None, Some(thing))));
    pairs
}
