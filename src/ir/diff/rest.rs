//! Whatever differs and was not said as part of the contract: nothing of the IR is passed over.
//!
//! Both flows are walked side by side as trees. What the other comparisons have said they have claimed by its path,
//! such as `graphs/Main/nodes/ask/work/interrupt/expect`; all else that differs is said here, with what it was and is. How
//! much it asks of whom, and in which words, is for [`words`](super::words) to say: a key that is not known there is
//! said under its own name.

use std::collections::{BTreeMap, BTreeSet};

use super::Versions;
use super::finding::Group::{Compatible, NeedsMigration};
use super::finding::Side;
use super::things::{is_list, named, parts};
use super::tree::{Part, Tree, both, one};
use super::words::{Word, noun, word};
use crate::ir::text::Place;

/// Parts that are looked into; of all others it is said what they were and are as a whole.
const OPEN: [&str; 17] = [
    "Flow",
    "TypeTable",
    "Record",
    "EnumType",
    "EnumMember",
    "RecordField",
    "Constraints",
    "Event",
    "Reducer",
    "Model",
    "Tool",
    "ToolBody",
    "Graph",
    "Field",
    "Node",
    "Work",
    "ModelCall",
];

/// What follows from other parts: said only where nothing else is.
const DERIVED: [&str; 6] = ["functions", "secrets", "ends", "joins", "text", "texts"];

/// Where the walk is.
pub(super) struct Spot {
    /// Of what stands here.
    pub path: String,
    /// What a message is about.
    pub of: String,
    /// The kind of the thing that has a name: `Node`, `Tool`.
    pub kind: &'static str,
    /// Where the thing stands in both versions.
    pub at: (Option<Place>, Option<Place>),
}

