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

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::json;

use crate::value::{Map, Value};

use super::error::RunError;
use super::frame::Frame;
use super::growth::Growth;
use super::plan::Plan;
use super::schedule;
use super::store::{Change, FieldImage, FieldWrite, FrameImage};
use super::work::subgraph::restore_fields;

mod image;
pub mod name;
mod since;

pub use image::{apart, callers, image, lies_on_others, plain, resolve, value};
pub use name::path;
pub use since::{Base, Since};

use name::{onto, part};

/// The states that a run has, and which of them the frames around have not kept yet.
#[derive(Default)]
pub struct Kept(Mutex<States>);

#[derive(Default)]
struct States {
    all: BTreeMap<String, State>,
    /// What frames around the calls have in their checkpoints, by the keys of the frames.
    layers: BTreeMap<String, Layer>,
    /// States so far.
    versions: u64,
}

/// The newest state of a path.
#[derive(Clone, Default)]
struct State {
    fields: BTreeMap<String, Value>,
    /// What is stale and what `migrate` has given.
    rest: Map,
    version: u64,
}

/// What a frame has in its checkpoints, and what it has not yet, by path.
#[derive(Default)]
struct Layer {
    held: BTreeMap<String, Held>,
    pending: BTreeMap<String, Pending>,
}

/// What the checkpoints of a frame have of a state.
#[derive(Default)]
struct Held {
    /// Which state that comes to.
    version: u64,
    /// Whether an earlier version of the program has kept it, all in one.
    earlier: bool,
    parts: BTreeMap<String, Part>,
}

/// What the checkpoints of a frame have of a field.
#[derive(Clone, Copy, Default)]
struct Part {
    /// Whether they have it whole; else on top of what frames further out have.
    own: bool,
    growth: Growth,
}

/// What has changed since a frame's last checkpoint.
#[derive(Default)]
struct Pending {
    /// Up to which state.
    upto: u64,
    /// Whether [`State::rest`] has changed.
    rest: bool,
    fields: BTreeMap<String, Since>,
}

impl Pending {
    fn add(&mut self, fields: impl IntoIterator<Item = (String, Since)>) {
        for (field, since) in fields {
            let known = self.fields.entry(field).or_default();
            *known = std::mem::take(known).then(since);
        }
    }
}

impl State {
    /// As an image has it whole.
    fn of(whole: &Value, version: u64) -> Self {
        let image = image(whole);
        let mut rest = whole.as_map().cloned().unwrap_or_default();
        rest.remove(&crate::value::Key::String("fields".into()));
        let fields = image.fields.into_iter();
        Self {
            fields: fields.map(|(name, field)| (name, field.value)).collect(),
            rest,
            version,
        }
    }

    fn whole(&self) -> Value {
        let fields = self.fields.iter();
        let fields = fields.map(|(name, value)| (name.as_str(), value.clone()));
        let mut whole = self.rest.clone();
        whole.insert("fields", Value::Map(fields.collect()));
        Value::Map(whole)
    }
}

impl States {
    /// Which state of a path the checkpoints of a frame and those around it have; 0 where they have none.
    fn kept(&self, frame: &str, path: &str) -> u64 {
        let mut layers = callers(frame).filter_map(|key| self.layers.get(key));
        layers
            .find_map(|layer| Some(layer.held.get(path)?.version))
            .unwrap_or_default()
    }

    /// Names of all fields that a state has, or that checkpoints of a frame or those around it have of it.
    fn names(&self, frame: &str, path: &str) -> BTreeSet<String> {
        let now = self.all.get(path).into_iter();
        let now = now.flat_map(|state| state.fields.keys());
        let layers = callers(frame).filter_map(|key| self.layers.get(key));
        let held = layers.filter_map(|layer| layer.held.get(path));
        let held = held.flat_map(|held| held.parts.keys());
        now.chain(held).cloned().collect()
    }

    /// A path has a new state, which has come of another by changes: the frame in which that was and those around it
    /// have to keep it. `None` where it is not known what has changed.
    fn note(
        &mut self,
        frame: &str,
        (path, from): (&str, u64),
        rest: bool,
        fields: Option<&[(String, Since)]>,
    ) {
        let version = self.all.get(path).map_or(0, |state| state.version);
        for key in callers(frame) {
            let layer = self.layers.get(key);
            let pending = layer.and_then(|layer| layer.pending.get(path));
            let reached = pending.map_or_else(|| self.kept(key, path), |pending| pending.upto);
            let known = fields.filter(|_| reached == from);
            let all = match known {
                Some(fields) => fields.to_vec(),
                None => {
                    let names = self.names(key, path).into_iter();
                    names.map(|name| (name, Since::Whole)).collect()
                }
            };
            let layer = self.layers.entry(key.to_owned()).or_default();
            let pending = layer.pending.entry(path.to_owned()).or_default();
            pending.rest |= rest || known.is_none();
            pending.upto = version;
            pending.add(all);
        }
    }

