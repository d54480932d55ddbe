//! How the run ended, where it left for, where it went, what it gave and asked.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

use serde_json::{Value as Json, json};

use crate::ir::ErrorKind;
use crate::project::scenario::expect::{Mismatch, Written};
use crate::project::scenario::{PathStep, Scenario, compare_path};
use crate::project::yaml::Step;
use crate::run::store::RunState;

use super::Finding;
use crate::scenario::observed::Observed;
use crate::scenario::sighting::Ended;

/// `status`, and whether it began at all.
pub fn ended(scenario: &Scenario, observed: &Observed) -> Option<Finding> {
    match &observed.ended {
        Some(ended) => status(scenario, ended),
        None => Some(Finding::new(&scenario.at, "the run did not begin")),
    }
}

/// `left`, `path`, `output`, `events`, `interrupts`, `permitted`, `error`.
pub fn judge(scenario: &Scenario, observed: &Observed) -> Vec<Finding> {
    let expect = &scenario.expect;
    let Some(ended) = &observed.ended else {
        return Vec::new();
    };
    let mut found = Vec::new();
    found.extend(expect.left.as_ref().and_then(|names| left(names, ended)));
    found.extend(expect.path.as_ref().and_then(|path| way(path, observed)));
    if let Some(output) = &expect.output {
        found.extend(findings(
            output.compare(&Json::Object(ended.output.clone())),
        ));
    }
    if let Some(events) = &expect.events {
        found.extend(in_order(events, "event", &observed.events));
    }
    if let Some(interrupts) = &expect.interrupts {
        found.extend(in_order(interrupts, "interrupt", &observed.interrupts));
    }
    if let Some(permitted) = &expect.permitted {
        found.extend(in_any_order(permitted, "permission", &ended.permitted));
    }
    if let Some(memory) = &expect.memory {
        found.extend(in_order(memory, "item of memory", &observed.memory));
    }
    if let Some(error) = &expect.error {
        found.extend(failure(error, ended, observed));
    }
    found
}

/// Without `status`, the run must be done; it may have failed where an `error` is expected, and
/// wait where `interrupts` are.
fn status(scenario: &Scenario, ended: &Ended) -> Option<Finding> {
    let expect = &scenario.expect;
    let actual = ended.status.word();
    let (wanted, at) = match &expect.status {
        Some(status) => (vec![status.value], &status.at),
        None if expect.error.is_some() => (vec!["failed", "interrupted"], &scenario.at),
        None if expect.interrupts.is_some() => (vec!["done", "interrupted"], &scenario.at),
        None => (vec!["done"], &scenario.at),
    };
    if wanted.contains(&actual) {
        return None;
    }
    let text = |key: &str| ended.error.as_ref()?.get(key)?.as_str();
    let why = match (text("kind"), text("message")) {
        (Some(kind), Some(message)) => {
            let place = text("place").map_or(String::new(), |place| format!(" ({place})"));
            format!(": {kind}: {message}{place}")
        }
        _ => String::new(),
    };
    let wanted = wanted.join(" or ");
    if let (RunState::Interrupted, [(path, _, _), ..]) = (ended.status, ended.open.as_slice()) {
        let message = format!("expected the run to be {wanted}, it is {actual}: `{path}` asks");
        let lines = ended.open.iter().map(|(path, ask, expects)| {
            format!("+ {path}: {ask}\n  answer it with `answers: {{ {path}: [ .. ] }}`, of the type {expects}")
        });
        let lines: Vec<String> = lines.collect();
        return Some(Finding::new(at, message).detail(lines.join("\n")));
    }
    let message = format!("expected the run to be {wanted}, it is {actual}{why}");
    let (message, detail) = message.split_once('\n').unwrap_or((&message, ""));
    Some(Finding::new(at, message).detail(detail))
}

/// The names that the graph left by, in any order.
fn left(expected: &Written<Vec<String>>, ended: &Ended) -> Option<Finding> {
    let mut names = [expected.value.clone(), ended.left.clone()];
    names.iter_mut().for_each(|names| names.sort());
    let [wanted, actual] = names.map(|names| match names.is_empty() {
        true => "nothing".to_owned(),
        false => crate::base::name::list(names.iter().map(String::as_str)),
    });
    let message = format!("expected the graph to leave for {wanted}, it left for {actual}");
    (wanted != actual).then(|| Finding::new(&expected.at, message))
}

fn way(expected: &Written<Vec<PathStep>>, observed: &Observed) -> Option<Finding> {
    let actual: Vec<&str> = observed.path.iter().map(String::as_str).collect();
    let mismatch = compare_path(&expected.value, &actual).err()?;
    let mut at = expected.at.clone();
    if mismatch.step < expected.value.len() {
        at.push(Step::Index(mismatch.step));
    }
    let wanted: Vec<&str> = expected
        .value
        .iter()
        .map(|step| match step {
            PathStep::Node(node) => node.as_str(),
            PathStep::Any => "...",
        })
        .collect();
    let detail = format!("- {}\n+ {}", wanted.join(", "), actual.join(", "));
    Some(Finding::new(&at, format!("the path: {mismatch}")).detail(detail))
}

/// Each wanted one must be there, each another one; others may be there too.
fn in_any_order(wanted: &Written<Vec<Written<Json>>>, what: &str, actual: &[Json]) -> Vec<Finding> {
    let fits = wanted.value.iter().map(|one| {
        let all = actual.iter().enumerate();
        let fitting = all.filter(|(_, other)| one.compare(other).is_empty());
        fitting.map(|(at, _)| at).collect()
    });
    let lone = unmatched(&fits.collect::<Vec<_>>());
    match lone.and_then(|lone| wanted.value.get(lone)) {
        Some(one) => vec![absent(one, what, actual, "")],
        None => none_wanted(wanted, what, actual),
    }
}

