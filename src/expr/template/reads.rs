//! What a template reads of its scope.

use crate::ast::expr::{Expr, ExprKind};
use crate::ast::node::TemplateText;
use crate::ast::template::{LOOP, Statement, Target};

use super::super::infer::Reads;
use super::super::scope::Scope;
use super::lower::lower;

/// What a template reads of its scope; all fields of the state where it looks one up by a computed name.
pub fn reads(template: &TemplateText, scope: &Scope) -> Reads {
    let Ok(lowered) = lower(template) else {
        return Reads::default();
    };
    let mut walk = Walk {
        scope,
        bound: Vec::new(),
        found: Reads::default(),
    };
    walk.all(&lowered.body);
    walk.found
}

struct Walk<'a> {
    scope: &'a Scope,
    /// Names that the template binds around this place.
    bound: Vec<String>,
    found: Reads,
}

impl Walk<'_> {
    /// Statements whose names may not be bound behind them.
    fn block(&mut self, statements: &[Statement]) {
        let depth = self.bound.len();
        self.all(statements);
        self.bound.truncate(depth);
    }

    fn all(&mut self, statements: &[Statement]) {
        for statement in statements {
            match statement {
                Statement::Text { .. } => {}
                Statement::Output(expr) => self.expr(expr),
                Statement::If { condition, yes, no } => {
                    self.expr(condition);
                    self.block(yes);
                    self.block(no);
                }
                Statement::For(each) => {
                    self.expr(&each.over);
                    let depth = self.bound.len();
                    self.bound.push(LOOP.to_owned());
                    self.bind(&each.target);
                    each.when.iter().for_each(|when| self.expr(when));
                    self.all(&each.body);
                    self.bound.truncate(depth);
                    self.block(&each.otherwise);
                }
                Statement::Set { target, value } => {
                    self.expr(value);
                    self.bind(target);
                }
                Statement::Capture {
                    target,
                    body,
                    filtered,
                } => {
                    self.block(body);
                    filtered.iter().for_each(|filtered| self.expr(filtered));
                    self.bind(target);
                }
            }
        }
    }

    fn bind(&mut self, target: &Target) {
        let names = target.names().into_iter();
        self.bound.extend(names.map(|name| name.node.clone()));
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Ident(name) => self.name(name, None),
            ExprKind::Select { operand, field, .. } => match &operand.kind {
                ExprKind::Ident(name) => self.name(name, Some(field)),
                _ => self.expr(operand),
            },
            _ => expr.each_part(|part| self.expr(part)),
        }
    }

    fn name(&mut self, name: &str, field: Option<&str>) {
        if self.bound.iter().any(|bound| bound == name) {
            return;
        }
        if let Some(slot) = self.scope.slot(name) {
            self.found.slots.insert(slot);
        } else if name == "state" {
            let index = |field| self.scope.field(field).map(|(index, _)| index);
            let fields = self.scope.state.as_ref().map_or(0, |fields| fields.len());
            match field {
                Some(field) => self.found.fields.extend(index(field)),
                None => self.found.fields.extend((0..fields).map(|i| i as u32)),
            }
        }
    }
}