    /// What a frame's checkpoint keeps of what has changed.
    fn writes(&mut self, frame: &str, path: &str, mut pending: Pending) -> Vec<FieldWrite> {
        let Some(state) = self.all.get(path).cloned() else {
            return Vec::new();
        };
        let layer = self.layers.get(frame);
        let held = layer.and_then(|layer| layer.held.get(path));
        if pending.upto != state.version || held.is_some_and(|held| held.earlier) {
            let names = self.names(frame, path).into_iter();
            pending.add(names.map(|name| (name, Since::Whole)));
            pending.rest = true;
        }
        let layer = self.layers.entry(frame.to_owned()).or_default();
        let held = layer.held.entry(path.to_owned()).or_default();
        (held.version, held.earlier) = (state.version, false);
        let mut writes = Vec::new();
        if pending.rest {
            writes.push(FieldWrite {
                field: name::name(path),
                change: Change::Put(Value::Map(state.rest.clone())),
            });
        }
        for (field, since) in pending.fields {
            let value = state.fields.get(&field);
            let Some(change) = since.change(value) else {
                continue;
            };
            let known = held.parts.remove(&field);
            let (known, more) = changed((frame, path, &field), known, value, change);
            held.parts.extend(known.map(|known| (field.clone(), known)));
            writes.extend(more);
        }
        writes
    }
}

/// What a checkpoint keeps of a change to a field of a state, and what the frame's checkpoints have of it then.
fn changed(
    (frame, path, field): (&str, &str, &str),
    known: Option<Part>,
    value: Option<&Value>,
    change: Change,
) -> (Option<Part>, Vec<FieldWrite>) {
    let root = frame.is_empty();
    let named = part(path, field);
    let Some(value) = value else {
        let gone = FieldWrite {
            field: named.clone(),
            change: Change::Clear,
        };
        let hidden = FieldWrite {
            field: onto(&named),
            change: Change::Put(Value::Null),
        };
        let hidden = (!root).then_some(hidden);
        return (None, [gone].into_iter().chain(hidden).collect());
    };
    let mut now = known.unwrap_or_else(|| Part {
        own: false,
        growth: Growth::before(value, &change),
    });
    let change = match now.own || !root {
        true => now.growth.pass(value, change),
        // Nothing is further out.
        false => now.growth.pass(value, Change::Put(value.clone())),
    };
    now.own = now.own || matches!(change, Change::Put(_));
    let field = match now.own {
        true => named,
        false => onto(&named),
    };
    (Some(now), vec![FieldWrite { field, change }])
}

impl Kept {
    fn states(&self) -> MutexGuard<'_, States> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        if is_kept {
            let names: Vec<String> = image.fields.into_keys().collect();
            let ids = graph.fields.entries().filter_map(|(id, name)| {
                let found = names.binary_search_by(|known| (**known).cmp(name));
                found.is_ok().then_some(id)
            });
            frame.base = Some(Base::new(state.version, ids));
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

impl States {
    fn load(&mut self, frame: &FrameImage, path: &str, whole: &Value) {
        let key = frame.frame.as_str();
        let caller = callers(key).nth(1);
        let from = caller.map_or(0, |caller| self.kept(caller, path));
        let before = self.all.get(path);
        let goes_on = before.map_or(0, |before| before.version) == from;
        self.versions += 1;
        let state = State::of(whole, self.versions);
        let (held, changes) = Held::of(frame, path, &state);
        let earlier = held.earlier;
        self.all.insert(path.to_owned(), state);
        if let Some(caller) = caller {
            let known = (goes_on && !earlier).then_some(changes.as_slice());
            self.note(caller, (path, from), true, known);
        }
        let layer = self.layers.entry(key.to_owned()).or_default();
        layer.held.insert(path.to_owned(), held);
    }
}

impl Held {
    /// What an image of a frame tells of it, and how the state has changed since those of the frames around it.
    fn of(frame: &FrameImage, path: &str, state: &State) -> (Self, Vec<(String, Since)>) {
        let mut parts = BTreeMap::new();
        let mut changes = Vec::new();
        let mut take = |prefix: String, own: bool| {
            let kept = frame.fields.range(prefix.clone()..);
            let kept = kept.map_while(|(name, kept)| Some((name.strip_prefix(&prefix)?, kept)));
            for (field, kept) in kept {
                let since = match own {
                    true => Since::Whole,
                    false => Since::of(&kept.value),
                };
                changes.push((field.to_owned(), since));
                if let Some(value) = state.fields.get(field) {
                    let growth = match own {
                        true => Growth::of(value, kept.changes),
                        false => Growth::of(value, added(kept)),
                    };
                    parts.insert(field.to_owned(), Part { own, growth });
                }
            }
        };
        take(onto(&part(path, "")), false);
        take(part(path, ""), true);
        let held = Self {
            version: state.version,
            earlier: parts.is_empty(),
            parts,
        };
        (held, changes)
    }
}

/// Elements that were added to what lies further out.
fn added(kept: &FieldImage) -> u64 {
    match Since::of(&kept.value) {
        Since::Appended(count) => count as u64,
        Since::Merged(keys) => keys.len() as u64,
        Since::Nothing | Since::Whole => 0,
    }
}