/// The first that gets none of its own, however those before it are given theirs: augmenting paths in a bipartite graph.
fn unmatched(fits: &[Vec<usize>]) -> Option<usize> {
    // Who has which, both ways.
    let mut taken: BTreeMap<usize, usize> = BTreeMap::new();
    let mut has: BTreeMap<usize, usize> = BTreeMap::new();
    for start in 0..fits.len() {
        let mut reached: BTreeMap<usize, usize> = BTreeMap::new();
        let mut waiting = VecDeque::from([start]);
        let mut free = None;
        while let (None, Some(one)) = (free, waiting.pop_front()) {
            for at in fits.get(one).into_iter().flatten() {
                if reached.contains_key(at) {
                    continue;
                }
                reached.insert(*at, one);
                match taken.get(at) {
                    Some(other) => waiting.push_back(*other),
                    None => free = free.or(Some(*at)),
                }
            }
        }
        // Along the path back to the start each gives up what it had.
        let Some(mut at) = free else {
            return Some(start);
        };
        while let Some(one) = reached.get(&at) {
            taken.insert(at, *one);
            match has.insert(*one, at) {
                Some(before) if *one != start => at = before,
                _ => break,
            }
        }
    }
    None
}

/// That a wanted one is not there, with those that are.
fn absent(one: &Written<Json>, what: &str, actual: &[Json], place: &str) -> Finding {
    let message = format!("expected the {what} {}{place}", one.value);
    let detail = match actual.is_empty() {
        true => format!("there was no {what}"),
        false => listed(actual),
    };
    Finding::new(&one.at, message).detail(detail)
}

fn listed(actual: &[Json]) -> String {
    let lines = actual.iter().map(|other| format!("+ {other}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// An empty list says that there is none.
fn none_wanted(wanted: &Written<Vec<Written<Json>>>, what: &str, actual: &[Json]) -> Vec<Finding> {
    if !wanted.value.is_empty() || actual.is_empty() {
        return Vec::new();
    }
    let message = format!("expected no {what}");
    vec![Finding::new(&wanted.at, message).detail(listed(actual))]
}

/// Each wanted one must be there, in order; others may stand between them.
fn in_order(wanted: &Written<Vec<Written<Json>>>, what: &str, actual: &[Json]) -> Vec<Finding> {
    let mut rest = actual;
    for (index, one) in wanted.value.iter().enumerate() {
        let fits = |other: &Json| one.compare(&placed(&one.value, other)).is_empty();
        let fitting = rest.iter().position(fits);
        if let Some(at) = fitting {
            rest = rest.get(at + 1..).unwrap_or_default();
            continue;
        }
        // The nearest one, if any, says best what differs.
        let same = |other: &&Json| same_name(&one.value, &placed(&one.value, other));
        let same = rest.iter().find(same);
        if let Some(other) = same {
            return findings(one.compare(&placed(&one.value, other)));
        }
        let place = if index > 0 {
            " after the one before"
        } else {
            ""
        };
        return vec![absent(one, what, actual, place)];
    }
    none_wanted(wanted, what, actual)
}

/// A question as one that is named with the indices of sends sees it: by its place.
fn placed<'j>(wanted: &Json, actual: &'j Json) -> Cow<'j, Json> {
    let mut seen = Cow::Borrowed(actual);
    for key in ["node", "path"] {
        let named = wanted.get(key).and_then(Json::as_str);
        if let (Some(place), Some(true)) =
            (actual.get("place"), named.map(|path| path.contains('[')))
            && let Some(entries) = seen.to_mut().as_object_mut()
        {
            entries.insert(key.to_owned(), place.clone());
        }
    }
    seen
}

fn same_name(wanted: &Json, actual: &Json) -> bool {
    let key = ["name", "node", "path", "key"];
    let key = key.into_iter().find(|key| wanted.get(key).is_some());
    key.is_some_and(|key| wanted.get(key) == actual.get(key))
}

/// `node` may be the node's name or its whole path. Where the run has no error, it is about the last
/// answer that was refused.
fn failure(expected: &Written<Json>, ended: &Ended, observed: &Observed) -> Vec<Finding> {
    let refused = observed.refused.last();
    let refused = refused
        .map(|(_, message)| json!({ "kind": ErrorKind::InvalidInput.word(), "message": message }));
    let Some(error) = ended.error.clone().or(refused) else {
        let message = format!("expected the error {}, there was none", expected.value);
        return vec![Finding::new(&expected.at, message)];
    };
    let mut error = error;
    if let (Some(entries), Some(path)) = (error.as_object_mut(), path_of(expected, ended)) {
        entries.insert("node".to_owned(), path);
    }
    let found = expected.compare(&error);
    let whole = error.to_string();
    let findings = findings(found).into_iter();
    findings
        .map(|finding| finding.detail(format!("+ {whole}")))
        .collect()
}

fn path_of(expected: &Written<Json>, ended: &Ended) -> Option<Json> {
    let path = ended.error.as_ref()?.get("path")?;
    (expected.value.get("node")? == path).then(|| path.clone())
}

fn findings(mismatches: Vec<Mismatch>) -> Vec<Finding> {
    mismatches.into_iter().map(Finding::from).collect()
}
