//! Permissions of a question, ready to run.

use std::sync::Arc;

use crate::expr::{Scope, Slot, Type};
use crate::ir::ToolId;
use crate::ir::node::Permit;

use super::code::{Builder, Code, PlanError};

/// Calls that the answer to a question permits.
pub struct PermitPlan {
    /// Of which tool.
    pub tool: ToolId,
    /// One call, not all of the run.
    pub once: bool,
    /// A permission for each element of a list.
    pub each: Option<EachPlan>,
    /// Every argument of the tool; `None` where any are permitted.
    pub pins: Option<Vec<PinPlan>>,
    /// When the answer permits it.
    pub when: Option<Code>,
}

/// A list, with a permission for each of its elements.
pub struct EachPlan {
    /// Slot of an element.
    pub var: Slot,
    /// The list.
    pub items: Code,
    /// Whether the list reads the answer.
    pub by_answer: bool,
}

/// An argument that a permission holds a call to.
pub struct PinPlan {
    /// The name by which the outside knows the parameter.
    pub name: Arc<str>,
    /// Its value.
    pub value: Code,
    /// Whether the value reads the answer.
    pub by_answer: bool,
}

/// The permissions of a question; `scope` has its answer.
pub fn plan(
    builder: &Builder<'_>,
    permits: &[Permit],
    scope: &mut Scope,
) -> Result<Vec<PermitPlan>, PlanError> {
    let permits = permits.iter();
    permits.map(|permit| one(builder, permit, scope)).collect()
}

fn one(builder: &Builder<'_>, permit: &Permit, scope: &mut Scope) -> Result<PermitPlan, PlanError> {
    let each = match &permit.each {
        Some(each) => Some(EachPlan {
            items: builder.code(&each.items, scope)?,
            var: scope.declare(each.var.as_str(), Type::Json),
            by_answer: each.by_answer,
        }),
        None => None,
    };
    let when = permit.when.as_ref();
    let when = when.map(|when| builder.code(when, scope)).transpose()?;
    let params = &builder.flow.tools[permit.tool].params;
    let pins = permit.pins.as_ref().map(|pins| {
        let pins = pins.iter().map(|pin| {
            let param = params.iter().find(|param| param.name == pin.name);
            Ok(PinPlan {
                name: param.map_or(&*pin.name, |param| param.outer_name()).into(),
                value: builder.code(&pin.value, scope)?,
                by_answer: pin.by_answer,
            })
        });
        pins.collect::<Result<Vec<_>, PlanError>>()
    });
    Ok(PermitPlan {
        tool: permit.tool,
        once: permit.once,
        each,
        pins: pins.transpose()?,
        when,
    })
}
