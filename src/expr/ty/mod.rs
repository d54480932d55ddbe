//! Static types: what the checker computes with and what the IR stores.

mod shown;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::base::id::Id;
use crate::base::{IdVec, NameIndex};
use crate::typed_id;

use super::constraint::Constraints;

typed_id! {
    /// A record type of a [`TypeTable`].
    RecordId
}
typed_id! {
    /// An enum of a [`TypeTable`].
    EnumId
}

/// Names of CEL's type values, for `type(x) == int`.
pub const TYPE_NAMES: &[&str] = &[
    "bool",
    "bytes",
    "double",
    "duration",
    "float",
    "int",
    "list",
    "map",
    "null_type",
    "optional_type",
    "string",
    "timestamp",
    "type",
    "uint",
];

/// A type. Structural for assignability; records and enums keep their names for messages.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Type {
    /// The type of `null` alone.
    Null,
    /// `bool`
    Bool,
    /// `int`: 64 bits, signed
    Int,
    /// CEL's unsigned integer; only in expressions, never in declarations
    Uint,
    /// `float`: IEEE double
    Float,
    /// `string`
    String,
    /// CEL's bytes; only in expressions
    Bytes,
    /// `json`: any JSON value, the explicit opt-out
    Json,
    /// `timestamp`: RFC 3339 text outside
    Timestamp,
    /// `duration`: CEL's duration text outside, such as `1.5s`
    Duration,
    /// `list<T>`
    List(Arc<Type>),
    /// `map<T>`, keys are text
    Map(Arc<Type>),
    /// `T?`: `T` or null. Never nested, never of `Null` or `Json`.
    Nullable(Arc<Type>),
    /// `A | B`: at least two members, none of them a union or nullable, no repeats
    Union(Arc<[Type]>),
    /// One text alone, such as `"approve"`
    Literal(Arc<str>),
    /// A declared enum; its values are the members' names as text
    Enum(EnumId),
    /// A declared or built-in record
    Record(RecordId),
    /// CEL's optional (`a.?b`); only in expressions
    Optional(Arc<Type>),
    /// CEL's type values (`type(x)`); only in expressions
    TypeValue,
    /// The element type of `[]`: assignable to every type
    Never,
    /// Already reported; assignable to and from every type, so that one mistake makes one message
    Error,
}

impl Type {
    /// `list<T>`
    pub fn list(of: Type) -> Type {
        Type::List(Arc::new(of))
    }

    /// `map<T>`
    pub fn map(of: Type) -> Type {
        Type::Map(Arc::new(of))
    }

    /// `T?`, kept in normal form.
    pub fn nullable(of: Type) -> Type {
        match of {
            Type::Null | Type::Json | Type::Error | Type::Nullable(_) => of,
            Type::Never => Type::Null,
            other => Type::Nullable(Arc::new(other)),
        }
    }

    /// CEL's `optional_type(T)`
    pub fn optional(of: Type) -> Type {
        Type::Optional(Arc::new(of))
    }

    /// Whether null is one of its values.
    pub fn admits_null(&self) -> bool {
        matches!(
            self,
            Type::Null | Type::Nullable(_) | Type::Json | Type::Error
        )
    }

    /// `T` of `T?`; itself otherwise.
    pub fn without_null(&self) -> Type {
        match self {
            Type::Nullable(of) => (**of).clone(),
            other => other.clone(),
        }
    }

    /// Whether a value of it may hold a text of any form.
    pub fn has_free_text(&self) -> bool {
        match self {
            Type::Null
            | Type::Bool
            | Type::Int
            | Type::Uint
            | Type::Float
            | Type::Timestamp
            | Type::Duration
            | Type::Enum(_)
            | Type::Literal(_)
            | Type::Never
            | Type::Error => false,
            Type::Nullable(of) | Type::List(of) | Type::Optional(of) => of.has_free_text(),
            Type::Union(members) => members.iter().any(Type::has_free_text),
            _ => true,
        }
    }
}

