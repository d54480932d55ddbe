//! A flow as JSON in which everything is called by its name.
//!
//! It is made of the JSON of the IR, so that whatever is part of the IR is part of it. Indices become names, so that
//! something added elsewhere moves nothing. Types, expressions and constants become texts. What a node does stands
//! beside what all nodes have. Places are left at what has a name, and nowhere else.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use serde_json::{Map, Value as Json};

use super::text::{laid_out, renamed};
use crate::base::id::Id;
use crate::base::{IdVec, duration};
use crate::ir::flow::Flow;
use crate::ir::graph::{Graph, Migrate};
use crate::ir::text::Place;
use crate::ir::version::drop_places;

type Entries = Map<String, Json>;

/// Names that hold in one graph or one tool.
#[derive(Default)]
struct Scope {
    fields: Vec<String>,
    nodes: Vec<String>,
    joins: Vec<String>,
    /// Names of an earlier version with those that they have now.
    migrate: Migrate,
}

/// What is being written, and where.
#[derive(Clone, Copy)]
struct At<'s> {
    scope: &'s Scope,
    /// Fields of the graph that the node calls.
    called: &'s [String],
    /// The key of the part around it.
    above: &'s str,
}

struct Namer<'f> {
    flow: &'f Flow,
    graphs: Vec<Scope>,
    /// Expressions as they are laid out: arms that ask the same are many.
    layouts: RefCell<HashMap<String, String>>,
}

/// The JSON of a flow. Fields and nodes that `renames` has for a graph are called by their new names.
pub(super) fn named<'f>(flow: &'f Flow, renames: impl Fn(&str) -> Option<&'f Migrate>) -> Entries {
    let graphs = flow.graphs.iter();
    let namer = Namer {
        flow,
        layouts: RefCell::default(),
        graphs: graphs
            .map(|graph| Scope::of(graph, renames(&graph.name).cloned().unwrap_or_default()))
            .collect(),
    };
    let bodies = flow.tools.iter().map(|tool| Scope {
        fields: tool.body.as_ref().map_or(Vec::new(), |b| b.fields.clone()),
        ..Scope::default()
    });
    let (bodies, none) = (bodies.collect::<Vec<Scope>>(), Scope::default());
    let Ok(Json::Object(mut all)) = serde_json::to_value(flow) else {
        return Map::new();
    };
    // Where files are is for places alone.
    all.remove("files");
    for (key, json) in &mut all {
        let scopes = match key.as_str() {
            "graphs" => namer.graphs.as_slice(),
            "tools" => bodies.as_slice(),
            _ => &[],
        };
        let named = |scope, json: &mut Json| {
            let at = At {
                scope,
                called: &[],
                above: "",
            };
            *json = namer.value(at, key, json.take());
        };
        match json {
            Json::Array(items) => {
                let scopes = scopes.iter().chain(std::iter::repeat(&none));
                let items = items.iter_mut().zip(scopes);
                items.for_each(|(item, scope)| named(scope, item));
            }
            other => named(&none, other),
        }
    }
    all
}

