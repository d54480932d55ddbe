//! Whatever differs and was not said as part of the contract: nothing of the IR is passed over.
//!
//! Both flows are walked side by side. What the other comparisons have said they have claimed by its path, such as
//! `/graphs/Main/nodes/ask/expect`; all else that differs is said here, with what it was and is. How much it asks of
//! whom, and in which words, is for [`words`](super::words) to say: a key that is not known there is said under its
//! own name.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json};

use super::Versions;
use super::finding::Group::{Breaking, Compatible, NeedsMigration};
use super::finding::Side::{People, Threads};
use super::named::place;
use super::show::{both, one};
use super::words::{code, meaning_of_order, noun, side, words};
use crate::base::name::list;
use crate::ir::text::Place;

type Entries = Map<String, Json>;
type Places = (Option<Place>, Option<Place>);

/// Parts without a name that are looked into; of all others it is said what they were and are as a whole.
const OPEN: [&str; 2] = ["types", "body"];

/// What follows from other parts: said only where nothing else is.
const DERIVED: [(&str, &str); 6] = [
    ("flow", "functions"),
    ("flow", "secrets"),
    ("node", "ends"),
    ("node", "joins"),
    ("graph with parameters", "text"),
    ("graph with parameters", "texts"),
];

/// Where the walk is.
struct Cursor {
    /// Of what stands here.
    path: String,
    /// What a message is about.
    of: String,
    /// What the thing that has a name and a place is: `node`, `tool`.
    kind: &'static str,
    /// Where the thing stands in both versions.
    at: Places,
}