/// A record type: fields in the order declared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Record {
    /// Its name; lower case for the built-in ones.
    pub name: String,
    /// Doc comment.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub doc: String,
    /// Fields in order.
    pub fields: Vec<RecordField>,
    /// Where each field is.
    #[serde(skip)]
    pub index: NameIndex,
}

/// A field of a record, an event, a tool's parameters or a node's input.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RecordField {
    /// Its name.
    pub name: String,
    /// Doc comment.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub doc: String,
    /// Its type.
    pub ty: Type,
    /// Constant default as JSON; a field of a nullable type without one may be left out and is null.
    #[serde(
        default,
        deserialize_with = "crate::value::written",
        skip_serializing_if = "Option::is_none"
    )]
    pub default: Option<serde_json::Value>,
    /// What its attributes ask of values that enter from outside.
    #[serde(default, skip_serializing_if = "Constraints::is_empty")]
    pub constraints: Constraints,
}

impl RecordField {
    /// Whether a value of the record must have it.
    pub fn required(&self) -> bool {
        self.default.is_none() && !self.ty.admits_null()
    }
}

impl Record {
    /// The field of that name.
    pub fn field(&self, name: &str) -> Option<&RecordField> {
        let named = |at: usize| self.fields.get(at).map_or("", |field| field.name.as_str());
        let at = self.index.find(name, self.fields.len(), named)?;
        self.fields.get(at)
    }
}

/// An enum: members in the order declared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EnumType {
    /// Its name.
    pub name: String,
    /// Doc comment.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub doc: String,
    /// Members: name (which is the value) and doc comment.
    pub members: Vec<EnumMember>,
}

/// A member of an enum.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct EnumMember {
    /// Its name and value.
    pub name: String,
    /// Doc comment.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub doc: String,
    /// `@alias("..")`: texts from outside that mean it too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aliases: Vec<String>,
}

impl EnumType {
    /// The member that a text from outside means: by name, or by alias, whichever letters are capital.
    pub fn meant(&self, text: &str) -> Option<&EnumMember> {
        let named = || self.members.iter().find(|member| member.name == text);
        let aliased = |member: &&EnumMember| {
            let mut aliases = member.aliases.iter();
            aliases.any(|alias| alias.to_lowercase() == text.to_lowercase())
        };
        named().or_else(|| self.members.iter().find(aliased))
    }
}

/// The records and enums that types refer to. The built-in records come first, at fixed ids.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TypeTable {
    /// Records.
    pub records: IdVec<RecordId, Record>,
    /// Enums.
    pub enums: IdVec<EnumId, EnumType>,
    /// Where each name is.
    #[serde(skip)]
    pub index: TypeIndex,
}

/// Where the names of a [`TypeTable`] are.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TypeIndex {
    records: NameIndex,
    enums: NameIndex,
}

/// What expressions read of a message beside its fields: the text of its content, which is stored nowhere else.
pub const TEXT: &str = "text";

/// `message`: one message of a conversation.
pub const MESSAGE: RecordId = RecordId(0);
/// `tool_call`: a call that a model asked for.
pub const TOOL_CALL: RecordId = RecordId(1);
/// `usage`: tokens of a model call.
pub const USAGE: RecordId = RecordId(2);
/// `error`: what a handler sees.
pub const ERROR: RecordId = RecordId(3);
/// `run`: facts of the run.
pub const RUN: RecordId = RecordId(4);
/// `answered`: who answered a question, and when.
pub const ANSWERED: RecordId = RecordId(5);

/// Why a model's reply ended: it was done, it was cut off at `max_tokens`, it calls tools.
pub const FINISHES: [&str; 3] = ["stop", "length", "tool_calls"];

/// What `error.kind` can be, in the order of `docs/cli/errors.md`. `ir::ErrorKind` has them in this order.
pub const ERROR_KINDS: [&str; 19] = [
    "recursion_limit",
    "timeout",
    "budget",
    "cancelled",
    "expression",
    "require",
    "fail",
    "tool_error",
    "unapproved",
    "invalid_output",
    "invalid_input",
    "rate_limit",
    "server_error",
    "network",
    "auth",
    "invalid_request",
    "content_filter",
    "store",
    "version",
];

