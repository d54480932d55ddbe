//! Conditions on a person's answer: does it hold for a yes or for a no?

use std::collections::BTreeMap;

use crate::ast::expr::{BinaryOp, Expr, ExprKind, Literal, LogicalOp, UnaryOp};

use super::super::reads::{Lets, Mention, mentions};

/// What the answer was where a condition holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Says {
    /// The person agreed.
    Yes,
    /// The person refused.
    No,
    /// The answer was read; what it was is not said in words that are known.
    Something,
    /// The condition does not depend on the answer.
    Nothing,
}

impl Says {
    /// The opposite condition.
    pub fn flipped(self) -> Says {
        match self {
            Says::Yes => Says::No,
            Says::No => Says::Yes,
            same => same,
        }
    }
}

/// What of a condition's scope is an answer, or made from one.
pub struct Answers<'a> {
    /// `let` names of the node.
    pub lets: Lets<'a>,
    /// Whether the name or field is one.
    pub is: &'a dyn Fn(Mention<'_>) -> bool,
    /// Whether it is one that was turned round: `true` where the person said no.
    pub turned: &'a dyn Fn(Mention<'_>) -> bool,
}

impl<'a> Answers<'a> {
    fn in_expr(&self, expr: &'a Expr) -> bool {
        mentions(expr, &self.lets)
            .into_iter()
            .any(|mention| (self.is)(mention))
    }

    /// Whether a name stands among them both as it is and with a `!`.
    fn excludes_itself(&self, operands: &'a [Expr]) -> bool {
        let mut seen: BTreeMap<Mention<'_>, bool> = BTreeMap::new();
        operands.iter().any(|operand| {
            let (of, plain) = match &operand.kind {
                ExprKind::Unary(UnaryOp::Not, of) => (&**of, false),
                _ => (operand, true),
            };
            let named = matches!(of.kind, ExprKind::Ident(_) | ExprKind::Select { .. });
            match mentions(of, &self.lets).as_slice() {
                [one] if named => seen.insert(*one, plain).is_some_and(|known| known != plain),
                _ => false,
            }
        })
    }

    /// Whether the expression is an answer that was turned round.
    fn is_turned(&self, expr: &'a Expr) -> bool {
        match mentions(expr, &self.lets).as_slice() {
            [one] => (self.turned)(*one),
            _ => false,
        }
    }

    /// What was said where the condition has that truth.
    pub fn says(&self, expr: &'a Expr, truth: bool) -> Says {
        if !self.in_expr(expr) {
            return Says::Nothing;
        }
        let says = match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, of) => return self.says(of, !truth),
            ExprKind::Logical(op, operands) => {
                let all: Vec<Says> = operands.iter().map(|o| self.says(o, truth)).collect();
                // Where `a || b` is false, both are.
                let op = match (op, truth) {
                    (op, true) => *op,
                    (LogicalOp::And, false) => LogicalOp::Or,
                    (LogicalOp::Or, false) => LogicalOp::And,
                };
                // What never holds leads nowhere, so nothing runs behind it that somebody would have to agree to.
                return match op == LogicalOp::And && self.excludes_itself(operands) {
                    true => Says::Yes,
                    false => joined(op, &all),
                };
            }
            ExprKind::Binary(op, left, right) => self.compared(op.node, left, right),
            ExprKind::Ident(_) | ExprKind::Select { .. } if self.is_turned(expr) => Says::No,
            ExprKind::Ident(name) => said_by(name).unwrap_or(Says::Yes),
            ExprKind::Select { field, .. } => said_by(field).unwrap_or(Says::Yes),
            _ => Says::Something,
        };
        match truth {
            true => says,
            false => says.flipped(),
        }
    }

    fn compared(&self, op: BinaryOp, left: &'a Expr, right: &'a Expr) -> Says {
        let (of, with) = match self.in_expr(left) {
            true => (left, right),
            false => (right, left),
        };
        let says = match op {
            BinaryOp::Equal => value(with),
            BinaryOp::NotEqual => value(with).flipped(),
            BinaryOp::In => match &with.kind {
                ExprKind::List(words) => {
                    let all: Vec<Says> = words.iter().map(|word| value(&word.value)).collect();
                    joined(LogicalOp::Or, &all)
                }
                _ => Says::Something,
            },
            _ => Says::Something,
        };
        if self.is_turned(of) {
            return says.flipped();
        }
        // `answer.rejected == true` is a no.
        match (&of.kind, &with.kind) {
            (ExprKind::Select { field, .. }, ExprKind::Literal(Literal::Bool(_)))
                if said_by(field) == Some(Says::No) =>
            {
                says.flipped()
            }
            _ => says,
        }
    }
}

/// `&&` holds for a no where one part does, `||` may hold for the weakest of its parts.
pub(super) fn joined(op: LogicalOp, parts: &[Says]) -> Says {
    let has = |says| parts.contains(&says);
    match op {
        LogicalOp::And if has(Says::No) => Says::No,
        LogicalOp::And if has(Says::Yes) => Says::Yes,
        LogicalOp::And if !has(Says::Something) => Says::Nothing,
        LogicalOp::Or if has(Says::No) => Says::No,
        // It may hold whatever was said.
        LogicalOp::Or if has(Says::Nothing) => Says::Nothing,
        LogicalOp::Or if !has(Says::Something) => Says::Yes,
        _ => Says::Something,
    }
}

/// What an answer says that equals the expression.
pub fn value(expr: &Expr) -> Says {
    match &expr.kind {
        ExprKind::Literal(Literal::Bool(true)) => Says::Yes,
        ExprKind::Literal(Literal::Bool(false) | Literal::Null) => Says::No,
        ExprKind::Literal(Literal::String(word)) if word.is_empty() => Says::No,
        ExprKind::Literal(Literal::String(word)) => said_by(word).unwrap_or(Says::Something),
        // A member of an enum.
        ExprKind::Select { field, .. } => said_by(field).unwrap_or(Says::Something),
        _ => Says::Something,
    }
}

/// What a word says, if it is one of the usual ones.
pub(super) fn said_by(word: &str) -> Option<Says> {
    let word = word.trim().to_ascii_lowercase();
    if REFUSING.contains(&word.as_str()) {
        return Some(Says::No);
    }
    AGREEING.contains(&word.as_str()).then_some(Says::Yes)
}

/// Words of a refusal.
const REFUSING: [&str; 32] = [
    "reject",
    "rejected",
    "no",
    "n",
    "deny",
    "denied",
    "refuse",
    "refused",
    "decline",
    "declined",
    "cancel",
    "canceled",
    "cancelled",
    "abort",
    "aborted",
    "stop",
    "stopped",
    "disapprove",
    "disapproved",
    "disallow",
    "disallowed",
    "forbid",
    "forbidden",
    "block",
    "blocked",
    "veto",
    "vetoed",
    "never",
    "false",
    "keep",
    "discard",
    "dismiss",
];

/// Words of an agreement.
const AGREEING: [&str; 26] = [
    "approve",
    "approved",
    "yes",
    "y",
    "ok",
    "okay",
    "accept",
    "accepted",
    "agree",
    "agreed",
    "confirm",
    "confirmed",
    "allow",
    "allowed",
    "proceed",
    "go",
    "go_ahead",
    "granted",
    "grant",
    "permit",
    "permitted",
    "sure",
    "true",
    "apply",
    "execute",
    "authorized",
];
