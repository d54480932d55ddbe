//! Schemas as providers take them. Each takes a part of JSON Schema; what it refuses is said in descriptions instead, and the
//! reply is held to the whole schema here in any case.

use serde_json::{Map as JsonMap, Value as Json, json};

/// The one entry of an object that stands around what is none.
pub const VALUE: &str = "value";

/// What a provider takes of JSON Schema.
#[derive(Debug)]
pub struct Dialect {
    /// Keywords that it refuses.
    pub refused: &'static [&'static str],
    /// Whether every object must name all of its properties and allow no others.
    pub closed: bool,
    /// Whether all properties must be required.
    pub all_required: bool,
    /// Where a schema may refer to itself.
    pub recursion: Recursion,
    /// Whether the schema must be that of an object.
    pub object: bool,
    /// Whether a schema that does not fit may be given all the same, as one that the server need not keep to.
    pub lenient: bool,
    /// Whether every model takes a schema beside tools.
    pub beside_tools: bool,
}

/// Where a schema may refer to itself.
#[derive(Debug, PartialEq, Eq)]
pub enum Recursion {
    /// Nowhere.
    Never,
    /// Within properties that are not required.
    Optional,
    /// Anywhere.
    Anywhere,
}

impl Dialect {
    /// The schema as the provider takes it; `None` where that can't be said to it.
    pub fn fit(&self, schema: &Json) -> Option<Json> {
        let Json::Object(entries) = schema else {
            return Some(schema.clone());
        };
        // What stands beside `$ref` is refused, but for `$defs`.
        let refers = entries.contains_key("$ref");
        if refers && self.recursion == Recursion::Never {
            return None;
        }
        let is_object = entries.get("type").is_some_and(|ty| ty == "object");
        let open = entries.get("additionalProperties") != Some(&Json::Bool(false));
        if self.closed && (entries.is_empty() || (is_object && open)) {
            return None;
        }
        let mut fitted = JsonMap::new();
        let mut refused = Vec::new();
        for (key, value) in entries {
            if refers && !key.starts_with('$') {
                continue;
            }
            let value = match (key.as_str(), value) {
                (key, value) if self.refused.contains(&key) => {
                    if key != "default" {
                        refused.push(format!("{key}: {value}"));
                    }
                    continue;
                }
                ("$defs", Json::Object(named))
                    if self.recursion == Recursion::Optional && named.values().any(must_refer) =>
                {
                    return None;
                }
                ("properties" | "$defs", Json::Object(named)) => {
                    let named = named.iter();
                    let fitted = named.map(|(name, value)| Some((name.clone(), self.fit(value)?)));
                    Json::Object(fitted.collect::<Option<_>>()?)
                }
                ("items" | "additionalProperties", value) => self.fit(value)?,
                ("anyOf", Json::Array(all)) => {
                    let fitted = all.iter().map(|one| self.fit(one));
                    Json::Array(fitted.collect::<Option<_>>()?)
                }
                _ => value.clone(),
            };
            fitted.insert(key.clone(), value);
        }
        if self.all_required
            && let Some(Json::Object(named)) = entries.get("properties")
        {
            let names = named.keys().map(|name| Json::from(name.as_str()));
            fitted.insert("required".to_owned(), names.collect());
        }
        if !refused.is_empty() {
            let said = entries.get("description").and_then(Json::as_str);
            let said = said.map_or(String::new(), |said| format!("{said} "));
            let text = format!("{said}({})", refused.join(", "));
            fitted.insert("description".to_owned(), text.into());
        }
        Some(Json::Object(fitted))
    }
}

/// Whether a schema refers to another from where no property may be left out. Only what holds itself stands in `$defs`, so such a
/// reference among them is part of a cycle.
fn must_refer(schema: &Json) -> bool {
    let Json::Object(entries) = schema else {
        return false;
    };
    let required = entries.get("required").and_then(Json::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    entries
        .iter()
        .any(|(key, value)| match (key.as_str(), value) {
            ("$ref", _) => true,
            ("properties", Json::Object(named)) => named
                .iter()
                .any(|(name, value)| is_required(name) && must_refer(value)),
            ("items" | "additionalProperties", value) => must_refer(value),
            ("anyOf", Json::Array(all)) => all.iter().any(must_refer),
            _ => false,
        })
}

/// Whether a schema is that of an object.
pub fn is_object(schema: &Json) -> bool {
    schema.get("type") == Some(&"object".into())
}

/// An object with a value of the schema as its one entry, [`VALUE`].
pub fn wrapped(schema: &Json) -> Json {
    let mut inner = schema.clone();
    let defs = inner
        .as_object_mut()
        .and_then(|inner| inner.remove("$defs"));
    let mut outer = json!({
        "type": "object",
        "properties": { VALUE: inner },
        "required": [VALUE],
        "additionalProperties": false,
    });
    if let (Some(defs), Some(outer)) = (defs, outer.as_object_mut()) {
        outer.insert("$defs".to_owned(), defs);
    }
    outer
}

/// What stands in such an object. A text that is none is what it is: it is read leniently later.
pub fn unwrapped(text: String) -> String {
    let json = serde_json::from_str::<JsonMap<String, Json>>(&text);
    match json.ok().filter(|json| json.len() == 1) {
        Some(json) => json.get(VALUE).map_or(text, Json::to_string),
        None => text,
    }
}
