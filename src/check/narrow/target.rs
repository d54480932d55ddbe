//! Targets that a tool computes from a parameter, where `where` narrows it: only what is left is gone to.

use crate::ast::expr::ExprKind;
use crate::base::Span;
use crate::ir::ToolId;
use crate::resolve::program::{Node, Param, Program, Route, TargetKind, Tool, Work};

use super::Spaces;

/// The parameter that a tool's target is computed from, and what a node's `where` leaves of it.
pub struct Left<'a> {
    spaces: Spaces<'a>,
    param: &'a Param,
}

impl Left<'_> {
    /// Whether it can't be the name of that target.
    pub fn refuses(&self, name: &str) -> bool {
        let value = serde_json::Value::from(name);
        self.spaces.refuses(self.param, &value)
    }
}

/// What a node's `where` leaves of the parameter that names a computed target of the tool; `None` where nothing narrows it.
pub fn narrowed<'a>(
    program: &'a Program,
    node: &Node,
    (id, tool): (ToolId, &'a Tool),
    target: Span,
) -> Option<Left<'a>> {
    let list = match &node.work {
        Work::Agent { call, .. } => call.tools.as_ref(),
        Work::Tools { tools, .. } => tools.as_ref(),
        _ => None,
    };
    let used = list?.find(id).filter(|used| !used.narrowed.is_empty())?;
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
    let spaces = Spaces::after(program, tool, &used.narrowed);
    Some(Left { spaces, param })
}
