//! What a template reads of its scope.

use crate::ast::node::TemplateText;
use crate::ast::template::{LOOP, Statement, Target};

use super::super::infer::{Reads, ReadsCollector};
use super::super::scope::Scope;
use super::lower::tree;

/// What a template reads of its scope; all fields of the state where it looks one up by a computed name.
pub fn reads(template: &TemplateText, scope: &Scope) -> Reads {
    let mut walk = Walk(ReadsCollector::new(scope));
    walk.all(&tree(template).body);
    walk.0.found
}

/// Goes through statements; names that they set or loop over are bound behind.
struct Walk<'a>(ReadsCollector<'a>);

impl Walk<'_> {
    /// Statements whose names may not be bound behind them.
    fn block(&mut self, statements: &[Statement]) {
        let depth = self.0.bound.len();
        self.all(statements);
        self.0.bound.truncate(depth);
    }

    fn all(&mut self, statements: &[Statement]) {
        for statement in statements {
            match statement {
                Statement::Text { .. } => {}
                Statement::Output(expr) => self.0.expr(expr),
                Statement::If { condition, yes, no } => {
                    self.0.expr(condition);
                    self.block(yes);
                    self.block(no);
                }
                Statement::For(each) => {
                    self.0.expr(&each.over);
                    let depth = self.0.bound.len();
                    self.0.bound.push(LOOP.to_owned());
                    self.bind(&each.target);
                    each.when.iter().for_each(|when| self.0.expr(when));
                    self.all(&each.body);
                    self.0.bound.truncate(depth);
                    self.block(&each.otherwise);
                }
                Statement::Set { target, value } => {
                    self.0.expr(value);
                    self.bind(target);
                }
                Statement::Capture {
                    target,
                    body,
                    filtered,
                } => {
                    self.block(body);
                    filtered.iter().for_each(|filtered| self.0.expr(filtered));
                    self.bind(target);
                }
            }
        }
    }

    fn bind(&mut self, target: &Target) {
        let names = target.names().into_iter();
        self.0.bound.extend(names.map(|name| name.node.clone()));
    }
}
