//! What enters from outside: model output, tool arguments and results, answers, run input.
//!
//! [`accept`] validates JSON strictly against a type and turns it into a value: texts become
//! timestamps and durations, defaults are filled in, whole numbers become floats where a float is declared. All that
//! doesn't fit is reported, each with its path. What a model wrote is made JSON of by `run::decode`.

use std::fmt;

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

/// The value of JSON of that type; otherwise all that doesn't fit.
pub fn accept(json: &Json, ty: &Type, types: &TypeTable) -> Result<Value, Vec<Mismatch>> {
    run(types, |reader| reader.value(json, ty))
}

/// Whether JSON can be the named parts of a value of that type: what is left out, `null` (which says that there is
/// none) and what constraints ask count for nothing.
///
/// # Errors
/// All that no such value has.
pub fn accept_parts(json: &Json, ty: &Type, types: &TypeTable) -> Result<(), Vec<Mismatch>> {
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
) -> Result<Value, Vec<Mismatch>> {
    run(types, |reader| match json {
        Json::Object(object) => reader.fields(object, fields),
        other => reader.wrong("an object", other),
    })
}

fn run(
    types: &TypeTable,
    read: impl FnOnce(&mut Reader<'_>) -> Value,
) -> Result<Value, Vec<Mismatch>> {
    let mut reader = Reader {
        types,
        path: "$".to_owned(),
        found: Vec::new(),
        partial: false,
    };
    let value = read(&mut reader);
    if reader.found.is_empty()
        && let Err(deep) = value.check_depth()
    {
        reader.report(deep);
    }
    match reader.found.is_empty() {
        true => Ok(value),
        false => Err(reader.found),
    }
}

struct Reader<'a> {
    types: &'a TypeTable,
    path: String,
    found: Vec<Mismatch>,
    /// Whether only what is named counts.
    partial: bool,
}

impl Reader<'_> {
    fn report(&mut self, message: String) -> Value {
        self.found.push(Mismatch {
            path: self.path.clone(),
            message,
        });
        Value::Null
    }

    fn wrong(&mut self, expected: &str, found: &Json) -> Value {
        self.report(format!("expected {expected}, found {}", brief(found)))
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
                let types = self.types;
                let declared = types.enums.get(*id);
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
        let near = closest(text, known.iter().copied());
        let message = format!(
            "expected {}, found {}",
            alternatives(known.iter().copied()),
            brief(&Json::from(text))
        );
        self.report(match near {
            Some(near) => format!("{message}; did you mean \"{near}\"?"),
            None => message,
        })
    }

    /// The first member that fits. Where none does but only one is of the JSON's kind, that one was meant, and
    /// what is wrong with it is said.
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
        let before = self.found.len();
        let mut tried: Vec<Vec<Mismatch>> = Vec::new();
        for member in members {
            let value = self.value(json, member);
            if self.found.len() == before {
                return value;
            }
            tried.push(self.found.split_off(before));
        }
        let of_kind = members.iter().zip(tried).filter(|(m, _)| is_kind(json, m));
        let mut of_kind = of_kind.map(|(_, found)| found);
        match (of_kind.next(), of_kind.next()) {
            (Some(only), None) => {
                self.found.extend(only);
                Value::Null
            }
            _ => {
                let expected = self.types.show(ty).to_string();
                self.wrong(&expected, json)
            }
        }
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
        for field in fields {
            let name = given_name(field, fields, object);
            let value = match (object.get(name), &field.default) {
                (Some(json), _) => self.part(&step(name), |reader| {
                    if !reader.partial {
                        for broken in field.constraints.broken(json) {
                            reader.report(broken);
                        }
                    }
                    reader.value(json, &field.ty)
                }),
                _ if self.partial => Value::Null,
                (None, Some(default)) => self.value(default, &field.ty),
                (None, None) if field.ty.admits_null() => Value::Null,
                (None, None) => self.report(format!("`{}` is missing", field.outer_name())),
            };
            map.insert(Key::from(field.name.as_str()), value);
        }
        let names = || fields.iter().map(|field| given_name(field, fields, object));
        for key in object.keys().filter(|key| !names().any(|n| n == *key)) {
            let unused = names().filter(|n| !object.contains_key(*n));
            let message = match closest(key, unused) {
                Some(near) => format!("`{key}` is unknown; did you mean `{near}`?"),
                None => format!("`{key}` is unknown; expected {}", list(names())),
            };
            self.report(message);
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
        true => format!(".{key}"),
        false => format!("[{key:?}]"),
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
    const MOST: usize = 40;
    let text = match json {
        Json::Object(_) => return "an object".to_owned(),
        Json::Array(_) => return "a list".to_owned(),
        other => other.to_string(),
    };
    match text.char_indices().nth(MOST) {
        None => text,
        Some((end, _)) => format!("{}..", text.get(..end).unwrap_or_default()),
    }
}
