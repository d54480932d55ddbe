//! Operators: arithmetic, logic and the conditional. Comparisons are in [`compare`](super::compare).

use crate::ast::expr::{BinaryOp, Expr, ExprKind, Literal, LogicalOp, UnaryOp};
use crate::base::foreign::DEFAULT;
use crate::base::{Span, Spanned};
use crate::diag::{Diagnostic, Fact, codes};

use super::super::operator as operators;
use super::super::ty::Type;
use super::checker::Checker;
use super::join::{join, widen};
use super::path::path;
use super::relation::assignable;
use super::usage::named;

impl Checker<'_> {
    pub(super) fn unary(&mut self, op: UnaryOp, operand: &Expr) -> Type {
        if op == UnaryOp::Not {
            return match self.check(operand, &Type::Bool) {
                Type::Error => Type::Error,
                _ => Type::Bool,
            };
        }
        let ty = self.non_null(operand, "`-`");
        if ty == Type::Error {
            return ty;
        }
        operators::unary(op, &ty).unwrap_or_else(|| {
            let message = format!(
                "{} has no negative; expected a number or a duration",
                named(operand, &self.show(&ty))
            );
            self.error(&codes::TYPE_MISMATCH, message, operand.span)
        })
    }

    pub(super) fn logical(&mut self, op: LogicalOp, operands: &[Expr]) -> Type {
        if self.is_default(op, operands) {
            return Type::Error;
        }
        let before = self.known.clone();
        for operand in operands {
            let reported = self.diags.len();
            self.check(operand, &Type::Bool);
            let wrong = self.diags.len() > reported;
            let known = self.facts(operand, op == LogicalOp::And).of_wrong(wrong);
            self.known = std::mem::take(&mut self.known).and(known);
        }
        self.known = before;
        Type::Bool
    }

    /// `state.name || "nobody"`, as other languages write a default: reported as such. Only names and literals are looked
    /// at: what takes time to type is typed once.
    fn is_default(&mut self, op: LogicalOp, operands: &[Expr]) -> bool {
        let (LogicalOp::Or, [first, others @ ..]) = (op, operands) else {
            return false;
        };
        if !is_simple(first) || !others.iter().all(is_simple) {
            return false;
        }
        let reported = self.diags.len();
        let types = |checker: &mut Self, expr| checker.expr(expr, None).without_null();
        let ty = types(self, first);
        let plain = matches!(ty, Type::Bool | Type::Json | Type::Error | Type::Never);
        let same =
            |other: &Type| assignable(other, &ty, self.types) || as_text(other) == as_text(&ty);
        let other: Vec<Type> = match plain {
            true => Vec::new(),
            false => others.iter().map(|other| types(self, other)).collect(),
        };
        if plain || self.diags.len() > reported || !other.iter().all(same) {
            self.diags.truncate(reported);
            return false;
        }
        let shown = named(first, &self.show(&ty));
        let message = format!("`||` joins conditions, found {shown}");
        let found = Diagnostic::new(&codes::TYPE_MISMATCH, message, first.span);
        self.report(found.help(DEFAULT).fact(Fact::Foreign));
        true
    }

    pub(super) fn conditional(
        &mut self,
        condition: &Expr,
        yes: &Expr,
        no: &Expr,
        expected: Option<&Type>,
    ) -> Type {
        let (taker, reported) = (self.taker.take(), self.diags.len());
        self.check(condition, &Type::Bool);
        self.taker = taker;
        let wrong = self.diags.len() > reported;
        let when = self.facts(condition, true).of_wrong(wrong);
        let unless = self.facts(condition, false).of_wrong(wrong);
        let yes = self.under(when, |checker| checker.infer(yes, expected));
        let no = self.under(unless, |checker| checker.infer(no, expected));
        join(&yes, &no, self.types)
    }

    pub(super) fn binary(
        &mut self,
        expr: &Expr,
        op: &Spanned<BinaryOp>,
        left: &Expr,
        right: &Expr,
        hint: Option<&Type>,
    ) -> Type {
        match op.node {
            BinaryOp::Equal | BinaryOp::NotEqual => self.equality(expr, op, left, right),
            BinaryOp::Less | BinaryOp::LessEqual | BinaryOp::Greater | BinaryOp::GreaterEqual => {
                self.ordering(op, left, right)
            }
            BinaryOp::In => self.membership(expr, left, right),
            BinaryOp::Add
            | BinaryOp::Subtract
            | BinaryOp::Multiply
            | BinaryOp::Divide
            | BinaryOp::Modulo => self.arithmetic(op, left, right, hint),
        }
    }

    fn arithmetic(
        &mut self,
        op: &Spanned<BinaryOp>,
        left: &Expr,
        right: &Expr,
        hint: Option<&Type>,
    ) -> Type {
        let sign = op.node.sign();
        let wanted = hint.map(Type::without_null);
        let hint = wanted.clone().filter(|_| op.node == BinaryOp::Add);
        let hint = hint.as_ref().filter(|ty| matches!(ty, Type::List(_)));
        let what = format!("`{sign}`");
        let a = widen(self.non_null_hinted(left, &what, hint));
        let b = widen(self.non_null_hinted(right, &what, hint));
        match (&a, &b) {
            (Type::Error, _) | (_, Type::Error) => return Type::Error,
            (Type::List(x), Type::List(y)) if op.node == BinaryOp::Add => {
                return Type::list(join(x, y, self.types));
            }
            _ => {}
        }
        match operators::binary(op.node, &a, &b) {
            Some(ty) => ty,
            None => self.no_operator(op, wanted.as_ref(), (left, &a), (right, &b)),
        }
    }

    fn no_operator(
        &mut self,
        op: &Spanned<BinaryOp>,
        wanted: Option<&Type>,
        (left, a): (&Expr, &Type),
        (right, b): (&Expr, &Type),
    ) -> Type {
        let sign = op.node.sign();
        let message = format!(
            "`{sign}` does not go with {} and {}",
            named(left, &self.show(a)),
            named(right, &self.show(b))
        );
        let found = Diagnostic::new(&codes::TYPE_MISMATCH, message, op.span);
        if let Some((digits, span)) = number_in_quotes((left, a), (right, b)) {
            let help = format!("write `{digits}` without quotes");
            return self.report(found.help(help).fix(span, digits));
        }
        let found = self.with_types(found, &[(left, a), (right, b)]);
        let number = matches!(wanted, Some(Type::Int | Type::Float));
        let adds = op.node == BinaryOp::Add;
        let whole = |e: &Expr| matches!(e.kind, ExprKind::Literal(Literal::Int(_)));
        let convert = |side: &str, of: &Expr, call: &str| {
            let value = path(of).unwrap_or_else(|| "..".to_owned());
            Some(format!("convert the {side} side: `{call}({value})`"))
        };
        let point = || Some("write it with a point, as in `1.0`".to_owned());
        let help = match (a, b) {
            (optional @ Type::Optional(_), _) | (_, optional @ Type::Optional(_)) => {
                Some(or_value(optional))
            }
            (Type::Int, Type::Float) if whole(left) => point(),
            (Type::Float, Type::Int) if whole(right) => point(),
            (Type::Int | Type::Uint, Type::Float) => convert("left", left, "float"),
            (Type::Float, Type::Int | Type::Uint) => convert("right", right, "float"),
            (Type::String, Type::Int) if number => convert("left", left, "int"),
            (Type::Int, Type::String) if number => convert("right", right, "int"),
            (Type::String, _) if op.node == BinaryOp::Modulo => {
                Some("a text with values in it is `\"a %s\".format([x])`".to_owned())
            }
            (a, b) if adds && as_text(a) == Type::String && printable(b) => {
                convert("right", right, "string")
            }
            (a, b) if adds && as_text(b) == Type::String && printable(a) => {
                convert("left", left, "string")
            }
            (Type::List(_), _) if adds => {
                Some("only a list can be added to a list: `xs + [x]`".to_owned())
            }
            _ => None,
        };
        let found = found.maybe_help(help);
        self.report(match (a, op.node) {
            (Type::String, BinaryOp::Modulo) if !self.template => found.fact(Fact::Foreign),
            _ => found,
        })
    }

    /// The type of an operand that may not be null; reported where it may be.
    pub(super) fn non_null(&mut self, operand: &Expr, what: &str) -> Type {
        self.non_null_hinted(operand, what, None)
    }

    fn non_null_hinted(&mut self, operand: &Expr, what: &str, hint: Option<&Type>) -> Type {
        match self.expr(operand, hint) {
            Type::Nullable(inner) => {
                let message = format!("{}, which {what} does not take", self.may_be_null(operand));
                self.null_not_handled(operand, message, None);
                (*inner).clone()
            }
            ty => ty,
        }
    }
}

