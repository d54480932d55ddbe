//! A whole flow.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::IdVec;
use crate::expr::ty::{RecordField, Type, TypeTable};
use crate::typed_id;

use super::error::{ErrorKind, Retry};
use super::graph::{Channel, Field, Graph};
use super::jump::{Emit, Route};
use super::text::{Expr, Place};
use super::version;

typed_id! {
    /// A graph of a flow.
    GraphId
}
typed_id! {
    /// A tool of a flow.
    ToolId
}
typed_id! {
    /// A model of a flow.
    ModelId
}
typed_id! {
    /// A declared reducer of a flow.
    ReducerId
}
typed_id! {
    /// An event of a flow.
    EventId
}

/// Version of this form. A runtime refuses any other.
pub const FORMAT: u32 = 1;

/// A compiled flow.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// [`FORMAT`].
    pub format: u32,
    /// Source files, relative to the folder of the first, with `/`.
    pub files: Vec<String>,
    /// Records and enums, the built-in ones first.
    pub types: TypeTable,
    /// Standard-library functions that its expressions use.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<String>,
    /// Names of the fields that are marked `@secret`: messages don't show the values of expressions that may read one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    /// Marks on fields of states, contexts and records, as `@untrusted Doc.text`: what was checked, nothing that runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<String>,
    /// Events.
    pub events: IdVec<EventId, Event>,
    /// Declared reducers.
    pub reducers: IdVec<ReducerId, Reducer>,
    /// Models.
    pub models: IdVec<ModelId, Model>,
    /// Tools.
    pub tools: IdVec<ToolId, Tool>,
    /// Graphs, of those with parameters the instances.
    pub graphs: IdVec<GraphId, Graph>,
    /// Graphs with parameters. They are not run themselves, their instances are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parametric: Vec<Parametric>,
    /// The graph that runs where none is named: the only one of the first file that no other calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<GraphId>,
}

/// Why data is no flow that this version runs.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It was made by another version, or is something else.
    #[error("it has format {found}, this version of graphc runs format {FORMAT}")]
    Format {
        /// What it has in place of [`FORMAT`].
        found: serde_json::Value,
    },
    /// It says of no format.
    #[error("it has no `format`")]
    NoFormat,
    /// It is no JSON, or not of this form.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// It is no YAML.
    #[error(transparent)]
    Yaml(#[from] serde_yaml::Error),
}

impl Flow {
    /// A flow that `graphc build` has written.
    ///
    /// # Errors
    /// Where it is of another format, which is said before the rest is looked at, or of another form.
    pub fn from_json(json: serde_json::Value) -> Result<Self, ReadError> {
        match json.get("format") {
            Some(format) if *format == FORMAT => Ok(serde_json::from_value(json)?),
            Some(format) => Err(ReadError::Format {
                found: format.clone(),
            }),
            None => Err(ReadError::NoFormat),
        }
    }

    /// The bytes of `graphc build`: JSON, two spaces, a line end at the end.
    ///
    /// # Errors
    /// None in practice: the data has no form that JSON lacks.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        serde_json::to_string_pretty(self).map(|text| text + "\n")
    }

    /// The flow's version: a hash of all that decides how it runs. Places are left out, so that a
    /// moved line or another format of the source is the same version; so are marks, which only the compiler reads, and graphs
    /// with parameters, of which the instances run.
    pub fn version(&self) -> String {
        // The data has no form that JSON lacks.
        let json = serde_json::to_string(self).unwrap_or_default();
        version::digest(&json, &["files", "marks", "parametric"])
    }

    /// Names of the instances of a graph with parameters; `None` where it is no such graph.
    pub fn instances_of(&self, name: &str) -> Option<Vec<&str>> {
        self.parametric.iter().find(|known| known.name == name)?;
        let instances = self.graphs.iter().filter(|graph| {
            let instance = graph.instance.as_ref();
            instance.is_some_and(|instance| instance.of == name)
        });
        Some(instances.map(|graph| graph.name.as_str()).collect())
    }

    /// The type of what is written to a field, an input too: an own reducer's second parameter, else the field's.
    pub fn write_type<'f>(&'f self, field: &'f Field) -> &'f Type {
        let reducer = match field.channel {
            Channel::Own { reducer } => self.reducers.get(reducer),
            _ => None,
        };
        reducer.map_or(&field.ty, |reducer| &reducer.new.1)
    }

    /// The graph of that name.
    pub fn graph(&self, name: &str) -> Option<GraphId> {
        self.graphs
            .entries()
            .find(|(_, graph)| graph.name == name)
            .map(|(id, _)| id)
    }
}

