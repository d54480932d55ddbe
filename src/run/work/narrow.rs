//! `where` on tools: whether a call is let through where it is made.

use crate::expr::Slot;
use crate::expr::eval::{Effect, Env};
use crate::ir::{ErrorKind, GraphId, ToolId};
use crate::run::error::RunError;
use crate::run::plan::{NodePlan, Plan};
use crate::run::task::TaskRun;
use crate::value::{Map, Value};

/// Holds a call to the node's `where`, which its graph's is part of, and to those of all graphs above.
///
/// # Errors
/// Kind `tool_error`, with the condition that does not hold.
pub fn check(run: &TaskRun<'_>, node: &NodePlan, tool: ToolId, args: &Map) -> Result<(), RunError> {
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
