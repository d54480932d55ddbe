//! Statements of a template.

use minijinja::machinery::{Span as Range, ast};

use crate::diag::{Diagnostic, codes};

use super::super::infer::Narrowing;
use super::super::ty::Type;
use super::check::Check;
use super::gives::element;
use super::{filter, method, syntax};

impl Check<'_> {
    fn all(&mut self, statements: &[ast::Stmt]) {
        for statement in statements {
            self.statement(statement);
        }
    }

    pub(super) fn statement(&mut self, statement: &ast::Stmt) {
        use ast::Stmt;
        match statement {
            Stmt::Template(template) => self.all(&template.children),
            // Null prints nothing, so it needs no guard here.
            Stmt::EmitExpr(emit) => _ = self.expr(&emit.expr),
            Stmt::EmitRaw(_) => {}
            Stmt::ForLoop(each) => self.each(each),
            Stmt::IfCond(branch) => self.branch(branch),
            Stmt::Set(set) => {
                let ty = self.expr(&set.expr);
                self.sets_in_loop(set);
                self.hides(&set.target, false);
                self.assign(&set.target, ty);
            }
            Stmt::SetBlock(set) => {
                if let Some(filter) = &set.filter {
                    self.expr(filter);
                }
                self.scoped(|check| check.all(&set.body));
                self.assign(&set.target, Type::String);
            }
            Stmt::WithBlock(part) => self.refuse("with", part.span()),
            Stmt::AutoEscape(part) => self.refuse("autoescape", part.span()),
            Stmt::FilterBlock(part) => self.refuse("filter", part.span()),
            Stmt::Do(part) => self.refuse("do", part.span()),
        }
    }

    fn refuse(&mut self, name: &str, range: Range) {
        let start = range.start_offset as usize;
        let rest = self.template.text.get(start..).unwrap_or_default();
        let at = start + rest.find(name).unwrap_or_default();
        let span = self.template.span_of(at, at + name.len());
        let found = Diagnostic::new(&codes::BAD_TEMPLATE, syntax::absent(name), span);
        self.report(found.help(syntax::INSTEAD));
    }

    fn branch(&mut self, branch: &ast::IfCond) {
        let (yes, no) = self.condition(&branch.expr);
        self.under(yes, |check| check.all(&branch.true_body));
        self.under(no, |check| check.all(&branch.false_body));
    }

    /// Types a condition; what is known where it holds and where it doesn't. Of one that is wrong nobody knows what it was to
    /// show.
    pub(super) fn condition(&mut self, condition: &ast::Expr) -> (Narrowing, Narrowing) {
        let told = self.diags.len();
        self.expr(condition);
        // One that is always the same says what it says.
        let open = |found: &Diagnostic| !std::ptr::eq(found.code, &codes::NEVER_EQUAL);
        let wrong = self.diags.iter().skip(told).any(open);
        let (yes, no) = (self.facts(condition, true), self.facts(condition, false));
        (yes.of_wrong(wrong), no.of_wrong(wrong))
    }

    fn each(&mut self, each: &ast::ForLoop) {
        let of = self.expr(&each.iter);
        let pair = self.pair(&each.iter);
        let of = of.without_null();
        if matches!(
            of,
            Type::Bool | Type::Int | Type::Uint | Type::Float | Type::Timestamp | Type::Duration
        ) {
            let message = format!(
                "expected a list or a map, found {}",
                self.named(&each.iter, &of)
            );
            let span = self.span(each.iter.span());
            self.error(&codes::TYPE_MISMATCH, message, span);
        }
        self.hides(&each.target, true);
        let outside = self.locals.len();
        self.scoped(|check| {
            match (pair, &each.target) {
                (Some((first, second)), ast::Expr::List(names)) => {
                    check.take_apart(&names.items, [first, second]);
                }
                (Some((first, second)), ast::Expr::Tuple(names)) => {
                    check.take_apart(&names.items, [first, second]);
                }
                _ => check.assign(&each.target, element(&of)),
            }
            if let Some(condition) = &each.filter_expr {
                let (facts, _) = check.condition(condition);
                check.known = check.known.clone().and(facts);
            }
            check.locals.push(("loop".into(), Type::Json));
            check.in_loop(outside, |check| check.all(&each.body));
        });
        self.scoped(|check| check.all(&each.else_body));
    }

    /// Warns of a name that hides what the template knows by it: `state`, and for names of a loop any other.
    fn hides(&mut self, target: &ast::Expr, each: bool) {
        let name = match target {
            ast::Expr::Var(var) => var.id,
            ast::Expr::List(names) => {
                names.items.iter().for_each(|name| self.hides(name, each));
                return;
            }
            ast::Expr::Tuple(names) => {
                names.items.iter().for_each(|name| self.hides(name, each));
                return;
            }
            _ => return,
        };
        let state = name == "state" && self.scope.state.is_some();
        if state || (each && self.scope.slot(name).is_some()) {
            let span = self.span(target.span());
            let message = format!("`{name}` hides what the template knows by that name");
            self.report(
                Diagnostic::new(&codes::SHADOWING, message, span).help("choose another name"),
            );
        }
    }

    fn take_apart(&mut self, names: &[ast::Expr], parts: [Type; 2]) {
        for (name, part) in names.iter().zip(parts) {
            self.assign(name, part);
        }
    }

    /// What `for k, v in x.items()` (or `x|items`) takes apart.
    fn pair(&mut self, iter: &ast::Expr) -> Option<(Type, Type)> {
        match iter {
            ast::Expr::Filter(applied) => {
                let of = self.silent(applied.expr.as_ref()?);
                filter::find(applied.name)?.gives.pair(&of)
            }
            ast::Expr::Call(call) => match call.identify_call() {
                ast::CallType::Method(receiver, name) => {
                    let of = self.silent(receiver);
                    method::find(&of, name)?.gives.pair(&of)
                }
                _ => None,
            },
            _ => None,
        }
    }

    fn assign(&mut self, target: &ast::Expr, ty: Type) {
        match target {
            ast::Expr::Var(var) => self.declare(var.id, ty),
            ast::Expr::List(names) => self.assign_each(target, &names.items, &ty),
            ast::Expr::Tuple(names) => self.assign_each(target, &names.items, &ty),
            // `ns.x = ..` of a namespace.
            other => {
                self.expr(other);
            }
        }
    }

    fn assign_each(&mut self, target: &ast::Expr, names: &[ast::Expr], ty: &Type) {
        let part = match ty {
            Type::List(of) => (**of).clone(),
            Type::Json | Type::Error | Type::Never => ty.clone(),
            other => {
                let message = format!(
                    "{} can't be taken apart into several names",
                    self.show(other)
                );
                let span = self.span(target.span());
                self.report(
                    Diagnostic::new(&codes::TYPE_MISMATCH, message, span)
                        .help("keys with values are given by `m.items()`"),
                )
            }
        };
        for name in names {
            self.assign(name, part.clone());
        }
    }
}
