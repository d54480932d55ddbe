//! What a condition says of single arguments, as far as that can be said without running it.

use serde_json::Value as Json;

use crate::ast::expr::{BinaryOp, Expr, ExprKind, LogicalOp, UnaryOp};
use crate::base::Span;
use crate::expr::TypeTable;
use crate::expr::infer::constant;

/// One demand on one argument.
#[derive(Debug, Clone)]
pub struct Test {
    /// The parameter.
    pub param: String,
    /// What is asked of it.
    pub ask: Ask,
    /// The part of the condition that asks it.
    pub span: Span,
}

/// What a [`Test`] asks.
#[derive(Debug, Clone)]
pub enum Ask {
    /// To be one of these.
    In(Vec<Json>),
    /// To be none of these.
    NotIn(Vec<Json>),
    /// To be at least (`false`) or above (`true`) a number.
    Low(f64, bool),
    /// To be at most or below a number.
    High(f64, bool),
    /// To be at least so long.
    Longer(u64),
    /// To be at most so long.
    Shorter(u64),
    /// To be of a length that there is none of.
    Never,
}

/// The tests that a condition comes to, all of which must hold; `false` where it asks for more than they say.
pub fn tests(condition: &Expr, params: &[&str], types: &TypeTable) -> (Vec<Test>, bool) {
    let mut found = Vec::new();
    let mut whole = true;
    let mut open = vec![condition];
    while let Some(part) = open.pop() {
        if let ExprKind::Logical(LogicalOp::And, parts) = &part.kind {
            open.extend(parts.iter().rev());
            continue;
        }
        match (Reader { params, types }).single(part) {
            Some((param, ask)) => found.push(Test {
                param,
                ask,
                span: part.span,
            }),
            None => whole = false,
        }
    }
    (found, whole)
}

struct Reader<'a> {
    params: &'a [&'a str],
    types: &'a TypeTable,
}

impl Reader<'_> {
    /// A condition on one parameter. Recursion is bounded by the brackets of the source.
    fn single(&self, expr: &Expr) -> Option<(String, Ask)> {
        match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => {
                let (param, ask) = self.single(inner)?;
                Some((param, negate(ask)?))
            }
            ExprKind::Logical(op, parts) => {
                let mut parts = parts.iter().map(|part| self.single(part));
                let (param, first) = parts.next()??;
                let all = parts.try_fold(first, |ask, next| {
                    let (other, next) = next?;
                    (other == param).then_some(())?;
                    match op {
                        LogicalOp::Or => either(ask, next),
                        LogicalOp::And => both(ask, next),
                    }
                });
                Some((param, all?))
            }
            ExprKind::Binary(op, left, right) => self.binary(op.node, left, right),
            ExprKind::Ident(_) => Some((self.param(expr)?, Ask::In(vec![Json::Bool(true)]))),
            _ => None,
        }
    }

    fn binary(&self, op: BinaryOp, left: &Expr, right: &Expr) -> Option<(String, Ask)> {
        if op == BinaryOp::In {
            let ExprKind::List(_) = &right.kind else {
                return None;
            };
            let Json::Array(values) = constant(right, self.types)? else {
                return None;
            };
            let plain = values.iter().all(is_plain);
            return plain.then_some((self.param(left)?, Ask::In(values)));
        }
        if let Some(value) = constant(right, self.types) {
            self.compared(op, left, value)
        } else {
            let value = constant(left, self.types)?;
            self.compared(mirrored(op)?, right, value)
        }
    }

    /// `SUBJECT op VALUE`, where the subject is a parameter or its length.
    fn compared(&self, op: BinaryOp, subject: &Expr, value: Json) -> Option<(String, Ask)> {
        if let Some(measured) = measured(subject) {
            return Some((self.param(measured)?, length(op, value.as_i64()?)?));
        }
        let param = self.param(subject)?;
        let number = || value.as_f64();
        let ask = match op {
            BinaryOp::Equal if is_plain(&value) => Ask::In(vec![value]),
            BinaryOp::NotEqual if is_plain(&value) => Ask::NotIn(vec![value]),
            BinaryOp::Less => Ask::High(number()?, true),
            BinaryOp::LessEqual => Ask::High(number()?, false),
            BinaryOp::Greater => Ask::Low(number()?, true),
            BinaryOp::GreaterEqual => Ask::Low(number()?, false),
            _ => return None,
        };
        Some((param, ask))
    }

    fn param(&self, expr: &Expr) -> Option<String> {
        match &expr.kind {
            ExprKind::Ident(name) if self.params.contains(&name.as_str()) => Some(name.clone()),
            _ => None,
        }
    }
}

