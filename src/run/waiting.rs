//! What was sent to nodes that wait until nothing else is left (`defer`): kept like a field of the state, under a name that
//! no field has.
//!
//! A checkpoint holds what its step has added, so that a thread stays in proportion to what was sent and not to what
//! waits times the steps that it waits for.

use std::collections::BTreeMap;

use crate::ir::NodeId;
use crate::value::{List, Value};

use super::plan::GraphPlan;
use super::store::{Change, FieldImage, FieldWrite, FrameImage};

/// Name under which a checkpoint keeps it.
pub const WAITING: &str = "#waiting";

/// Inputs by the node that they were sent to, in the order sent.
pub type Sent = BTreeMap<NodeId, Vec<Value>>;

/// How much of it the checkpoints of a frame have.
#[derive(Debug, Clone, Copy, Default)]
pub struct Waiting {
    /// Inputs.
    kept: usize,
    /// Whether what waits now does not go on from what is kept.
    anew: bool,
}

impl Waiting {
    /// Notes what a checkpoint has.
    pub fn load(&mut self, image: &FrameImage) {
        self.kept = entries(image.fields.get(WAITING)).count();
        self.anew = false;
    }

    /// What was kept so far is of an agenda that is given up.
    pub fn begin_anew(&mut self) {
        self.anew = true;
    }

    /// What the checkpoint of a step keeps, which has led from one to the other: it has added to what waits for a node, or
    /// let all of it go.
    pub fn accept(&mut self, graph: &GraphPlan, before: &Sent, now: &Sent) -> Option<FieldWrite> {
        let all = |sent: &Sent| sent.values().map(Vec::len).sum::<usize>();
        let goes_on = !self.anew
            && self.kept == all(before)
            && before.iter().all(|(node, inputs)| {
                let now = now.get(node).map_or(0, Vec::len);
                now >= inputs.len()
            });
        let had = |node: &NodeId| match goes_on {
            true => before.get(node).map_or(0, Vec::len),
            false => 0,
        };
        let added = now.iter().flat_map(|(node, inputs)| {
            let name = &graph.nodes[*node].name;
            let inputs = inputs.iter().skip(had(node));
            inputs.map(move |input| entry(name, input.clone()))
        });
        let added: Vec<Value> = added.collect();
        let change = match (goes_on, added.is_empty()) {
            (true, true) => return None,
            (true, false) => Change::Append(added),
            (false, true) if self.kept == 0 => {
                self.anew = false;
                return None;
            }
            (false, true) => Change::Clear,
            (false, false) => Change::Put(Value::List(added.into_iter().collect())),
        };
        self.kept = all(now);
        self.anew = false;
        Some(FieldWrite {
            field: WAITING.to_owned(),
            change,
        })
    }
}

fn entry(node: &str, input: Value) -> Value {
    let entries = [("node", Value::text(node)), ("input", input)];
    Value::Map(entries.into_iter().collect())
}

/// The names of nodes with what was sent to them, as a checkpoint has it.
pub fn entries(field: Option<&FieldImage>) -> impl Iterator<Item = (&str, Value)> {
    let list = field.and_then(|field| field.value.as_list());
    list.into_iter().flat_map(List::iter).filter_map(|entry| {
        let node = entry.get("node")?.as_str()?;
        Some((node, entry.get("input").cloned().unwrap_or_default()))
    })
}

/// The same with each entry as it is made of the one before.
///
/// # Errors
/// Of `make`.
pub fn remade<E>(
    field: &FieldImage,
    mut make: impl FnMut(&str, Value) -> Result<(String, Value), E>,
) -> Result<FieldImage, E> {
    let made = entries(Some(field)).map(|(node, input)| {
        let (node, input) = make(node, input)?;
        Ok(entry(&node, input))
    });
    let made = made.collect::<Result<Vec<Value>, E>>()?;
    Ok(FieldImage {
        value: Value::List(made.into_iter().collect()),
        changes: field.changes,
    })
}
