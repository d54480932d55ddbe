//! What expressions of scorers know of a run, and of what was expected of it.

use std::sync::Arc;

use serde_json::{Map as JsonMap, Value as Json, json};

use crate::base::FileId;
use crate::diag::Diagnostics;
use crate::expr::accept::accept;
use crate::expr::eval::{self, Effect, Env, Program};
use crate::expr::infer::infer;
use crate::expr::ty::{Record, RecordField, Type, TypeTable};
use crate::expr::{Scope, Slot};
use crate::parse;
use crate::value::Value;

use super::play::Played;
use super::stage::Stage;

/// Names in scope besides `state`, in the order of their slots.
pub const NAMES: [&str; 6] = ["input", "output", "expect", "events", "next", "usage"];

/// Names and types of what a stage takes and gives.
pub struct Known {
    scope: Scope,
    types: TypeTable,
    output: Type,
    /// Names and types of the state, in order.
    fields: Vec<(String, Type)>,
}

/// A compiled expression.
#[derive(Debug)]
pub struct Code {
    program: Program,
    /// Its text.
    pub text: String,
    /// Its type, as far as that is known.
    pub ty: Type,
}

impl Known {
    /// What is known of a stage.
    pub fn of(stage: &Stage) -> Self {
        let mut types = stage.flow.types.clone();
        let fields: Vec<(String, Type)> = (stage.fields())
            .map(|field| (field.name.clone(), field.ty.clone()))
            .collect();
        let in_fields = stage
            .fields()
            .filter(|field| stage.node.is_some() || field.mode.is_in());
        let input = record(
            &mut types,
            "input",
            in_fields.map(|f| (f.name.as_str(), &f.ty)),
        );
        let out_fields = stage
            .fields()
            .filter(|field| stage.node.is_some() || field.mode.is_out());
        let output = stage.gives().unwrap_or_else(|| {
            record(
                &mut types,
                "output",
                out_fields.map(|f| (f.name.as_str(), &f.ty)),
            )
        });
        let event = [("name", &Type::String), ("payload", &Type::Json)];
        let event = record(&mut types, "event", event.into_iter());
        let mut scope = Scope {
            state: Some(Arc::new(fields.iter().cloned().collect())),
            functions: Arc::new(stage.flow.functions.clone()),
            ..Scope::default()
        };
        for name in NAMES {
            scope.declare(
                name,
                match name {
                    "input" => input.clone(),
                    "output" => output.clone(),
                    "events" => Type::list(event.clone()),
                    "next" => Type::list(Type::String),
                    "usage" => Type::Record(crate::expr::ty::USAGE),
                    _ => Type::Json,
                },
            );
        }
        Self {
            scope,
            types,
            output,
            fields,
        }
    }

    /// An expression, checked.
    ///
    /// # Errors
    /// Why it can't be evaluated, or never gives anything, in words.
    pub fn code(&self, text: &str) -> Result<Code, String> {
        let program = eval::compile_text(text, &self.scope, &self.types);
        let program = program.map_err(|error| error.message)?;
        let mut found = Diagnostics::new();
        let ty = parse::expression(text, FileId(0), &mut found).map_or(Type::Error, |expr| {
            infer(&expr, &self.scope, &self.types, None, &mut found)
        });
        // Whether a value is there is asked when it is evaluated.
        let wrong = found.iter().find(|one| {
            one.level == crate::diag::Level::Error
                && one.code != &crate::diag::codes::NULL_NOT_HANDLED
        });
        match wrong {
            Some(wrong) => Err(wrong.message.clone()),
            None => Ok(Code {
                program,
                text: text.to_owned(),
                ty,
            }),
        }
    }

    /// A type as it is written.
    pub fn shown(&self, ty: &Type) -> String {
        self.types.describe(ty)
    }

    /// What a run came to, as the values of the names.
    pub fn values(&self, input: &JsonMap<String, Json>, played: &Played, expect: &Json) -> Values {
        let typed = |json: &Json, ty: &Type| {
            accept(json, ty, &self.types).unwrap_or_else(|_| Value::from_json(json))
        };
        let own = |name: &str| match name {
            "input" => Value::Map(
                (input.iter())
                    .map(|(name, json)| (name.as_str(), self.field(name, json)))
                    .collect(),
            ),
            "output" => match (&played.output, &self.output) {
                (Json::Object(fields), Type::Record(_)) if self.is_of_fields() => Value::Map(
                    (fields.iter())
                        .map(|(name, json)| (name.as_str(), self.field(name, json)))
                        .collect(),
                ),
                (json, ty) => typed(json, ty),
            },
            "expect" => Value::from_json(expect),
            "events" => Value::from_json(&json!(played.events)),
            "next" => Value::from_json(&json!(played.next)),
            _ => Value::from_json(&json!(played.usage)),
        };
        let fields = self.fields.iter().map(|(name, ty)| {
            let json = played.state.get(name)?;
            Some(typed(json, ty))
        });
        Values {
            slots: NAMES.map(own),
            fields: fields.collect(),
        }
    }

    /// Whether what the stage gives are fields of its state, of which some may have no value.
    fn is_of_fields(&self) -> bool {
        let Type::Record(id) = self.output else {
            return false;
        };
        let record = self.types.records.get(id);
        record.is_some_and(|record| record.name == "output")
    }

    fn field(&self, name: &str, json: &Json) -> Value {
        let ty = self.fields.iter().find(|(field, _)| field == name);
        let ty = ty.map_or(Type::Json, |(_, ty)| ty.clone());
        accept(json, &ty, &self.types).unwrap_or_else(|_| Value::from_json(json))
    }
}

fn record<'f>(
    types: &mut TypeTable,
    name: &str,
    fields: impl Iterator<Item = (&'f str, &'f Type)>,
) -> Type {
    let fields = fields.map(|(name, ty)| RecordField {
        name: name.to_owned(),
        doc: String::new(),
        ty: ty.clone(),
        default: None,
        constraints: Default::default(),
    });
    let record = Record {
        name: name.to_owned(),
        doc: String::new(),
        fields: fields.collect(),
        index: Default::default(),
    };
    Type::Record(types.records.push(record))
}

impl Code {
    /// Its value for a run.
    ///
    /// # Errors
    /// Why it has none, in words.
    pub fn eval(&self, values: &Values) -> Result<Value, String> {
        let value = self.program.eval(values);
        value.map_err(|error| format!("`{}`: {}", self.text, error.message))
    }
}

/// A run as the values of [`NAMES`] and of `state`.
pub struct Values {
    slots: [Value; NAMES.len()],
    fields: Vec<Option<Value>>,
}

impl Values {
    /// All of them as an object, for those that are asked in words.
    pub fn to_json(&self, state: &JsonMap<String, Json>) -> JsonMap<String, Json> {
        let own = NAMES.iter().zip(&self.slots);
        let mut all: JsonMap<String, Json> = own
            .map(|(name, value)| ((*name).to_owned(), value.to_json()))
            .collect();
        all.insert("state".to_owned(), Json::Object(state.clone()));
        all
    }
}

impl Env for Values {
    fn slot(&self, slot: Slot) -> Option<Value> {
        self.slots.get(slot.0 as usize).cloned()
    }

    fn field(&self, index: u32) -> Option<Value> {
        self.fields.get(index as usize).cloned().flatten()
    }

    fn effect(&self, _: Effect) -> Result<Value, String> {
        Err("a scorer has no effects".to_owned())
    }
}
