//! What a run knows of states that last: the newest of each path, and what the checkpoints of the frames around the calls
//! have of it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use crate::run::growth::Growth;
use crate::run::store::{Change, FieldImage, FieldWrite, FrameImage};
use crate::value::{Map, Value};

use super::image::{callers, image};
use super::name::{self, onto, part};
use super::since::Since;

/// What each frame has of states that last, by the keys of the frames.
pub struct States {
    /// Whether the run keeps anything.
    keeps: bool,
    layers: BTreeMap<String, Layer>,
}

/// What a call has left.
#[derive(Debug, Default)]
pub struct State {
    /// By name.
    pub fields: BTreeMap<String, Value>,
    /// What is stale and what `migrate` has given.
    pub rest: Map,
}

/// What a frame has of states that last, by path.
#[derive(Default)]
struct Layer {
    /// Those that calls in it have left; those of the run's own graph are all that the thread has.
    states: BTreeMap<String, State>,
    /// What its checkpoints have of them.
    held: BTreeMap<String, Held>,
    /// What its checkpoints have not yet.
    pending: BTreeMap<String, Changed>,
    /// How they differ from what the frames around it have.
    since: BTreeMap<String, Changed>,
}

/// What the checkpoints of a frame have of a state.
#[derive(Default)]
struct Held {
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

/// How a state has changed.
#[derive(Debug, Clone, Default)]
pub struct Changed {
    /// Whether [`State::rest`] has.
    pub rest: bool,
    /// Whether it is not known which fields have.
    pub whole: bool,
    /// The fields that have.
    pub fields: BTreeMap<String, Since>,
}

impl Changed {
    /// Both, one after the other.
    fn add(&mut self, later: Changed) {
        self.rest |= later.rest;
        self.whole |= later.whole;
        for (field, since) in later.fields {
            let known = self.fields.entry(field).or_default();
            *known = std::mem::take(known).then(since);
        }
    }
}

impl State {
    /// Of what an image has whole.
    fn of(whole: &Value) -> Self {
        let image = image(whole);
        let mut rest = whole.as_map().cloned().unwrap_or_default();
        rest.remove(&crate::value::Key::String("fields".into()));
        let fields = image.fields.into_iter();
        Self {
            fields: fields.map(|(name, field)| (name, field.value)).collect(),
            rest,
        }
    }

    /// As an image has it whole.
    pub fn whole(&self) -> Value {
        let fields = self.fields.iter();
        let fields = fields.map(|(name, value)| (name.as_str(), value.clone()));
        let mut whole = self.rest.clone();
        whole.insert("fields", Value::Map(fields.collect()));
        Value::Map(whole)
    }
}

impl States {
    /// Of a run that keeps checkpoints, or none.
    pub fn new(keeps: bool) -> Self {
        Self {
            keeps,
            layers: BTreeMap::new(),
        }
    }

    /// The state that a call of a frame begins with: what the frame has, else what the nearest around it has.
    pub fn get(&self, frame: &str, path: &str) -> Option<&State> {
        self.around(frame).find_map(|layer| layer.states.get(path))
    }

    /// Whether calls of a frame have left something.
    pub fn has(&self, frame: &str) -> bool {
        self.layers.contains_key(frame)
    }

    fn around(&self, frame: &str) -> impl Iterator<Item = &Layer> {
        callers(frame).filter_map(|key| self.layers.get(key))
    }

    /// Names of all fields that a state has, or that checkpoints of a frame or those around it have of it.
    fn names(&self, frame: &str, path: &str) -> BTreeSet<String> {
        let now = self.get(frame, path).into_iter();
        let now = now.flat_map(|state| state.fields.keys());
        let held = self.around(frame).filter_map(|layer| layer.held.get(path));
        let held = held.flat_map(|held| held.parts.keys());
        now.chain(held).cloned().collect()
    }

    /// A call in a frame has left a state, which has come of the one before it by changes.
    pub fn put(&mut self, frame: &str, path: String, state: State, changed: Changed) {
        let layer = self.layers.entry(frame.to_owned()).or_default();
        layer.states.insert(path.clone(), state);
        if !self.keeps {
            return;
        }
        if !frame.is_empty() {
            let since = layer.since.entry(path.clone()).or_default();
            since.add(changed.clone());
        }
        layer.pending.entry(path).or_default().add(changed);
    }

