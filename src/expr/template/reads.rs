//! What a template reads of its scope. The engine's own answer leaves out slices, and what a `set` is made from.

use minijinja::machinery::{self, ast};
use minijinja::syntax::SyntaxConfig;

use crate::ast::node::TemplateText;

use super::super::infer::Reads;
use super::super::scope::Scope;
use super::{chain, parts};

/// What a template reads of its scope; all fields of the state where it looks one up by a computed name.
pub fn reads(template: &TemplateText, scope: &Scope) -> Reads {
    let mut walk = Walk {
        scope,
        bound: Vec::new(),
        found: Reads::default(),
    };
    if chain::too_long(&template.text).is_none()
        && let Ok(tree) = machinery::parse(&template.text, "template", SyntaxConfig::default())
    {
        walk.statement(&tree);
    }
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
    fn block(&mut self, statements: &[ast::Stmt]) {
        let depth = self.bound.len();
        self.all(statements);
        self.bound.truncate(depth);
    }

    fn all(&mut self, statements: &[ast::Stmt]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &ast::Stmt) {
        use ast::Stmt;
        let depth = self.bound.len();
        match statement {
            Stmt::Template(template) => self.all(&template.children),
            Stmt::EmitExpr(emit) => self.expr(&emit.expr),
            Stmt::ForLoop(each) => {
                self.expr(&each.iter);
                self.bound.push("loop".to_owned());
                self.bind(&each.target);
                each.filter_expr.iter().for_each(|when| self.expr(when));
                self.all(&each.body);
                self.bound.truncate(depth);
                self.block(&each.else_body);
            }
            Stmt::IfCond(branch) => {
                self.expr(&branch.expr);
                self.block(&branch.true_body);
                self.block(&branch.false_body);
            }
            Stmt::Set(set) => {
                self.expr(&set.expr);
                self.bind(&set.target);
            }
            Stmt::SetBlock(set) => {
                set.filter.iter().for_each(|filter| self.expr(filter));
                self.block(&set.body);
                self.bind(&set.target);
            }
            _ => {}
        }
    }

    fn bind(&mut self, target: &ast::Expr) {
        match target {
            ast::Expr::Var(var) => self.bound.push(var.id.to_owned()),
            // A field of a namespace.
            ast::Expr::GetAttr(_) => {}
            names => parts::parts(names)
                .into_iter()
                .for_each(|name| self.bind(name)),
        }
    }

    fn expr(&mut self, expr: &ast::Expr) {
        match expr {
            ast::Expr::Var(var) => self.name(var.id, None),
            ast::Expr::GetAttr(get) => match &get.expr {
                ast::Expr::Var(var) => self.name(var.id, Some(get.name)),
                of => self.expr(of),
            },
            other => parts::parts(other)
                .into_iter()
                .for_each(|part| self.expr(part)),
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