/// A graph with parameters: what those who call it must know, and how it is written.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Parametric {
    /// Its name.
    pub name: String,
    /// Doc comment.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub doc: String,
    /// Its parameters that are values.
    pub params: Vec<RecordField>,
    /// Its parameters that are models, toolsets, prompts, graphs and types.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub items: Vec<ItemParam>,
    /// Constants that whoever starts a run gives.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub context: Vec<RecordField>,
    /// Fields of its state that callers give or get. What depends on a type that is a parameter is of an unknown type here, a
    /// default that depends on a parameter null.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<Field>,
    /// Names of a caller's nodes that it may go to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub leaves: Vec<String>,
    /// The whole graph as written.
    pub text: Expr,
    /// Texts that it uses and that stand elsewhere: prompts with names, prompts in files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub texts: Vec<String>,
    /// Where it is declared.
    pub at: Place,
}

/// A parameter of a graph that is no value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ItemParam {
    /// Its name.
    pub name: String,
    /// What it takes as written: `model`, `graph { in topic: string }`.
    pub ty: Expr,
    /// The name of what it is where nothing is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
}

/// A custom event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// Its name, dots included.
    pub name: String,
    /// Doc comment.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub doc: String,
    /// Payload.
    pub fields: Vec<RecordField>,
    /// Where it is declared.
    #[serde(default)]
    pub at: Place,
}

/// A declared reducer. Its two parameters are in scope of `body` by their names.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reducer {
    /// Its name.
    pub name: String,
    /// Name and type of the value so far.
    pub old: (String, Type),
    /// Name and type of the value written.
    pub new: (String, Type),
    /// What it computes.
    pub body: Expr,
}

/// A model by name. `graphc.yaml` says how its provider is reached.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Model {
    /// Its name in the flow.
    pub name: String,
    /// Provider: what stands before the first `/` of the reference.
    pub provider: String,
    /// Model at the provider: what stands behind it.
    pub model: String,
    /// Sampling temperature.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Nucleus sampling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Most tokens of a reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u32>,
    /// Tokens for thinking.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thinking_budget: Option<u32>,
    /// `low`, `medium`, `high`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning_effort: Option<String>,
    /// Seed for sampling.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seed: Option<i64>,
    /// Longest time of one call, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// What is tried again, where the node has no policy of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry: Option<Retry>,
    /// Models tried in turn when this one has failed for good.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fallback: Vec<ModelId>,
    /// Kinds of errors after which they are tried; all that another model may mend where it is absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fallback_on: Option<Vec<ErrorKind>>,
    /// Where it is declared.
    #[serde(default)]
    pub at: Place,
}

/// What a tool does to the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolEffect {
    /// It only reads.
    #[default]
    Read,
    /// It writes what can be written again or mended.
    Write,
    /// It does what can't be undone.
    Destructive,
}

impl ToolEffect {
    /// The word in a flow.
    pub fn word(self) -> &'static str {
        match self {
            ToolEffect::Read => "read",
            ToolEffect::Write => "write",
            ToolEffect::Destructive => "destructive",
        }
    }
}

/// What takes a tool's argument for more than data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SinkKind {
    /// A command line.
    Shell,
    /// The text of a query.
    Sql,
    /// An address that something is sent to or fetched from.
    Url,
    /// A path of a file.
    Path,
    /// Markup that a browser shows.
    Html,
}