impl Namer<'_> {
    fn value(&self, at: At, key: &str, json: Json) -> Json {
        match json {
            Json::Number(number) => {
                let name = number
                    .as_u64()
                    .and_then(|number| self.number(at, key, number));
                name.map_or(Json::Number(number), Json::String)
            }
            Json::Array(items) => items
                .into_iter()
                .map(|item| self.value(at, key, item))
                .collect(),
            json => match (self.ty(&json), json) {
                (Some(ty), _) => Json::String(ty),
                (None, Json::Object(entries)) => self.object(at, key, entries),
                (None, other) => other,
            },
        }
    }

    /// What a number of the IR stands for; `None` where it is a number of the flow.
    fn number(&self, at: At, key: &str, number: u64) -> Option<String> {
        let flow = self.flow;
        let listed = |names: &[String]| {
            let name = usize::try_from(number).ok().and_then(|at| names.get(at));
            name.cloned().unwrap_or_else(|| format!("number {number}"))
        };
        Some(match key {
            key if key.ends_with("_ms") => duration::show(Duration::from_millis(number)),
            "graph" | "entry" => nth(&flow.graphs, number, |graph| &graph.name),
            "tool" | "tools" => nth(&flow.tools, number, |tool| &tool.name),
            "model" | "fallback" => nth(&flow.models, number, |model| &model.name),
            "event" | "progress" => nth(&flow.events, number, |event| &event.name),
            "reducer" => nth(&flow.reducers, number, |reducer| &reducer.name),
            "node" | "worker" | "members" => listed(&at.scope.nodes),
            "joins" => listed(&at.scope.joins),
            "to" if at.above != "into" => listed(at.called),
            "from" if at.above == "into" => listed(at.called),
            "field" | "reads" | "writes" | "on" | "keep" | "to" | "from" => {
                listed(&at.scope.fields)
            }
            _ => return None,
        })
    }

    fn object(&self, at: At, key: &str, mut entries: Entries) -> Json {
        if let (Some(Json::String(text)), true) = (entries.get("text"), entries.contains_key("at"))
        {
            let fields = &at.scope.migrate.fields;
            let template = matches!(key, "system" | "prompt") || (at.above, key) == ("ask", "text");
            match entries.get("args") {
                Some(_) => entries.retain(|key, _| matches!(key.as_str(), "text" | "args")),
                None if template => return Json::String(renamed(text, fields)),
                None => return Json::String(self.laid_out(text, fields)),
            }
        }
        let mut flat = Map::new();
        flatten(entries, &mut flat);
        let called = flat.get("graph").and_then(Json::as_u64);
        let called = called.and_then(|graph| self.graphs.get(usize::try_from(graph).ok()?));
        let inner = At {
            called: called.map_or(at.called, |graph| &graph.fields),
            above: key,
            ..at
        };
        let whole = flat.contains_key("name");
        let mut named = Map::new();
        for (part, json) in flat {
            match json {
                Json::Object(place) if place.contains_key("column") => {
                    if whole && part == "at" {
                        named.insert(part, Json::Object(place));
                    }
                }
                Json::Object(several) if matches!(part.as_str(), "defaults" | "params") => {
                    let several = several
                        .iter()
                        .map(|(key, json)| (key.clone(), written(json)));
                    named.insert(part, Json::Object(several.collect()));
                }
                json if constant(key, &part) => {
                    named.insert(part, written(&json));
                }
                json => {
                    let json = self.value(inner, &part, json);
                    named.insert(renamed_key(key, &part).to_owned(), json);
                }
            }
        }
        let migrate = &at.scope.migrate;
        if let Some(Json::String(name)) = named.get("name") {
            let now = match key {
                // What a question shows and what an event carries stands under `fields` too.
                "fields" if named.contains_key("mode") => migrate.fields.get(name),
                "nodes" => migrate.nodes.get(name),
                _ if named.contains_key("to") => migrate.nodes.get(name),
                _ => None,
            };
            if let Some(now) = now {
                named.insert("name".to_owned(), now.clone().into());
            }
        }
        if let ("joins", Some(Json::Array(members))) = (key, named.get("members")) {
            let names = members.iter().filter_map(Json::as_str);
            let mut names: Vec<&str> = names.collect();
            names.sort_unstable();
            let name = format!("[{}]", names.join(", "));
            named.insert("name".to_owned(), name.into());
        }
        // `:=`, past the reducer.
        if named.remove("replace").is_some()
            && let Some(value) = named.remove("value")
        {
            named.insert("replacement".to_owned(), value);
        }
        Json::Object(named)
    }

    fn laid_out(&self, text: &str, fields: &BTreeMap<String, String>) -> String {
        if !fields.is_empty() {
            return laid_out(text, fields);
        }
        let mut known = self.layouts.borrow_mut();
        let known = known.entry(text.to_owned());
        known.or_insert_with(|| laid_out(text, fields)).clone()
    }

    /// A type as it is written, all of it; `None` where it is something else.
    fn ty(&self, json: &Json) -> Option<String> {
        let Json::Object(entries) = json else {
            return json.as_str().map(str::to_owned);
        };
        let (kind, of) = entries.iter().next().filter(|_| entries.len() == 1)?;
        let types = &self.flow.types;
        Some(match kind.as_str() {
            "list" | "map" | "optional" => format!("{kind}<{}>", self.ty(of)?),
            "nullable" if of.get("union").is_some() => format!("({})?", self.ty(of)?),
            "nullable" => format!("{}?", self.ty(of)?),
            "union" => {
                let members = of.as_array()?.iter().map(|member| self.ty(member));
                members.collect::<Option<Vec<_>>>()?.join(" | ")
            }
            "literal" => of.to_string(),
            "record" => nth(&types.records, of.as_u64()?, |record| &record.name),
            "enum" => nth(&types.enums, of.as_u64()?, |declared| &declared.name),
            _ => return None,
        })
    }
}

