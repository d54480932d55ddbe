//! Which expressions depend on nothing but literals, members of enums and known parameters.

use crate::ast::expr::{Expr, ExprKind};

use super::super::function;
use super::super::infer::macros;
use super::Folder;

impl Folder<'_> {
    /// Whether the expression has the same value in every run. `bound` are names that macros around
    /// it bind, whose values it can't know.
    pub(super) fn is_closed(&self, expr: &Expr, bound: &[String]) -> bool {
        Closed {
            folder: self,
            bound,
            inner: Vec::new(),
        }
        .expr(expr)
    }
}

struct Closed<'a> {
    folder: &'a Folder<'a>,
    bound: &'a [String],
    /// Names that macros inside the expression bind.
    inner: Vec<String>,
}

impl Closed<'_> {
    fn expr(&mut self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Literal(_) => true,
            ExprKind::Error => false,
            ExprKind::Ident(name) => self.name(name),
            ExprKind::Select {
                operand,
                field,
                optional,
            } => match &operand.kind {
                ExprKind::Ident(name) if name == "params" && !self.is_bound(name) => {
                    !optional && self.folder.params.known(&field.node)
                }
                ExprKind::Ident(name) if !self.is_bound(name) && self.is_enum(name) => true,
                _ => self.expr(operand),
            },
            ExprKind::Call {
                target,
                function,
                args,
            } => self.call(target.as_deref(), &function.node, args),
            _ => expr.parts().into_iter().all(|part| self.expr(part)),
        }
    }

    /// `params` as a whole is known where each of them is.
    fn name(&self, name: &str) -> bool {
        if self.inner.iter().any(|known| known == name) {
            return true;
        }
        let params = &self.folder.params.0;
        name == "params"
            && !self.is_bound(name)
            && !params.is_empty()
            && params.iter().all(|(_, value)| value.is_some())
    }

    fn is_bound(&self, name: &str) -> bool {
        let mut names = self.bound.iter().chain(&self.inner);
        names.any(|known| known == name)
    }

    fn is_enum(&self, name: &str) -> bool {
        self.folder.types.enum_named(name).is_some()
    }

    fn call(&mut self, target: Option<&Expr>, function: &str, args: &[Expr]) -> bool {
        if target.is_none() && function::special(function).is_some_and(|spec| !spec.is_pure()) {
            return false;
        }
        if target.is_some_and(|target| !self.expr(target)) {
            return false;
        }
        let split = target.and_then(|_| macros::split(function, args));
        let Some((vars, outer, inner)) = split else {
            return args.iter().all(|arg| self.expr(arg));
        };
        if !outer.iter().all(|arg| self.expr(arg)) {
            return false;
        }
        let depth = self.inner.len();
        self.inner.extend(vars);
        let closed = inner.iter().all(|arg| self.expr(arg));
        self.inner.truncate(depth);
        closed
    }
}