impl SinkKind {
    /// All of them, in the order of their words in messages.
    pub const ALL: [SinkKind; 5] = [
        SinkKind::Shell,
        SinkKind::Sql,
        SinkKind::Url,
        SinkKind::Path,
        SinkKind::Html,
    ];

    /// The word in `@sink(word)`.
    pub fn word(self) -> &'static str {
        match self {
            SinkKind::Shell => "shell",
            SinkKind::Sql => "sql",
            SinkKind::Url => "url",
            SinkKind::Path => "path",
            SinkKind::Html => "html",
        }
    }
}

/// `@sink` on a parameter of a tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sink {
    /// Name of the parameter.
    pub param: String,
    /// `@sink(shell)`; `None` where it is not said what takes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<SinkKind>,
}

/// A tool: a typed signature, with a body or bound in `graphc.yaml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// Doc comment: what the model reads.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub doc: String,
    /// Parameters.
    pub params: Vec<RecordField>,
    /// Result; `None` where it gives nothing back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<Type>,
    /// `@effect(..)`
    #[serde(default)]
    pub effect: ToolEffect,
    /// `@idempotent(..)`: `Some(false)` asks a person before a call that may have happened is made again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// `@timeout(10s)`, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// `@progress(EVENT)`: what it reports while it works is sent as that event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<EventId>,
    /// `@approve`: a person is asked before each call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub approve: bool,
    /// `@unattended`: a destructive tool that nobody has to approve.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unattended: bool,
    /// `@untrusted`: somebody outside wrote what it gives back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untrusted: bool,
    /// `@private`: not everybody may see what it gives back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub private: bool,
    /// `@secret`: no model, person, event or result may show what it gives back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub secret: bool,
    /// `@on_error(..)`: the result in place of an error, a constant of its type.
    #[serde(
        default,
        deserialize_with = "crate::value::written",
        skip_serializing_if = "Option::is_none"
    )]
    pub on_error: Option<serde_json::Value>,
    /// Parameters marked `@sink`, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sinks: Vec<Sink>,
    /// Module of the standard library that it is of, such as `std/memory`: the runtime serves it where nothing else is bound to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// Body that the runtime interprets; a tool without one is bound in `graphc.yaml`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<ToolBody>,
    /// Where it is declared.
    pub at: Place,
}

/// The module of the tools that work on long-term memory.
pub const MEMORY: &str = "std/memory";

/// What a part of one of memory's namespaces begins with that stands for a constant of the run.
pub const CONSTANT: &str = "$context.";

impl Tool {
    /// Whether a call of it asks a person, unless somebody has permitted it.
    pub fn asks(&self) -> bool {
        self.approve || (self.effect == ToolEffect::Destructive && !self.unattended)
    }

    /// Whether it is of that module of the standard library.
    pub fn is_of(&self, module: &str) -> bool {
        self.module.as_deref() == Some(module)
    }
}

/// What a tool with a body does, in this order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolBody {
    /// Fields of the calling graph's state that it reads, with the types it takes them for.
    pub reads: Vec<(String, Type)>,
    /// `let` names in order.
    pub lets: Vec<super::text::Named>,
    /// What must hold.
    pub requires: Vec<super::node::Require>,
    /// Fields of the calling graph's state that it writes.
    pub set: Vec<ToolSet>,
    /// Events it sends.
    pub emits: Vec<Emit>,
    /// Names of the calling graph's fields that its jumps write.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<String>,
    /// Its jump; targets are [`Target::Named`](super::Target::Named), [`Target::NamedEach`](super::Target::NamedEach), `Computed`
    /// (its table is empty: the calling node's `ends` resolve the name), `Parent`, `End` or `Fail`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goto: Option<Route>,
    /// Its result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub returns: Option<Expr>,
}

/// `field: expr` in a tool's `set`: the field is one of the calling graph's.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolSet {
    /// Name of the field.
    pub field: String,
    /// `:=`, past the reducer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub replace: bool,
    /// The value.
    pub value: Expr,
}

/// Super-steps of a run where neither it nor its graph sets a limit.
pub const RECURSION_LIMIT: u64 = 1000;
