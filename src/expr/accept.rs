//! What enters from outside: model output, tool arguments and results, answers, run input.
//!
//! [`accept`] validates JSON strictly against a type and turns it into a value: texts become
//! timestamps and durations, defaults are filled in, whole numbers become floats where a float is declared. What
//! doesn't fit is reported, each with its path, the first of many. What a model wrote is made JSON of by `run::decode`.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use std::ops::Deref;

use serde_json::{Map as JsonMap, Value as Json};

use crate::base::name::{closest, list};
use crate::value::{Key, Map, Value};

use super::function::{span, time};
use super::ty::{RecordField, RecordId, Type, TypeTable};

/// A part of a value that doesn't fit the type it should have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Where: `$.edits[0].content`
    pub path: String,
    /// What was expected and what is there.
    pub message: String,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.path, self.message)
    }
}

/// Most mismatches that are described; of more only the number is known.
const MOST: usize = 20;

/// Most characters of a value or a key in a message.
const SHOWN: usize = 40;

/// What doesn't fit, the first of it described. As text: all of them, and how many more there are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mismatches {
    first: Vec<Mismatch>,
    more: usize,
}

impl Mismatches {
    fn is_full(&self) -> bool {
        self.first.len() >= MOST
    }

    /// Each of them, and last how many more there are.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let more = (self.more > 0).then(|| format!("and {} more", self.more));
        self.first.iter().map(Mismatch::to_string).chain(more)
    }

    /// Those of a part.
    fn add_all(&mut self, other: Mismatches) {
        let room = MOST.saturating_sub(self.first.len());
        self.more += other.more + other.first.len().saturating_sub(room);
        self.first.extend(other.first.into_iter().take(room));
    }
}

impl Deref for Mismatches {
    type Target = [Mismatch];

    fn deref(&self) -> &[Mismatch] {
        &self.first
    }
}

impl fmt::Display for Mismatches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines().collect::<Vec<_>>().join("; "))
    }
}

/// The value of JSON of that type; otherwise what doesn't fit.
pub fn accept(json: &Json, ty: &Type, types: &TypeTable) -> Result<Value, Mismatches> {
    run(types, |reader| reader.value(json, ty))
}

/// Whether JSON can be the named parts of a value of that type: what is left out, `null` (which says that there is
/// none) and what constraints ask count for nothing.
///
/// # Errors
/// All that no such value has.
pub fn accept_parts(json: &Json, ty: &Type, types: &TypeTable) -> Result<(), Mismatches> {
    let read = |reader: &mut Reader<'_>| {
        reader.partial = true;
        reader.value(json, ty)
    };
    run(types, read).map(|_| ())
}

/// The record of JSON with these fields: arguments of a tool, an input, an event.
pub fn accept_fields(
    json: &Json,
    fields: &[RecordField],
    types: &TypeTable,
) -> Result<Value, Mismatches> {
    run(types, |reader| match json {
        Json::Object(object) => reader.fields(object, fields),
        other => reader.wrong("an object", other),
    })
}

fn run(
    types: &TypeTable,
    read: impl FnOnce(&mut Reader<'_>) -> Value,
) -> Result<Value, Mismatches> {
    let mut reader = Reader {
        types,
        path: "$".to_owned(),
        found: Mismatches::default(),
        partial: false,
    };
    let value = read(&mut reader);
    if reader.found.is_empty()
        && let Err(deep) = value.check_depth()
    {
        reader.report(|| deep);
    }
    match reader.found.is_empty() {
        true => Ok(value),
        false => Err(reader.found),
    }
}

struct Reader<'a> {
    types: &'a TypeTable,
    path: String,
    found: Mismatches,
    /// Whether only what is named counts.
    partial: bool,
}

