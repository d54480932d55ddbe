//! `cel.bind(x, value, e)` and `x.checked(v, condition)`.

use crate::ast::expr::{Expr, ExprKind};
use crate::base::AccessPath;
use crate::diag::{Diagnostic, codes};

use super::super::super::ty::Type;
use super::super::checker::Checker;
use super::super::join::widen;
use super::Use;

/// Whether it is the name space of `bind`, and no value.
pub(super) fn is_space(checker: &Checker, target: &Expr) -> bool {
    matches!(&target.kind, ExprKind::Ident(name) if name == "cel" && checker.named(name).is_none())
}

pub(super) fn bind(checker: &mut Checker, used: &Use) -> Type {
    if !is_space(checker, used.target) {
        let of = checker.expr(used.target, None);
        if of == Type::Error {
            return of;
        }
        let message = format!("{} has no method `bind`", checker.show(&widen(of)));
        return checker.report(
            Diagnostic::new(&codes::UNKNOWN_FUNCTION, message, used.name.span)
                .help("a value gets a name inside of an expression by `cel.bind(x, value, expr)`"),
        );
    }
    let [value, body] = used.args else {
        return Type::Error;
    };
    let value = widen(checker.expr(value, None));
    let names = used.vars.iter().cloned().map(|name| (name, value.clone()));
    checker.binding(names, |checker| checker.expr(body, used.hint))
}

/// The type of the value, without null where the condition shows that it is none.
pub(super) fn checked(checker: &mut Checker, used: &Use) -> Type {
    let of = checker.expr(used.target, used.hint);
    let ([condition], [var]) = (used.args, used.vars.as_slice()) else {
        return Type::Error;
    };
    let facts = checker.binding([(var.clone(), of.clone())], |checker| {
        checker.check(condition, &Type::Bool);
        checker.facts(condition, true)
    });
    match facts.holds(&AccessPath::name(var)) {
        true => of.without_null(),
        false => of,
    }
}
