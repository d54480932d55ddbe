//! `state`: conditions in the flow's own expression language, over the final values.

use std::sync::Arc;

use crate::backend::scenario::Scenario;
use crate::expr::accept::accept;
use crate::expr::eval::{self, Effect, Env};
use crate::expr::{Scope, Slot};
use crate::ir::{Flow, Graph, GraphId};
use crate::value::Value;

use super::Finding;
use crate::scenario::observed::Observed;

/// Every condition that does not hold, or can't be evaluated.
pub fn judge(
    scenario: &Scenario,
    flow: &Flow,
    graph: GraphId,
    observed: &Observed,
) -> Vec<Finding> {
    let (Some(graph), Some(ended)) = (flow.graphs.get(graph), &observed.ended) else {
        return Vec::new();
    };
    let scope = scope(flow, graph);
    let values = Values::new(flow, graph, &ended.values);
    let mut found = Vec::new();
    for condition in &scenario.expect.state {
        let program = eval::compile_text(&condition.text, &scope, &flow.types);
        let result = match &program {
            Ok(program) => program.eval(&values).map_err(|error| error.message),
            Err(error) => Err(error.message.clone()),
        };
        let message = match result {
            Ok(Value::Bool(true)) => continue,
            Ok(Value::Bool(false)) => format!("`{}` does not hold", condition.text),
            Ok(other) => format!("`{}` is {}, no bool", condition.text, other.to_json()),
            Err(error) => format!("`{}` can't be evaluated: {error}", condition.text),
        };
        let read = graph.fields.iter().filter(|field| {
            let name = format!("state.{}", field.name);
            condition.text.contains(&name)
        });
        let lines = read.map(|field| match ended.values.get(&field.name) {
            Some(value) => format!("+ state.{}: {value}", field.name),
            None => format!("+ state.{} has no value", field.name),
        });
        let detail = lines.collect::<Vec<_>>().join("\n");
        found.push(Finding::new(&condition.at, message).detail(detail));
    }
    found
}

/// The names that a condition knows: `state`.
pub fn scope(flow: &Flow, graph: &Graph) -> Scope {
    let fields = graph.fields.iter();
    let fields = fields.map(|field| (field.name.clone(), field.ty.clone()));
    Scope {
        state: Some(Arc::new(fields.collect())),
        functions: Arc::new(flow.functions.clone()),
        ..Scope::default()
    }
}

/// The final values, by field.
struct Values(Vec<Option<Value>>);

impl Values {
    fn new(
        flow: &Flow,
        graph: &Graph,
        values: &serde_json::Map<String, serde_json::Value>,
    ) -> Self {
        let fields = graph.fields.iter().map(|field| {
            let json = values.get(&field.name)?;
            let value = accept(json, &field.ty, &flow.types);
            // A constraint that the final value breaks is not this condition's business.
            Some(value.unwrap_or_else(|_| Value::from_json(json)))
        });
        Self(fields.collect())
    }
}

impl Env for Values {
    fn slot(&self, _: Slot) -> Option<Value> {
        None
    }

    fn field(&self, index: u32) -> Option<Value> {
        self.0.get(index as usize).cloned().flatten()
    }

    fn effect(&self, _: Effect) -> Result<Value, String> {
        Err("a scenario's condition has no effects".to_owned())
    }
}
