//! What was seen of a scenario, put together from what its processes told.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value as Json, json};

use crate::backend::scenario::ModelRecord;
use crate::ir::{Flow, GraphId};
use crate::project::yaml::Path;
use crate::value::Value;

use super::order;
use super::sighting::{Asked, Ended, Sighting};

/// What came of a scenario.
#[derive(Debug, Clone, Default)]
pub struct Observed {
    /// How the run ended; `None` where it did not even begin.
    pub ended: Option<Ended>,
    /// Paths of the nodes that ran, each task once.
    pub path: Vec<String>,
    /// Events of the flow: `name`, `payload`.
    pub events: Vec<Json>,
    /// Interrupts that opened, in order, each once: `id`, `node` (the path), `path`, `ask`.
    pub interrupts: Vec<Json>,
    /// What long-term memory held at the end: `space`, `key`, `value`.
    pub memory: Vec<Json>,
    /// What models were asked, by node path, in order.
    pub asked: BTreeMap<String, Vec<ModelRecord>>,
    /// How many calls reached each tool.
    pub calls: BTreeMap<String, u64>,
    /// Answers that were refused: where they are written, and why.
    pub refused: Vec<(Path, String)>,
    /// Replies that were not of their type: where they are written, and what is wrong with them.
    pub unfit: Vec<(Path, String)>,
    /// Calls that no reply matched, in words.
    pub unmatched: Vec<String>,
    /// Replies that no call took.
    pub left: Vec<Path>,
}

impl Observed {
    /// Puts together what the processes of a scenario told, each in its order.
    pub fn of(flow: &Flow, root: GraphId, processes: &[Vec<Sighting>]) -> Observed {
        let mut observed = Observed::default();
        let mut visits = BTreeMap::new();
        let mut custom = Vec::new();
        let mut known = BTreeSet::new();
        let mut asked = Vec::new();
        for sighting in processes.iter().flatten() {
            match sighting {
                Sighting::Visit { task } => {
                    let task = order::read(flow, root, task);
                    visits.insert(task.place.clone(), task.path());
                }
                Sighting::Custom { id, name, payload } => {
                    if known.insert(("custom", id)) {
                        let task = id.split('#').next().unwrap_or_default();
                        let place = order::read(flow, root, task).place;
                        custom.push((place, json!({ "name": name, "payload": payload })));
                    }
                }
                Sighting::Interpreted { id, tool } => {
                    if known.insert(("interpreted", id)) {
                        *observed.calls.entry(tool.clone()).or_default() += 1;
                    }
                }
                Sighting::Called { tool } => {
                    *observed.calls.entry(tool.clone()).or_default() += 1;
                }
                Sighting::Asked(call) => asked.push(call),
                Sighting::Interrupt(interrupt) => {
                    let id = |one: &Json| one.get("id").cloned();
                    if !observed.interrupts.iter().any(|i| id(i) == id(interrupt)) {
                        observed.interrupts.push(interrupt.clone());
                    }
                }
                Sighting::Refused { at, message } => {
                    observed.refused.push((at.clone(), message.clone()));
                }
                Sighting::Unfit { at, message } => {
                    let unfit = (at.clone(), message.clone());
                    if !observed.unfit.contains(&unfit) {
                        observed.unfit.push(unfit);
                    }
                }
                Sighting::Unmatched { message } => {
                    if !observed.unmatched.contains(message) {
                        observed.unmatched.push(message.clone());
                    }
                }
                Sighting::Remembered(items) => observed.memory.clone_from(items),
                Sighting::Ended(ended) => observed.ended = Some(ended.clone()),
                Sighting::Route { .. }
                | Sighting::Answered { .. }
                | Sighting::Left { .. }
                | Sighting::Dying => {}
            }
        }
        observed.path = visits.into_values().collect();
        observed.events = order::sort(custom);
        observed.asked = by_node(asked);
        observed.left = left(processes);
        observed
    }
}

/// A call with its round and the index of its send.
type Placed<'a> = ((usize, u32), &'a Asked);

/// Calls by node; those of sends by round and index, so that timing can't change their order.
fn by_node(asked: Vec<&Asked>) -> BTreeMap<String, Vec<ModelRecord>> {
    let mut rounds: BTreeMap<(&str, u32), usize> = BTreeMap::new();
    let mut nodes: BTreeMap<&str, Vec<Placed<'_>>> = BTreeMap::new();
    for call in asked {
        let place = match call.send {
            Some(send) => {
                let round = rounds.entry((&call.node, send)).or_default();
                *round += 1;
                (*round, send)
            }
            None => (0, 0),
        };
        nodes.entry(&call.node).or_default().push((place, call));
    }
    let nodes = nodes.into_iter();
    nodes
        .map(|(node, mut calls)| {
            calls.sort_by_key(|(place, _)| *place);
            let calls = calls.into_iter().map(|(_, call)| record(call));
            (node.to_owned(), calls.collect())
        })
        .collect()
}

fn record(call: &Asked) -> ModelRecord {
    ModelRecord {
        node: call.node.clone(),
        send: call.send,
        model: call.model.clone(),
        tools: call.tools.clone(),
        messages: match Value::from_json(&call.messages) {
            Value::List(messages) => messages,
            _ => Default::default(),
        },
        reply: None,
    }
}

/// Replies that were left in every process, of what each told last.
fn left(processes: &[Vec<Sighting>]) -> Vec<Path> {
    let last = processes.iter().filter_map(|told| {
        told.iter().rev().find_map(|sighting| match sighting {
            Sighting::Left { replies } => Some(replies),
            _ => None,
        })
    });
    let mut left: Option<Vec<Path>> = None;
    for replies in last {
        left = Some(match left {
            None => replies.clone(),
            Some(left) => left.into_iter().filter(|at| replies.contains(at)).collect(),
        });
    }
    left.unwrap_or_default()
}
