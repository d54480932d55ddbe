//! `checked` that checks nothing: its condition has to read the value, has to be able to fail, and has to speak of trusted values
//! and whole texts otherwise.

use crate::ast::expr::{Expr, ExprKind, UnaryOp};
use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::infer::reads;
use crate::expr::{Scope, Type};
use crate::resolve::program::Program;

use super::super::types::constant::Verdict;
use super::super::types::cx::Cx;
use super::labels::{Check, Label, Labels};
use super::sink::is_whole_pattern;

/// Reports them.
pub fn checks(program: &Program, labels: &Labels<'_>, diags: &mut Diagnostics) {
    for check in labels.checks() {
        let found = weakness(program, check);
        let compared = || {
            let mut compared = check.compared.iter();
            compared.find_map(|(span, value)| {
                let trail = labels.trail(value, &Label::TEXT)?;
                let message =
                    "`checked` compares with a value that is not trusted itself".to_owned();
                let found = Diagnostic::new(&codes::WEAK_CHECK, message, *span);
                Some(trail.label(found).help(
                    "compare with what the flow says: constants, `in` fields, `context`, an answer",
                ))
            })
        };
        found
            .or_else(compared)
            .into_iter()
            .for_each(|found| diags.push(found));
    }
}

fn weakness(program: &Program, check: &Check) -> Option<Diagnostic> {
    let Check {
        name, condition, ..
    } = check;
    let found = |message: String, span: Span| Diagnostic::new(&codes::WEAK_CHECK, message, span);
    if !reads_name(condition, name) {
        let message = format!("the condition of `checked` does not look at `{name}`");
        return Some(found(message, condition.span).help(format!(
            "say what the value has to be: `{name} in [..]`, `{name}.matches(\"^..$\")`"
        )));
    }
    let mut cx = Cx::outside(program, condition.span.file);
    cx.declare(name, Type::String);
    let verdict = Verdict::of(&cx, condition);
    if verdict.is_some_and(|verdict| verdict.value) {
        let message = "the condition of `checked` is always true".to_owned();
        return Some(
            found(message, condition.span).help("say what the value has to be: it refuses nothing"),
        );
    }
    let span = part_of_text(condition, name, true)?;
    let message = "`matches` looks for a part of the text: what stands around it is not checked";
    Some(
        found(message.to_owned(), span).help(
            "bind the pattern to both ends, and write it out: `^..$`, of several `^(?:a|b)$`",
        ),
    )
}

fn reads_name(expr: &Expr, name: &str) -> bool {
    !reads(expr, &Scope::of_names([name])).slots.is_empty()
}

/// A `matches` that has to hold of the value, with a pattern that is not bound to both ends.
fn part_of_text(expr: &Expr, name: &str, holds: bool) -> Option<Span> {
    match &expr.kind {
        ExprKind::Unary(UnaryOp::Not, of) => part_of_text(of, name, !holds),
        ExprKind::Call {
            target,
            function,
            args,
        } => {
            let (of, pattern) = match (target, args.as_slice()) {
                (Some(of), [pattern]) => (&**of, pattern),
                (None, [of, pattern]) => (of, pattern),
                _ => return parts(expr, name, holds),
            };
            let matches = function.node == "matches" && holds && reads_name(of, name);
            match matches && !is_whole_pattern(pattern) {
                true => Some(pattern.span),
                false => parts(expr, name, holds),
            }
        }
        _ => parts(expr, name, holds),
    }
}

fn parts(expr: &Expr, name: &str, holds: bool) -> Option<Span> {
    let mut parts = expr.parts().into_iter();
    parts.find_map(|part| part_of_text(part, name, holds))
}
