//! What a template applies to values: filters, tests, functions, methods.

use minijinja::machinery::{Span as Range, ast};

use crate::base::name::{closest, did_you_mean};
use crate::base::{Span, foreign};
use crate::diag::{Diagnostic, codes};

use super::super::function;
use super::super::infer::{has_field, join};
use super::super::ty::Type;
use super::check::Check;
use super::gives::element;
use super::receiver::Kind;
use super::{filter, method};

impl Check<'_> {
    pub(super) fn filter(&mut self, applied: &ast::Filter, range: Range) -> Type {
        let of = applied.expr.as_ref().map(|expr| (expr, self.expr(expr)));
        let args = self.args(&applied.args);
        let span = self.name_span(range, applied.name);
        let Some(found) = filter::find(applied.name) else {
            let names: Vec<&str> = filter::FILTERS.iter().map(|f| f.name).collect();
            let message = format!("no filter `{}`", applied.name);
            let found = Diagnostic::new(&codes::UNKNOWN_FILTER, message, span);
            return self.report(match self.other_than_filter(applied.name, of.as_ref()) {
                Some(help) => found.help(help),
                None => found.meant(span, applied.name, names, "there are"),
            });
        };
        let ty = match of {
            Some((expr, ty)) if !found.takes_null => {
                let so = format!("which the filter `{}` does not take", found.name);
                let ty = self.not_null(expr, ty, &so);
                if !self.receives(found.name, (expr, &ty), span) {
                    return Type::Error;
                }
                ty
            }
            Some((_, ty)) => ty,
            None => Type::String,
        };
        let attribute = self.filter_arguments(applied, &ty, span);
        if found.name == "sum" {
            let summed = match applied.args.is_empty() {
                true => element(&ty),
                false => attribute.clone(),
            };
            self.adds_up(&summed, span);
        }
        if found.name == "format" {
            self.formats(applied, &args);
        }
        match (found.name, args.first()) {
            ("attr", _) => attribute,
            ("map", _) => Type::list(attribute),
            ("default" | "d", Some(other)) => join(&ty.without_null(), other, self.types),
            ("default" | "d", None) => join(&ty.without_null(), &Type::String, self.types),
            _ => found.gives.ty(&ty),
        }
    }

    /// Only numbers have a sum.
    fn adds_up(&mut self, summed: &Type, at: Span) {
        let number = |kind| matches!(kind, Kind::Whole | Kind::Number);
        if Kind::of(summed).is_some_and(|kind| !number(kind)) {
            let message = format!("the filter `sum` adds numbers, found {}", self.show(summed));
            let help = "numbers that fields hold: `xs | sum(attribute=\"n\")`";
            self.report(Diagnostic::new(&codes::TYPE_MISMATCH, message, at).help(help));
        }
    }

    pub(super) fn test(&mut self, test: &ast::Test, range: Range) -> Type {
        // A name may be asked for without being there: that is what the test is for.
        match (&test.expr, test.name) {
            (ast::Expr::Var(_), "defined" | "undefined") => {
                self.silent(&test.expr);
            }
            // Which of several records it is, is asked so.
            (ast::Expr::GetAttr(get), "defined" | "undefined")
                if matches!(self.silent(&get.expr), Type::Union(_)) =>
            {
                let of = self.expr(&get.expr);
                let span = self.name_span(get.span(), get.name);
                let known = match &of {
                    Type::Union(members) => {
                        members.iter().any(|of| has_field(of, get.name, self.types))
                    }
                    _ => false,
                };
                if !known {
                    self.field(Some(&get.expr), &of, get.name, span);
                }
            }
            _ => {
                self.expr(&test.expr);
            }
        }
        let args = self.args(&test.args);
        if let (
            "<" | "<=" | ">" | ">=" | "lt" | "lessthan" | "le" | "gt" | "greaterthan" | "ge",
            [than],
        ) = (test.name, args.as_slice())
            && let [ast::CallArg::Pos(other)] = test.args.as_slice()
        {
            let of = self.silent(&test.expr);
            self.in_order((&test.expr, &of), (other, than));
        }
        if !filter::TESTS.contains(&test.name) {
            let span = self.name_span(range, test.name);
            let message = format!("no test `{}`", test.name);
            self.report(
                Diagnostic::new(&codes::UNKNOWN_FILTER, message, span).meant(
                    span,
                    test.name,
                    filter::TESTS.iter().copied(),
                    "there are",
                ),
            );
        }
        Type::Bool
    }

    pub(super) fn call(&mut self, call: &ast::Call, range: Range) -> Type {
        match call.identify_call() {
            ast::CallType::Function(name) => self.function(name, call, range),
            ast::CallType::Method(receiver, name) => self.method(receiver, name, call, range),
            ast::CallType::Object(_) => {
                self.args(&call.args);
                Type::Json
            }
        }
    }

    /// What a name is that is no filter: a method, or what another language calls so.
    fn other_than_filter(&self, name: &str, of: Option<&(&ast::Expr, Type)>) -> Option<String> {
        let source = of.map_or("x", |(expr, _)| self.source(expr));
        let ty = of.map_or(Type::Json, |(_, ty)| ty.without_null());
        if self.of_language(&ty, name).is_some() {
            let empty = function::find(name, true)
                .is_some_and(|found| found.arities().any(|count| count == 1));
            let args = if empty { "" } else { ".." };
            return Some(format!("it is a method: `{source}.{name}({args})`"));
        }
        foreign::call::in_template(name)
    }

    fn function(&mut self, name: &str, call: &ast::Call, range: Range) -> Type {
        let args = self.args(&call.args);
        if self.locals.iter().rev().any(|(n, _)| n == name) {
            return Type::Json;
        }
        if name == "range" {
            self.range_takes(&call.args, &args);
            return Type::list(Type::Int);
        }
        if let Some((_, gives)) = filter::FUNCTIONS.iter().find(|(n, _)| *n == name) {
            return gives.ty(&Type::Json);
        }
        let help = match filter::find(name) {
            Some(_) => Some(format!("it is a filter: `x | {name}`")),
            None => foreign::call::in_template(name)
                .or_else(|| did_you_mean(name, filter::FUNCTIONS.iter().map(|(n, _)| *n)))
                .or_else(|| {
                    let known = function::find(name, false).is_some()
                        || matches!(name, "stale" | "invalidated_by");
                    known.then(|| {
                        format!(
                            "`{name}` belongs to expressions: use it in a `let`, and its name here"
                        )
                    })
                }),
        };
        let span = self.span(range);
        self.report(
            Diagnostic::new(
                &codes::UNKNOWN_FUNCTION,
                format!("no function `{name}` in templates"),
                span,
            )
            .maybe_help(help),
        )
    }

    fn method(&mut self, receiver: &ast::Expr, name: &str, call: &ast::Call, range: Range) -> Type {
        let of = self.expr(receiver);
        let of = self.not_null(receiver, of, &format!("so `.{name}(..)` may fail"));
        let own = method::find(&of, name);
        // The names that a macro binds are none of the template's: that it is none is said once.
        let refused = own.is_none() && names_macro(name) && self.of_language(&of, name).is_none();
        if !refused {
            self.args(&call.args);
        }
        if matches!(of, Type::Json | Type::Error | Type::Never) {
            return of;
        }
        if let Some(found) = own {
            let callee = call.expr.span();
            let at = match callee.end_offset > callee.start_offset {
                true => self.name_span(callee, name),
                false => self.name_span(range, name),
            };
            let wanted = found.wants();
            return match self.method_takes(name, found.args, wanted, (&call.args, at)) {
                true => found.gives.ty(&of),
                false => Type::Error,
            };
        }
        if let Some(found) = self.of_language(&of, name) {
            return self.language_method(found, (receiver, of), call, range);
        }
        let names: Vec<&str> = method::names(&of).collect();
        let help = match (filter::find(name), closest(name, names.iter().copied())) {
            (_, Some(near)) => Some(format!("did you mean `{near}`?")),
            (Some(_), None) => Some(format!("it is a filter: `x | {name}`")),
            (None, None) if matches!(of, Type::Timestamp | Type::Duration) => Some(
                "a template has times as texts: take it apart in an expression, in a `let` for instance"
                    .to_owned(),
            ),
            (None, None) if names_macro(name) => Some(format!(
                "`{name}` with a condition or a value belongs to expressions: use it in a `let`"
            )),
            (None, None) => foreign::call::in_template(name),
        };
        let message = format!("{} has no method `{name}`", self.show(&of));
        let callee = call.expr.span();
        let span = match callee.end_offset > callee.start_offset {
            true => self.name_span(callee, name),
            false => self.name_span(range, name),
        };
        self.report(Diagnostic::new(&codes::UNKNOWN_FUNCTION, message, span).maybe_help(help))
    }
}

impl Check<'_> {
    /// `range` counts in whole numbers.
    fn range_takes(&mut self, args: &[ast::CallArg], types: &[Type]) {
        for (arg, ty) in args.iter().zip(types) {
            let ast::CallArg::Pos(value) = arg else {
                continue;
            };
            let ty = self.not_null(value, ty.clone(), "which `range` does not take");
            if Kind::of(&ty).is_some_and(|kind| kind != Kind::Whole) {
                let found = self.named(value, &ty);
                let message = format!("`range` takes whole numbers, found {found}");
                let span = self.span(value.span());
                self.report(
                    Diagnostic::new(&codes::WRONG_ARGUMENTS, message, span)
                        .help("go through a list by itself: `{% for x in xs %}`"),
                );
            }
        }
    }
}

fn names_macro(name: &str) -> bool {
    function::macros(name).next().is_some()
}
