//! What a condition proves: places that are not null.

use std::collections::BTreeSet;

use crate::ast::expr::{BinaryOp, Expr, ExprKind, Literal, LogicalOp, UnaryOp};

use super::super::scope::Scope;
use super::super::ty::{Type, TypeTable};
use super::checker::Checker;
use super::path::{mentions, path};

/// Places known not to be null.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Narrowing {
    /// Paths such as `state.a.b` or `answer.note`; see [`path`]. `state.a.!b` says that `state.a`, one of several records,
    /// is none that must have a `b`.
    pub paths: BTreeSet<String>,
    /// Whether it rests on a condition that is wrong, and reported: what that was to show nobody knows, so it counts as
    /// having shown all that is asked.
    pub anything: bool,
}

impl Narrowing {
    /// Knows nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the place is known not to be null.
    pub fn holds(&self, path: &str) -> bool {
        self.anything || self.paths.contains(path)
    }

    /// The same, of a condition that may be `wrong`.
    pub fn of_wrong(mut self, wrong: bool) -> Narrowing {
        self.anything |= wrong;
        self
    }

    /// What either knows: for two conditions that both hold.
    pub fn and(mut self, other: Narrowing) -> Narrowing {
        self.paths.extend(other.paths);
        self.anything |= other.anything;
        self
    }

    /// What both know: for two ways of which one was taken.
    pub fn or(mut self, other: &Narrowing) -> Narrowing {
        match (self.anything, other.anything) {
            (true, true) => self.paths.extend(other.paths.iter().cloned()),
            (true, false) => return other.clone(),
            (false, true) => {}
            (false, false) => self.paths.retain(|path| other.paths.contains(path)),
        }
        self
    }

    /// What is known of the fields of a place: the names behind its path.
    pub fn fields<'a>(&'a self, path: &str) -> impl Iterator<Item = &'a str> {
        let prefix = format!("{path}.");
        let from = self.paths.range(prefix.clone()..);
        from.map_while(move |known| known.strip_prefix(prefix.as_str()))
            .map(|rest| rest.split(['.', '[']).next().unwrap_or_default())
    }

    /// Forgets all that depends on a place, since it may have been written (`state.a`) or the name now
    /// means something else (`x`).
    pub fn forget(&mut self, written: &str) {
        let under = |path: &str| {
            path.strip_prefix(written)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
        };
        self.paths.retain(|path| {
            !under(path) && !mentions(path, written) && !path.split(['[', ']']).any(under)
        });
    }
}

impl FromIterator<String> for Narrowing {
    fn from_iter<I: IntoIterator<Item = String>>(paths: I) -> Self {
        Self {
            paths: paths.into_iter().collect(),
            anything: false,
        }
    }
}

/// What is known when `expr` is true (or, with `truth` false, when it is false).
pub fn facts(expr: &Expr, scope: &Scope, types: &TypeTable, truth: bool) -> Narrowing {
    let mut unheard = crate::diag::Diagnostics::new();
    Checker::new(scope, types, &mut unheard).facts(expr, truth)
}

impl Checker<'_> {
    /// What is known when `expr` is true (or false), with the names and narrowings of this checker.
    pub fn facts(&mut self, expr: &Expr, truth: bool) -> Narrowing {
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => self.facts(inner, !truth),
            ExprKind::Logical(op, operands) => self.logical_facts(*op, operands, truth),
            ExprKind::Conditional(condition, yes, no) => {
                let yes = self.facts(condition, true).and(self.facts(yes, truth));
                let no = self.facts(condition, false).and(self.facts(no, truth));
                yes.or(&no)
            }
            ExprKind::Binary(op, left, right) => self.comparison_facts(op.node, left, right, truth),
            ExprKind::Call {
                target: None,
                function,
                args,
            } if function.node == "has" => match (args.first(), truth) {
                (Some(field), true) => path(field).into_iter().collect(),
                (Some(field), false) => self.without_field(field).into_iter().collect(),
                _ => Narrowing::new(),
            },
            _ => Narrowing::new(),
        }
    }

    fn logical_facts(&mut self, op: LogicalOp, operands: &[Expr], truth: bool) -> Narrowing {
        let all_known = (op == LogicalOp::And) == truth;
        let mut each = operands.iter().map(|operand| self.facts(operand, truth));
        let first = each.next().unwrap_or_default();
        each.fold(first, |known, next| match all_known {
            true => known.and(next),
            false => known.or(&next),
        })
    }

    fn comparison_facts(
        &mut self,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
        truth: bool,
    ) -> Narrowing {
        let equal = match op {
            BinaryOp::Equal => truth,
            BinaryOp::NotEqual => !truth,
            BinaryOp::In if truth => return self.member_facts(left, right),
            _ => return Narrowing::new(),
        };
        let proves = |checker: &mut Self, other: &Expr| match equal {
            true => !checker.unheard(other).admits_null(),
            false => matches!(other.kind, ExprKind::Literal(Literal::Null)),
        };
        let mut known = Narrowing::new();
        for (side, other) in [(left, right), (right, left)] {
            if let Some(path) = path(side)
                && proves(self, other)
            {
                known.paths.insert(path);
            }
        }
        known
    }

    /// `x in xs` proves that `x` isn't null where no element of `xs` is.
    fn member_facts(&mut self, item: &Expr, list: &Expr) -> Narrowing {
        let Some(path) = path(item) else {
            return Narrowing::new();
        };
        match self.unheard(list) {
            Type::List(of) if !of.admits_null() => std::iter::once(path).collect(),
            Type::Map(_) | Type::Record(_) => std::iter::once(path).collect(),
            _ => Narrowing::new(),
        }
    }
}