impl Versions<'_> {
    /// Says what nobody has said.
    pub(super) fn walk(&mut self) {
        let cursor = Cursor {
            path: String::new(),
            of: "the flow".to_owned(),
            kind: "flow",
            at: (None, None),
        };
        let (old, new) = (self.named.0, self.named.1);
        self.entries(&cursor, old, new);
        if self.found.is_empty() {
            self.alone = true;
            self.entries(&cursor, old, new);
        }
    }

    fn entries(&mut self, cursor: &Cursor, old: &Entries, new: &Entries) {
        let said = self.found.len();
        let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
        let keys = keys.into_iter().filter(|key| *key != "at");
        let derived = |key: &&String| DERIVED.contains(&(cursor.kind, key.as_str()));
        let (last, first): (Vec<&String>, Vec<&String>) = keys.partition(derived);
        for key in first {
            self.entry(cursor, key, old.get(key), new.get(key));
        }
        for key in last {
            // Where a node goes shows in its `ends`, the members of a join at the join.
            let graph = cursor.path.split("/nodes/").next().unwrap_or_default();
            let follows = key == "joins" && self.claimed.contains(&format!("{graph}/joins"));
            if self.found.len() == said && !follows {
                self.entry(cursor, key, old.get(key), new.get(key));
            }
        }
    }

    fn entry(&mut self, cursor: &Cursor, key: &str, old: Option<&Json>, new: Option<&Json>) {
        let path = format!("{}/{key}", cursor.path);
        if old == new || self.claimed.contains(&path) {
            return;
        }
        match (old, new) {
            (Some(Json::Object(old)), Some(Json::Object(new))) if OPEN.contains(&key) => {
                let of = cursor.of.clone();
                self.entries(
                    &Cursor {
                        path,
                        of,
                        ..*cursor
                    },
                    old,
                    new,
                );
            }
            _ if named(cursor, key, old, new) => self.things(cursor, key, old, new),
            _ => self.changed(cursor, key, old, new),
        }
    }

    /// Lists of things with names.
    fn things(&mut self, cursor: &Cursor, key: &str, old: Option<&Json>, new: Option<&Json>) {
        if key == "joins" {
            self.claim(format!("{}/{key}", cursor.path));
        }
        let (old, new) = (things(old), things(new));
        let mut left: BTreeMap<&(&str, usize), &Entries> =
            new.iter().map(|(name, thing)| (name, *thing)).collect();
        self.order(cursor, key, &old, &new);
        for (name, was) in &old {
            let is = left.remove(name);
            self.thing(cursor, key, name.0, Some(was), is);
        }
        for (name, is) in new.iter().filter(|(name, _)| left.contains_key(name)) {
            self.thing(cursor, key, name.0, None, Some(is));
        }
    }

    fn thing(
        &mut self,
        cursor: &Cursor,
        key: &str,
        name: &str,
        old: Option<&Entries>,
        new: Option<&Entries>,
    ) {
        let path = format!("{}/{key}/{name}", cursor.path);
        // Types that no flow declares are made of fields, which are said themselves.
        let unnamed = key == "records" && name.contains(' ') && !self.alone;
        if self.claimed.contains(&path) || unnamed {
            return;
        }
        let (noun, inner) = noun(cursor.kind, key);
        let of = match cursor.kind {
            "flow" => format!("{noun} `{name}`"),
            _ => format!("{noun} `{name}` of {}", cursor.of),
        };
        let mut at = (
            old.and_then(place).or(cursor.at.0),
            new.and_then(place).or(cursor.at.1),
        );
        if at == (None, None) && noun == "type" {
            at = self.shown_at(name);
        }
        // What has no place of its own is said as part of what has.
        let kind = if inner { cursor.kind } else { noun };
        match (old, new) {
            (Some(old), Some(new)) => self.entries(&Cursor { path, of, kind, at }, old, new),
            (old, _) => {
                let how = if old.is_some() { "is gone" } else { "is new" };
                let (side, code) = (side(kind), code(kind, key));
                self.say(Compatible, side, code, at, format!("{of} {how}"));
            }
        }
    }

    /// Says that things which both versions have stand in another order.
    fn order(&mut self, cursor: &Cursor, key: &str, old: &[Thing<'_>], new: &[Thing<'_>]) {
        let Some((things, means)) = meaning_of_order(cursor.kind, key) else {
            return;
        };
        let both = |these: &[Thing<'_>], others: &[Thing<'_>]| {
            let known: BTreeSet<(&str, usize)> = others.iter().map(|(name, _)| *name).collect();
            let these = these.iter().filter(|(name, _)| known.contains(name));
            these.map(|(name, _)| name.0.to_owned()).collect::<Vec<_>>()
        };
        let mut names = both(old, new).into_iter().zip(both(new, old));
        let Some((before, first)) = names.find(|(was, is)| was != is) else {
            return;
        };
        let message = format!(
            "{things} of {} stand in another order, `{first}` ahead of `{before}`{means}",
            cursor.of
        );
        let find = |of: &[Thing<'_>]| {
            let found = of.iter().find(|((name, _), _)| *name == first);
            found.and_then(|(_, thing)| place(thing))
        };
        let at = (find(old).or(cursor.at.0), find(new).or(cursor.at.1));
        let code = if key == "nodes" {
            "node-order"
        } else {
            "order-changed"
        };
        self.say(Compatible, People, code, at, message);
    }

    fn changed(&mut self, cursor: &Cursor, key: &str, old: Option<&Json>, new: Option<&Json>) {
        let is_list = |json: Option<&Json>| json.is_none_or(Json::is_array);
        if key == "tools" && is_list(old) && is_list(new) {
            return self.tools_of(cursor, old, new);
        }
        let (what, of) = (words(cursor.kind, key), &cursor.of);
        // A list that isn't there has nothing in it.
        let empty = Json::Array(Vec::new());
        let (old, new) = match (old, new) {
            (None, Some(Json::Array(_))) => (Some(&empty), new),
            (Some(Json::Array(_)), None) => (old, Some(&empty)),
            both => both,
        };
        if old == new {
            return;
        }
        let at = match (cursor.kind, key) {
            ("flow", "marks" | "secrets") => self.marked(old, new),
            _ => cursor.at,
        };
        let message = match (old, new) {
            (None, Some(Json::Bool(true))) => format!("{of} is marked {what} now"),
            (Some(Json::Bool(true)), None) => format!("{of} is not marked {what} any more"),
            (Some(Json::Bool(true)), Some(Json::Bool(false))) => format!("{of} has {what} off now"),
            (Some(Json::Bool(false)), Some(Json::Bool(true))) => format!("{of} has {what} on now"),
            (Some(old), Some(new)) => {
                let (was, is) = both(old, new);
                match (was.as_str(), is.as_str()) {
                    (was, is) if was == is => format!("{what} of {of} changed: `{is}`"),
                    ("", is) => format!("{what} of {of}: `{is}` is new"),
                    (was, "") => format!("{what} of {of}: `{was}` is gone"),
                    (was, is) => format!("{what} of {of} was `{was}`, is `{is}`"),
                }
            }
            (None, Some(new)) => format!("{what} of {of} is new: `{}`", one(new)),
            (Some(old), None) => format!("{what} of {of} is gone, it was `{}`", one(old)),
            (None, None) => return,
        };
        let code = code(cursor.kind, key);
        if key == "permits" {
            // What a question permits, and when, is part of what it is.
            let message = format!("{message}: who was asked before is asked again");
            return self.say(NeedsMigration, Threads, code, at, message);
        }
        self.say(Compatible, side(cursor.kind), code, at, message);
    }

    /// Tools that a node may call, or the scope of a graph.
    fn tools_of(&mut self, cursor: &Cursor, old: Option<&Json>, new: Option<&Json>) {
        let (of, graph) = (&cursor.of, cursor.kind == "graph");
        let names = |json: Option<&Json>| {
            let names = json.and_then(Json::as_array).into_iter().flatten();
            let names = names.filter_map(Json::as_str).map(str::to_owned);
            names.collect::<Vec<_>>()
        };
        let (was, is) = (names(old), names(new));
        // Without a scope any tool may be called: none is given or taken one by one.
        if graph && (old.is_none() || new.is_none()) {
            let (set, all) = match new {
                Some(_) => ("a scope of tools now:", is),
                None => ("no scope of tools any more; it was", was),
            };
            let all = match all.is_empty() {
                true => "no tool".to_owned(),
                false => list(all.iter().map(String::as_str)),
            };
            let message = format!("{of} sets {set} {all}");
            return self.say(Compatible, People, "scope-changed", cursor.at, message);
        }
        let (given, taken) = match graph {
            true => ("scope-changed", "scope-changed"),
            false => ("tool-given", "tool-taken"),
        };
        let before = self.found.len();
        for name in is.iter().filter(|name| !was.contains(name)) {
            let message = format!("{of} may call `{name}` now");
            self.say(Compatible, People, given, cursor.at, message);
        }
        for name in was.iter().filter(|name| !is.contains(name)) {
            let message = format!("{of} may not call `{name}` any more");
            let mut tools = self.old.tools.iter();
            let tool = tools.find(|known| known.name == *name);
            let asked = tool.is_some_and(|tool| tool.asks() || tool.idempotent == Some(false));
            if !graph && asked {
                let message = format!(
                    "{message}; a thread may wait there for a person's word on a call of it"
                );
                self.say(Breaking, Threads, taken, cursor.at, message);
            } else {
                self.say(Compatible, People, taken, cursor.at, message);
            }
        }
        if self.found.len() == before {
            let message = format!("tools of {of} stand in another order");
            self.say(Compatible, People, "tool-order", cursor.at, message);
        }
    }

    /// Where the first mark that only one version has shows: that of `@untrusted Doc.text` at `Doc`.
    fn marked(&self, old: Option<&Json>, new: Option<&Json>) -> Places {
        let marks =
            |json: Option<&Json>| json.and_then(Json::as_array).cloned().unwrap_or_default();
        let (old, new) = (marks(old), marks(new));
        let added = new.iter().find(|mark| !old.contains(mark));
        let mark = added.or_else(|| old.iter().find(|mark| !new.contains(mark)));
        let mark = mark.and_then(Json::as_str).unwrap_or_default();
        let name = mark.rsplit(' ').next().unwrap_or_default();
        self.shown_at(name.split('.').next().unwrap_or_default())
    }
}

