//! Tools that a node may call, and the scope of a graph.

use super::Versions;
use super::finding::Group::{Breaking, Compatible};
use super::finding::Side::{People, Threads};
use super::rest::Spot;
use super::tree::Tree;
use crate::base::name::list;

impl Versions<'_> {
    /// Whether a person may have been asked about a call of a tool of the old version.
    fn asked_about(&self, tool: &str) -> bool {
        let tool = self.old.tools.iter().find(|known| known.name == tool);
        tool.is_some_and(|tool| tool.asks() || tool.idempotent == Some(false))
    }

    /// Tools that a node may call, or the scope of a graph.
    pub(super) fn tools_of(&mut self, spot: &Spot, old: Option<&Tree>, new: Option<&Tree>) {
        let of = &spot.of;
        let scope = |tree: Option<&Tree>| tree.is_some() || spot.kind == "Node";
        let set = match (scope(old), scope(new)) {
            (false, _) => Some("a scope of tools now:"),
            (_, false) => Some("no scope of tools any more; it was"),
            (true, true) => None,
        };
        let names = |tree: Option<&Tree>| -> Vec<String> {
            let elements = tree.map_or(&[] as &[Tree], Tree::elements);
            elements.iter().map(Tree::show).collect()
        };
        // Without a scope any tool may be called: none is given or taken one by one.
        if let Some(set) = set {
            let all = names(new.or(old));
            let message = match all.is_empty() {
                true => format!("{of} sets {set} no tool"),
                false => format!("{of} sets {set} {}", list(all.iter().map(String::as_str))),
            };
            let (group, side) = (Compatible, People);
            self.say(group, side, "scope-changed", spot.at, message);
            return;
        }
        let (was, is) = (names(old), names(new));
        let (mut added, mut gone) = (is.clone(), was.clone());
        added.retain(|name| !was.contains(name));
        gone.retain(|name| !is.contains(name));
        let (given, taken) = match spot.kind {
            "Graph" => ("scope-changed", "scope-changed"),
            _ => ("tool-given", "tool-taken"),
        };
        for name in &added {
            let message = format!("{of} may call `{name}` now");
            self.say(Compatible, People, given, spot.at, message);
        }
        for name in &gone {
            let message = format!("{of} may not call `{name}` any more");
            let (group, side, message) = match spot.kind != "Graph" && self.asked_about(name) {
                true => (
                    Breaking,
                    Threads,
                    format!(
                        "{message}; a thread may wait there for a person's word on a call of it"
                    ),
                ),
                false => (Compatible, People, message),
            };
            self.say(group, side, taken, spot.at, message);
        }
        if added.is_empty() && gone.is_empty() && old.is_some() && new.is_some() {
            let message = format!("tools of {of} stand in another order");
            self.say(Compatible, People, "tool-order", spot.at, message);
        }
    }
}
