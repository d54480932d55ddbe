//! States that last, as an image of a thread has them.
//!
//! A checkpoint keeps of them only what has changed, on top of what checkpoints of frames further out have. [`resolve`] alone
//! puts that together: who reads a thread sees each field of a frame by its name, and each state that lasts whole by
//! its path. What lies on what is left beside them, for a run that goes on.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use crate::run::store::{FieldImage, FrameImage, StoreError};
use crate::value::{Key, List, Map, Value};

use super::name::{BEGAN, is_persisted, name, onto, part, path, state_of};

/// Frames under way, callers first, put together from what each has on top of those around it.
///
/// # Errors
/// [`StoreError::Corrupt`], where what something lies on isn't there.
pub fn resolve(frames: Vec<FrameImage>) -> Result<Vec<FrameImage>, StoreError> {
    let mut whole: Vec<FrameImage> = Vec::with_capacity(frames.len());
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for mut frame in frames {
        let around = |path: &str| {
            let named = name(path);
            let mut out = callers(&frame.frame).skip(1);
            out.find_map(|key| {
                let caller = whole.get(*places.get(key)?)?;
                Some(caller.fields.get(&named)?.value.clone())
            })
        };
        let mut found = Vec::new();
        let paths: BTreeSet<&str> = frame.fields.keys().filter_map(|n| state_of(n)).collect();
        for path in paths {
            let state = together(&frame, path, around(path))?;
            found.push((name(path), FieldImage::of(state)));
        }
        if let Some(began) = frame.fields.get(BEGAN) {
            let path = began.value.get("path").and_then(Value::as_str);
            let state = path.and_then(around);
            let state = state.ok_or_else(|| lost(&frame, BEGAN))?;
            found.extend(on_top(&frame, &began.value, &state)?);
            let own = own(&frame, &began.value);
            frame.fields.retain(|name, _| !own.contains(name));
        }
        frame.fields.extend(found);
        places.insert(frame.frame.clone(), whole.len());
        whole.push(frame);
    }
    Ok(whole)
}

/// The key of a frame and those of the frames around it, from it outwards.
pub fn callers(key: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(key), |key| {
        let inner = key.strip_suffix('/')?;
        let end = inner.rfind('/').map_or(0, |at| at + 1);
        inner.get(..end)
    })
}

fn lost(frame: &FrameImage, name: &str) -> StoreError {
    let key = &frame.frame;
    StoreError::Corrupt {
        message: format!(
            "the frame `{key}` of the thread has `{name}` on top of what no frame around it has"
        ),
    }
}

/// What is kept under names that begin so, by the rest of the name.
fn named<'f>(
    frame: &'f FrameImage,
    prefix: &'f str,
) -> impl Iterator<Item = (&'f str, &'f FieldImage)> {
    let from = frame.fields.range(prefix.to_owned()..);
    from.map_while(move |(name, field)| Some((name.strip_prefix(prefix)?, field)))
}

/// A state that a frame has something of, on top of what the frames around it have.
fn together(frame: &FrameImage, path: &str, base: Option<Value>) -> Result<Value, StoreError> {
    let rest = frame.fields.get(&name(path));
    let rest = rest.map(|rest| rest.value.clone());
    let fields_of = |state: &Option<Value>| {
        let fields = state.as_ref()?.get("fields")?;
        fields.as_map().cloned()
    };
    let first = fields_of(&rest).or_else(|| fields_of(&base));
    let mut fields = first.unwrap_or_default();
    for (field, kept) in named(frame, &onto(&part(path, ""))) {
        let value = added(fields.get(field), &kept.value);
        match value.map_err(|()| lost(frame, &onto(&part(path, field))))? {
            Some(value) => fields.insert(field, value),
            None => {
                fields.remove(&Key::String(field.into()));
            }
        }
    }
    for (field, kept) in named(frame, &part(path, "")) {
        fields.insert(field, kept.value.clone());
    }
    let known = rest.or(base);
    let known = known.as_ref().and_then(Value::as_map);
    let mut state = known.cloned().unwrap_or_default();
    state.insert("fields", Value::Map(fields));
    Ok(Value::Map(state))
}