impl Versions<'_> {
    /// Says what nobody has said.
    pub(super) fn rest(&mut self) {
        if let (Tree::Part(old), Tree::Part(new)) = self.trees {
            let spot = Spot {
                path: String::new(),
                of: "the flow".to_owned(),
                kind: "Flow",
                at: (None, None),
            };
            self.entries(&spot, old, new);
            if self.found.is_empty() {
                self.alone = true;
                self.entries(&spot, old, new);
            }
        }
    }

    fn entries(&mut self, spot: &Spot, old: &Part, new: &Part) {
        let said = self.found.len();
        let keys: BTreeSet<&String> = old.entries.iter().map(|(key, _)| key).collect();
        let added = new.entries.iter().filter(|(key, _)| !keys.contains(key));
        let all = old.entries.iter().chain(added);
        let derived = |key: &str| {
            DERIVED.contains(&key) && matches!(spot.kind, "Flow" | "Node" | "Parametric")
        };
        let (last, first): (Vec<&String>, Vec<&String>) =
            all.map(|(key, _)| key).partition(|key| derived(key));
        for key in first {
            self.entry(spot, key, old.get(key), new.get(key));
        }
        for key in last {
            // Where a node goes shows in its `ends`, the members of a join at the join.
            let follows = key == "joins" && self.joins_said(spot);
            if self.found.len() == said && !follows {
                self.entry(spot, key, old.get(key), new.get(key));
            }
        }
    }

    /// Whether something was said of the joins of the graph in which a node is.
    fn joins_said(&self, spot: &Spot) -> bool {
        let graph = spot.path.split("/nodes/").next().unwrap_or_default();
        self.claimed.contains(&format!("{graph}/joins"))
    }

    fn entry(&mut self, spot: &Spot, key: &str, old: Option<&Tree>, new: Option<&Tree>) {
        let path = format!("{}/{key}", spot.path);
        // Where files are is for places alone.
        if old == new || self.claimed.contains(&path) || path == "/files" {
            return;
        }
        match (old, new) {
            (Some(Tree::Part(old)), Some(Tree::Part(new)))
                if old.kind == new.kind && OPEN.contains(&old.kind) =>
            {
                let spot = Spot {
                    path,
                    of: spot.of.clone(),
                    kind: spot.kind,
                    at: spot.at,
                };
                self.entries(&spot, old, new);
            }
            _ if named(old, new) => self.things(spot, key, old, new),
            _ => self.changed(spot, key, old, new),
        }
    }

    /// Lists of things with names.
    fn things(&mut self, spot: &Spot, key: &str, old: Option<&Tree>, new: Option<&Tree>) {
        let path = format!("{}/{key}", spot.path);
        if key == "joins" {
            self.claimed.insert(path.clone());
        }
        let renames = self.renames(spot, key);
        let (old, new) = (parts(old, &renames), parts(new, &BTreeMap::new()));
        let mut left: BTreeMap<&(String, usize), &Part> =
            new.iter().map(|(name, part)| (name, *part)).collect();
        self.order(spot, key, &old, &new);
        for (name, was) in &old {
            let is = left.remove(name);
            self.thing(spot, key, &name.0, Some(was), is);
        }
        for (name, is) in new.iter().filter(|(name, _)| left.contains_key(name)) {
            self.thing(spot, key, &name.0, None, Some(is));
        }
    }

    fn thing(
        &mut self,
        spot: &Spot,
        key: &str,
        name: &str,
        old: Option<&Part>,
        new: Option<&Part>,
    ) {
        let path = format!("{}/{key}/{name}", spot.path);
        if old == new || self.claimed.contains(&path) {
            return;
        }
        let Some(known) = new.or(old) else { return };
        // Types that no flow declares are made of fields, which are said themselves.
        if known.kind == "Record" && name.contains(' ') && !self.alone {
            return;
        }
        let noun = noun(known.kind, key);
        let of = match spot.path.is_empty() || spot.kind == "Flow" {
            true => format!("{noun} `{name}`"),
            false => format!("{noun} `{name}` of {}", spot.of),
        };
        let place =
            |part: Option<&Part>, above: Option<Place>| part.and_then(|part| part.at.0).or(above);
        let mut at = (place(old, spot.at.0), place(new, spot.at.1));
        if at == (None, None) && matches!(known.kind, "Record" | "EnumType") {
            at = self.shown_at(name);
        }
        // What has no place of its own is said as part of what has.
        let kind = match known.kind {
            "RecordField" | "Stop" | "EnumMember" | "Join" if spot.kind != "Flow" => spot.kind,
            kind => kind,
        };
        match (old, new) {
            (Some(old), Some(new)) => {
                let spot = Spot { path, of, kind, at };
                self.entries(&spot, old, new);
            }
            (old, _) => {
                let how = if old.is_some() { "is gone" } else { "is new" };
                let Word { side, code, .. } = word(kind, key);
                self.say(Compatible, side, code, at, format!("{of} {how}"));
            }
        }
    }

    /// Other names that things of the old version have now.
    fn renames(&self, spot: &Spot, key: &str) -> BTreeMap<String, String> {
        let graph = spot.path.strip_prefix("/graphs/");
        let graph = graph.and_then(|name| self.new.graph(name));
        let migrate = graph.and_then(|id| self.new.graphs.get(id));
        let migrate = migrate.map(|graph| &graph.migrate);
        match (migrate, key) {
            (Some(migrate), "nodes") => migrate.nodes.clone(),
            (Some(migrate), "fields") => migrate.fields.clone(),
            _ => BTreeMap::new(),
        }
    }

    fn changed(&mut self, spot: &Spot, key: &str, old: Option<&Tree>, new: Option<&Tree>) {
        let Word { what, side, code } = word(spot.kind, key);
        let of = &spot.of;
        if let (Some(Tree::List(_)) | None, Some(Tree::List(_)) | None, "tools") = (old, new, key) {
            return self.tools_of(spot, old, new);
        }
        // A list that isn't there has nothing in it; a constant is no list of the flow's.
        let empty = Tree::List(Vec::new());
        let (old, new) = match (old, new) {
            both if key == "default" => both,
            (None, Some(new)) if is_list(new) => (Some(&empty), Some(new)),
            (Some(old), None) if is_list(old) => (Some(old), Some(&empty)),
            both => both,
        };
        let yes = |tree: &Tree| *tree == Tree::Word("true".to_owned());
        let no = |tree: &Tree| *tree == Tree::Word("false".to_owned());
        let at = match key {
            "marks" | "secrets" if spot.kind == "Flow" => self.marked(old, new),
            _ => spot.at,
        };
        let message = match (old, new) {
            (None, Some(new)) if yes(new) => format!("{of} is marked {what} now"),
            (Some(old), None) if yes(old) => format!("{of} is not marked {what} any more"),
            (Some(old), Some(new)) if yes(old) && no(new) => format!("{of} has {what} off now"),
            (Some(old), Some(new)) if no(old) && yes(new) => format!("{of} has {what} on now"),
            (Some(old), Some(new)) => {
                let (was, is) = both(key, old, new);
                match (was.as_str(), is.as_str()) {
                    (was, is) if was == is => format!("{what} of {of} changed: `{is}`"),
                    ("", is) => format!("{what} of {of}: `{is}` is new"),
                    (was, "") => format!("{what} of {of}: `{was}` is gone"),
                    (was, is) => format!("{what} of {of} was `{was}`, is `{is}`"),
                }
            }
            (None, Some(new)) => format!("{what} of {of} is new: `{}`", one(key, new)),
            (Some(old), None) => format!("{what} of {of} is gone, it was `{}`", one(key, old)),
            (None, None) => return,
        };
        if key == "permits" {
            // What a question permits, and when, is part of what it is.
            let message = format!("{message}: who was asked before is asked again");
            return self.say(NeedsMigration, Side::Threads, code, at, message);
        }
        self.say(Compatible, side, code, at, message);
    }

    /// Where the first mark that only one version has shows: that of `@untrusted Doc.text` at `Doc`.
    fn marked(&self, old: Option<&Tree>, new: Option<&Tree>) -> (Option<Place>, Option<Place>) {
        let marks = |tree: Option<&Tree>| tree.map_or(Vec::new(), |tree| tree.elements().to_vec());
        let (old, new) = (marks(old), marks(new));
        let lone = |these: &[Tree], others: &[Tree]| {
            let mut lone = these.iter().filter(|mark| !others.contains(mark));
            lone.next().and_then(Tree::text).map(str::to_owned)
        };
        let mark = lone(&new, &old).or_else(|| lone(&old, &new));
        let mark = mark.unwrap_or_default();
        let name = mark.rsplit(' ').next().unwrap_or_default();
        self.shown_at(name.split('.').next().unwrap_or_default())
    }
}
