//! What the attributes of a field ask of its values: `@min @max @len @pattern @alias`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use crate::value::Value;

use super::ty::{RecordField, Type};

/// Bounds of a field's values, checked on all that enters from outside.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Constraints {
    /// `@min(0)`: the least number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<serde_json::Number>,
    /// `@max(1)`: the greatest number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<serde_json::Number>,
    /// `@len(1, 80)`: the least and the greatest length, in characters of a text, elements of a list or
    /// entries of a map.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub len: Option<(u64, u64)>,
    /// `@pattern("..")`: a regular expression that a text has a match of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// `@alias("..")`: the name that the outside knows the field by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
}

impl Constraints {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a text has to match a pattern from end to end.
    pub fn has_whole_pattern(&self) -> bool {
        self.pattern.as_deref().is_some_and(is_anchored)
    }

    /// Whether a value of the type may hold a text of any form.
    pub fn admit_free_text(&self, ty: &Type) -> bool {
        !self.has_whole_pattern() && ty.has_free_text()
    }

    /// Adds the keywords to the schema of a field of type `ty`, below `anyOf` where the field may be null.
    pub(super) fn write(&self, ty: &Type, schema: &mut Json) {
        let place = match ty {
            Type::Nullable(_) => schema.pointer_mut("/anyOf/0"),
            _ => Some(schema),
        };
        let Some(Json::Object(object)) = place else {
            return;
        };
        let of = ty.without_null();
        let mut put = |key: &str, value: Json| {
            object.insert(key.into(), value);
        };
        if let Some(min) = &self.min {
            put("minimum", json!(min));
        }
        if let Some(max) = &self.max {
            put("maximum", json!(max));
        }
        if let Some((least, most)) = self.len {
            let what = match of {
                Type::List(_) => "Items",
                Type::Map(_) => "Properties",
                _ => "Length",
            };
            put(&format!("min{what}"), json!(least));
            put(&format!("max{what}"), json!(most));
        }
        if let Some(pattern) = &self.pattern {
            put("pattern", json!(pattern));
        }
    }

    /// What a value of the state breaks, in words; empty where it keeps to all.
    pub fn broken_by(&self, value: &Value) -> Vec<String> {
        let (count, unit) = match value {
            Value::List(list) => (list.len() as u64, "elements"),
            Value::Map(map) => (map.len() as u64, "entries"),
            other => return self.broken(&other.to_json()),
        };
        // Of these only the length is asked, so that nothing need be copied.
        match self
            .len
            .filter(|(least, most)| !(*least..=*most).contains(&count))
        {
            Some((least, most)) => {
                vec![format!("expected {least} to {most} {unit}, found {count}")]
            }
            None => Vec::new(),
        }
    }

    /// What a value breaks, in words; empty where it keeps to all. `null` keeps to all.
    pub fn broken(&self, json: &Json) -> Vec<String> {
        let mut broken = Vec::new();
        if let Some(number) = json.as_f64() {
            let (min, max) = (bound(&self.min), bound(&self.max));
            if let Some(min) = min.filter(|min| number < *min) {
                broken.push(format!("expected at least {min}, found {json}"));
            }
            if let Some(max) = max.filter(|max| number > *max) {
                broken.push(format!("expected at most {max}, found {json}"));
            }
        }
        if let (Some((least, most)), Some((len, unit))) = (self.len, length(json))
            && !(least..=most).contains(&len)
        {
            broken.push(format!("expected {least} to {most} {unit}, found {len}"));
        }
        if let (Some(pattern), Some(text)) = (&self.pattern, json.as_str())
            && let Ok(regex) = super::function::pattern::regex(pattern)
            && !regex.is_match(text)
        {
            broken.push(format!("expected text that matches `{pattern}`"));
        }
        broken
    }
}

fn bound(number: &Option<serde_json::Number>) -> Option<f64> {
    number.as_ref().and_then(serde_json::Number::as_f64)
}

fn length(json: &Json) -> Option<(u64, &'static str)> {
    match json {
        Json::String(text) => Some((text.chars().count() as u64, "characters")),
        Json::Array(items) => Some((items.len() as u64, "elements")),
        Json::Object(entries) => Some((entries.len() as u64, "entries")),
        _ => None,
    }
}

impl RecordField {
    /// The name that the outside knows it by: its alias, else its own.
    pub fn outer_name(&self) -> &str {
        self.constraints.alias.as_deref().unwrap_or(&self.name)
    }
}

/// Whether a pattern is bound to both ends of a text: `^..$`. One that is not says nothing of what stands around its match.
pub fn is_anchored(pattern: &str) -> bool {
    let Ok(parsed) = regex_automata::util::syntax::parse(pattern) else {
        return false;
    };
    let of = parsed.properties();
    let mut begins = of.look_set_prefix().iter().map(|look| look.as_char());
    let mut ends = of.look_set_suffix().iter().map(|look| look.as_char());
    // `\A` and `\z`, which `^` and `$` mean where no flag says otherwise.
    begins.any(|look| look == 'A') && ends.any(|look| look == 'z')
}
