//! Tools, ready to be called.

use std::sync::Arc;
use std::time::Duration;

use crate::expr::schema::fields_schema;
use crate::expr::ty::RecordField;
use crate::expr::{Scope, Slot, Type};
use crate::ir::{FieldId, Tool, ToolBody};
use crate::run::model::ToolSpec;

use super::code::{Builder, Code, PlanError};
use super::jump::{self, EmitPlan, Preparation, RoutePlan, SetPlan};

/// A tool.
pub struct ToolPlan {
    /// Its name.
    pub name: Arc<str>,
    /// What a model is shown of it.
    pub spec: ToolSpec,
    /// Longest time of a call.
    pub timeout: Option<Duration>,
    /// What it does, where the interpreter runs it.
    pub body: Option<BodyPlan>,
}

/// A tool's body. Its scope: its parameters, then the fields that it reads, `run`, and `let` names.
pub struct BodyPlan {
    /// Names of the calling graph's fields that it reads.
    pub reads: Vec<String>,
    /// Names of the calling graph's fields that it writes; [`SetPlan::field`] is an index into it.
    pub writes: Vec<String>,
    /// Slot of `run`.
    pub run: Slot,
    /// How many slots.
    pub slots: usize,
    /// `let`s and `require`s, in the order in which they are computed and asked.
    pub prepare: Vec<Preparation>,
    /// Writes.
    pub set: Vec<SetPlan>,
    /// Events.
    pub emits: Vec<EmitPlan>,
    /// Its jump.
    pub goto: Option<RoutePlan>,
    /// Its result.
    pub returns: Option<Code>,
}

/// A tool of the flow.
pub fn plan(builder: &Builder<'_>, tool: &Tool) -> Result<ToolPlan, PlanError> {
    Ok(ToolPlan {
        name: tool.name.as_str().into(),
        spec: spec(builder, tool, &tool.params),
        timeout: tool.timeout_ms.map(Duration::from_millis),
        body: tool
            .body
            .as_ref()
            .map(|content| body(builder, tool, content))
            .transpose()?,
    })
}

/// What a model is shown of a tool that nothing narrows and that it gives those parameters.
pub fn spec(builder: &Builder<'_>, tool: &Tool, params: &[RecordField]) -> ToolSpec {
    ToolSpec {
        name: tool.name.clone(),
        description: tool.doc.clone(),
        parameters: fields_schema(params, &builder.flow.types),
    }
}

fn body(builder: &Builder<'_>, tool: &Tool, body: &ToolBody) -> Result<BodyPlan, PlanError> {
    let mut scope = Scope {
        effects: true,
        functions: builder.functions.clone(),
        ..Scope::default()
    };
    for name in tool
        .params
        .iter()
        .map(|param| &param.name)
        .chain(body.reads.iter().map(|(name, _)| name))
    {
        scope.declare(name.as_str(), Type::Json);
    }
    let run = scope.declare("run", Type::Json);
    let prepare = jump::preparations(builder, (&body.lets, &body.requires), &mut scope)?;
    let set = body.set.iter().enumerate().map(|(i, item)| {
        let value = builder.code(&item.value, &scope)?;
        Ok(SetPlan {
            field: FieldId(i as u32),
            replace: item.replace,
            value,
        })
    });
    let set = set.collect::<Result<_, PlanError>>()?;
    let emits = jump::emits(builder, &body.emits, &scope)?;
    let goto = body
        .goto
        .as_ref()
        .map(|goto| jump::route(builder, goto, &mut scope))
        .transpose()?;
    let returns = body
        .returns
        .as_ref()
        .map(|returns| builder.code(returns, &scope))
        .transpose()?;
    Ok(BodyPlan {
        reads: body.reads.iter().map(|(name, _)| name.clone()).collect(),
        writes: body.set.iter().map(|item| item.field.clone()).collect(),
        run,
        slots: scope.names.len(),
        prepare,
        set,
        emits,
        goto,
        returns,
    })
}
