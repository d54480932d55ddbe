//! Which fields of `state` a part of a flow reads.

use std::collections::BTreeSet;

use super::Tree;

/// Those of some fields that a tree reads: in its expressions and templates, and where it names them as what is read. A text
/// that only looks as if it read one counts too.
pub(in crate::ir::diff) fn read_in<'n>(
    tree: &Tree,
    names: &BTreeSet<&'n str>,
) -> BTreeSet<&'n str> {
    let mut found = BTreeSet::new();
    let mut open = vec![(tree, false)];
    while let Some((tree, named)) = open.pop() {
        match tree {
            Tree::Leaf(text) if named => found.extend(names.get(text.as_str())),
            Tree::Leaf(text) => found.extend(of_state(text).filter_map(|name| names.get(name))),
            Tree::List(elements) => open.extend(elements.iter().map(|tree| (tree, named))),
            Tree::Part(part) => {
                for (key, tree) in &part.entries {
                    let named = matches!(
                        (part.kind, key.as_str()),
                        ("Pass", "from") | ("Work" | "ToolBody", "reads")
                    );
                    open.push((tree, named));
                }
            }
            Tree::Word(_) | Tree::At(_) | Tree::Nothing => {}
        }
    }
    found
}

/// The names behind `state.` in a text.
fn of_state(text: &str) -> impl Iterator<Item = &str> {
    text.split("state").skip(1).filter_map(|rest| {
        let rest = rest.trim_start();
        let rest = rest.strip_prefix("?.").or(rest.strip_prefix('.'))?;
        let rest = rest.trim_start();
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_');
        rest.get(..end.unwrap_or(rest.len()))
    })
}
