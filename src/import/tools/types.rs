//! Types of a flow made of JSON Schema.
//!
//! What a type can't say becomes `json`. A schema comes from outside: references are followed to a depth, and so many of its parts are
//! looked at.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value as Json;

use super::super::graphs::{unique, upper_camel};
use super::{doc, own_name};

/// Levels of a schema that become types; what lies deeper is `json`.
const DEPTH: u32 = 12;
/// Parts of the schemas of one tool that become types; the rest is `json`.
const PARTS: u32 = 2_000;
/// Most texts that are written as a type of texts.
const MOST_TEXTS: usize = 64;

/// Makes the types of one tool.
pub struct Types<'a> {
    tool: &'a str,
    taken: &'a BTreeSet<String>,
    /// Records by name, each with its text.
    made: BTreeMap<String, String>,
    depth: u32,
    parts: u32,
}

impl<'a> Types<'a> {
    /// For a tool of that name; names of records that are taken are left to others.
    pub fn new(tool: &'a str, taken: &'a BTreeSet<String>) -> Self {
        Self {
            tool,
            taken,
            made: BTreeMap::new(),
            depth: 0,
            parts: 0,
        }
    }

    /// The texts of the records.
    pub fn records(&self) -> String {
        self.made.values().map(String::as_str).collect()
    }

    /// The names of the records.
    pub fn names(&self) -> Vec<String> {
        self.made.keys().cloned().collect()
    }

    /// The type of a result. What servers wrap as the sole property `result` is the result, and the sole property `content` that is a text
    /// is the text of the result once more.
    pub fn result(&mut self, schema: &Json) -> String {
        let properties = schema.get("properties").and_then(Json::as_object);
        let sole = |name: &str| properties.filter(|all| all.len() == 1)?.get(name);
        let is_text = |part: &&Json| part.get("type").is_some_and(|ty| ty == "string");
        if sole("content").filter(is_text).is_some() {
            return "string".to_owned();
        }
        self.of(sole("result").unwrap_or(schema), schema, "result")
    }

    /// Fields of an object, one a line: parameters, or those of a record. `path` names where they are.
    pub fn fields(&mut self, schema: &Json, root: &Json, path: &str) -> String {
        let properties = schema.get("properties").and_then(Json::as_object);
        let required = schema.get("required").and_then(Json::as_array);
        let required: Vec<&str> = required
            .into_iter()
            .flatten()
            .filter_map(Json::as_str)
            .collect();
        let mut names = BTreeSet::new();
        let mut text = String::new();
        let mut properties: Vec<_> = properties.into_iter().flatten().collect();
        // What must be given stands first.
        properties.sort_by_key(|(name, _)| !required.contains(&name.as_str()));
        for (theirs, property) in properties {
            let name = own_name(theirs, "value", &names);
            let under = match path {
                "" => name.clone(),
                path => format!("{path}_{name}"),
            };
            let mut ty = self.of(property, root, &under);
            let default = default(property, &ty);
            if default.is_none() && !required.contains(&theirs.as_str()) {
                ty = nullable(ty);
            }
            let description = property.get("description").and_then(Json::as_str);
            text.push_str(&doc(description.unwrap_or_default()));
            let _ = write!(text, "{name}: {ty}");
            if let Some(default) = default {
                let _ = write!(text, " = {default}");
            }
            text.push_str(&bounds(property, &ty));
            if name != *theirs {
                let _ = write!(text, " @alias({})", Json::from(theirs.as_str()));
            }
            text.push_str(",\n");
            names.insert(name);
        }
        text
    }

    /// The type of a schema.
    fn of(&mut self, schema: &Json, root: &Json, path: &str) -> String {
        self.parts += 1;
        if self.depth >= DEPTH || self.parts > PARTS {
            return "json".to_owned();
        }
        self.depth += 1;
        let ty = self.within(schema, root, path);
        self.depth -= 1;
        ty
    }

    fn within(&mut self, schema: &Json, root: &Json, path: &str) -> String {
        if let Some(to) = schema.get("$ref").and_then(Json::as_str) {
            let to = to.strip_prefix('#').and_then(|at| root.pointer(at));
            return to.map_or("json".to_owned(), |to| self.of(to, root, path));
        }
        if let Some(texts) = texts(schema) {
            return texts;
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            if let Some(all) = schema.get(key).and_then(Json::as_array) {
                return self.one_of(all, root, path);
            }
        }
        match schema.get("type") {
            Some(Json::String(word)) => self.plain(word, schema, root, path),
            Some(Json::Array(words)) => {
                let words: Vec<&str> = words.iter().filter_map(Json::as_str).collect();
                let has_null = words.contains(&"null");
                let mut others = words.iter().filter(|word| **word != "null");
                match (others.next(), others.next()) {
                    (Some(only), None) => {
                        let ty = self.plain(only, schema, root, path);
                        match has_null {
                            true => nullable(ty),
                            false => ty,
                        }
                    }
                    _ => "json".to_owned(),
                }
            }
            _ if schema.get("properties").is_some() => self.plain("object", schema, root, path),
            _ => "json".to_owned(),
        }
    }

