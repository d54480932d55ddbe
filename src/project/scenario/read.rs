//! The file as a whole.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde_json::{Map as JsonMap, Value as Json};

use crate::base::{FileId, SourceMap};
use crate::diag::{Diagnostics, codes};
use crate::ir::memory::space::{self, Space};
use crate::project::spec::script::ToolReply;
use crate::project::yaml::{Cursor, Document};

use super::field::Fields;
use super::{
    Expect, Remembered, Scenario, Service, Suite, Written, answers, cassette_name, crash, expect,
    reply, service,
};

const KEYS: [&str; 8] = [
    "flow",
    "graph",
    "profile",
    "real",
    "recorded",
    "services",
    "defaults",
    "scenarios",
];
const DEFAULT_KEYS: [&str; 12] = [
    "graph", "input", "context", "thread", "models", "tools", "profile", "real", "recorded",
    "answers", "clock", "memory",
];
const SCENARIO_KEYS: [&str; 15] = [
    "name", "graph", "input", "context", "thread", "models", "tools", "profile", "real",
    "recorded", "answers", "clock", "memory", "crash", "expect",
];

/// Reads a `.test.yaml`.
///
/// # Errors
/// All that is wrong in the file, with places.
pub fn load(sources: &SourceMap, file: FileId) -> Result<Suite, Diagnostics> {
    match load_all(sources, file) {
        (Some(suite), found) if !found.has_errors() => Ok(suite),
        (_, found) => Err(found),
    }
}

/// The same with what can be read of a file that has errors: what doesn't hang on them can be checked all the same.
pub fn load_all(sources: &SourceMap, file: FileId) -> (Option<Suite>, Diagnostics) {
    let document = match Document::parse(sources, file, &codes::INVALID_SCENARIO) {
        Ok(document) => document,
        Err(found) => return (None, found),
    };
    let found = RefCell::new(Diagnostics::new());
    let suite = read(&Cursor::new(&document, &found));
    let mut found = found.into_inner();
    found.sort();
    let suite = suite.map(|read| Suite {
        flow: read.flow,
        scenarios: read.scenarios,
        services: read.services,
        document,
    });
    (suite, found)
}

/// What a file says.
struct Read {
    flow: Option<String>,
    scenarios: Vec<Scenario>,
    services: Vec<Service>,
}

fn read(root: &Cursor<'_>) -> Option<Read> {
    if root.json().is_null() {
        let finding = root.finding("this file is empty: `scenarios` is missing");
        root.report(finding.help("write `scenarios: [ { name: .. } ]`, or delete it"));
        return None;
    }
    let table = root.table("a scenario file", &KEYS)?;
    let flow = table.get("flow").and_then(|flow| flow.text());
    let defaults = table.get("defaults");
    let defaults = defaults.and_then(|d| d.table("`defaults`", &DEFAULT_KEYS));
    let mut names = BTreeSet::new();
    let mut cassettes: BTreeMap<String, String> = BTreeMap::new();
    let mut scenarios = Vec::new();
    for cursor in table.require("scenarios")?.items() {
        let Some(own) = cursor.table("a scenario", &SCENARIO_KEYS) else {
            continue;
        };
        let fields = Fields {
            own,
            defaults: defaults.clone(),
            file: table.clone(),
        };
        let expect = fields.own.get("expect");
        let expect = expect.map_or_else(|| Some(Expect::default()), |e| expect::read(&e));
        let name = fields.own.require("name").and_then(|name| name.text());
        let (Some(name), Some(expect)) = (name, expect) else {
            continue;
        };
        let scenario = Scenario {
            crash: fields.own.get("crash").and_then(|c| crash::read(&c)),
            expect,
            ..scenario(&cursor, &fields, name)
        };
        let own = &scenario.name;
        let name = fields.own.get("name").unwrap_or(cursor);
        if !names.insert(own.clone()) {
            let message = format!("there is a scenario `{own}` already");
            name.report(name.finding(message));
        } else if scenario.recorded
            && let file = cassette_name(own)
            && let Some(other) = cassettes.insert(file.clone(), own.clone())
        {
            let message = format!("`{other}` and `{own}` have the same cassette, `{file}`");
            let help = "choose names that differ in letters or digits";
            name.report(name.finding(message).help(help));
        }
        scenarios.push(scenario);
    }
    let services = table.get("services");
    Some(Read {
        flow: flow.map(str::to_owned),
        scenarios,
        services: services.map_or(Vec::new(), |services| service::read(&services)),
    })
}

