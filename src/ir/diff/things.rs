//! Lists of things that have names.

use std::collections::BTreeMap;

use super::tree::{Part, Tree};
use super::words::noun;

/// Whether two lists, of which one may be missing, hold things with names.
pub(super) fn named(old: Option<&Tree>, new: Option<&Tree>) -> bool {
    let mut all = old.into_iter().chain(new).flat_map(Tree::elements);
    let lists = old.is_none_or(is_list) && new.is_none_or(is_list);
    let some = all.clone().next().is_some();
    lists
        && some
        && all.all(|tree| matches!(tree, Tree::Part(part) if !noun(part.kind, "").is_empty()))
}

/// Whether it is a list.
pub(super) fn is_list(tree: &Tree) -> bool {
    matches!(tree, Tree::List(_))
}

/// The things of a list by name, each with how many of that name stand before it.
pub(super) fn parts<'t>(
    tree: Option<&'t Tree>,
    renames: &BTreeMap<String, String>,
) -> Vec<((String, usize), &'t Part)> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut parts = Vec::new();
    for tree in tree.map_or(&[] as &[Tree], Tree::elements) {
        let Tree::Part(part) = tree else { continue };
        let name = name_of(part);
        let name = renames.get(&name).cloned().unwrap_or(name);
        let before = seen.entry(name.clone()).or_default();
        parts.push(((name, *before), part));
        *before += 1;
    }
    parts
}

/// The name of a thing; of a join its members.
pub(super) fn name_of(part: &Part) -> String {
    match part.get("members") {
        Some(members) if part.kind == "Join" => {
            let mut names: Vec<String> = members.elements().iter().map(Tree::show).collect();
            names.sort();
            format!("[{}]", names.join(", "))
        }
        _ => part.get("name").map_or(String::new(), Tree::show),
    }
}
