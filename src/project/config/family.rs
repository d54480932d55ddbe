//! `model_families`: what the project knows of its models, for the checks of what a flow asks of them.

use crate::project::yaml::Cursor;

use super::variables::Variables;

const KEYS: [&str; 5] = ["context", "tools", "schema", "thinks", "temperature"];

/// What is known of the models whose names begin alike. What is left out isn't known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelFamily {
    /// Most tokens of a request and its reply together.
    pub context: Option<u64>,
    /// Whether they call tools.
    pub tools: Option<bool>,
    /// Whether they can be held to a JSON Schema.
    pub schema: Option<bool>,
    /// Whether they think before they answer without being told to; `false` where they can't think at all.
    pub thinks: Option<bool>,
    /// Whether they take a temperature.
    pub temperature: Option<bool>,
}

/// Reads one entry.
pub fn read(cursor: &Cursor<'_>, _: &Variables<'_>) -> Option<ModelFamily> {
    let table = cursor.table("a family of models", &KEYS)?;
    let flag = |key: &str| table.get(key).and_then(|cursor| cursor.flag());
    Some(ModelFamily {
        context: table.get("context").and_then(|cursor| cursor.count()),
        tools: flag("tools"),
        schema: flag("schema"),
        thinks: flag("thinks"),
        temperature: flag("temperature"),
    })
}
