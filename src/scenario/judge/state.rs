//! `state`: conditions in the flow's own expression language, over the final values.

use crate::ast::expr::{Expr, ExprKind, LogicalOp};
use crate::base::FileId;
use crate::diag::Diagnostics;
use crate::expr::Slot;
use crate::expr::accept::accept;
use crate::expr::eval::{self, Effect, Env};
use crate::ir::{Flow, Graph, GraphId};
use crate::parse;
use crate::project::fit::scope;
use crate::project::scenario::Scenario;
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
        let value = |text: &str| {
            let program = eval::compile_text(text, &scope, &flow.types);
            program.ok().and_then(|program| program.eval(&values).ok())
        };
        let lines = parts(&condition.text, &value);
        let lines = lines.iter().map(|part| match value(part) {
            Some(value) => format!("+ {part}: {}", short(&value.to_json().to_string())),
            None => format!("+ {part} has no value"),
        });
        let detail = lines.collect::<Vec<_>>().join("\n");
        found.push(Finding::new(&condition.at, message).detail(detail));
    }
    found
}

/// Characters of a value that are shown.
const SHOWN: usize = 200;

fn short(value: &str) -> String {
    match value.char_indices().nth(SHOWN) {
        Some((end, _)) => {
            let (start, all) = (value.get(..end).unwrap_or(value), value.chars().count());
            format!("{start}.. ({all} characters)")
        }
        None => value.to_owned(),
    }
}

/// The parts of a condition whose values say why it does not hold: what it compares, and what else reads the state.
fn parts(text: &str, value: &dyn Fn(&str) -> Option<Value>) -> Vec<String> {
    let source = |expr: &Expr| {
        let (start, end) = (expr.span.start as usize, expr.span.end as usize);
        text.get(start..end).unwrap_or_default().to_owned()
    };
    let is_bool = |expr: &Expr| matches!(value(&source(expr)), Some(Value::Bool(_)) | None);
    let holds = |expr: &&Expr| value(&source(expr)) == Some(Value::Bool(true));
    let parsed = parse::expression(text, FileId(0), &mut Diagnostics::new());
    let mut open: Vec<&Expr> = parsed.iter().collect();
    let mut parts = Vec::new();
    while let Some(expr) = open.pop() {
        let mut deeper = match &expr.kind {
            ExprKind::Literal(_) => continue,
            ExprKind::Logical(..) | ExprKind::Unary(..) | ExprKind::Binary(..) => expr.parts(),
            // Of `state.xs.exists(x, ..)` the list says more than `false` does.
            ExprKind::Call { target, .. } if is_bool(expr) => {
                target.as_deref().into_iter().collect()
            }
            _ => Vec::new(),
        };
        if let ExprKind::Logical(LogicalOp::And, _) = &expr.kind {
            deeper.retain(|part| !holds(part));
        }
        let part = source(expr);
        if deeper.is_empty() && !parts.contains(&part) {
            parts.push(part);
        }
        open.extend(deeper.into_iter().rev());
    }
    parts
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
