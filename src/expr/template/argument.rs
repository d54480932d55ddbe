//! Arguments of filters: how many, and names in them of fields, filters and tests.

use minijinja::machinery::ast;

use crate::base::Span;
use crate::diag::{Diagnostic, codes};

use super::super::ty::Type;
use super::check::Check;
use super::filter;
use super::gives::element;

impl Check<'_> {
    /// Checks the arguments of a filter that is applied to values of type `of`. `at` is its name.
    pub(super) fn filter_arguments(&mut self, applied: &ast::Filter, of: &Type, at: Span) -> Type {
        self.count(applied, at);
        self.keywords(applied, at);
        self.argument_kinds(applied);
        let of = match applied.name {
            "attr" => of.clone(),
            _ => element(of),
        };
        let (mut named, mut first) = (None, None);
        let mut positions = applied.args.iter().filter_map(|arg| match arg {
            ast::CallArg::Pos(value) => Some(value),
            _ => None,
        });
        for arg in &applied.args {
            if let ast::CallArg::Kwarg("attribute", value) = arg {
                named = text(value).map(|name| (name, value));
            }
        }
        let mut test = None;
        match applied.name {
            "attr" | "groupby" => first = positions.next(),
            "selectattr" | "rejectattr" => (first, test) = (positions.next(), positions.next()),
            "select" | "reject" => test = positions.next(),
            "map" if named.is_none() => {
                if let Some((name, value)) = positions.next().and_then(|v| Some((text(v)?, v))) {
                    self.filter_named(name, value);
                }
            }
            _ => {}
        }
        if let Some((name, value)) = test.and_then(|value| Some((text(value)?, value))) {
            self.test_named(name, value);
        }
        let path = named.or_else(|| first.and_then(|value| Some((text(value)?, value))));
        let Some((path, value)) = path else {
            return Type::Json;
        };
        let takes = matches!(
            applied.name,
            "attr"
                | "map"
                | "groupby"
                | "selectattr"
                | "rejectattr"
                | "sort"
                | "unique"
                | "sum"
                | "max"
                | "min"
                | "join"
        );
        match takes {
            true => self.field_path(&of, path, value),
            false => Type::Json,
        }
    }

    /// A field of the elements, or one of its fields: `author.name`.
    fn field_path(&mut self, of: &Type, path: &str, value: &ast::Expr) -> Type {
        let mut ty = of.clone();
        for name in path.split('.') {
            let span = self.name_span(value.span(), name);
            if name.parse::<usize>().is_ok() {
                return Type::Json;
            }
            ty = match ty.without_null() {
                of @ (Type::Record(_) | Type::Map(_) | Type::Union(_)) => {
                    self.field(None, &of, name, span)
                }
                of @ (Type::Json | Type::Error | Type::Never) => return of,
                other => {
                    let message = format!("{} has no field `{name}`", self.show(&other));
                    return self.error(&codes::UNKNOWN_FIELD, message, span);
                }
            };
        }
        ty
    }

    fn filter_named(&mut self, name: &str, value: &ast::Expr) {
        if filter::find(name).is_some() {
            return;
        }
        let span = self.span(value.span());
        let names: Vec<&str> = filter::FILTERS.iter().map(|f| f.name).collect();
        let found = Diagnostic::new(&codes::UNKNOWN_FILTER, format!("no filter `{name}`"), span);
        let mut found = found.meant(span, name, names, "there are");
        found.fix.clear();
        self.report(found);
    }

    fn test_named(&mut self, name: &str, value: &ast::Expr) {
        if filter::TESTS.contains(&name) {
            return;
        }
        let span = self.span(value.span());
        let found = Diagnostic::new(&codes::UNKNOWN_FILTER, format!("no test `{name}`"), span);
        let mut found = found.meant(span, name, filter::TESTS.iter().copied(), "there are");
        found.fix.clear();
        self.report(found);
    }

    fn count(&mut self, applied: &ast::Filter, at: Span) {
        let Some((least, most)) = filter::count(applied.name) else {
            return;
        };
        let mut plain = true;
        let mut count = 0;
        for arg in &applied.args {
            match arg {
                ast::CallArg::Pos(_) => count += 1,
                _ => plain = false,
            }
        }
        if !plain || (least..=most).contains(&count) {
            return;
        }
        let takes = counted((least, most));
        let message = format!("the filter `{}` takes {takes}, found {count}", applied.name);
        self.error(&codes::WRONG_ARGUMENTS, message, at);
    }
}

/// How many arguments there may be, in words.
pub(super) fn counted((least, most): (usize, usize)) -> String {
    match (least, most) {
        (least, usize::MAX) => format!("{least} or more arguments"),
        (0, 0) => "no arguments".to_owned(),
        (1, 1) => "1 argument".to_owned(),
        (least, most) if least == most => format!("{least} arguments"),
        (0, 1) => "at most 1 argument".to_owned(),
        (0, most) => format!("at most {most} arguments"),
        (least, most) => format!("{least} to {most} arguments"),
    }
}

/// A text that is written out.
pub(super) fn text<'a>(value: &'a ast::Expr) -> Option<&'a str> {
    match value {
        ast::Expr::Const(constant) => constant.value.as_str(),
        _ => None,
    }
}
