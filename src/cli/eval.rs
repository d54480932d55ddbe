//! `graphc eval EXPR`

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use serde_json::Value as Json;

use crate::base::foreign::expression::{Index, Types};
use crate::base::{SourceMap, Span};
use crate::diag::{Diagnostics, render};
use crate::expr::eval::{Effect, Env, compile_unchecked};
use crate::expr::function::functions;
use crate::expr::{Scope, Slot, Type, TypeTable};
use crate::parse;
use crate::value::Value;

use super::json_arg::JsonArg;
use super::{Context, Exit, Failure, output, term};

const EXAMPLES: &str = "\
Examples:
  graphc eval '[1, 2, 3].map(x, x * 2)'
  graphc eval 'docs.filter(d, d.size > 10)' --bindings @docs.json
  graphc eval 'a + b' --bindings '{\"a\": 1, \"b\": 2}'";

/// Arguments of `graphc eval`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The expression
    #[arg(value_name = "EXPR", allow_hyphen_values = true)]
    pub expression: String,
    /// Names that the expression may use: an object
    #[arg(long, value_name = "JSON|@FILE")]
    pub bindings: Option<JsonArg>,
}

/// Prints the value as JSON.
pub fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    let bindings = Bindings::read(args.bindings.as_ref())?;
    let mut sources = SourceMap::new();
    let file = sources.add("<expression>", &args.expression);
    let mut found = Diagnostics::new();
    let expr = parse::expression(&args.expression, file, &mut found);
    let style = context.terminal.style;
    let Some(expr) = expr.filter(|_| !found.has_errors()) else {
        term::say(render::human(&found, &sources, style).trim_end());
        return Ok(Exit::Errors);
    };
    let failed = |message: &str, span: Span| {
        let index = Index::default();
        let types = Types::new("", &index);
        let whole = parse::whole(&args.expression, span.start as usize, types);
        let help = whole.map(|whole| format!("write `{}`", whole.here));
        term::say(render::fault(message, help, span, &sources, style).trim_end());
        Failure::silent(Exit::Errors)
    };
    // As CEL without a type check: a name that nothing has is an error where the evaluation comes to it.
    let program = compile_unchecked(&expr, &bindings.scope(), &TypeTable::default())
        .map_err(|error| failed(&error.message, error.span))?;
    let value = program
        .eval(&bindings)
        .map_err(|error| failed(&error.message, error.span))?;
    output::print(&format!("{}\n", value.to_json()))?;
    if let Some(lost) = lost(&value) {
        context.say(&format!("note: {lost}"));
    }
    Ok(Exit::Done)
}

/// What of a value its JSON doesn't say: JSON has no form for it.
fn lost(value: &Value) -> Option<String> {
    let mut open = vec![value];
    while let Some(value) = open.pop() {
        match value {
            Value::Float(number) if !number.is_finite() => {
                let name = match number {
                    number if number.is_nan() => "NaN",
                    number if *number > 0.0 => "infinity",
                    _ => "-infinity",
                };
                return Some(format!("{name} is printed as `null`"));
            }
            Value::Bytes(_) => return Some("bytes are printed as text".to_owned()),
            Value::Optional(None) => {
                return Some("an optional without a value is printed as `null`".to_owned());
            }
            Value::Optional(Some(_)) => {
                return Some("an optional is printed as its value".to_owned());
            }
            Value::List(items) => open.extend(items.iter()),
            Value::Map(entries) => open.extend(entries.iter().map(|(_, value)| value)),
            _ => {}
        }
    }
    None
}

/// What the expression's names stand for, in the order of their slots.
struct Bindings {
    entries: Vec<(String, Value)>,
}

impl Bindings {
    fn read(argument: Option<&JsonArg>) -> Result<Self, Failure> {
        let object = match argument
            .map(|argument| argument.read("--bindings"))
            .transpose()?
        {
            None => serde_json::Map::new(),
            Some(Json::Object(object)) => object,
            Some(_) => {
                return Err(Failure::unusable(
                    "`--bindings` takes an object from names to values",
                ));
            }
        };
        let entries = object.iter();
        Ok(Self {
            entries: entries
                .map(|(name, json)| (name.clone(), Value::from_json(json)))
                .collect(),
        })
    }

    /// Every name is a slot of type `json`, every function of the standard library is imported.
    fn scope(&self) -> Scope {
        let mut scope = Scope {
            effects: true,
            functions: Arc::new(standard()),
            ..Scope::default()
        };
        for (name, _) in &self.entries {
            scope.declare(name.as_str(), Type::Json);
        }
        scope
    }
}

impl Env for Bindings {
    fn slot(&self, slot: Slot) -> Option<Value> {
        let (_, value) = self.entries.get(slot.0 as usize)?;
        Some(value.clone())
    }

    fn field(&self, _index: u32) -> Option<Value> {
        None
    }

    fn effect(&self, effect: Effect) -> Result<Value, String> {
        Ok(match effect {
            Effect::Now => Value::Timestamp(jiff::Timestamp::now()),
            Effect::Uuid => Value::text(uuid(random(), random())),
            Effect::Random => Value::Float((random() >> 11) as f64 / (1_u64 << 53) as f64),
        })
    }
}

/// Names of the functions that a flow would have to import.
fn standard() -> Vec<String> {
    let imported = functions().iter().filter(|f| !f.module.is_empty());
    imported.map(|f| f.name.to_owned()).collect()
}

/// Sixty-four bits that can't be foretold: the standard library seeds each hasher from the system.
fn random() -> u64 {
    RandomState::new().hash_one(0)
}

/// A version 4 UUID of these bits.
fn uuid(high: u64, low: u64) -> String {
    let high = (high & !0xf000) | 0x4000;
    let low = (low & !(0b11 << 62)) | (0b10 << 62);
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}