/// A thing, with its name and how many of that name stand before it.
type Thing<'j> = ((&'j str, usize), &'j Entries);

fn things(list: Option<&Json>) -> Vec<Thing<'_>> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let things = list.and_then(Json::as_array).into_iter().flatten();
    let things = things.filter_map(|thing| {
        let thing = thing.as_object()?;
        let name = thing.get("name")?.as_str()?;
        let before = seen.entry(name).or_default();
        *before += 1;
        Some(((name, *before), thing))
    });
    things.collect()
}

/// Whether two lists, of which one may be missing, hold things with names.
fn named(cursor: &Cursor, key: &str, old: Option<&Json>, new: Option<&Json>) -> bool {
    let lists = [old, new].into_iter().flatten();
    let mut lists = lists.map(Json::as_array);
    let thing = |json: &Json| json.get("name").is_some_and(Json::is_string);
    !noun(cursor.kind, key).0.is_empty()
        && lists.all(|list| list.is_some_and(|list| list.iter().all(thing)))
}

/// By name of a type or a thing, where it shows first. A type has no place of its own in the IR.
pub(super) fn shown(flow: &Entries) -> BTreeMap<String, Place> {
    let types = flow.get("types").and_then(Json::as_object);
    let types = types.into_iter().flat_map(Map::values);
    let types: Vec<&Json> = types.filter_map(Json::as_array).flatten().collect();
    let mut shown = BTreeMap::new();
    for (_, things) in flow.iter().filter(|(key, _)| *key != "types") {
        mentions(things, None, &mut |name, at| {
            if let Some(at) = at {
                shown.entry(name.to_owned()).or_insert(at);
            }
        });
    }
    // Types that types with a place are made of.
    let mut waiting: Vec<(String, Place)> = shown.clone().into_iter().collect();
    while let Some((name, at)) = waiting.pop() {
        for ty in types.iter().filter(|ty| ty["name"] == *name) {
            mentions(ty, None, &mut |name, _| {
                if !shown.contains_key(name) {
                    shown.insert(name.to_owned(), at);
                    waiting.push((name.to_owned(), at));
                }
            });
        }
    }
    shown
}

/// The words of all texts in something, each with the place of the innermost part around it that has one.
fn mentions(json: &Json, at: Option<Place>, note: &mut impl FnMut(&str, Option<Place>)) {
    match json {
        Json::String(text) => {
            note(text, at);
            let words = text.split(|c: char| !c.is_alphanumeric() && c != '_');
            words.for_each(|word| note(word, at));
        }
        Json::Array(items) => items.iter().for_each(|item| mentions(item, at, note)),
        Json::Object(part) => {
            let at = place(part).or(at);
            let parts = part
                .iter()
                .filter(|(key, _)| !matches!(key.as_str(), "doc" | "default"));
            parts.for_each(|(_, part)| mentions(part, at, note));
        }
        _ => {}
    }
}
