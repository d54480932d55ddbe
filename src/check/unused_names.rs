//! Names that a tool's body is given and does not use: parameters, and fields that it reads.

use std::collections::BTreeSet;

use crate::ast::expr::Expr;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::infer::reads;
use crate::expr::{Scope, Type};
use crate::resolve::exprs::of_tool;
use crate::resolve::program::{Program, Tool, ToolBody};

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
    of_tool(body).into_iter().for_each(|expr| used.expr(expr));
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
}