    /// One alternative beside null is a type; several of another kind are `json`.
    fn one_of(&mut self, all: &[Json], root: &Json, path: &str) -> String {
        let is_null = |one: &&Json| one.get("type").is_some_and(|ty| ty == "null");
        let has_null = all.iter().any(|one| is_null(&one));
        let mut others = all.iter().filter(|one| !is_null(one));
        match (others.next(), others.next()) {
            (Some(only), None) => {
                let ty = self.of(only, root, path);
                match has_null {
                    true => nullable(ty),
                    false => ty,
                }
            }
            _ => "json".to_owned(),
        }
    }

    fn plain(&mut self, word: &str, schema: &Json, root: &Json, path: &str) -> String {
        match word {
            "string" => "string".to_owned(),
            "integer" => "int".to_owned(),
            "number" => "float".to_owned(),
            "boolean" => "bool".to_owned(),
            "array" => {
                let of = schema.get("items").filter(|items| items.is_object());
                let of = of.map_or("json".to_owned(), |of| self.of(of, root, path));
                format!("list<{of}>")
            }
            "object" => {
                let properties = schema.get("properties").and_then(Json::as_object);
                if properties.is_some_and(|all| !all.is_empty()) {
                    return self.record(schema, root, path);
                }
                match schema.get("additionalProperties") {
                    Some(of @ Json::Object(more)) if !more.is_empty() => {
                        format!("map<{}>", self.of(of, root, path))
                    }
                    _ => "json".to_owned(),
                }
            }
            _ => "json".to_owned(),
        }
    }

    fn record(&mut self, schema: &Json, root: &Json, path: &str) -> String {
        let wanted = upper_camel(&format!("{}_{path}", self.tool));
        let wanted: String = wanted.chars().take(super::LONGEST_NAME).collect();
        let name = unique(&wanted, |name| {
            self.taken.contains(name) || self.made.contains_key(name)
        });
        // Taken before its fields are made, which may have records of their own.
        self.made.insert(name.clone(), String::new());
        let fields = self.fields(schema, root, path);
        let description = schema.get("description").and_then(Json::as_str);
        let description = doc(description.unwrap_or_default());
        let text = format!("{description}type {name} {{\n{fields}}}\n\n");
        self.made.insert(name.clone(), text);
        name
    }
}

/// `T?`, once.
fn nullable(ty: String) -> String {
    match ty == "json" || ty.ends_with('?') {
        true => ty,
        false if ty.contains(" | ") => format!("({ty})?"),
        false => ty + "?",
    }
}

/// The texts that a schema lists, as a type.
fn texts(schema: &Json) -> Option<String> {
    let one;
    let all = match (schema.get("enum"), schema.get("const")) {
        (Some(Json::Array(all)), _) => all.as_slice(),
        (None, Some(only)) => {
            one = [only.clone()];
            &one
        }
        _ => return None,
    };
    let mut texts: Vec<&str> = all.iter().map(Json::as_str).collect::<Option<_>>()?;
    let mut seen = BTreeSet::new();
    texts.retain(|text| seen.insert(*text));
    if texts.is_empty() || texts.len() > MOST_TEXTS {
        return None;
    }
    let texts: Vec<String> = texts.iter().map(|t| Json::from(*t).to_string()).collect();
    Some(texts.join(" | "))
}

/// A default that can stand behind a type.
fn default(schema: &Json, ty: &str) -> Option<String> {
    let default = schema.get("default")?;
    let fits = match (default, ty) {
        (Json::String(text), "string") => text.len() < 200 && !text.contains(char::is_control),
        (Json::String(_), _) => ty.contains(&default.to_string()),
        (Json::Bool(_), "bool") => true,
        (Json::Number(number), "int") => number.is_i64(),
        (Json::Number(_), "float") => true,
        _ => false,
    };
    if !fits {
        return None;
    }
    Some(match (default, ty) {
        // A float is written with its point.
        (Json::Number(number), "float") => match number.as_f64()? {
            float if float.fract() == 0.0 && float.abs() < 1e15 => format!("{float:.1}"),
            _ => number.to_string(),
        },
        _ => default.to_string(),
    })
}

/// The bounds of a number.
fn bounds(schema: &Json, ty: &str) -> String {
    if !matches!(ty.trim_end_matches('?'), "int" | "float") {
        return String::new();
    }
    let bound = |key: &str| {
        let bound = schema.get(key)?;
        // Whole ones alone: what JavaScript takes for the largest number says nothing.
        bound.as_i64().filter(|b| b.unsigned_abs() < 1 << 53)
    };
    let mut text = String::new();
    if let Some(min) = bound("minimum") {
        let _ = write!(text, " @min({min})");
    }
    if let Some(max) = bound("maximum") {
        let _ = write!(text, " @max({max})");
    }
    text
}
