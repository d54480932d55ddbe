//! Evaluating a text with bindings, for the tests of expressions.
#![allow(dead_code)]

use graphc::base::FileId;
use graphc::diag::Diagnostics;
use graphc::expr::eval::{Effect, Env, Program, compile_unchecked};
use graphc::expr::{Scope, Slot, Type, TypeTable};
use graphc::parse;
use graphc::value::Value;

/// Values by slot; effects give fixed values.
pub struct Bound(pub Vec<Value>);

impl Env for Bound {
    fn slot(&self, slot: Slot) -> Option<Value> {
        self.0.get(slot.0 as usize).cloned()
    }

    fn field(&self, _: u32) -> Option<Value> {
        None
    }

    fn effect(&self, effect: Effect) -> Result<Value, String> {
        Ok(match effect {
            Effect::Now => Value::Timestamp(jiff::Timestamp::UNIX_EPOCH),
            Effect::Uuid => Value::from("00000000-0000-4000-8000-000000000000"),
            Effect::Random => Value::Float(0.5),
        })
    }
}

/// Parses and compiles a text with names bound to values.
pub fn program(text: &str, bindings: &[(String, Value)]) -> Result<(Program, Bound), String> {
    let mut diags = Diagnostics::default();
    let expr = parse::expression(text, FileId(0), &mut diags)
        .ok_or_else(|| format!("does not parse: {diags:?}"))?;
    let mut scope = Scope {
        effects: true,
        functions: of_modules().into(),
        ..Scope::default()
    };
    for (name, _) in bindings {
        scope.declare(name.as_str(), Type::Json);
    }
    let program = compile_unchecked(&expr, &scope, &TypeTable::default()).map_err(|e| e.message)?;
    let values = bindings.iter().map(|(_, value)| value.clone()).collect();
    Ok((program, Bound(values)))
}

/// The value of a text, or the message why it has none.
pub fn evaluate(text: &str, bindings: &[(String, Value)]) -> Result<Value, String> {
    let (program, env) = program(text, bindings)?;
    program.eval(&env).map_err(|error| error.message)
}

/// The functions that a flow has to import.
fn of_modules() -> Vec<String> {
    let functions = graphc::expr::function::functions().iter();
    let of_modules = functions.filter(|function| !function.module.is_empty());
    of_modules
        .map(|function| function.name.to_owned())
        .collect()
}
