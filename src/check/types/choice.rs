//! Conditions within expressions that are the same in every run: of `?:`, of macros.

use crate::ast::expr::{Expr, ExprKind};
use crate::diag::{Diagnostic, codes};
use crate::expr::infer::macros;

use super::constant::Verdict;
use super::cx::Cx;

/// Macros whose last argument is a condition, and what follows where that always holds, or never.
const ASKING: [(&str, &str, &str); 4] = [
    ("filter", "it keeps all elements", "it keeps no element"),
    (
        "exists",
        "it asks only whether there are elements",
        "no element is ever so",
    ),
    (
        "all",
        "every element is so",
        "it holds of an empty list alone",
    ),
    (
        "exists_one",
        "it asks only whether there is one element",
        "no element is ever so",
    ),
];

impl Cx<'_> {
    /// Reports conditions in an expression that always hold, or never, by the values of what they ask.
    pub(super) fn choices(&mut self, expr: &Expr) {
        let mut open = vec![expr];
        while let Some(expr) = open.pop() {
            match &expr.kind {
                ExprKind::Conditional(condition, ..) => {
                    let so = (
                        "what is behind `:` is never taken",
                        "what is behind `?` is never taken",
                    );
                    self.choice(condition, "the condition of `?:`", so);
                }
                ExprKind::Call {
                    target: Some(_),
                    function,
                    args,
                } => self.asked(function, args),
                _ => {}
            }
            expr.each_part(|part| open.push(part));
        }
    }

    fn asked(&mut self, function: &str, args: &[Expr]) {
        let known = ASKING.iter().find(|(name, ..)| *name == function);
        let (Some((name, always, never)), Some((vars, _)), Some(condition)) =
            (known, macros::bound(function, args), args.last())
        else {
            return;
        };
        // A name that hides another has no type out here.
        if vars.iter().any(|var| self.scope.slot(var).is_some()) {
            return;
        }
        self.choice(
            condition,
            &format!("the condition of `{name}`"),
            (always, never),
        );
    }

    fn choice(&mut self, condition: &Expr, what: &str, (always, never): (&str, &str)) {
        let Some(Verdict {
            value,
            subject: Some(subject),
            // An enum of one member asks for the others that it will have.
            only_value: false,
            ..
        }) = Verdict::by_values(self, condition)
        else {
            return;
        };
        let (message, so) = match value {
            true => (
                format!("{what} is always true: it takes every value of `{subject}`"),
                always,
            ),
            false => (
                format!("{what} is never true: no value of `{subject}` fits all of it"),
                never,
            ),
        };
        self.report(
            Diagnostic::new(&codes::CONSTANT_CONDITION, message, condition.span)
                .here(so)
                .help("compare something that differs from run to run, or take the condition out"),
        );
    }
}