/// What became of a value to which that was added; `None` where it is gone.
fn added(base: Option<&Value>, more: &Value) -> Result<Option<Value>, ()> {
    Ok(match (base, more) {
        (_, Value::Null) => None,
        (Some(base), Value::Bool(_)) => Some(base.clone()),
        (Some(Value::List(list)), Value::List(more)) => {
            let mut list = list.clone();
            List::extend(&mut list, more.iter().cloned());
            Some(Value::List(list))
        }
        (Some(Value::Map(map)), Value::Map(more)) => {
            let mut map = map.clone();
            for (key, value) in more.iter() {
                map.insert(key.clone(), value.clone());
            }
            Some(Value::Map(map))
        }
        _ => return Err(()),
    })
}

/// The fields that a call began with.
fn began_with(began: &Value) -> impl Iterator<Item = &str> {
    let fields = began.get("fields").and_then(Value::as_list);
    let fields = fields.into_iter().flat_map(List::iter);
    fields.filter_map(Value::as_str)
}

/// Fields of a call that lie on what it began with, each with a note of that.
fn on_top(
    frame: &FrameImage,
    began: &Value,
    state: &Value,
) -> Result<Vec<(String, FieldImage)>, StoreError> {
    let first = state.get("fields").and_then(Value::as_map);
    let mut found = Vec::new();
    for field in began_with(began) {
        if frame.fields.contains_key(field) {
            continue;
        }
        let nothing = FieldImage::of(Value::Bool(false));
        let more = frame.fields.get(&onto(field)).cloned().unwrap_or(nothing);
        let base = first.and_then(|first| first.get(field));
        let value = added(base, &more.value).map_err(|()| lost(frame, &onto(field)))?;
        let Some(value) = value else { continue };
        let changes = match &more.value {
            Value::List(list) => list.len() as u64,
            Value::Map(map) => map.len() as u64,
            _ => 0,
        };
        found.push((field.to_owned(), FieldImage { value, changes }));
        found.push((onto(field), more));
    }
    Ok(found)
}

/// Names of what was on top of the beginning, of fields that the call has whole since.
fn own(frame: &FrameImage, began: &Value) -> Vec<String> {
    let own = began_with(began).filter(|field| frame.fields.contains_key(*field));
    own.map(onto).collect()
}

/// A frame without what tells what lies on what: as a frame of its own, with each state that lasts whole.
pub fn plain(frame: &FrameImage) -> FrameImage {
    let fields = frame.fields.iter();
    let fields = fields.filter(|(name, _)| !is_persisted(name) || path(name).is_some());
    FrameImage {
        fields: fields.map(|(name, f)| (name.clone(), f.clone())).collect(),
        ..frame.clone()
    }
}

/// Such a frame as checkpoints keep it where it lies on nothing.
pub fn apart(frame: &FrameImage) -> FrameImage {
    let mut apart = plain(frame);
    for (named, kept) in &frame.fields {
        let Some(path) = path(named) else { continue };
        let Some(state) = kept.value.as_map() else {
            continue;
        };
        let mut rest = state.clone();
        rest.remove(&Key::String("fields".into()));
        let fields = state.get("fields").and_then(Value::as_map);
        for (field, value) in fields.into_iter().flat_map(Map::iter) {
            let field = part(path, field.as_str().unwrap_or_default());
            apart.fields.insert(field, FieldImage::of(value.clone()));
        }
        let rest = FieldImage::of(Value::Map(rest));
        apart.fields.insert(named.clone(), rest);
    }
    apart
}

/// Whether something of a frame lies on what frames around it have.
pub fn lies_on_others(frame: &FrameImage) -> bool {
    frame.fields.keys().any(|name| name.starts_with('&'))
}

/// A state as what a frame has kept, with nothing left to do.
pub fn image(state: &Value) -> FrameImage {
    let part = |name: &str| state.get(name);
    let fields = part("fields").and_then(Value::as_map);
    let fields = fields.into_iter().flat_map(Map::iter).map(|(name, value)| {
        let name = name.as_str().unwrap_or_default();
        (name.to_owned(), FieldImage::of(value.clone()))
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
