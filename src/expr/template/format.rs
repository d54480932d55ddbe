//! Texts that are formatted: the filter `format`, and the method of the language.

use minijinja::machinery::ast;
use minijinja::{Value as Shown, context};

use crate::base::{Span, rendering};
use crate::diag::{Diagnostic, codes};

use super::super::infer::misformats;
use super::super::ty::Type;
use super::argument::text;
use super::check::Check;
use super::narrow::written;
use super::receiver::Kind;

impl Check<'_> {
    /// Reports a text that is written out and that the filter can't fill with values of those types. The engine itself is asked,
    /// with a value of each type.
    pub(super) fn formats(&mut self, applied: &ast::Filter, args: &[Type]) {
        let Some((of, format)) = applied.expr.as_ref().and_then(|of| Some((of, text(of)?))) else {
            return;
        };
        let plain = |arg: &ast::CallArg| matches!(arg, ast::CallArg::Pos(_));
        let values: Option<Vec<Shown>> = args.iter().map(sample).collect();
        let Some(values) = values.filter(|_| applied.args.iter().all(plain)) else {
            return;
        };
        let names: Vec<String> = (0..values.len())
            .map(|at| format!("values[{at}]"))
            .collect();
        let call = format!("{{{{ text | format({}) }}}}", names.join(", "));
        let rendered = rendering::lone(&call, context!(text => format, values));
        if let Err(error) = rendered {
            let why = error.detail().unwrap_or("it does not go with its values");
            let message = format!("this `format` always fails: {why}");
            let span = self.span(of.span());
            self.report(
                Diagnostic::new(&codes::WRONG_ARGUMENTS, message, span)
                    .help("give a value for each verb; `%s` takes any value"),
            );
        }
    }

    /// The same of `"..".format([..])`.
    pub(super) fn formats_list(&mut self, receiver: &ast::Expr, args: &[ast::CallArg]) {
        let (Some(text), [ast::CallArg::Pos(list)]) = (text(receiver), args) else {
            return;
        };
        let Some(elements) = written(list) else {
            return;
        };
        let spans: Vec<Span> = elements.iter().map(|e| self.span(e.span())).collect();
        let mut values = Vec::new();
        for element in elements {
            let ty = self.silent(element);
            let name = super::narrow::path(element).map(|_| self.source(element).to_owned());
            values.push((name, ty));
        }
        let whole = self.span(receiver.span());
        for wrong in misformats(text, &values, self.types) {
            self.report(wrong.diagnostic(whole, &spans));
        }
    }
}

/// Some value of a type; none where the kind of its values is open.
fn sample(ty: &Type) -> Option<Shown> {
    if let Type::Literal(text) = ty {
        return Some(Shown::from(text.as_ref()));
    }
    Some(match Kind::of(&ty.without_null())? {
        Kind::Text => Shown::from("a"),
        Kind::Whole => Shown::from(1),
        Kind::Number => Shown::from(1.5),
        Kind::Bool => Shown::from(true),
        Kind::List => Shown::from(Vec::<i64>::new()),
        Kind::Map => Shown::from_iter([("a", 1)]),
    })
}
