//! Where types and marks show. A type has no place of its own in the IR: it is shown where it is used first.

use std::collections::BTreeMap;

use super::tree::Tree;
use crate::ir::text::Place;

/// By name of a type or a graph, where it is used or declared first.
pub(super) type Used = BTreeMap<String, Place>;

/// Places of all types that something uses, by way of other types too, and of graphs.
pub(super) fn used(flow: &Tree) -> Used {
    let mut known = Used::new();
    for key in [
        "graphs",
        "parametric",
        "tools",
        "events",
        "reducers",
        "models",
    ] {
        for thing in flow.get(key).map_or(&[] as &[Tree], Tree::elements) {
            if let (Some(name), Tree::Part(part)) = (thing.name(), thing)
                && let Some(at) = part.at.0
            {
                known.entry(name.to_owned()).or_insert(at);
            }
            for (name, at) in types_in(thing) {
                if let Some(at) = at {
                    known.entry(name.to_owned()).or_insert(at);
                }
            }
        }
    }
    // Types that records with a place are made of.
    let records = flow.get("types").and_then(|types| types.get("records"));
    let records = records.map_or(&[] as &[Tree], Tree::elements);
    let made: BTreeMap<&str, &Tree> = records
        .iter()
        .filter_map(|record| Some((record.name()?, record)))
        .collect();
    let mut waiting: Vec<String> = known.keys().cloned().collect();
    while let Some(name) = waiting.pop() {
        let Some((at, record)) = known.get(&name).copied().zip(made.get(name.as_str())) else {
            continue;
        };
        for (part, _) in types_in(record) {
            if !known.contains_key(part) {
                known.insert(part.to_owned(), at);
                waiting.push(part.to_owned());
            }
        }
    }
    known
}

/// Names of the types in something, each with the place of the innermost part around it that has one.
fn types_in(thing: &Tree) -> Vec<(&str, Option<Place>)> {
    let mut found = Vec::new();
    let mut waiting: Vec<(&Tree, Option<Place>)> = vec![(thing, None)];
    while let Some((tree, at)) = waiting.pop() {
        match tree {
            Tree::List(elements) => waiting.extend(elements.iter().rev().map(|tree| (tree, at))),
            Tree::Part(part) => {
                let at = part.at.0.or(at);
                for (key, tree) in part.entries.iter().rev() {
                    match (part.kind, key.as_str(), tree) {
                        ("Type", "record" | "enum", Tree::Leaf(name)) => {
                            found.push((name.as_str(), at));
                        }
                        _ => waiting.push((tree, at)),
                    }
                }
            }
            _ => {}
        }
    }
    found
}
