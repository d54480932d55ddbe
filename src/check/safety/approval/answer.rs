//! What a person said where a condition holds, and the words that say it.

use crate::ast::expr::{Expr, ExprKind, Literal, LogicalOp};

/// What the answer was where a condition holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Says {
    /// The person agreed.
    Yes,
    /// The person refused, or may have: of some value nobody knows which.
    No,
    /// The answer was read and compared with something else than the usual words, which counts as an approval.
    Something,
    /// The condition does not depend on the answer.
    Nothing,
    /// It holds in no run.
    Never,
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

/// `&&` holds for a no where one part does, `||` may hold for the weakest of its parts.
pub(super) fn joined(op: LogicalOp, parts: &[Says]) -> Says {
    let has = |says| parts.contains(&says);
    match op {
        LogicalOp::And if has(Says::Never) => Says::Never,
        LogicalOp::And if has(Says::No) => Says::No,
        LogicalOp::And if has(Says::Yes) => Says::Yes,
        LogicalOp::And if !has(Says::Something) => Says::Nothing,
        LogicalOp::Or if has(Says::No) => Says::No,
        // It may hold whatever was said.
        LogicalOp::Or if has(Says::Nothing) => Says::Nothing,
        _ if has(Says::Something) => Says::Something,
        _ if has(Says::Yes) => Says::Yes,
        _ => Says::Never,
    }
}

/// What an answer says that equals a constant; `None` where the expression is none.
pub fn constant(expr: &Expr) -> Option<Says> {
    match &expr.kind {
        ExprKind::Literal(Literal::Bool(true)) => Some(Says::Yes),
        ExprKind::Literal(Literal::Bool(false) | Literal::Null) => Some(Says::No),
        ExprKind::Literal(Literal::String(word)) if word.is_empty() => Some(Says::No),
        ExprKind::Literal(Literal::String(word)) => Some(said_by(word).unwrap_or(Says::Something)),
        ExprKind::Literal(_) => Some(Says::Something),
        ExprKind::Select { field, .. } if is_member(expr) => {
            Some(said_by(&field.node).unwrap_or(Says::Something))
        }
        _ => None,
    }
}

/// A constant as a word, to tell it from others: numbers that are equal are the same one.
pub fn word(expr: &Expr) -> Option<String> {
    match &expr.kind {
        ExprKind::Literal(Literal::String(word)) => Some(word.to_string()),
        ExprKind::Literal(Literal::Int(number)) => Some((*number as f64).to_string()),
        ExprKind::Literal(Literal::UInt(number)) => Some((*number as f64).to_string()),
        ExprKind::Literal(Literal::Float(number)) => Some(number.to_string()),
        ExprKind::Literal(literal) => Some(format!("{literal:?}")),
        ExprKind::Select { field, .. } if is_member(expr) => Some(field.node.clone()),
        _ => None,
    }
}

/// Whether a path names a member of an enum: types begin with a capital.
fn is_member(expr: &Expr) -> bool {
    let mut at = expr;
    while let ExprKind::Select { operand, .. } = &at.kind {
        if let ExprKind::Select { field, .. } = &operand.kind
            && field.node.starts_with(char::is_uppercase)
        {
            return true;
        }
        at = operand;
    }
    matches!(&at.kind, ExprKind::Ident(name) if name.starts_with(char::is_uppercase))
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
