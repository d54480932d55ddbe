//! States of called graphs that last from call to call on a thread (`persist thread`), by the path of their node.
//!
//! They are part of the checkpoints of the frames around them, under names that no field has: of the run's own
//! graph, which outlives every call, and until its next commit of the called graph in which the call was made.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::json;

use crate::value::{Map, Value};

use super::error::RunError;
use super::frame::Frame;
use super::plan::{GraphPlan, Plan};
use super::schedule;
use super::store::{Change, FieldImage, FieldWrite, FrameImage};
use super::work::subgraph::restore_fields;

/// The states that a run has, and which of them the run's own graph has not kept yet.
#[derive(Default)]
pub struct Kept(Mutex<States>);

#[derive(Default)]
struct States {
    all: BTreeMap<String, Value>,
    changed: BTreeSet<String>,
}

/// The name of a state in a checkpoint.
pub fn name(path: &str) -> String {
    format!("@{path}")
}

/// The path of the call whose state a checkpoint keeps under that name.
pub fn path(name: &str) -> Option<&str> {
    name.strip_prefix('@')
}

/// A state as what a frame has kept, with nothing left to do.
pub fn image(state: &Value) -> FrameImage {
    let part = |name: &str| state.get(name);
    let fields = part("fields").and_then(Value::as_map);
    let fields = fields.into_iter().flat_map(Map::iter).map(|(name, value)| {
        let value = value.clone();
        let name = name.as_str().unwrap_or_default();
        (name.to_owned(), FieldImage { value, changes: 0 })
    });
    FrameImage {
        frame: String::new(),
        seq: 0,
        step: 0,
        run_id: String::new(),
        schedule: json!({
            "made": part("made").map(Value::to_json),
            "given": part("given").map(Value::to_json),
        }),
        fields: fields.collect(),
    }
}

/// The state of which [`image`] has made this.
pub fn value(image: &FrameImage) -> Value {
    let fields = image.fields.iter();
    let fields = fields.map(|(name, field)| (name.as_str(), field.value.clone()));
    let mut state = Map::new();
    state.insert("fields", Value::Map(fields.collect()));
    for part in ["made", "given"] {
        let known = image.schedule.get(part).filter(|known| !known.is_null());
        if let Some(known) = known {
            state.insert(part, Value::from_json(known));
        }
    }
    Value::Map(state)
}

impl Kept {
    fn states(&self) -> MutexGuard<'_, States> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in the states that the frames under way on a thread have. Callers come first: what a call has kept since is
    /// newer.
    pub fn load(&self, frames: &[FrameImage]) {
        let mut states = self.states();
        for frame in frames {
            let fields = frame.fields.iter();
            for (path, kept) in fields.filter_map(|(name, field)| Some((path(name)?, field))) {
                states.all.insert(path.to_owned(), kept.value.clone());
                if !frame.frame.is_empty() {
                    states.changed.insert(path.to_owned());
                }
            }
        }
    }

    /// Gives a frame that begins what the call before it on this path has left: all but what its caller gives
    /// and what is kept in no checkpoint. What it is given has to be in its own first checkpoint.
    ///
    /// # Errors
    /// As of [`restore_fields`].
    pub fn seed(
        &self,
        path: &str,
        plan: &Plan,
        frame: &mut Frame,
    ) -> Result<Vec<FieldWrite>, RunError> {
        let Some(state) = self.states().all.get(path).cloned() else {
            return Ok(Vec::new());
        };
        let mut image = image(&state);
        let fields = plan.flow.graphs[frame.graph].fields.iter();
        for given in fields.filter(|field| field.mode.is_in()) {
            image.fields.remove(&given.name);
        }
        restore_fields(frame, &plan.graphs[frame.graph], &image)?;
        let seeded = image.fields.into_iter().map(|(field, kept)| FieldWrite {
            field,
            change: Change::Put(kept.value),
        });
        Ok(seeded.collect())
    }

    /// Keeps what a call has come to.
    pub fn keep(&self, path: &str, graph: &GraphPlan, frame: &Frame) {
        let mut fields = Map::new();
        for ((id, name), value) in graph.fields.entries().zip(&frame.fields) {
            let passes = graph.untracked.contains(&id) || graph.ephemeral.contains(&id);
            if let Some(value) = value.as_ref().filter(|_| !passes) {
                fields.insert(&**name, value.clone());
            }
        }
        let made = Value::from_json(&json!(schedule::made(graph, &frame.freshness)));
        let entries = [("fields", Value::Map(fields)), ("made", made)];
        let mut state: Map = entries.into_iter().collect();
        if !graph.given.is_empty() {
            state.insert("given", Value::from_json(&json!(graph.given)));
        }
        let mut states = self.states();
        states.all.insert(path.to_owned(), Value::Map(state));
        states.changed.insert(path.to_owned());
    }

    /// What a frame's checkpoint has to keep of them: the run's own graph all that has changed, a called graph what
    /// has changed inside it.
    pub fn changes(&self, frame: &Frame) -> Vec<FieldWrite> {
        let mut states = self.states();
        if states.changed.is_empty() {
            return Vec::new();
        }
        let inside = format!("{}/", frame.path);
        let root = frame.key.is_empty();
        let wanted = states.changed.iter();
        let wanted = wanted.filter(|path| root || path.starts_with(&inside));
        let writes = wanted.filter_map(|path| {
            let value = states.all.get(path)?.clone();
            Some(FieldWrite {
                field: name(path),
                change: Change::Put(value),
            })
        });
        let writes = writes.collect();
        if root {
            states.changed.clear();
        }
        writes
    }
}
