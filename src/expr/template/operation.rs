//! Operators of a template's expressions.

use minijinja::machinery::ast::{self, BinOpKind, CompareOpKind};

use crate::diag::{Diagnostic, codes};

use super::super::infer::{NO_RANKS, join, nearest_text, overlaps, widen};
use super::super::ty::Type;
use super::check::Check;
use super::narrow::written;
use super::receiver::Kind;

impl Check<'_> {
    pub(super) fn unary(&mut self, op: &ast::UnaryOp) -> Type {
        let ty = self.expr(&op.expr);
        match op.op {
            ast::UnaryOpKind::Not => Type::Bool,
            ast::UnaryOpKind::Neg => {
                let ty = self.not_null(&op.expr, ty, "which `-` does not take");
                match Kind::of(&ty) {
                    None | Some(Kind::Whole | Kind::Number) => ty,
                    Some(_) => {
                        let message = format!("{} has no negative", self.named(&op.expr, &ty));
                        let span = self.span(op.expr.span());
                        self.error(&codes::TYPE_MISMATCH, message, span)
                    }
                }
            }
        }
    }

    pub(super) fn binary(&mut self, op: &ast::BinOp) -> Type {
        let left = self.expr(&op.left);
        let mut right = Type::Error;
        match op.op {
            BinOpKind::ScAnd | BinOpKind::ScOr => {
                let facts = self.facts(&op.left, matches!(op.op, BinOpKind::ScAnd));
                self.under(facts, |check| right = check.expr(&op.right));
            }
            _ => right = self.expr(&op.right),
        }
        match op.op {
            BinOpKind::ScAnd => join(&left, &right, self.types),
            BinOpKind::ScOr => join(&left.without_null(), &right, self.types),
            BinOpKind::Eq | BinOpKind::Ne => self.equal(
                matches!(op.op, BinOpKind::Ne),
                (&op.left, &left),
                (&op.right, &right),
            ),
            BinOpKind::Lt | BinOpKind::Lte | BinOpKind::Gt | BinOpKind::Gte => {
                let left = self.not_null(&op.left, left, "which has no order");
                let right = self.not_null(&op.right, right, "which has no order");
                self.in_order((&op.left, &left), (&op.right, &right));
                Type::Bool
            }
            BinOpKind::In => {
                self.among((&op.left, &left), (&op.right, &right));
                Type::Bool
            }
            BinOpKind::Concat => {
                self.not_null(&op.left, left, "which would print as `none`");
                self.not_null(&op.right, right, "which would print as `none`");
                Type::String
            }
            _ => {
                self.by_zero(op);
                let left = self.not_null(&op.left, left, "which can't be reckoned with");
                let right = self.not_null(&op.right, right, "which can't be reckoned with");
                self.arithmetic(op, widen(left), widen(right))
            }
        }
    }

    /// What is divided by a zero that is written out.
    fn by_zero(&mut self, op: &ast::BinOp) {
        let divides = matches!(op.op, BinOpKind::Div | BinOpKind::FloorDiv | BinOpKind::Rem);
        let ast::Expr::Const(by) = &op.right else {
            return;
        };
        if divides && f64::try_from(by.value.clone()).is_ok_and(|by| by == 0.0) {
            let span = self.span(op.left.span()).to(self.span(op.right.span()));
            self.error(
                &codes::ALWAYS_FAILS,
                "this always fails: division by zero".to_owned(),
                span,
            );
        }
    }

    fn arithmetic(&mut self, op: &ast::BinOp, left: Type, right: Type) -> Type {
        let unknown = |ty: &Type| matches!(ty, Type::Json | Type::Error | Type::Never);
        match (&left, &right) {
            (Type::Int, Type::Int) if !matches!(op.op, BinOpKind::Div) => Type::Int,
            (Type::Int | Type::Float, Type::Int | Type::Float) => Type::Float,
            (Type::String | Type::Enum(_), Type::String | Type::Enum(_))
                if matches!(op.op, BinOpKind::Add) =>
            {
                Type::String
            }
            (Type::List(a), Type::List(b)) if matches!(op.op, BinOpKind::Add) => {
                Type::list(join(a, b, self.types))
            }
            (Type::String, Type::Int) if matches!(op.op, BinOpKind::Mul) => Type::String,
            (a, b) if unknown(a) || unknown(b) => Type::Json,
            (a, b) => {
                let message = format!(
                    "this operator does not go with {} and {}; texts are joined by `~`",
                    self.named(&op.left, a),
                    self.named(&op.right, b)
                );
                let span = self.span(op.left.span()).to(self.span(op.right.span()));
                self.error(&codes::TYPE_MISMATCH, message, span)
            }
        }
    }

    pub(super) fn compare(&mut self, compare: &ast::Compare) -> Type {
        let mut left = (&compare.expr, self.expr(&compare.expr));
        for op in &compare.ops {
            let right = (&op.expr, self.expr(&op.expr));
            match op.op {
                CompareOpKind::Eq | CompareOpKind::Ne => {
                    let unequal = matches!(op.op, CompareOpKind::Ne);
                    self.equal(unequal, (left.0, &left.1), (right.0, &right.1));
                }
                CompareOpKind::In | CompareOpKind::NotIn => {
                    self.among((left.0, &left.1), (right.0, &right.1));
                }
                _ => {
                    let a = self.not_null(left.0, left.1, "which has no order");
                    let b = self.not_null(right.0, right.1.clone(), "which has no order");
                    self.in_order((left.0, &a), (right.0, &b));
                }
            }
            left = right;
        }
        Type::Bool
    }

    /// Values that have no order, or not with each other.
    pub(super) fn in_order(
        &mut self,
        (left, a): (&ast::Expr, &Type),
        (right, b): (&ast::Expr, &Type),
    ) {
        for (side, ty) in [(left, a), (right, b)] {
            if let Type::Enum(_) = ty {
                let message = format!("{} has no order", self.named(side, ty));
                let span = self.span(side.span());
                self.report(Diagnostic::new(&codes::TYPE_MISMATCH, message, span).help(NO_RANKS));
                return;
            }
        }
        if let (Some(one), Some(other)) = (ordered(a), ordered(b))
            && one != other
        {
            let a = self.named(left, &widen(a.clone()));
            let b = self.named(right, &widen(b.clone()));
            let message = format!("{a} and {b} have no order");
            let span = self.span(left.span()).to(self.span(right.span()));
            self.error(&codes::TYPE_MISMATCH, message, span);
        }
    }

    /// A value in a list that never holds one of its type.
    fn among(&mut self, (left, a): (&ast::Expr, &Type), (right, b): (&ast::Expr, &Type)) {
        if let Some(Kind::Whole | Kind::Number | Kind::Bool) = Kind::of(b) {
            let message = format!("nothing is in {}: it is no list", self.named(right, b));
            let span = self.span(left.span()).to(self.span(right.span()));
            self.error(&codes::TYPE_MISMATCH, message, span);
            return;
        }
        // Elements that are written out are compared one by one.
        let written = written(right).unwrap_or_default();
        for item in written {
            let of = self.silent(item);
            if !overlaps(a, &of, self.types) {
                let (source, shown) = (self.source(left).to_owned(), self.show(a));
                let message = format!(
                    "this is never found: `{source}` is {shown}, which has no {}",
                    self.show(&of)
                );
                let span = self.span(item.span());
                let near = nearest_text(a, &of, self.types);
                self.report(
                    Diagnostic::new(&codes::NEVER_EQUAL, message, span)
                        .maybe_help(near.map(|near| format!("did you mean `{near:?}`?"))),
                );
            }
        }
        if let (Type::List(of), []) = (b, written)
            && !overlaps(a, of, self.types)
        {
            let (a, of) = (self.named(left, a), self.show(of));
            let message = format!("this is never true: no {a} is among elements of type {of}");
            let span = self.span(left.span()).to(self.span(right.span()));
            self.error(&codes::NEVER_EQUAL, message, span);
        }
    }

    fn equal(
        &mut self,
        unequal: bool,
        (left, a): (&ast::Expr, &Type),
        (right, b): (&ast::Expr, &Type),
    ) -> Type {
        // A guard that was given before already has taken null out of the type.
        let is_null = matches!(a, Type::Null) || matches!(b, Type::Null);
        if !is_null && !overlaps(a, b, self.types) {
            let message = format!(
                "this is {} true: {} and {} have no value in common",
                if unequal { "always" } else { "never" },
                self.named(left, a),
                self.named(right, b)
            );
            let span = self.span(left.span()).to(self.span(right.span()));
            let near = nearest_text(a, b, self.types).or_else(|| nearest_text(b, a, self.types));
            self.report(
                Diagnostic::new(&codes::NEVER_EQUAL, message, span)
                    .maybe_help(near.map(|near| format!("did you mean `{near:?}`?"))),
            );
        }
        Type::Bool
    }

    pub(super) fn choice(&mut self, choice: &ast::IfExpr) -> Type {
        let (yes, no) = self.condition(&choice.test_expr);
        let (mut a, mut b) = (Type::Error, Type::Null);
        self.under(yes, |check| a = check.expr(&choice.true_expr));
        if let Some(other) = &choice.false_expr {
            self.under(no, |check| b = check.expr(other));
        }
        join(&a, &b, self.types)
    }
}

/// What a value is ordered with, by a word; `None` where that is not known or asked elsewhere.
fn ordered(ty: &Type) -> Option<&'static str> {
    Some(match ty {
        Type::Int | Type::Uint | Type::Float => "numbers",
        Type::String | Type::Literal(_) => "texts",
        Type::Bool => "bools",
        Type::Timestamp => "points in time",
        Type::Duration => "spans of time",
        _ => return None,
    })
}
