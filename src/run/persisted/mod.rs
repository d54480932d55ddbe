//! States of called graphs that last from call to call on a thread (`persist thread`), by the path of their node.
//!
//! They are part of the checkpoints of the frames around them, under names that no field has ([`name`]). What a call has left is
//! of the frame that made it, from that frame's commit on; and when that is a call itself that ends well, of the frame around it from
//! the commit there. So it goes outward as what a call gives its caller does: a call that fails leaves nothing of what the calls in it
//! have left, wherever the run was stopped. In the run's own graph it outlives every call.
//!
//! Like the fields of a frame they are kept field by field, as what has changed; and a call that begins with such a state
//! keeps only what it changes, on top of what the frames around it have. So a thread takes room for what calls add, not for what
//! they begin with.
//!
//! Each path has one call at a time: in it each send has its index.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::json;

use crate::ir::node::Persist;
use crate::value::Value;

use super::error::RunError;
use super::frame::Frame;
use super::plan::Plan;
use super::schedule;
use super::store::{FieldWrite, FrameImage};
use super::work::subgraph::restore_fields;

mod image;
pub mod name;
mod since;
mod states;

pub use image::{apart, callers, image, lies_on_others, plain, resolve, value};
pub use name::path;
pub use since::{Base, Since};

use states::{Changed, State, States};

/// The states that a run has, and which of them the frames around have not kept yet.
pub struct PersistedStates {
    states: Mutex<States>,
}

impl PersistedStates {
    /// Of a run that keeps checkpoints, or none.
    pub fn new(keeps: bool) -> Self {
        Self {
            states: Mutex::new(States::new(keeps)),
        }
    }

    fn states(&self) -> MutexGuard<'_, States> {
        self.states.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes in the states that the frames under way on a thread have, put together ([`resolve`]).
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

    /// Gives a frame that begins what the call before it on this path has left of the fields that outlive a call. Gives back what the frame's own first checkpoint has to have of it: only that it
    /// began with it.
    ///
    /// # Errors
    /// As of [`restore_fields`].
    pub fn seed(
        &self,
        (path, persist): (&str, Persist),
        plan: &Plan,
        caller: &Frame,
        frame: &mut Frame,
    ) -> Result<Vec<FieldWrite>, RunError> {
        let states = self.states();
        let Some(state) = states.get(&caller.key, path) else {
            return Ok(Vec::new());
        };
        let mut image = image(&state.whole());
        drop(states);
        let fields = plan.flow.graphs[frame.graph].fields.iter();
        for anew in fields.filter(|field| !field.outlives_call(persist)) {
            image.fields.remove(&anew.name);
        }
        schedule::retain_made(&mut image.schedule, |name| image.fields.contains_key(name));
        let graph = &plan.graphs[frame.graph];
        restore_fields(frame, graph, &image)?;
        let names: Vec<String> = image.fields.into_keys().collect();
        let ids = graph.fields.entries().filter_map(|(id, name)| {
            let found = names.binary_search_by(|known| (**known).cmp(name));
            found.is_ok().then_some(id)
        });
        frame.base = Some(Base::new(ids));
        Ok(vec![Base::began(path, &names)])
    }

    /// What a call that has ended well leaves to its caller, once the step that it was made in is committed.
    /// `path` where its own state lasts.
    pub fn left(
        &self,
        path: Option<String>,
        persist: Persist,
        plan: &Plan,
        caller: &Frame,
        frame: &Frame,
    ) -> Option<Left> {
        let states = self.states();
        let own = path.map(|path| {
            let before = states.get(&caller.key, &path);
            let (state, changed) = left(before, persist, plan, frame);
            (path, state, changed)
        });
        (own.is_some() || states.has(&frame.key)).then(|| Left {
            call: frame.key.clone(),
            own,
        })
    }

    /// A frame has committed a step: takes over what the calls in it have left. What failed has left nothing.
    pub fn commit(&self, frame: &Frame, left: Vec<Left>) {
        let mut states = self.states();
        for left in left {
            states.hand_out(&left.call, &frame.key);
            if let Some((path, state, changed)) = left.own {
                states.put(&frame.key, path, state, changed);
            }
        }
        states.drop_inside(&frame.key);
    }

    /// What a frame's checkpoint has to keep of them: what has changed inside it since its last one.
    pub fn changes(&self, frame: &Frame) -> Vec<FieldWrite> {
        self.states().take_pending(&frame.key)
    }
}

/// What a call leaves to its caller.
#[derive(Debug)]
pub struct Left {
    /// Key of its frame.
    call: Arc<str>,
    /// Where its own state lasts: its path, the state, and how that has come of what the call began with.
    own: Option<(String, State, Changed)>,
}

/// The state that a call has come to, and how that has come of the one before it.
fn left(before: Option<&State>, persist: Persist, plan: &Plan, frame: &Frame) -> (State, Changed) {
    let graph = &plan.graphs[frame.graph];
    let declared = plan.flow.graphs[frame.graph].fields.iter();
    let base = frame.base.as_ref().filter(|_| before.is_some());
    let mut state = State::default();
    let mut changed = Changed {
        whole: before.is_some() && base.is_none(),
        ..Changed::default()
    };
    for (((id, name), value), field) in graph.fields.entries().zip(&frame.fields).zip(declared) {
        if !field.outlives_call(persist) {
            continue;
        }
        let since = base.and_then(|base| base.since(id));
        if let Some(value) = value {
            state.fields.insert(name.to_string(), value.clone());
            let since = since.cloned().unwrap_or(Since::Whole);
            changed.fields.insert(name.to_string(), since);
        }
    }
    let gone = before.into_iter().flat_map(|before| before.fields.keys());
    let gone = gone.filter(|name| !state.fields.contains_key(*name));
    let gone = gone.map(|name| (name.clone(), Since::Whole));
    changed.fields.extend(gone);
    changed.fields.retain(|_, since| *since != Since::Nothing);
    let mut made = schedule::made(graph, &frame.freshness);
    made.retain(|name, _| state.fields.contains_key(name));
    let made = json!(made);
    state.rest.insert("made", Value::from_json(&made));
    if !graph.given.is_empty() {
        let given = json!(graph.given);
        state.rest.insert("given", Value::from_json(&given));
    }
    changed.rest = before.is_none_or(|before| before.rest != state.rest);
    (state, changed)
}
