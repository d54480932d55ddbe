//! `o.optMap(x, value)` and `o.optFlatMap(x, optional)`.

use crate::diag::codes;

use super::super::super::ty::Type;
use super::super::checker::Checker;
use super::Use;

pub(super) fn opt_map(checker: &mut Checker, used: &Use) -> Type {
    let of = held(checker, used);
    Type::optional(checker.inside(used, &[of], 0, None).without_null())
}

pub(super) fn opt_flat_map(checker: &mut Checker, used: &Use) -> Type {
    let of = held(checker, used);
    match checker.inside(used, &[of], 0, None) {
        found @ (Type::Optional(_) | Type::Json | Type::Error) => found,
        other => {
            let message = format!(
                "`optFlatMap` needs a value that is an optional, found {}",
                checker.show(&other)
            );
            let span = used.args.first().map_or(used.expr.span, |arg| arg.span);
            checker.error(&codes::TYPE_MISMATCH, message, span)
        }
    }
}

/// What the optional to the left holds.
fn held(checker: &mut Checker, used: &Use) -> Type {
    match checker.expr(used.target, None) {
        Type::Optional(of) => (*of).clone(),
        Type::Error => Type::Error,
        Type::Json => Type::Json,
        other => {
            let message = format!(
                "`{}` is a method of an optional, found {}",
                used.name.node,
                checker.show(&other)
            );
            checker.error(&codes::TYPE_MISMATCH, message, used.target.span)
        }
    }
}
