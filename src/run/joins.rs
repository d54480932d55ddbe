//! Joins that some but not all members have arrived at: kept like a field of the state, under a name that no field has.
//!
//! A checkpoint holds who has arrived in its step, so that a thread stays in proportion to the arrivals and not to what
//! has arrived times the steps that it waits for. Joins have no names: the first arrival at one names its members, and
//! all have its number.

use std::collections::{BTreeMap, BTreeSet};

use crate::ir::{JoinId, NodeId};
use crate::value::{List, Map, Value};

use super::growth::SMALLEST_SNAPSHOT;
use super::plan::GraphPlan;
use super::store::{Change, FieldImage, FieldWrite, FrameImage};

/// Name under which a checkpoint keeps them.
pub const JOINS: &str = "#joins";

/// Who has arrived at each join.
pub type Arrived = BTreeMap<JoinId, BTreeSet<NodeId>>;

/// How much of it the checkpoints of a frame have.
#[derive(Debug, Clone, Default)]
pub struct Joins {
    /// Numbers of the joins that they have.
    numbers: BTreeMap<JoinId, u64>,
    /// The number of the next one.
    next: u64,
    /// Entries since all were written.
    changes: u64,
    /// Whether they have any entries.
    any: bool,
    /// Whether what has arrived now does not go on from what is kept.
    anew: bool,
}

impl Joins {
    /// Notes what a checkpoint has, which has led to these joins of the graph.
    pub fn load(&mut self, image: &FrameImage, numbers: BTreeMap<JoinId, u64>) {
        let field = image.fields.get(JOINS);
        let all = list(field).filter_map(number);
        self.next = all.max().map_or(0, |last| last + 1);
        self.changes = field.map_or(0, |field| field.changes);
        self.any = field.is_some();
        self.anew = false;
        self.numbers = numbers;
    }

    /// What was kept so far is of an agenda that is given up.
    pub fn begin_anew(&mut self) {
        self.anew = true;
    }

    /// What the checkpoint of a step keeps, which has led from one to the other.
    pub fn accept(
        &mut self,
        graph: &GraphPlan,
        before: &Arrived,
        now: &Arrived,
    ) -> Option<FieldWrite> {
        let known = |join: &JoinId| self.numbers.contains_key(join);
        // What an earlier version of the program has kept elsewhere goes along even where nothing has arrived.
        let goes_on = !self.anew && before.keys().all(known);
        self.anew = false;
        let write = |change| FieldWrite {
            field: JOINS.to_owned(),
            change,
        };
        if now.is_empty() {
            let any = std::mem::take(&mut self.any);
            self.numbers.clear();
            (self.next, self.changes) = (0, 0);
            return any.then(|| write(Change::Clear));
        }
        if !goes_on {
            return Some(write(self.whole(graph, now)));
        }
        let mut added = Vec::new();
        for (join, arrived) in before {
            let stays = now.get(join).is_some_and(|now| now.is_superset(arrived));
            if !stays && let Some(number) = self.numbers.remove(join) {
                added.push(entry(number, Vec::new()));
            }
        }
        for (join, arrived) in now {
            let had = before.get(join).filter(|_| self.numbers.contains_key(join));
            let new = arrived.iter();
            let new: Vec<NodeId> = new
                .filter(|node| had.is_none_or(|had| !had.contains(node)))
                .copied()
                .collect();
            added.extend(self.arrivals(graph, *join, &new));
        }
        if added.is_empty() {
            return None;
        }
        self.any = true;
        self.changes += added.len() as u64;
        let size: usize = now.values().map(BTreeSet::len).sum();
        if self.changes > SMALLEST_SNAPSHOT.max(2 * size as u64) {
            return Some(write(self.whole(graph, now)));
        }
        Some(write(Change::Append(added)))
    }

    /// All that has arrived.
    fn whole(&mut self, graph: &GraphPlan, now: &Arrived) -> Change {
        self.numbers.clear();
        (self.next, self.changes, self.any) = (0, 0, true);
        let mut all = Vec::new();
        for (join, arrived) in now {
            let arrived: Vec<NodeId> = arrived.iter().copied().collect();
            all.extend(self.arrivals(graph, *join, &arrived));
        }
        Change::Put(Value::List(all.into_iter().collect()))
    }

    /// Entries of arrivals at a join.
    fn arrivals(&mut self, graph: &GraphPlan, join: JoinId, arrived: &[NodeId]) -> Vec<Value> {
        let name = |node: &NodeId| Value::text(&*graph.nodes[*node].name);
        let mut more = Vec::new();
        let number = match self.numbers.get(&join) {
            Some(number) => *number,
            None => {
                let number = self.next;
                self.next += 1;
                self.numbers.insert(join, number);
                let members: Vec<Value> = graph.joins[join].0.iter().map(name).collect();
                more.push(entry(number, vec![("members", members.into())]));
                number
            }
        };
        let arrived = arrived.iter();
        more.extend(arrived.map(|node| entry(number, vec![("node", name(node))])));
        more
    }
}

fn entry(number: u64, parts: Vec<(&str, Value)>) -> Value {
    let number = Value::Int(i64::try_from(number).unwrap_or(i64::MAX));
    let parts = [("join", number)].into_iter().chain(parts);
    Value::Map(parts.collect::<Map>())
}

fn list(field: Option<&FieldImage>) -> impl Iterator<Item = &Value> {
    let list = field.and_then(|field| field.value.as_list());
    list.into_iter().flat_map(List::iter)
}

fn number(entry: &Value) -> Option<u64> {
    match entry.get("join")? {
        Value::Int(number) => u64::try_from(*number).ok(),
        _ => None,
    }
}

/// A join as a checkpoint has it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Its number.
    pub number: u64,
    /// Names of its members.
    pub members: Vec<String>,
    /// Names of those that have arrived.
    pub arrived: Vec<String>,
}

/// The joins that a checkpoint has, in the order in which they were begun.
pub fn of_checkpoint(field: Option<&FieldImage>) -> Vec<Waiting> {
    let mut joins: BTreeMap<u64, Waiting> = BTreeMap::new();
    for entry in list(field) {
        let Some(number) = number(entry) else {
            continue;
        };
        let text = |value: &Value| value.as_str().map(str::to_owned);
        if let Some(members) = entry.get("members").and_then(Value::as_list) {
            let join = Waiting {
                number,
                members: members.iter().filter_map(text).collect(),
                arrived: Vec::new(),
            };
            joins.insert(number, join);
        } else if let Some(node) = entry.get("node").and_then(text) {
            if let Some(join) = joins.get_mut(&number) {
                join.arrived.push(node);
            }
        } else {
            joins.remove(&number);
        }
    }
    joins.into_values().collect()
}

/// The joins of a thread whose nodes have other names now.
pub fn renamed(field: &FieldImage, names: &BTreeMap<String, String>) -> FieldImage {
    let new = |name: &Value| match name.as_str().and_then(|old| names.get(old)) {
        Some(new) => Value::text(new.as_str()),
        None => name.clone(),
    };
    let made = list(Some(field)).map(|entry| {
        let mut made = entry.as_map().cloned().unwrap_or_default();
        if let Some(node) = entry.get("node") {
            made.insert("node", new(node));
        }
        if let Some(members) = entry.get("members").and_then(Value::as_list) {
            let members: Vec<Value> = members.iter().map(new).collect();
            made.insert("members", members.into());
        }
        Value::Map(made)
    });
    FieldImage {
        value: Value::List(made.collect()),
        changes: field.changes,
    }
}