fn is_plain(value: &Json) -> bool {
    !matches!(value, Json::Array(_) | Json::Object(_))
}

/// `x` of `size(x)` and `x.size()`.
fn measured(expr: &Expr) -> Option<&Expr> {
    match &expr.kind {
        ExprKind::Call {
            target,
            function,
            args,
        } if function.node == "size" => match (target, args.as_slice()) {
            (Some(target), []) => Some(target),
            (None, [only]) => Some(only),
            _ => None,
        },
        _ => None,
    }
}

fn length(op: BinaryOp, than: i64) -> Option<Ask> {
    let longer = |least: i64| Ask::Longer(u64::try_from(least).unwrap_or(0));
    let shorter = |most: i64| u64::try_from(most).map_or(Ask::Never, Ask::Shorter);
    Some(match op {
        BinaryOp::Less => shorter(than.saturating_sub(1)),
        BinaryOp::LessEqual => shorter(than),
        BinaryOp::Greater => longer(than.saturating_add(1)),
        BinaryOp::GreaterEqual => longer(than),
        BinaryOp::Equal if than < 0 => Ask::Never,
        BinaryOp::NotEqual if than == 0 => longer(1),
        BinaryOp::Equal if than == 0 => shorter(0),
        _ => return None,
    })
}

fn mirrored(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Less => BinaryOp::Greater,
        BinaryOp::LessEqual => BinaryOp::GreaterEqual,
        BinaryOp::Greater => BinaryOp::Less,
        BinaryOp::GreaterEqual => BinaryOp::LessEqual,
        BinaryOp::Equal | BinaryOp::NotEqual => op,
        _ => return None,
    })
}

fn negate(ask: Ask) -> Option<Ask> {
    Some(match ask {
        Ask::In(values) => Ask::NotIn(values),
        Ask::NotIn(values) => Ask::In(values),
        Ask::Low(at, open) => Ask::High(at, !open),
        Ask::High(at, open) => Ask::Low(at, !open),
        Ask::Longer(0) => Ask::Never,
        Ask::Longer(least) => Ask::Shorter(least - 1),
        Ask::Shorter(most) => Ask::Longer(most.checked_add(1)?),
        Ask::Never => Ask::Longer(0),
    })
}

fn either(a: Ask, b: Ask) -> Option<Ask> {
    Some(match (a, b) {
        (Ask::In(mut a), Ask::In(b)) => {
            a.extend(b);
            Ask::In(a)
        }
        (Ask::NotIn(a), Ask::NotIn(b)) => {
            Ask::NotIn(a.into_iter().filter(|v| has(&b, v)).collect())
        }
        (Ask::NotIn(not), Ask::In(yes)) | (Ask::In(yes), Ask::NotIn(not)) => {
            Ask::NotIn(not.into_iter().filter(|v| !has(&yes, v)).collect())
        }
        _ => return None,
    })
}

fn both(a: Ask, b: Ask) -> Option<Ask> {
    Some(match (a, b) {
        (Ask::In(a), Ask::In(b)) => Ask::In(a.into_iter().filter(|v| has(&b, v)).collect()),
        (Ask::NotIn(mut a), Ask::NotIn(b)) => {
            a.extend(b);
            Ask::NotIn(a)
        }
        (Ask::NotIn(not), Ask::In(yes)) | (Ask::In(yes), Ask::NotIn(not)) => {
            Ask::In(yes.into_iter().filter(|v| !has(&not, v)).collect())
        }
        _ => return None,
    })
}

/// Whether a value is among others; `3` and `3.0` are one number, as they are in expressions.
pub fn has(values: &[Json], value: &Json) -> bool {
    values.iter().any(|known| same(known, value))
}

fn same(a: &Json, b: &Json) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}
