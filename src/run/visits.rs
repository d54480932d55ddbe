//! How often a frame has entered the nodes that bound their visits (`max_visits`).
//!
//! Kept like a field of the state, under a name that no field has: a checkpoint holds the counts that its step has
//! changed, so that a thread stays in proportion to the steps made and not to steps times nodes.

use std::collections::BTreeMap;

use crate::ir::NodeId;
use crate::value::{Map, Value};

use super::plan::GraphPlan;
use super::schedule;
use super::store::{Change, FieldImage, FieldWrite, FrameImage};

/// Name under which a checkpoint keeps them.
pub const VISITS: &str = "#visits";

/// Changes that are kept, at least, before all counts are written again.
const SMALLEST_SNAPSHOT: u64 = 64;

/// The counts of a frame.
#[derive(Debug, Clone, Default)]
pub struct Visits {
    counts: BTreeMap<NodeId, u32>,
    /// Whether checkpoints of the frame have them all, but for what each step changes.
    kept: bool,
    /// Counts kept since all were written.
    changes: u64,
}

impl Visits {
    /// Entries of a node.
    pub fn of(&self, node: NodeId) -> u32 {
        self.counts.get(&node).copied().unwrap_or_default()
    }

    /// Takes in what a checkpoint has.
    pub fn load(&mut self, graph: &GraphPlan, image: &FrameImage) {
        let field = image.fields.get(VISITS);
        self.kept = field.is_some();
        self.changes = field.map_or(0, |field| field.changes);
        let of_field = field.and_then(|field| field.value.as_map());
        let of_field = of_field.into_iter().flat_map(Map::iter);
        let of_field =
            of_field.filter_map(|(name, count)| Some((name.as_str()?, as_count(count)?)));
        let earlier = schedule::visits(&image.schedule);
        let earlier = earlier.iter().map(|(name, count)| (name.as_str(), *count));
        let known: BTreeMap<&str, NodeId> = graph
            .nodes
            .entries()
            .filter(|(_, node)| node.max_visits.is_some())
            .map(|(id, node)| (&*node.name, id))
            .collect();
        // Nothing asks how often a node was visited that is gone.
        let all = earlier.chain(of_field);
        let all = all.filter_map(|(name, count)| Some((*known.get(name)?, count)));
        self.counts.extend(all);
    }

    /// Takes the counts that a step has changed; gives back what its checkpoint keeps of them.
    pub fn accept(
        &mut self,
        graph: &GraphPlan,
        changed: BTreeMap<NodeId, u32>,
    ) -> Option<FieldWrite> {
        // Counts that an earlier version of the program has kept go along even where none has changed.
        if changed.is_empty() && (self.kept || self.counts.is_empty()) {
            return None;
        }
        let entry = |(node, count): (&NodeId, &u32)| {
            let name = &graph.nodes[*node].name;
            (name.to_string(), Value::Int((*count).into()))
        };
        self.changes += changed.len() as u64;
        self.counts.extend(&changed);
        let outgrown = self.changes > SMALLEST_SNAPSHOT.max(self.counts.len() as u64);
        let whole = !std::mem::replace(&mut self.kept, true);
        let change = if whole || outgrown {
            self.changes = 0;
            let all = self.counts.iter().map(entry);
            let mut map = Map::new();
            for (name, count) in all {
                map.insert(name.as_str(), count);
            }
            Change::Put(Value::Map(map))
        } else {
            Change::Merge(changed.iter().map(entry).collect())
        };
        Some(FieldWrite {
            field: VISITS.to_owned(),
            change,
        })
    }
}

fn as_count(value: &Value) -> Option<u32> {
    match value {
        Value::Int(count) => u32::try_from(*count).ok(),
        _ => None,
    }
}

/// The counts of a thread whose nodes have other names now.
pub fn renamed(field: &FieldImage, names: &BTreeMap<String, String>) -> FieldImage {
    let Some(map) = field.value.as_map() else {
        return field.clone();
    };
    let mut new = Map::new();
    for (name, count) in map.iter() {
        let name = name.as_str().unwrap_or_default();
        let name = names.get(name).map_or(name, String::as_str);
        new.insert(name, count.clone());
    }
    FieldImage {
        value: Value::Map(new),
        changes: field.changes,
    }
}
