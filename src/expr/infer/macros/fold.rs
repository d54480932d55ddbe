//! `xs.fold(acc, x, init, next)`.

use super::super::super::ty::Type;
use super::super::checker::Checker;
use super::super::join::{join, widen};
use super::super::relation::assignable;
use super::Use;

/// The accumulator has the type that holds both the first value and what each round gives.
pub(super) fn fold(checker: &mut Checker, used: &Use) -> Type {
    let looped = checker.elements(used);
    let (Some(init), Some(next)) = (used.args.first(), used.args.get(1)) else {
        return Type::Error;
    };
    let first = widen(checker.expr(init, used.hint));
    let names = |acc: &Type| {
        let types = [acc.clone(), looped.one.clone()];
        used.vars.iter().cloned().zip(types).collect::<Vec<_>>()
    };
    let round = checker.binding(names(&first), |checker| {
        checker.quietly(|checker| checker.expr(next, None))
    });
    let acc = match round {
        Type::Error => first,
        round if assignable(&round, &first, checker.types) => first,
        round => accumulated(&first, &widen(round), checker),
    };
    // A second look that nobody hears would double the work with each level of nesting.
    if !checker.quiet {
        let round = checker.binding(names(&acc), |checker| checker.check(next, &acc));
        if round == Type::Error {
            return Type::Error;
        }
    }
    acc
}

/// Types that have nothing in common stay as they began, so that the round is what is reported.
fn accumulated(first: &Type, round: &Type, checker: &Checker) -> Type {
    match join(first, round, checker.types) {
        Type::Union(_) => first.clone(),
        joined => joined,
    }
}