/// The name of what has that number.
fn nth<I: Id, T>(all: &IdVec<I, T>, number: u64, name: impl Fn(&T) -> &str) -> String {
    let found = usize::try_from(number)
        .ok()
        .and_then(|at| all.iter().nth(at));
    found.map_or_else(
        || format!("number {number}"),
        |found| name(found).to_owned(),
    )
}

/// Whether an entry is a constant of the flow, which may have any form.
fn constant(above: &str, key: &str) -> bool {
    match key {
        "default" | "values" => true,
        "on_error" => above == "tools",
        _ => false,
    }
}

/// A constant as a text.
fn written(json: &Json) -> Json {
    Json::String(json.to_string())
}

/// What a node does, what it asks of a model, and bounds, beside all else of the thing.
fn flatten(entries: Entries, flat: &mut Entries) {
    for (key, json) in entries {
        match (key.as_str(), json) {
            ("work", Json::Object(work)) => {
                for (kind, json) in work {
                    flat.insert("work".to_owned(), kind.into());
                    if let Json::Object(mut does) = json {
                        if let Some(name) = does.remove("name") {
                            flat.insert("extern".to_owned(), name);
                        }
                        flatten(does, flat);
                    }
                }
            }
            ("call" | "constraints", Json::Object(part)) => flatten(part, flat),
            (_, json) => {
                flat.insert(key, json);
            }
        }
    }
}

/// Fields that a called graph is given, and those that take what it gives, are written as other writes are.
fn renamed_key<'k>(above: &str, key: &'k str) -> &'k str {
    match (above, key) {
        ("field" | "value" | "sent" | "into", "to") => "field",
        ("field" | "into", "from") => "value",
        _ => key,
    }
}

impl Scope {
    fn of(graph: &Graph, migrate: Migrate) -> Self {
        let now = |names: &BTreeMap<String, String>, name: &String| {
            names.get(name).unwrap_or(name).clone()
        };
        let fields = graph.fields.iter();
        let nodes = graph.nodes.iter();
        let nodes: Vec<String> = nodes.map(|node| now(&migrate.nodes, &node.name)).collect();
        let joins = graph.joins.iter().map(|join| {
            let members = join.members.iter();
            let members = members.filter_map(|id| nodes.get(id.0 as usize).map(String::as_str));
            format!("[{}]", members.collect::<Vec<_>>().join(", "))
        });
        Self {
            joins: joins.collect(),
            fields: fields
                .map(|field| now(&migrate.fields, &field.name))
                .collect(),
            nodes,
            migrate,
        }
    }
}

/// Where a thing is declared.
pub(super) fn place(thing: &Entries) -> Option<Place> {
    serde_json::from_value(thing.get("at")?.clone()).ok()
}

/// A part without places, of which only another text is another.
pub(super) fn without_places(part: &Json) -> Json {
    let mut part = part.clone();
    drop_places(&mut part);
    part
}