    /// A call of a frame has ended well: what the calls in it have left is the frame's now.
    pub fn hand_out(&mut self, call: &str, frame: &str) {
        let Some(mut layer) = self.layers.remove(call) else {
            return;
        };
        for (path, state) in layer.states {
            let changed = layer.since.remove(&path).unwrap_or_default();
            self.put(frame, path, state, changed);
        }
    }

    /// Forgets what calls of a frame have left that were not handed out: they have failed.
    pub fn drop_inside(&mut self, frame: &str) {
        let behind = (Bound::Excluded(frame), Bound::Unbounded);
        let inside = self.layers.range::<str, _>(behind).map(|(key, _)| key);
        let inside = inside.take_while(|key| key.starts_with(frame));
        let inside: Vec<String> = inside.cloned().collect();
        for key in inside {
            self.layers.remove(&key);
        }
    }

    /// What a frame's checkpoint keeps of what has changed since the one before it.
    pub fn take_pending(&mut self, frame: &str) -> Vec<FieldWrite> {
        let Some(layer) = self.layers.get_mut(frame) else {
            return Vec::new();
        };
        let pending = std::mem::take(&mut layer.pending).into_iter();
        let writes = pending.map(|(path, changed)| self.writes(frame, &path, changed));
        writes.flatten().collect()
    }

    fn writes(&mut self, frame: &str, path: &str, mut changed: Changed) -> Vec<FieldWrite> {
        let layer = self.layers.get(frame);
        let held = layer.and_then(|layer| layer.held.get(path));
        if changed.whole || held.is_some_and(|held| held.earlier) {
            let names = self.names(frame, path).into_iter();
            let whole = names.map(|name| (name, Since::Whole));
            changed.add(Changed {
                rest: true,
                whole: true,
                fields: whole.collect(),
            });
        }
        let layer = self.layers.entry(frame.to_owned()).or_default();
        let Some(state) = layer.states.get(path) else {
            return Vec::new();
        };
        let held = layer.held.entry(path.to_owned()).or_default();
        held.earlier = false;
        let mut writes = Vec::new();
        if changed.rest {
            writes.push(FieldWrite {
                field: name::name(path),
                change: Change::Put(Value::Map(state.rest.clone())),
            });
        }
        for (field, since) in changed.fields {
            let value = state.fields.get(&field);
            let Some(change) = since.change(value) else {
                continue;
            };
            let known = held.parts.remove(&field);
            let (known, more) = part_changed((frame, path, &field), known, value, change);
            held.parts.extend(known.map(|known| (field.clone(), known)));
            writes.extend(more);
        }
        writes
    }
}

/// What a checkpoint keeps of a change to a field of a state, and what the frame's checkpoints have of it then.
fn part_changed(
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

impl States {
    /// Takes in a state that a frame under way has.
    pub fn load(&mut self, frame: &FrameImage, path: &str, whole: &Value) {
        let state = State::of(whole);
        let (held, fields) = Held::of(frame, path, &state);
        let layer = self.layers.entry(frame.frame.clone()).or_default();
        if !frame.frame.is_empty() {
            let changed = Changed {
                rest: true,
                whole: held.earlier,
                fields,
            };
            layer.since.insert(path.to_owned(), changed);
        }
        layer.held.insert(path.to_owned(), held);
        layer.states.insert(path.to_owned(), state);
    }
}

impl Held {
    /// What an image of a frame tells of it, and how the state differs from what the frames around it have.
    fn of(frame: &FrameImage, path: &str, state: &State) -> (Self, BTreeMap<String, Since>) {
        let mut parts = BTreeMap::new();
        let mut changes = BTreeMap::new();
        let mut take = |prefix: String, own: bool| {
            let kept = frame.fields.range(prefix.clone()..);
            let kept = kept.map_while(|(name, kept)| Some((name.strip_prefix(&prefix)?, kept)));
            for (field, kept) in kept {
                let since = match own {
                    true => Since::Whole,
                    false => Since::of(&kept.value),
                };
                changes.insert(field.to_owned(), since);
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
