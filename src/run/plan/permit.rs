//! Permissions of a question, ready to run.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::expr::{Scope, Slot, Type};
use crate::ir::ToolId;
use crate::ir::node::Permit;

use super::code::{Builder, Code, PlanError};
use super::node::slots;

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
    /// Names, other than the answer and an element, that its condition and what else the answer decides read.
    pub reads: BTreeSet<Slot>,
    /// `let`s that read the answer and that these use, as they are written.
    pub lets: Vec<Arc<str>>,
}

impl PermitPlan {
    /// The expressions that the answer decides, as they are written.
    pub fn by_answer(&self) -> impl Iterator<Item = (&str, &Code)> {
        let items = self.each.iter().filter(|each| each.by_answer);
        let items = items.map(|each| ("each", &each.items));
        let pins = self.pins.iter().flatten().filter(|pin| pin.by_answer);
        let pins = pins.map(|pin| (&*pin.name, &pin.value));
        let when = self.when.iter().map(|when| ("when", when));
        when.chain(items).chain(pins)
    }
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
    /// Whether the value reads the answer, or an element of a list that does.
    pub by_answer: bool,
}

/// The permissions of a question; `scope` has its answer, under that slot, and `lets` that read it.
pub fn plan(
    builder: &Builder<'_>,
    permits: &[Permit],
    (answer, lets): (Slot, &[(Slot, Code)]),
    scope: &mut Scope,
) -> Result<Vec<PermitPlan>, PlanError> {
    let permits = permits.iter();
    let plans = permits.map(|permit| one(builder, permit, (answer, lets), scope));
    plans.collect()
}

fn one(
    builder: &Builder<'_>,
    permit: &Permit,
    (answer, lets): (Slot, &[(Slot, Code)]),
    scope: &mut Scope,
) -> Result<PermitPlan, PlanError> {
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
            let late = each.as_ref().filter(|each| each.by_answer);
            let value = builder.code(&pin.value, scope)?;
            let of_late = late.is_some_and(|each| value.reads(scope).contains(&each.var));
            Ok(PinPlan {
                name: param.map_or(&*pin.name, |param| param.outer_name()).into(),
                value,
                by_answer: pin.by_answer || of_late,
            })
        });
        pins.collect::<Result<Vec<_>, PlanError>>()
    });
    let mut plan = PermitPlan {
        tool: permit.tool,
        once: permit.once,
        pins: pins.transpose()?,
        when,
        reads: BTreeSet::new(),
        lets: Vec::new(),
        each,
    };
    let texts = plan.by_answer();
    let mut reads: BTreeSet<Slot> = texts.flat_map(|(_, code)| code.reads(scope)).collect();
    if let Some(each) = &plan.each {
        reads.remove(&each.var);
        scope.forget(each.var);
    }
    // A later one may use those before it.
    for (slot, code) in lets.iter().rev() {
        if reads.remove(slot) {
            reads.extend(code.reads(scope));
            plan.lets.push(code.text().into());
        }
    }
    // What `run` says is no matter of the flow's, and changes from process to process.
    for known in [answer, slots::ANSWERED, slots::RUN] {
        reads.remove(&known);
    }
    plan.reads = reads;
    Ok(plan)
}
