//! Macros that make maps, and those over keys and values.

use crate::diag::codes;

use super::super::super::ty::Type;
use super::super::checker::Checker;
use super::super::relation::assignable;
use super::Use;
use super::comprehension::guard;

/// `xs.to_map(x, key, value)`: keys become text.
pub(super) fn to_map(checker: &mut Checker, used: &Use) -> Type {
    let names = checker.elements(used).names(used);
    text_key(checker, used, &names);
    Type::map(checker.inside(used, &names, 1, None))
}

/// `xs.group_by(x, key)`: keys become text.
pub(super) fn group_by(checker: &mut Checker, used: &Use) -> Type {
    let looped = checker.elements(used);
    let names = looped.names(used);
    text_key(checker, used, &names);
    Type::map(Type::list(looped.one))
}

/// Checks a key that becomes text.
fn text_key(checker: &mut Checker, used: &Use, names: &[Type]) {
    let key = checker.inside(used, names, 0, None);
    let is_scalar = matches!(
        key,
        Type::Bool | Type::Int | Type::Uint | Type::Json | Type::Error | Type::Never
    ) || assignable(&key, &Type::String, checker.types);
    if !is_scalar {
        let message = format!(
            "`{}` needs a key that is text, a whole number or a bool, found {}",
            used.name.node,
            checker.show(&key)
        );
        let span = used.args.first().map_or(used.expr.span, |arg| arg.span);
        checker.error(&codes::TYPE_MISMATCH, message, span);
    }
}

/// `xs.transformList(i, x, condition, value)`
pub(super) fn transform_list(checker: &mut Checker, used: &Use) -> Type {
    Type::list(value(checker, used))
}

/// `m.transformMap(k, v, condition, value)`
pub(super) fn transform_map(checker: &mut Checker, used: &Use) -> Type {
    Type::map(value(checker, used))
}

/// The last argument, below the condition where there is one.
fn value(checker: &mut Checker, used: &Use) -> Type {
    let names = checker.elements(used).names(used);
    if used.args.len() == 1 {
        return checker.inside(used, &names, 0, None);
    }
    checker.inside(used, &names, 0, Some(&Type::Bool));
    let facts = guard(checker, used, &names);
    checker.bound(used, &names, |checker| {
        checker.under(facts, |checker| {
            used.args
                .last()
                .map_or(Type::Error, |arg| checker.expr(arg, None))
        })
    })
}
