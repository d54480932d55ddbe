//! `checked` that checks nothing: its condition has to read the value, has to be able to fail, and has to speak of trusted values
//! and whole texts otherwise.

use crate::ast::expr::{BinaryOp, Expr, ExprKind, Literal, UnaryOp};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::fold::inline::{Inliner, let_values};
use crate::expr::infer::reads;
use crate::expr::{Scope, Type};
use crate::resolve::exprs::Written;
use crate::resolve::program::Program;

use super::super::types::constant::Verdict;
use super::super::types::cx::Cx;
use super::labels::{Label, LabelSet, Labels, Reader, Trail, Value, is_check};
use super::sink::is_whole_pattern;

/// Reports them.
pub fn checks(program: &Program, labels: &Labels<'_>, diags: &mut Diagnostics) {
    let rule = Rule { program, labels };
    labels.each_site(&mut |owner, reader, site| {
        if let Written::Expr(expr) = site.written {
            each_check(reader, expr, &mut |reader, name, condition| {
                let lets = let_values(owner.lets);
                let condition = Inliner::new(&lets).under([name.to_owned()]).read(condition);
                let found = rule.weakness(reader, name, &condition);
                found.into_iter().for_each(|found| diags.push(found));
            });
        }
    });
}

/// Shows each `checked`, with the name and the condition of it.
fn each_check(reader: &mut Reader, expr: &Expr, judge: &mut dyn FnMut(&mut Reader, &str, &Expr)) {
    if let ExprKind::Call { function, args, .. } = &expr.kind
        && is_check(&function.node, args)
        && let [name, condition] = args.as_slice()
        && let ExprKind::Ident(name) = &name.kind
    {
        judge(reader, name, condition);
    }
    reader.each_part(expr, &mut |reader, part| each_check(reader, part, judge));
}

struct Rule<'r, 'a> {
    program: &'r Program,
    labels: &'r Labels<'a>,
}

impl Rule<'_, '_> {
    /// What is wrong with a condition, in which the `let`s stand for what they are computed from.
    fn weakness(&self, reader: &mut Reader, name: &str, condition: &Expr) -> Option<Diagnostic> {
        let looked = Value::of(LabelSet::one(Label::Looked, Trail::default()));
        self.always(name, condition).or_else(|| {
            reader.binding([(name.to_owned(), looked)], |reader| {
                let part = self.part_of_text(reader, condition, true);
                part.or_else(|| self.compared(reader, condition))
            })
        })
    }

    /// A condition that refuses nothing.
    fn always(&self, name: &str, condition: &Expr) -> Option<Diagnostic> {
        let span = condition.span;
        if reads(condition, &Scope::of_names([name])).slots.is_empty() {
            let message = format!("the condition of `checked` does not look at `{name}`");
            return Some(
                Diagnostic::new(&codes::WEAK_CHECK, message, span).help(format!(
                    "say what the value has to be: `{name} in [..]`, `{name}.matches(\"^..$\")`"
                )),
            );
        }
        let mut cx = Cx::outside(self.program, span.file);
        cx.declare(name, Type::String);
        let verdict = Verdict::of(&cx, condition)?;
        let message = "the condition of `checked` is always true".to_owned();
        verdict.value.then(|| {
            Diagnostic::new(&codes::WEAK_CHECK, message, span)
                .help("say what the value has to be: it refuses nothing")
        })
    }

    /// A `matches` that has to hold of the value, with a pattern that is not bound to both ends. Where nobody knows whether it has
    /// to, it does.
    fn part_of_text(&self, reader: &mut Reader, expr: &Expr, holds: bool) -> Option<Diagnostic> {
        let negated = match &expr.kind {
            ExprKind::Unary(UnaryOp::Not, _) => true,
            ExprKind::Binary(op, left, right) => {
                let is = |value| is_bool(left, value) || is_bool(right, value);
                matches!(op.node, BinaryOp::Equal) && is(false)
                    || matches!(op.node, BinaryOp::NotEqual) && is(true)
            }
            _ => false,
        };
        if let ExprKind::Call {
            target,
            function,
            args,
        } = &expr.kind
            && function.node == "matches"
            && let Some(pattern) = args.last().filter(|_| holds)
        {
            let of = target.as_deref().or(args.first());
            let looked = of.map(|of| reader.value(of)).unwrap_or_default();
            let is_looked = self.labels.trail(&looked, &[Label::Looked]).is_some();
            if is_looked && !is_whole_pattern(pattern) {
                let message =
                    "`matches` looks for a part of the text: what stands around it is not checked";
                let found = Diagnostic::new(&codes::WEAK_CHECK, message.to_owned(), pattern.span);
                return Some(found.help("bind the pattern to both ends, and write it out: `^..$`, of several `^(?:a|b)$`"));
            }
        }
        let mut found = None;
        reader.each_part(expr, &mut |reader, part| {
            let part = found
                .is_none()
                .then(|| self.part_of_text(reader, part, holds != negated));
            found = found.take().or(part.flatten());
        });
        found
    }

    /// A value that is not trusted itself.
    fn compared(&self, reader: &mut Reader, expr: &Expr) -> Option<Diagnostic> {
        if let ExprKind::Ident(_) | ExprKind::Select { .. } | ExprKind::Index { .. } = &expr.kind {
            let trail = self.labels.trail(&reader.value(expr), &Label::TEXT)?;
            let message = "`checked` compares with a value that is not trusted itself".to_owned();
            let found = Diagnostic::new(&codes::WEAK_CHECK, message, expr.span);
            return Some(trail.label(found).help(
                "compare with what the flow says: constants, `in` fields, `context`, an answer",
            ));
        }
        let mut found = None;
        reader.each_part(expr, &mut |reader, part| {
            let part = found.is_none().then(|| self.compared(reader, part));
            found = found.take().or(part.flatten());
        });
        found
    }
}

fn is_bool(expr: &Expr, value: bool) -> bool {
    matches!(&expr.kind, ExprKind::Literal(Literal::Bool(found)) if *found == value)
}
