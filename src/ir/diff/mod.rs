//! Two versions of a flow, held against each other as a contract.
//!
//! [`diff`] says what changes for three sides: callers (input, output, events, tools that somebody serves), threads
//! that rest between two super-steps or at an interrupt, and people who read what the flow asks and answers. Things are
//! matched by name; what has no name in the other version is gone.
//!
//! Not here: whether one certain thread fits; the runtime looks at its values when it goes on
//! (`run::engine`), for it has the old version's name alone.
//!
//! What is part of the contract is looked at thing by thing, and claimed by its path. Then both flows are walked as JSON,
//! and whatever differs and nobody has claimed is said too: there is no part of the IR that no comparison has.
//!
//! Reading order: [`finding`], [`assignable`] (is every value of one type one of the other?), [`members`] (values given
//! by their names), then one file for each subject of the contract: [`graphs`], [`parametric`], [`joins`], [`fields`]
//! and [`stored`] (of them, in threads), [`nodes`], [`work`], [`outside`]. All else: [`mod@named`] (a flow as JSON with
//! names), [`walk`], [`words`] (what parts are called) and [`show`] (how they are written).

mod assignable;
mod fields;
mod finding;
mod graphs;
mod joins;
mod members;
mod named;
mod nodes;
mod outside;
mod parametric;
mod show;
mod stored;
mod text;
mod walk;
mod words;
mod work;

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json};

use super::flow::{Event, Flow, Model, Parametric, Tool};
use super::graph::{Field, Graph, Node};
use super::node::Stop;
use super::text::Place;

pub use finding::{Finding, Group, Side};

/// What changes from one version of a flow to the next, the worst first.
pub fn diff(old: &Flow, new: &Flow) -> Vec<Finding> {
    let renames = |name: &str| {
        let graph = new.graph(name).and_then(|id| new.graphs.get(id));
        graph.map(|graph| &graph.migrate)
    };
    let named = (named::named(old, renames), named::named(new, |_| None));
    let mut versions = Versions {
        old,
        new,
        named: (&named.0, &named.1),
        found: Vec::new(),
        claimed: BTreeSet::new(),
        alone: false,
        shown: Default::default(),
    };
    versions.entry_graph();
    versions.graphs();
    versions.parametric();
    versions.events();
    versions.tools();
    versions.models();
    versions.walk();
    let mut found = versions.found;
    found.sort_by_key(|finding| (std::cmp::Reverse(finding.group), finding.side));
    found
}

/// Places in the old version and in the new one.
type Places = (Option<Place>, Option<Place>);

/// Both versions, and what was found so far.
struct Versions<'f> {
    old: &'f Flow,
    new: &'f Flow,
    /// Both as JSON with names.
    named: (&'f Map<String, Json>, &'f Map<String, Json>),
    found: Vec<Finding>,
    /// Paths of what has been said.
    claimed: BTreeSet<String>,
    /// Whether nothing was found but what follows from other parts.
    alone: bool,
    /// Where things of both show, once it was asked for.
    shown: (OnceCell<Shown>, OnceCell<Shown>),
}

/// Places by name.
type Shown = BTreeMap<String, Place>;

impl<'f> Versions<'f> {
    /// Notes a finding at a place of the old version, of the new one, or both.
    fn say(&mut self, group: Group, side: Side, code: &'static str, at: Places, message: String) {
        self.found.push(Finding {
            group,
            side,
            code,
            message,
            old: at.0,
            new: at.1,
        });
    }

    /// Things of the flow that both versions have. Of others it is said that they are `gone` or `added`, each of which
    /// gives group, code, and what the message ends with.
    fn both<T: Declared>(
        &mut self,
        (noun, list, side): (&str, &str, Side),
        (old, new): (impl Iterator<Item = &'f T>, impl Iterator<Item = &'f T>),
        gone: (Group, &'static str),
        added: impl Fn(&T) -> (Group, &'static str, &'static str),
    ) -> Vec<(&'f T, &'f T)> {
        let mut both = Vec::new();
        for pair in pairs(old, new) {
            let ((group, code, more), thing, how) = match pair {
                (Some(old), Some(new)) => {
                    both.push((old, new));
                    continue;
                }
                (Some(old), None) => ((gone.0, gone.1, ""), old, "is gone"),
                (None, Some(new)) => (added(new), new, "is new"),
                (None, None) => continue,
            };
            let name = thing.name();
            self.claim(format!("/{list}/{name}"));
            let at = (pair.0.map(T::at), pair.1.map(T::at));
            let message = format!("{noun} `{name}` {how}{more}");
            self.say(group, side, code, at, message);
        }
        both
    }

    /// Where a type or a graph of that name shows in both versions.
    fn shown_at(&self, name: &str) -> Places {
        let old = self.shown.0.get_or_init(|| walk::shown(self.named.0));
        let new = self.shown.1.get_or_init(|| walk::shown(self.named.1));
        (old.get(name).copied(), new.get(name).copied())
    }

    /// Notes that what is at a path has been said, with all that is in it.
    fn claim(&mut self, path: String) {
        self.claimed.insert(path);
    }
}

/// What has a name and a place.
trait Declared {
    fn name(&self) -> &str;
    fn at(&self) -> Place;
}

macro_rules! declared {
    ($($of:ty),*) => {
        $(impl Declared for $of {
            fn name(&self) -> &str {
                &self.name
            }
            fn at(&self) -> Place {
                self.at
            }
        })*
    };
}

declared!(Event, Field, Graph, Model, Node, Parametric, Stop, Tool);

/// Things of both versions by name: those of the old in its order, each with the new one of its name, then
/// those that are new.
fn pairs<'t, T: Declared>(
    old: impl Iterator<Item = &'t T>,
    new: impl Iterator<Item = &'t T>,
) -> Vec<(Option<&'t T>, Option<&'t T>)> {
    renamed(old, new, T::name, &BTreeMap::new())
}

/// The same, where things have other names now.
fn renamed<'t, T>(
    old: impl Iterator<Item = &'t T>,
    new: impl Iterator<Item = &'t T>,
    name: impl Fn(&T) -> &str,
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
