//! States of called graphs that last from call to call on a thread (`persist thread`), by the path of their node.
//!
//! They are part of the checkpoints of the frames around them, under names that no field has ([`name`]): of the run's own
//! graph, which outlives every call, and until its next commit of the called graphs in which the call was made. Like the fields of
//! a frame they are kept field by field, as what has changed; and a call that begins with such a state keeps only what it
//! changes, on top of what the frames around it have. So a thread takes room for what calls add, not for what
//! they begin with.
//!
//! Each state that a path has had has a number. What has changed since a checkpoint is known only as long as each call
//! has gone on from the one before; where another call of the same path came between (two sends to one graph share the
//! paths inside it), states are written whole.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::json;

use crate::value::{Map, Value};

use super::error::RunError;
use super::frame::Frame;
use super::plan::Plan;
use super::schedule;
use super::store::{Change, FieldWrite, FrameImage};
use super::work::subgraph::restore_fields;

mod image;
pub mod name;
mod since;
mod states;

pub use image::{apart, callers, image, lies_on_others, plain, resolve, value};
pub use name::path;
pub use since::{Base, Since};

use states::{State, States};

/// The states that a run has, and which of them the frames around have not kept yet.
pub struct Kept {
    /// Whether the run keeps anything.
    keeps: bool,
    states: Mutex<States>,
}

impl Kept {
    /// Of a run that keeps checkpoints, or none.
    pub fn new(keeps: bool) -> Self {
        Self {
            keeps,
            states: Mutex::default(),
        }
    }

    fn states(&self) -> MutexGuard<'_, States> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in the states that the frames under way on a thread have, put together ([`resolve`]). Callers come first:
    /// what a call has kept since is newer.
    pub fn load(&self, frames: &[FrameImage]) {
        let mut states = self.states();
        for frame in frames {
            for (named, kept) in &frame.fields {
                if let Some(path) = path(named) {
                    states.load(frame, path, &kept.value);
                }
            }
        }
    }

    /// Gives a frame that begins what the call before it on this path has left: all but what its caller gives
    /// and what is kept in no checkpoint. Gives back what the frame's own first checkpoint has to have of it: where those
    /// of the frames around it have the state, only that it began with it.
    ///
    /// # Errors
    /// As of [`restore_fields`].
    pub fn seed(
        &self,
        path: &str,
        plan: &Plan,
        caller: &Frame,
        frame: &mut Frame,
    ) -> Result<Vec<FieldWrite>, RunError> {
        let states = self.states();
        let Some(state) = states.all.get(path).cloned() else {
            return Ok(Vec::new());
        };
        let is_kept = states.kept(&caller.key, path) == state.version;
        drop(states);
        let mut image = image(&state.whole());
        let fields = plan.flow.graphs[frame.graph].fields.iter();
        for given in fields.filter(|field| field.mode.is_in()) {
            image.fields.remove(&given.name);
        }
        let graph = &plan.graphs[frame.graph];
        restore_fields(frame, graph, &image)?;
        if is_kept || !frame.tracked {
            let names: Vec<String> = image.fields.into_keys().collect();
            let ids = graph.fields.entries().filter_map(|(id, name)| {
                let found = names.binary_search_by(|known| (**known).cmp(name));
                found.is_ok().then_some(id)
            });
            frame.base = Some(Base::new(state.version, ids));
            // What is not tracked has no checkpoint, and what it changes is known as well.
            return Ok(vec![Base::began(path, &names)]);
        }
        let seeded = image.fields.into_iter().map(|(field, kept)| FieldWrite {
            field,
            change: Change::Put(kept.value),
        });
        Ok(seeded.collect())
    }

    /// A call goes on that an earlier process had under way: notes which state it began with.
    pub fn go_on(&self, path: &str, caller: &Frame, frame: &mut Frame) {
        if let Some(base) = &mut frame.base {
            base.version = self.states().kept(&caller.key, path);
        }
    }

    /// Keeps what a call has come to.
    pub fn keep(&self, path: &str, plan: &Plan, caller: &Frame, frame: &Frame) {
        let graph = &plan.graphs[frame.graph];
        let declared = plan.flow.graphs[frame.graph].fields.iter();
        let passes = |id| graph.untracked.contains(&id) || graph.ephemeral.contains(&id);
        let mut guard = self.states();
        let states = &mut *guard;
        let before = states.all.remove(path).unwrap_or_default();
        let base = frame.base.as_ref();
        let base = base.filter(|base| base.version == before.version && before.version > 0);
        let mut fields = BTreeMap::new();
        let mut changes = Vec::new();
        for (((id, name), value), field) in graph.fields.entries().zip(&frame.fields).zip(declared)
        {
            // What a call is given it is given anew.
            if passes(id) || field.mode.is_in() {
                continue;
            }
            let since = base.and_then(|base| base.since(id));
            if let Some(value) = value {
                fields.insert(name.to_string(), value.clone());
                let since = since.cloned().unwrap_or(Since::Whole);
                changes.push((name.to_string(), since));
            }
        }
        let gone = before.fields.keys();
        let gone = gone.filter(|name| !fields.contains_key(*name));
        changes.extend(gone.map(|name| (name.clone(), Since::Whole)));
        changes.retain(|(_, since)| *since != Since::Nothing);
        let mut rest = Map::new();
        let made = json!(schedule::made(graph, &frame.freshness));
        rest.insert("made", Value::from_json(&made));
        if !graph.given.is_empty() {
            rest.insert("given", Value::from_json(&json!(graph.given)));
        }
        let other = Value::Map(rest.clone()) != Value::Map(before.rest) || before.version == 0;
        states.versions += 1;
        let version = states.versions;
        let state = State {
            fields,
            rest,
            version,
        };
        states.all.insert(path.to_owned(), state);
        if !self.keeps {
            return;
        }
        let known = base.map(|_| changes.as_slice());
        let first = (before.version == 0).then_some(changes.as_slice());
        states.note(&caller.key, (path, before.version), other, known.or(first));
    }

    /// What a frame's checkpoint has to keep of them: what has changed inside it since its last one.
    pub fn changes(&self, frame: &Frame) -> Vec<FieldWrite> {
        let mut states = self.states();
        let Some(layer) = states.layers.get_mut(&*frame.key) else {
            return Vec::new();
        };
        let pending = std::mem::take(&mut layer.pending);
        let mut writes = Vec::new();
        for (path, pending) in pending {
            writes.extend(states.writes(&frame.key, &path, pending));
        }
        if frame.key.is_empty() {
            // All calls of the step have ended.
            states.layers.retain(|key, _| key.is_empty());
        }
        writes
    }
}
