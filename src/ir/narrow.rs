//! `with` and `where` on a tool: what is fixed of its arguments in a node, and which calls are let through there or in a graph.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value as Json};

use super::flow::ToolId;
use super::text::{Expr, Named};

/// A tool that may be called with some arguments alone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Narrowed {
    /// The tool.
    pub tool: ToolId,
    /// Arguments that the flow gives each call, by the names of the parameters, computed once when the node begins its work. A
    /// model neither sees nor gives them. A graph has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fixed: Vec<Named>,
    /// What must hold of its arguments, all of it; its parameters are in scope by their names.
    pub conditions: Vec<Expr>,
    /// What the conditions say of single arguments: the schema that a model is shown says it too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<Argument>,
    /// Conditions, by position, that the schema does not say whole; the tool's description does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub in_words: Vec<u32>,
}

/// What is left of one argument: by conditions, or the constant that is fixed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Argument {
    /// Name of the parameter.
    pub name: String,
    /// The values that are left, where they can be counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<Json>>,
    /// The least number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min: Option<Limit>,
    /// The greatest number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max: Option<Limit>,
    /// The least length of a text, list or map.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_len: Option<u64>,
    /// The greatest length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_len: Option<u64>,
    /// Whether null is let through, where the parameter's type has it.
    pub null: bool,
    /// Whether it must be given although the parameter has a default: the default is not let through.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub required: bool,
}

/// An end of a range of numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Limit {
    /// The number.
    pub at: Number,
    /// Whether the number itself is left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub open: bool,
}
