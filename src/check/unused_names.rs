//! Names that a tool's body is given and does not use: parameters, and fields that it reads.

use std::collections::BTreeSet;

use crate::ast::expr::Expr;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::infer::reads;
use crate::expr::{Scope, Type};
use crate::resolve::program::{Emit, Program, Route, TargetKind, Tool, ToolBody};

/// Warns of them.
pub fn tools(program: &Program, diags: &mut Diagnostics) {
    for tool in &program.tools {
        if let Some(body) = &tool.body {
            unused(tool, body, diags);
        }
    }
}

fn unused(tool: &Tool, body: &ToolBody, diags: &mut Diagnostics) {
    let mut used = Used {
        scope: Scope::default(),
        slots: BTreeSet::new(),
    };
    let given = || tool.params.iter().chain(&body.reads);
    for param in given() {
        used.scope.declare(&*param.name.node, Type::Error);
    }
    used.body(body);
    let name = &tool.name.node;
    for (index, param) in given().enumerate() {
        if used.slots.contains(&(index as u32)) {
            continue;
        }
        let own = &param.name.node;
        let found = match index < tool.params.len() {
            true => Diagnostic::new(
                &codes::UNUSED_PARAMETER,
                format!("nothing in the body of tool `{name}` uses its parameter `{own}`"),
                param.name.span,
            ),
            false => Diagnostic::new(
                &codes::UNUSED_READ,
                format!("tool `{name}` reads `{own}` and never uses it"),
                param.name.span,
            ),
        };
        diags.push(found.help(format!("use `{own}`, or take it out")));
    }
}

struct Used {
    scope: Scope,
    slots: BTreeSet<u32>,
}

impl Used {
    fn expr(&mut self, expr: &Expr) {
        let found = reads(expr, &self.scope).slots;
        self.slots.extend(found.iter().map(|slot| slot.0));
    }

    fn exprs<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) {
        exprs.into_iter().for_each(|expr| self.expr(expr));
    }

    fn body(&mut self, body: &ToolBody) {
        self.exprs(body.lets.iter().map(|bound| &bound.value));
        for require in &body.requires {
            self.expr(&require.condition);
            self.exprs(&require.message);
        }
        self.exprs(body.set.iter().map(|item| &item.value));
        self.emits(&body.emits);
        if let Some(goto) = &body.goto {
            self.route(goto);
        }
        self.exprs(&body.returns);
    }

    fn emits(&mut self, emits: &[Emit]) {
        for emit in emits {
            self.exprs(emit.fields.iter().map(|field| &field.value));
            self.exprs(&emit.when);
        }
    }

    fn route(&mut self, route: &Route) {
        if let Route::Arms(arms, _) = route {
            self.exprs(arms.iter().filter_map(|arm| arm.when.as_ref()));
        }
        for jump in route.jumps() {
            self.exprs(jump.set.iter().map(|item| &item.value));
            self.emits(&jump.emits);
        }
        for target in route.targets() {
            match &target.kind {
                TargetKind::Fail(message) => self.exprs(message.as_deref()),
                TargetKind::Computed(name) => self.expr(name),
                TargetKind::Each { items, with, .. }
                | TargetKind::NamedEach { items, with, .. } => {
                    self.expr(items);
                    self.exprs(with.iter().map(|arg| &arg.value));
                }
                TargetKind::Node(_)
                | TargetKind::End
                | TargetKind::Parent(_)
                | TargetKind::Named(_)
                | TargetKind::Unknown => {}
            }
        }
    }
}
