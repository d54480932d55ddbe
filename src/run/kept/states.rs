//! What a run knows of states that last: the newest of each path, and what the checkpoints of the frames around the calls
//! have of it.

use std::collections::{BTreeMap, BTreeSet};

use crate::run::growth::Growth;
use crate::run::store::{Change, FieldImage, FieldWrite, FrameImage};
use crate::value::{Map, Value};

use super::image::{callers, image};
use super::name::{self, onto, part};
use super::since::Since;

/// The newest state of each path, and how much of it the frames around the calls have kept.
#[derive(Default)]
pub struct States {
    /// By path.
    pub all: BTreeMap<String, State>,
    /// What frames around the calls have in their checkpoints, by the keys of the frames.
    pub layers: BTreeMap<String, Layer>,
    /// States so far.
    pub versions: u64,
}

/// The newest state of a path.
#[derive(Clone, Default)]
pub struct State {
    /// By name.
    pub fields: BTreeMap<String, Value>,
    /// What is stale and what `migrate` has given.
    pub rest: Map,
    /// Its number.
    pub version: u64,
}

/// What a frame has in its checkpoints, and what it has not yet, by path.
#[derive(Default)]
pub struct Layer {
    /// What it has.
    pub held: BTreeMap<String, Held>,
    /// What it has not.
    pub pending: BTreeMap<String, Pending>,
}

/// What the checkpoints of a frame have of a state.
#[derive(Default)]
pub struct Held {
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
pub struct Pending {
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
    /// Of what an image has whole.
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
    /// Which state of a path the checkpoints of a frame and those around it have; 0 where they have none.
    pub fn kept(&self, frame: &str, path: &str) -> u64 {
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
    pub fn note(
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
    pub fn writes(&mut self, frame: &str, path: &str, mut pending: Pending) -> Vec<FieldWrite> {
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

impl States {
    /// Takes in a state that a frame under way has.
    pub fn load(&mut self, frame: &FrameImage, path: &str, whole: &Value) {
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