/// What comes in and what is replied: all but where it ends and what must hold then.
pub(super) fn scenario(cursor: &Cursor<'_>, fields: &Fields<'_>, name: &str) -> Scenario {
    let text = |key: &str| fields.get(key)?.text().map(str::to_owned);
    Scenario {
        name: name.to_owned(),
        at: cursor.path().clone(),
        graph: fields
            .get_or_file("graph")
            .and_then(|name| Some(name.text()?.to_owned())),
        input: object(fields, "input"),
        context: object(fields, "context"),
        thread: text("thread"),
        models: replies(fields, "models", reply::read),
        tools: replies(fields, "tools", ToolReply::read),
        profile: fields
            .get_or_file("profile")
            .and_then(|name| written(&name)),
        real: fields
            .get_or_file("real")
            .map_or(Vec::new(), |list| names(&list)),
        recorded: fields
            .get_or_file("recorded")
            .and_then(|recorded| recorded.flag())
            .unwrap_or(false),
        answers: fields
            .get("answers")
            .map_or_else(Default::default, |c| answers::read(&c)),
        clock: fields.get("clock").and_then(|clock| time(&clock)),
        memory: memory(fields),
        crash: None,
        strange: fields.own.has_unknown(),
        expect: Expect::default(),
    }
}

fn written(cursor: &Cursor<'_>) -> Option<Written<String>> {
    Some(Written {
        value: cursor.text()?.to_owned(),
        at: cursor.path().clone(),
    })
}

/// The names of a list, with their places.
fn names(list: &Cursor<'_>) -> Vec<Written<String>> {
    list.items().iter().filter_map(written).collect()
}

pub(super) fn object(fields: &Fields<'_>, key: &str) -> JsonMap<String, Json> {
    let entries = fields.entries(key).into_iter();
    entries
        .map(|(name, value)| (name.to_owned(), value.json().clone()))
        .collect()
}

pub(super) fn replies<T>(
    fields: &Fields<'_>,
    key: &str,
    read: impl Fn(&Cursor<'_>) -> Option<T>,
) -> Vec<(String, Vec<T>)> {
    let lists = fields.entries(key).into_iter();
    lists
        .map(|(name, list)| {
            let items = list.items();
            (name.to_owned(), items.iter().filter_map(&read).collect())
        })
        .collect()
}

fn memory(fields: &Fields<'_>) -> Vec<Remembered> {
    let items = fields.get("memory").map_or(Vec::new(), |list| list.items());
    let read = items.iter().filter_map(|item| {
        let table = item.table("an item of `memory`", &["space", "key", "value"])?;
        let (space, key) = (table.require("space")?, table.require("key")?);
        let value = table.require("value")?;
        let parts = space.texts();
        if let Err(why) = Space::new(parts.clone()) {
            space.report(space.finding(why));
        }
        let name = key.text()?;
        if let Err(why) = space::key(name) {
            key.report(key.finding(why));
        }
        Some(Remembered {
            space: parts,
            key: name.to_owned(),
            value: value.json().clone(),
        })
    });
    read.collect()
}

fn time(cursor: &Cursor<'_>) -> Option<Timestamp> {
    let time = cursor.text()?.parse().ok();
    if time.is_none() {
        cursor.expected("a point in time such as `2026-01-09T12:00:00Z`");
    }
    time
}
