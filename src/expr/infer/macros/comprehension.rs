//! `all exists exists_one map filter find sort_by`.

use crate::base::AccessPath;
use crate::diag::codes;

use super::super::super::ty::Type;
use super::super::checker::Checker;
use super::super::compare::ordered;
use super::super::narrow::Narrowing;
use super::Use;

/// `all`, `exists`, `exists_one`
pub(super) fn holds(checker: &mut Checker, used: &Use) -> Type {
    let names = checker.elements(used).names(used);
    checker.inside(used, &names, 0, Some(&Type::Bool));
    Type::Bool
}

pub(super) fn map(checker: &mut Checker, used: &Use) -> Type {
    let names = checker.elements(used).names(used);
    let expected = match used.hint.map(Type::without_null) {
        Some(Type::List(of)) => Some((*of).clone()),
        _ => None,
    };
    let value = used.args.len() - 1;
    if value == 0 {
        return Type::list(hinted(checker, used, &names, 0, expected.as_ref()));
    }
    let reported = checker.diags.len();
    checker.inside(used, &names, 0, Some(&Type::Bool));
    let wrong = checker.diags.len() > reported;
    let facts = guard(checker, used, &names).of_wrong(wrong);
    let of = checker.bound(used, &names, |checker| {
        checker.under(facts, |checker| {
            used.args
                .get(value)
                .map_or(Type::Error, |arg| checker.expr(arg, expected.as_ref()))
        })
    });
    Type::list(of)
}

/// The type of an argument with a hint that it need not fit.
fn hinted(
    checker: &mut Checker,
    used: &Use,
    names: &[Type],
    arg: usize,
    hint: Option<&Type>,
) -> Type {
    let Some(arg) = used.args.get(arg) else {
        return Type::Error;
    };
    checker.bound(used, names, |checker| checker.expr(arg, hint))
}

pub(super) fn filter(checker: &mut Checker, used: &Use) -> Type {
    let looped = checker.elements(used);
    let names = looped.names(used);
    checker.inside(used, &names, 0, Some(&Type::Bool));
    let facts = guard(checker, used, &names);
    let is_element = used
        .vars
        .first()
        .is_some_and(|var| facts.holds(&AccessPath::name(var)));
    Type::list(match is_element {
        true => looped.one.without_null(),
        false => looped.one,
    })
}

pub(super) fn find(checker: &mut Checker, used: &Use) -> Type {
    match filter(checker, used) {
        Type::List(of) => Type::optional(of.without_null()),
        other => other,
    }
}

pub(super) fn sort_by(checker: &mut Checker, used: &Use) -> Type {
    let looped = checker.elements(used);
    let names = looped.names(used);
    let key = checker.inside(used, &names, 0, None);
    if !ordered(&key) {
        let message = format!(
            "`sort_by` needs a key with an order (a number, text, time or bool), found {}",
            checker.show(&key)
        );
        let span = used.args.first().map_or(used.expr.span, |arg| arg.span);
        checker.error(&codes::TYPE_MISMATCH, message, span);
    }
    Type::list(looped.one)
}

/// What the condition of a filter shows about the names that it binds.
pub(super) fn guard(checker: &mut Checker, used: &Use, names: &[Type]) -> Narrowing {
    let Some(condition) = used.args.first() else {
        return Narrowing::new();
    };
    checker.bound(used, names, |checker| checker.facts(condition, true))
}
