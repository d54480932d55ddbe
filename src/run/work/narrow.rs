//! `with` and `where` on tools: what a node fixes of the arguments, and whether a call is let through where it is made.

use serde_json::{Value as Json, json};

use crate::expr::Slot;
use crate::expr::accept::accept_fields;
use crate::expr::eval::{Effect, Env};
use crate::expr::ty::RecordField;
use crate::ir::{ErrorKind, GraphId, Tool, ToolId};
use crate::run::error::RunError;
use crate::run::plan::{NodePlan, Plan};
use crate::run::task::TaskRun;
use crate::value::{Map, Value};

/// Computes the arguments that a node fixes, once for all its calls.
///
/// # Errors
/// Where an expression fails, or a parameter does not take its value.
pub fn fix(run: &mut TaskRun<'_>, node: &NodePlan) -> Result<(), RunError> {
    let types = &run.around.cx.plan.flow.types;
    for (tool, plan) in &node.narrowed {
        let mut args = Map::new();
        for (param, value) in &plan.fixed {
            let json = json!({ param.outer_name(): run.eval(value)?.to_json() });
            let taken = accept_fields(&json, std::slice::from_ref(param), types);
            let taken = taken.map_err(|wrong| {
                let name = &run.around.cx.plan.tools[*tool].name;
                value.error(format!("`{name}` refuses what is fixed for it: {wrong}"))
            })?;
            for (name, value) in taken.as_map().into_iter().flat_map(Map::iter) {
                args.insert(name.clone(), value.clone());
            }
        }
        run.fixed.insert(*tool, args);
    }
    Ok(())
}

/// Parameters that a node fixes of a tool.
fn fixed(node: &NodePlan, tool: ToolId) -> impl Iterator<Item = &RecordField> {
    let plan = node.narrowed.get(&tool).into_iter();
    plan.flat_map(|plan| &plan.fixed).map(|(param, _)| param)
}

/// Takes out of arguments, by the names that the outside knows, what a model is not to see.
pub fn hide(node: &NodePlan, tool: ToolId, args: &mut Json) {
    let Json::Object(args) = args else { return };
    for param in fixed(node, tool) {
        args.remove(param.outer_name());
    }
}

/// Holds arguments that a person gives to those that the node fixes, as they were in the call that was asked about.
///
/// # Errors
/// Kind `tool_error`, with the first that is another.
pub fn unchanged(
    node: &NodePlan,
    (tool, declared): (ToolId, &Tool),
    asked: &Json,
    args: &Map,
) -> Result<(), RunError> {
    let differs = |param: &&RecordField| {
        asked.get(param.outer_name()) != args.get(&param.name).map(Value::to_json).as_ref()
    };
    match fixed(node, tool).find(differs) {
        Some(param) => Err(is_fixed(declared, param.outer_name())),
        None => Ok(()),
    }
}

fn is_fixed(tool: &Tool, name: &str) -> RunError {
    let message = format!(
        "`{name}` of `{}` is fixed here: nobody may change it",
        tool.name
    );
    RunError::new(ErrorKind::ToolError, message)
}

/// Holds a call to what the node fixes, to its `where`, which its graph's is part of, and to those of all graphs above.
///
/// # Errors
/// Kind `tool_error`, with the argument that is another or the condition that does not hold.
pub fn check(run: &TaskRun<'_>, node: &NodePlan, tool: ToolId, args: &Map) -> Result<(), RunError> {
    let declared = &run.around.cx.plan.flow.tools[tool];
    let given = run.fixed.get(&tool);
    let differs = |param: &&RecordField| {
        given.and_then(|given| given.get(&param.name)) != args.get(&param.name)
    };
    if let Some(param) = fixed(node, tool).find(differs) {
        return Err(is_fixed(declared, param.outer_name()));
    }
    held(&run.around.cx.plan, node, run.around.callers, tool, args)
}

/// The same of a node that need not be under way, in a graph that is called by those `callers`.
///
/// # Errors
/// As [`check`].
pub fn held(
    plan: &Plan,
    node: &NodePlan,
    callers: &[GraphId],
    tool: ToolId,
    args: &Map,
) -> Result<(), RunError> {
    let above = callers
        .iter()
        .filter_map(|graph| plan.graphs.get(*graph)?.narrowed.get(&tool));
    let own = node.narrowed.get(&tool);
    for condition in own.into_iter().chain(above).flat_map(|n| &n.conditions) {
        let params = plan.flow.tools[tool].params.iter();
        let env = Arguments {
            slots: params.map(|param| args.get(&param.name).cloned()).collect(),
        };
        let narrowed = || {
            format!(
                "`{}` is narrowed here: it may only be called with `{}`",
                plan.tools[tool].name,
                condition.text()
            )
        };
        // A condition that fails lets nothing through.
        let refusal = match condition.holds(&env) {
            Ok(true) => continue,
            Ok(false) => RunError::new(ErrorKind::ToolError, narrowed()).at(condition.place()),
            Err(error) => RunError {
                kind: ErrorKind::ToolError,
                message: format!("{}; {}", narrowed(), error.message),
                ..error
            },
        };
        return Err(refusal);
    }
    Ok(())
}

struct Arguments {
    slots: Vec<Option<Value>>,
}

impl Env for Arguments {
    fn slot(&self, slot: Slot) -> Option<Value> {
        self.slots.get(slot.0 as usize).cloned().flatten()
    }

    fn field(&self, _index: u32) -> Option<Value> {
        None
    }

    fn effect(&self, _effect: Effect) -> Result<Value, String> {
        Err("a condition has no effects".to_owned())
    }
}