impl Reader<'_> {
    fn report(&mut self, message: impl FnOnce() -> String) -> Value {
        match self.found.is_full() {
            true => self.found.more += 1,
            false => self.found.first.push(Mismatch {
                path: self.path.clone(),
                message: message(),
            }),
        }
        Value::Null
    }

    fn wrong(&mut self, expected: &str, found: &Json) -> Value {
        self.report(|| format!("expected {expected}, found {}", brief(found)))
    }

    /// Reads a part, with its step on the path.
    fn part<T>(&mut self, step: &str, read: impl FnOnce(&mut Self) -> T) -> T {
        let len = self.path.len();
        self.path.push_str(step);
        let value = read(self);
        self.path.truncate(len);
        value
    }

    fn value(&mut self, json: &Json, ty: &Type) -> Value {
        match (ty, json) {
            (Type::Json | Type::Error | Type::Never, _) => Value::from_json(json),
            (_, Json::Null) if self.partial => Value::Null,
            (Type::Nullable(_) | Type::Optional(_) | Type::Null, Json::Null) => Value::Null,
            (Type::Nullable(of) | Type::Optional(of), _) => self.value(json, of),
            (Type::Bool, Json::Bool(b)) => Value::Bool(*b),
            (Type::Int, Json::Number(number)) => match whole(number) {
                Some(i) => Value::Int(i),
                None => self.wrong("int", json),
            },
            (Type::Uint, Json::Number(number)) => match number.as_u64() {
                Some(u) => Value::Uint(u),
                None => self.wrong("a positive int", json),
            },
            (Type::Float, Json::Number(number)) => {
                Value::Float(number.as_f64().unwrap_or(f64::NAN))
            }
            (Type::String, Json::String(text)) => Value::text(text.as_str()),
            (Type::Timestamp, Json::String(text)) => match time::parse_timestamp(text) {
                Ok(timestamp) => Value::Timestamp(timestamp),
                Err(_) => self.wrong("a timestamp such as 2026-01-31T12:00:00Z", json),
            },
            (Type::Duration, Json::String(text)) => match span::parse_duration(text) {
                Some(duration) => Value::Duration(duration),
                None => self.wrong("a duration such as 1.5s, 10m or 2h", json),
            },
            (Type::Literal(wanted), Json::String(text)) if **wanted == **text => {
                Value::text(text.as_str())
            }
            (Type::Enum(id), Json::String(text)) => {
                let declared = self.types.enums.get(*id);
                if let Some(member) = declared.and_then(|declared| declared.meant(text)) {
                    return Value::text(member.name.as_str());
                }
                let members = declared.into_iter().flat_map(|e| &e.members);
                self.one_of(text, members.map(|m| m.name.as_str()).collect())
            }
            (Type::Union(members), _) => self.union(json, ty, members),
            (Type::List(of), Json::Array(items)) => items
                .iter()
                .enumerate()
                .map(|(i, item)| self.part(&format!("[{i}]"), |reader| reader.value(item, of)))
                .collect::<Vec<_>>()
                .into(),
            (Type::Map(of), Json::Object(entries)) => {
                let mut map = Map::new();
                for (key, entry) in entries {
                    let value = self.part(&step(key), |reader| reader.value(entry, of));
                    map.insert(Key::from(key.as_str()), value);
                }
                Value::Map(map)
            }
            (Type::Record(id), Json::Object(object)) => self.record(object, *id),
            (_, found) => {
                let expected = self.expected(ty);
                self.wrong(&expected, found)
            }
        }
    }

    fn expected(&self, ty: &Type) -> String {
        match ty {
            Type::Enum(id) => {
                let members = self
                    .types
                    .enums
                    .get(*id)
                    .into_iter()
                    .flat_map(|e| &e.members);
                alternatives(members.map(|m| m.name.as_str()))
            }
            Type::Record(id) => match self.types.records.get(*id) {
                Some(record) => format!("an object (`{}`)", record.name),
                None => "an object".to_owned(),
            },
            Type::Map(_) => "an object".to_owned(),
            other => self.types.show(other).to_string(),
        }
    }

    fn one_of(&mut self, text: &str, known: Vec<&str>) -> Value {
        if known.contains(&text) {
            return Value::text(text);
        }
        self.report(|| {
            let message = format!(
                "expected {}, found {}",
                alternatives(known.iter().copied()),
                brief(&Json::from(text))
            );
            match closest(text, known.iter().copied()) {
                Some(near) => format!("{message}; did you mean \"{near}\"?"),
                None => message,
            }
        })
    }

    /// The first member that fits. Where none does but only one can be meant, what is wrong with it is said: the only one of the
    /// JSON's kind, without those of which a literal is another.
    fn union(&mut self, json: &Json, ty: &Type, members: &[Type]) -> Value {
        let texts: Vec<&str> = members
            .iter()
            .filter_map(|m| match m {
                Type::Literal(text) => Some(&**text),
                _ => None,
            })
            .collect();
        if let (Json::String(text), true) = (json, texts.len() == members.len()) {
            return self.one_of(text, texts);
        }
        let before = std::mem::take(&mut self.found);
        let mut tried: Vec<Mismatches> = Vec::new();
        // One whose literal is another's is not read: of what is nested deep, each level would be read once a member.
        let several = members.iter().filter(|m| is_kind(json, m)).count() > 1;
        let possible = members
            .iter()
            .filter(|m| !several || self.is_possible(json, m));
        for member in possible.collect::<Vec<_>>() {
            let value = self.value(json, member);
            let found = std::mem::take(&mut self.found);
            if found.is_empty() {
                self.found = before;
                return value;
            }
            if is_kind(json, member) {
                tried.push(found);
            }
        }
        self.found = before;
        match (tried.pop(), tried.pop()) {
            (Some(only), None) => {
                self.found.add_all(only);
                Value::Null
            }
            _ => {
                let expected = self.types.show(ty).to_string();
                self.wrong(&expected, json)
            }
        }
    }

    /// Whether JSON may be of a type as far as the literals of its fields say.
    fn is_possible(&self, json: &Json, ty: &Type) -> bool {
        let (Type::Record(id), Json::Object(object)) = (ty, json) else {
            return true;
        };
        let fields = self.types.records.get(*id).map_or(&[][..], |r| &r.fields);
        fields.iter().all(|field| match &field.ty {
            Type::Literal(wanted) => match object.get(given_name(field, fields, object)) {
                Some(Json::String(text)) => **wanted == **text,
                _ => true,
            },
            _ => true,
        })
    }

    fn record(&mut self, object: &JsonMap<String, Json>, id: RecordId) -> Value {
        let types = self.types;
        match types.records.get(id) {
            Some(record) => self.fields(object, &record.fields),
            None => Value::from_json(&Json::Object(object.clone())),
        }
    }

    fn fields(&mut self, object: &JsonMap<String, Json>, fields: &[RecordField]) -> Value {
        let mut map = Map::new();
        let names: Vec<&str> = (fields.iter())
            .map(|field| given_name(field, fields, object))
            .collect();
        for (field, name) in fields.iter().zip(names.iter().copied()) {
            let value = match (object.get(name), &field.default) {
                (Some(json), _) => self.part(&step(name), |reader| {
                    if !reader.partial {
                        for broken in field.constraints.broken(json) {
                            reader.report(|| broken);
                        }
                    }
                    reader.value(json, &field.ty)
                }),
                _ if self.partial => Value::Null,
                (None, Some(default)) => self.value(default, &field.ty),
                (None, None) if field.ty.admits_null() => Value::Null,
                (None, None) => self.report(|| format!("`{}` is missing", field.outer_name())),
            };
            map.insert(Key::from(field.name.as_str()), value);
        }
        let known: HashSet<&str> = names.iter().copied().collect();
        for key in object.keys().filter(|key| !known.contains(key.as_str())) {
            self.report(|| {
                let unused = names.iter().filter(|name| !object.contains_key(**name));
                let near = closest(key, unused.copied());
                let key = shown(key);
                match near {
                    Some(near) => format!("`{key}` is unknown; did you mean `{near}`?"),
                    None => {
                        format!(
                            "`{key}` is unknown; expected {}",
                            list(names.iter().copied())
                        )
                    }
                }
            });
        }
        Value::Map(map)
    }
}