/// Whether it is a literal, or a path of names: typing it twice costs little.
pub(super) fn is_simple(expr: &Expr) -> bool {
    let mut expr = expr;
    while let ExprKind::Select { operand, .. } = &expr.kind {
        expr = operand;
    }
    matches!(expr.kind, ExprKind::Ident(_) | ExprKind::Literal(_))
}

/// A number in quotes beside a number: `n + "1"`.
fn number_in_quotes(a: (&Expr, &Type), b: (&Expr, &Type)) -> Option<(String, Span)> {
    [(a, b), (b, a)]
        .into_iter()
        .find_map(|((_, of), (other, _))| {
            let ExprKind::Literal(Literal::String(text)) = &other.kind else {
                return None;
            };
            let fits = match of {
                Type::Int => text.parse::<i64>().is_ok(),
                Type::Float => text.contains('.') && text.parse::<f64>().is_ok_and(f64::is_finite),
                _ => false,
            };
            let digits = text.starts_with(|c: char| c.is_ascii_digit());
            (fits && digits).then(|| (text.to_string(), other.span))
        })
}

/// `string` for every type whose values are texts.
fn as_text(ty: &Type) -> Type {
    match ty {
        Type::Literal(_) | Type::Enum(_) => Type::String,
        Type::Union(members) if members.iter().all(|m| as_text(m) == Type::String) => Type::String,
        other => other.clone(),
    }
}

/// The help for an optional where a value is needed.
fn or_value(ty: &Type) -> String {
    let value = match ty {
        Type::Optional(of) => first_value(of),
        _ => "..",
    };
    format!("give the optional a default: `.orValue({value})`")
}

/// How the empty value of a type is written.
pub(super) fn first_value(of: &Type) -> &'static str {
    match as_text(of) {
        Type::Int => "0",
        Type::Uint => "0u",
        Type::Float => "0.0",
        Type::Duration => "duration(\"0s\")",
        Type::String => "\"\"",
        Type::List(_) => "[]",
        Type::Map(_) => "{}",
        _ => "..",
    }
}

fn printable(ty: &Type) -> bool {
    matches!(
        ty,
        Type::Bool
            | Type::Int
            | Type::Uint
            | Type::Float
            | Type::Timestamp
            | Type::Duration
            | Type::Bytes
            | Type::Json
    )
}
