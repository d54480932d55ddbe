//! Joins: a thread may rest with some of the members arrived, or with members that have run before the join was there.

use std::collections::BTreeSet;

use super::Versions;
use super::finding::Group::Breaking;
use super::finding::Side::Threads;
use super::graphs::Both;
use crate::ir::graph::Graph;

/// The members of a join by name, sorted.
type Members = Vec<String>;

impl Versions<'_> {
    /// Joins that are gone, and new ones of nodes that a thread may have passed.
    pub(super) fn joins(&mut self, both: Both) {
        let renames = &both.new.migrate.nodes;
        let now = |name: &String| renames.get(name).unwrap_or(name).clone();
        let was = members(both.old, now);
        let is = members(both.new, String::clone);
        let at = (Some(both.old.at), Some(both.new.at));
        let graph = &both.new.name;
        let mut noted: BTreeSet<&String> = BTreeSet::new();
        let known: BTreeSet<&Members> = is.iter().collect();
        for join in was.iter().filter(|join| !known.contains(join)) {
            noted.extend(join);
            let join = join.join(", ");
            let message = format!(
                "graph `{graph}` has no join of `[{join}]` any more, at which a thread may wait"
            );
            self.say(Breaking, Threads, "join-gone", at, message);
            self.claim(format!("/graphs/{graph}/joins/[{join}]"));
        }
        let nodes: BTreeSet<String> = both.old.nodes.iter().map(|node| now(&node.name)).collect();
        let known: BTreeSet<&Members> = was.iter().collect();
        for join in is.iter().filter(|join| !known.contains(join)) {
            let before: Vec<String> = join
                .iter()
                .filter(|member| nodes.contains(*member))
                .map(|member| format!("`{member}`"))
                .collect();
            // A join that has other members now is said as one that is gone.
            if before.is_empty() || join.iter().any(|member| noted.contains(member)) {
                continue;
            }
            let join = join.join(", ");
            let message = format!(
                "graph `{graph}` has a new join of `[{join}]`; a thread that has passed {} waits there in vain",
                before.join(" or ")
            );
            self.say(Breaking, Threads, "join-added", at, message);
            self.claim(format!("/graphs/{graph}/joins/[{join}]"));
        }
    }
}

/// The joins of a graph, its nodes called as `now` says.
fn members(graph: &Graph, now: impl Fn(&String) -> String) -> Vec<Members> {
    let joins = graph.joins.iter().map(|join| {
        let nodes = join.members.iter().filter_map(|id| graph.nodes.get(*id));
        let mut names: Members = nodes.map(|node| now(&node.name)).collect();
        names.sort_unstable();
        names
    });
    joins.collect()
}