impl Default for TypeTable {
    fn default() -> Self {
        let field = |name: &str, ty: Type| RecordField {
            name: name.into(),
            doc: String::new(),
            ty,
            default: None,
            constraints: Constraints::default(),
        };
        let with = |name: &str, ty: Type, default: serde_json::Value| RecordField {
            default: Some(default),
            ..field(name, ty)
        };
        let record = |name: &str, fields| Record {
            name: name.into(),
            doc: String::new(),
            fields,
            index: NameIndex::default(),
        };
        let text = || Type::nullable(Type::String);
        let one_of = |words: &[&str]| {
            let words = words.iter().map(|word| Type::Literal((*word).into()));
            Type::Union(words.collect())
        };
        let role = one_of(&["system", "user", "assistant", "tool"]);
        let finish = Type::nullable(one_of(&FINISHES));
        let tokens = ["input_tokens", "output_tokens"].map(|name| field(name, Type::Int));
        let records = [
            record(
                "message",
                vec![
                    field("id", text()),
                    field("role", role),
                    with("content", Type::Json, "".into()),
                    with(
                        "tool_calls",
                        Type::list(Type::Record(TOOL_CALL)),
                        serde_json::json!([]),
                    ),
                    field("tool_call_id", text()),
                    field("name", text()),
                    field("usage", Type::nullable(Type::Record(USAGE))),
                    field("finish", finish),
                ],
            ),
            record(
                "tool_call",
                vec![
                    field("id", Type::String),
                    field("name", Type::String),
                    field("args", Type::Json),
                ],
            ),
            record("usage", tokens.to_vec()),
            record(
                "error",
                vec![
                    field("kind", one_of(&ERROR_KINDS)),
                    field("message", Type::String),
                    field("node", Type::String),
                    field("attempt", Type::Int),
                    field("cause", Type::Json),
                ],
            ),
            record(
                "run",
                vec![
                    field("thread_id", Type::String),
                    field("id", Type::String),
                    field("step", Type::Int),
                    field("remaining_steps", Type::Int),
                    field("attempt", Type::Int),
                ],
            ),
            record(
                "answered",
                vec![field("by", Type::String), field("at", Type::Timestamp)],
            ),
        ];
        Self {
            records: records.into_iter().collect(),
            enums: IdVec::new(),
            index: TypeIndex::default(),
        }
    }
}

impl TypeTable {
    /// The type of a field as expressions read it: a declared one, or the [`TEXT`] of a message.
    pub fn field_type(&self, id: RecordId, name: &str) -> Option<Type> {
        let declared = self.records.get(id)?.field(name);
        match declared {
            Some(field) => Some(field.ty.clone()),
            None => (id == MESSAGE && name == TEXT).then_some(Type::String),
        }
    }

    /// The names of the fields that expressions read of a record.
    pub fn field_names(&self, id: RecordId) -> impl Iterator<Item = &str> {
        let declared = self.records.get(id).into_iter().flat_map(|r| &r.fields);
        let names = declared.map(|field| field.name.as_str());
        names.chain((id == MESSAGE).then_some(TEXT))
    }

    /// The first record of that name.
    pub fn record_named(&self, name: &str) -> Option<RecordId> {
        let named = |at| {
            self.records
                .get(Id::from_index(at))
                .map_or("", |r| r.name.as_str())
        };
        let at = self.index.records.find(name, self.records.len(), named)?;
        Some(Id::from_index(at))
    }

    /// The first enum of that name.
    pub fn enum_named(&self, name: &str) -> Option<EnumId> {
        let named = |at| {
            self.enums
                .get(Id::from_index(at))
                .map_or("", |e| e.name.as_str())
        };
        let at = self.index.enums.find(name, self.enums.len(), named)?;
        Some(Id::from_index(at))
    }
}