/// The name that an object gives a field by: its alias, or its own name where that is no other's.
fn given_name<'f>(
    field: &'f RecordField,
    fields: &[RecordField],
    object: &JsonMap<String, Json>,
) -> &'f str {
    let outer = field.outer_name();
    let own = &field.name;
    let by_own = field.constraints.alias.is_some()
        && !object.contains_key(outer)
        && object.contains_key(own)
        && !fields.iter().any(|other| other.outer_name() == own);
    match by_own {
        true => own,
        false => outer,
    }
}

/// Whether JSON has at least the outer form of a type with parts.
fn is_kind(json: &Json, ty: &Type) -> bool {
    matches!(
        (json, ty),
        (Json::Object(_), Type::Record(_) | Type::Map(_)) | (Json::Array(_), Type::List(_))
    )
}

/// A whole number, also where it is written with a fraction of zero.
fn whole(number: &serde_json::Number) -> Option<i64> {
    number.as_i64().or_else(|| {
        let float = number.as_f64()?;
        // Beyond 2^53 a float no longer tells neighbouring integers apart.
        let exact = float.fract() == 0.0 && float.abs() <= 9_007_199_254_740_992.0;
        exact.then_some(float as i64)
    })
}

/// A step of a path: `.name` where the key is a plain name.
fn step(key: &str) -> String {
    let plain = !key.is_empty()
        && !key.starts_with(|c: char| c.is_ascii_digit())
        && key.chars().all(|c| c.is_alphanumeric() || c == '_');
    match plain {
        true => format!(".{}", shown(key)),
        false => format!("[{:?}]", shown(key)),
    }
}

/// A key or value, short enough for a message.
fn shown(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(SHOWN) {
        None => text.into(),
        Some((end, _)) => format!("{}..", text.get(..end).unwrap_or_default()).into(),
    }
}

fn alternatives<'a>(texts: impl Iterator<Item = &'a str>) -> String {
    let quoted: Vec<String> = texts.map(|text| format!("{text:?}")).collect();
    match quoted.split_last() {
        None => "nothing".to_owned(),
        Some((only, [])) => only.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    }
}

/// JSON short enough for a message.
fn brief(json: &Json) -> String {
    match json {
        Json::Object(_) => "an object".to_owned(),
        Json::Array(_) => "a list".to_owned(),
        other => shown(&other.to_string()).into_owned(),
    }
}
