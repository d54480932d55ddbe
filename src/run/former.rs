//! The names that nodes had when a run began: what tells its calls and questions apart on the outside.
//!
//! A call that was under way when its process died is made again with the same idempotency key, also where a later version
//! of the flow has renamed its node, or one that it is inside of. Which calls those are nobody knows: under
//! `--durability exit` the process may have been steps ahead of what is kept. So keys have the run's own names as long
//! as it lasts. Checkpoints of the run's graph keep them, beside what is left to do.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use crate::ir::node::Work;
use crate::ir::{Flow, GraphId};

/// Name under which a checkpoint keeps them.
const FORMER: &str = "former";

/// By graph: nodes by their names of now, each with the one that it had. A node that an earlier version of the flow has
/// renamed before the run began is in it too, under one name: so a `migrate` block that stays renames nothing twice.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FormerNames(BTreeMap<String, BTreeMap<String, String>>);

impl FormerNames {
    /// Of a run that begins under that version.
    pub fn of(flow: &Flow) -> Self {
        let renaming = flow.graphs.iter();
        let renaming = renaming.filter(|graph| !graph.migrate.nodes.is_empty());
        let names = renaming.map(|graph| {
            let now = graph.migrate.nodes.values();
            let names = now.map(|now| (now.clone(), now.clone()));
            (graph.name.clone(), names.collect())
        });
        Self(names.collect())
    }

    /// As a checkpoint of the run's graph has them.
    pub fn of_checkpoint(schedule: &Json) -> Self {
        let kept = schedule.get(FORMER).cloned().unwrap_or_default();
        Self(serde_json::from_value(kept).unwrap_or_default())
    }

    /// Notes them in a checkpoint of the run's graph.
    pub fn note(&self, schedule: &mut Json) {
        let Some(entries) = schedule.as_object_mut() else {
            return;
        };
        match serde_json::to_value(&self.0) {
            Ok(names) if !self.0.is_empty() => entries.insert(FORMER.to_owned(), names),
            _ => entries.remove(FORMER),
        };
    }

    /// Where the run goes on under a version that says in `migrate` what has become of nodes. One that the thread stands
    /// at by its name of now, in the graph of that name, has that one already.
    pub fn under(mut self, flow: &Flow, stands: &BTreeSet<(String, String)>) -> Self {
        for graph in &flow.graphs {
            let renames = &graph.migrate.nodes;
            if renames.is_empty() {
                continue;
            }
            let known = self.0.remove(&graph.name).unwrap_or_default();
            let moved = known.iter().map(|(name, former)| {
                let now = renames.get(name).unwrap_or(name);
                (now.clone(), former.clone())
            });
            let mut names: BTreeMap<String, String> = moved.collect();
            for (old, now) in renames {
                if !known.contains_key(now) {
                    let name = match stands.contains(&(graph.name.clone(), now.clone())) {
                        true => now,
                        false => old,
                    };
                    names.insert(now.clone(), former(&known, name));
                }
            }
            self.0.insert(graph.name.clone(), names);
        }
        self
    }

    /// The key of a task (`0:content/1:inner[2]`) of a run of that graph, or a node's path, by the names that its nodes had.
    pub fn name<'k>(&self, flow: &Flow, root: GraphId, key: &'k str) -> Cow<'k, str> {
        if self.0.is_empty() {
            return Cow::Borrowed(key);
        }
        let mut graph = flow.graphs.get(root);
        let mut parts = Vec::new();
        for part in key.split('/') {
            // A path has no steps.
            let (step, rest) = part.split_at(part.find(':').map_or(0, |colon| colon + 1));
            let (name, send) = rest.split_at(rest.find('[').unwrap_or(rest.len()));
            let names = graph.and_then(|graph| self.0.get(&graph.name));
            parts.push(match names {
                Some(names) => format!("{step}{}{send}", former(names, name)),
                None => part.to_owned(),
            });
            let node = graph.and_then(|graph| graph.nodes.get(graph.node(name)?));
            graph = match node.map(|node| &node.work) {
                Some(Work::Subgraph { graph, .. }) => flow.graphs.get(*graph),
                _ => None,
            };
        }
        Cow::Owned(parts.join("/"))
    }
}

/// The name that a node had. One that has come since, under a name that another had, gets one that no node can have.
fn former(names: &BTreeMap<String, String>, name: &str) -> String {
    if let Some(former) = names.get(name) {
        return former.clone();
    }
    let mut own = name.to_owned();
    while names.values().any(|former| *former == own) {
        own.push('=');
    }
    own
}
