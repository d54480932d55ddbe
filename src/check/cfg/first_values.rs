//! Whether a condition may hold with the values that a graph begins with.

use crate::ast::expr::Expr;
use crate::expr::eval::{self, Effect, Env};
use crate::expr::infer::default_value;
use crate::expr::scope::Slot;
use crate::resolve::program::{Field, Graph, Program};
use crate::value::Value;

use super::exit::scope;

/// Whether a condition may hold before anything has written to the graph's fields. What is given, and what lives with the thread, may
/// have any value.
pub fn may_hold(program: &Program, graph: &Graph, when: &Expr) -> bool {
    let (mut scope, _) = scope(graph);
    scope.functions = program.functions(graph.file);
    let Ok(compiled) = eval::compile(when, &scope, &program.types) else {
        return true;
    };
    let values = graph.fields.iter().map(|field| first(program, field));
    let values = FirstValues(values.collect());
    compiled.eval_early(&values) != Ok(Value::Bool(false))
}

/// The value that a field begins with in each run; `None` where it is not known.
fn first(program: &Program, field: &Field) -> Option<Value> {
    if field.mode.is_in() || field.persist.is_some() {
        return None;
    }
    let ty = &field.ty.node;
    match &field.default {
        Some(default) => {
            let value = default_value(default, ty, &program.types);
            value.map(|value| Value::from_json(&value))
        }
        None => field.channel.begins_with(ty),
    }
}

/// Fields by their index.
struct FirstValues(Vec<Option<Value>>);

impl Env for FirstValues {
    fn slot(&self, _: Slot) -> Option<Value> {
        None
    }

    fn field(&self, index: u32) -> Option<Value> {
        self.0.get(index as usize).cloned().flatten()
    }

    fn effect(&self, _: Effect) -> Result<Value, String> {
        Err("there are no effects before a run".to_owned())
    }
}
