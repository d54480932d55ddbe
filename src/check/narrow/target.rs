//! Targets that a tool computes from a parameter, where a list fixes or narrows it: only what is left is gone to.

use serde_json::Value as Json;

use crate::ast::expr::ExprKind;
use crate::base::Span;
use crate::expr::infer::default_value;
use crate::ir::ToolId;
use crate::resolve::program::{Node, Param, Program, Route, TargetKind, Tool};

use super::Spaces;

/// The parameter that a tool's target is computed from, and what a node's `where` leaves of it.
pub struct Left<'a> {
    spaces: Spaces<'a>,
    /// The constant that it is fixed to.
    fixed: Option<Json>,
    param: &'a Param,
}

impl Left<'_> {
    /// Whether it can't be the name of that target.
    pub fn refuses(&self, name: &str) -> bool {
        let value = Json::from(name);
        let other = self.fixed.as_ref().is_some_and(|fixed| *fixed != value);
        other || self.spaces.refuses(self.param, &value)
    }
}

/// What a node's list leaves of the parameter that names a computed target of the tool; `None` where nothing narrows it.
pub fn narrowed<'a>(
    program: &'a Program,
    node: &Node,
    (id, tool): (ToolId, &'a Tool),
    target: Span,
) -> Option<Left<'a>> {
    let used = node.tool_list()?.find(id)?;
    let body = tool.body.as_ref()?;
    let mut targets = body.goto.iter().flat_map(Route::targets);
    let computed = targets.find(|other| other.span == target)?;
    let TargetKind::Computed(expr) = &computed.kind else {
        return None;
    };
    let ExprKind::Ident(name) = &expr.kind else {
        return None;
    };
    let param = tool.params.iter().find(|param| param.name.node == *name)?;
    let arg = used.fixed.iter().find(|arg| arg.name.node == *name);
    let fixed = arg.and_then(|arg| default_value(&arg.value, &param.ty.node, &program.types));
    (fixed.is_some() || !used.narrowed.is_empty()).then(|| Left {
        spaces: Spaces::after(program, tool, &used.narrowed),
        fixed,
        param,
    })
}
