//! Filters and tests. One that goes over a list becomes a call with what it asks of each element: `xs | map(attribute="n")`
//! is `|map` of `xs` with the name of an element and its field `n`.

use std::ops::Range;

use minijinja::machinery::ast::{self, CallArg};

use crate::ast::expr::{Element, Expr, ExprKind, Literal};
use crate::ast::template::ELEMENT;
use crate::base::foreign;
use crate::diag::{Diagnostic, codes};

use super::super::super::function::{self, FunctionSpec, jinja};
use super::expression::{begins, ends, truth};
use super::{Lower, range};

impl Lower<'_> {
    /// `of | name(args)`, where `at` is the filter's name and `end` the end of the whole.
    pub(super) fn filter(
        &mut self,
        written: &str,
        of: Expr,
        args: &[CallArg],
        at: Range<usize>,
        end: usize,
    ) -> Expr {
        let Some(found) = jinja::filter_named(written) else {
            let source = self.template.text.get(begins(&of)..ends(&of));
            self.no_filter(written, at, source.unwrap_or("x"));
            return self.wrong(of, args, end);
        };
        let made = match found.name {
            "|map" => self.map(found, args, &at),
            "|select" | "|reject" | "|selectattr" | "|rejectattr" => self.picked(found, args, &at),
            _ if found.named == [".."] => self.written_out(args),
            _ => self.in_slots(found, args, &at),
        };
        match made {
            Some(args) => self.applied(found.name.to_owned(), self.span(at), of, args, end),
            None => self.wrong(of, &[], end),
        }
    }

    /// The call of a filter that has been reported: its parts are looked at all the same.
    fn wrong(&mut self, of: Expr, args: &[CallArg], end: usize) -> Expr {
        let start = begins(&of);
        let mut parts = vec![of];
        for arg in args {
            match arg {
                CallArg::Pos(value)
                | CallArg::Kwarg(_, value)
                | CallArg::PosSplat(value)
                | CallArg::KwargSplat(value) => parts.push(self.expr(value)),
            }
        }
        self.operator("", parts, start..end)
    }

    fn no_filter(&mut self, name: &str, at: Range<usize>, of: &str) {
        let span = self.at(at);
        let found = Diagnostic::new(&codes::UNKNOWN_FILTER, format!("no filter `{name}`"), span);
        let method = function::find(name, true).or_else(|| jinja::find(&format!(".{name}")));
        let help = match method {
            Some(method) => {
                let empty = method.arities().any(|count| count == 1);
                let args = if empty { "" } else { ".." };
                Some(format!("it is a method: `{of}.{name}({args})`"))
            }
            None => foreign::call::in_template(name),
        };
        self.problems.push(match help {
            Some(help) => found.help(help),
            None => {
                let all = jinja::filters().map(FunctionSpec::bare_name);
                found.meant(span, name, all.collect::<Vec<_>>(), "there are")
            }
        });
    }

    /// `of is name(args)`. The place begins with the name of the test.
    pub(super) fn test(
        &mut self,
        name: &str,
        of: Expr,
        args: &[CallArg],
        place: Range<usize>,
    ) -> Expr {
        let at = place.start..place.start + name.len();
        let args = self.plain(args).unwrap_or_default();
        let span = self.span(at.clone());
        match self.test_named(name, at, true) {
            Some(sign) => self.applied(sign, span, of, args, place.end),
            None => {
                let whole = begins(&of)..place.end;
                let parts = std::iter::once(of).chain(args).collect();
                self.operator("", parts, whole)
            }
        }
    }

    /// The test of that name; reported where there is none.
    fn test_named(&mut self, name: &str, at: Range<usize>, fix: bool) -> Option<String> {
        let found = jinja::test(name);
        if found.is_none() {
            let span = self.at(at);
            let message = format!("no test `{name}`");
            let all: Vec<&str> = jinja::tests().collect();
            let found = Diagnostic::new(&codes::UNKNOWN_FILTER, message, span);
            let mut found = match foreign::name::constant(name) {
                // `x is null`, `x is None`
                Some(_) => found.help("write `none`").fix(span, "none"),
                None => found.meant(span, name, all, "there are"),
            };
            if !fix {
                found.fix.clear();
            }
            self.problems.push(found);
        }
        found.map(|found| found.name.to_owned())
    }

    /// All arguments, which may have no names.
    fn written_out(&mut self, args: &[CallArg]) -> Option<Vec<Expr>> {
        let values = self.plain(args);
        if values.is_none() {
            for arg in args {
                if let CallArg::Kwarg(_, value)
                | CallArg::PosSplat(value)
                | CallArg::KwargSplat(value) = arg
                {
                    let message = "arguments have no names here".to_owned();
                    self.problem(&codes::WRONG_ARGUMENTS, message, range(value.span()));
                }
            }
        }
        values
    }

    /// The arguments in the order of the parameters, null for one that is left out. One that goes over a list has the name
    /// and the key of an element first.
    fn in_slots(
        &mut self,
        filter: &FunctionSpec,
        args: &[CallArg],
        at: &Range<usize>,
    ) -> Option<Vec<Expr>> {
        let slots = self.slots(filter, args, at.clone())?;
        let (mut key, mut other, mut values) = (None, None, Vec::new());
        for (param, slot) in slots {
            match (param, slot) {
                ("attribute", slot) => key = slot,
                ("default", slot) if filter.name == "|groupby" => other = slot,
                (_, Some(value)) => values.push(self.expr(value)),
                ("default_value", None) => {
                    let empty = ExprKind::Literal(Literal::String("".into()));
                    values.push(self.make(empty, at.clone()));
                }
                (_, None) => values.push(self.null(at.clone())),
            }
        }
        if !jinja::has_key(filter.name) {
            return Some(values);
        }
        let element = self.element(at);
        let mut of_element = match key {
            Some(key) => self.path_in(element.clone(), key, filter.name == "|sort")?,
            None => element.clone(),
        };
        // An element without the field has its place all the same.
        if key.is_some() && !matches!(filter.name, "|sum" | "|join") {
            let other = match other {
                Some(other) => self.expr(other),
                None => self.null(at.clone()),
            };
            of_element = self.or_default(of_element, other, at);
        }
        let mut all = vec![element, of_element];
        all.append(&mut values);
        Some(all)
    }

    fn element(&self, at: &Range<usize>) -> Expr {
        self.make(ExprKind::Ident(ELEMENT.to_owned()), at.clone())
    }

    fn or_default(&self, of: Expr, other: Expr, at: &Range<usize>) -> Expr {
        let end = ends(&of);
        let never = self.null(at.clone());
        self.applied(
            "|default".to_owned(),
            self.span(at.clone()),
            of,
            vec![other, never],
            end,
        )
    }

    /// `map(attribute="a.b", default=c)`, `map("filter", ..)`
    fn map(
        &mut self,
        map: &FunctionSpec,
        args: &[CallArg],
        at: &Range<usize>,
    ) -> Option<Vec<Expr>> {
        let element = self.element(at);
        if let [CallArg::Pos(named), rest @ ..] = args {
            let (filter, place) = self.text_of(named, "the name of a filter")?;
            let found = self.problems.len();
            let of_element = self.filter(&filter, element.clone(), rest, place.clone(), place.end);
            // What stands in quotes is not mended by what stands without.
            let problems = self.problems.iter_mut().skip(found);
            problems.for_each(|found| found.fix.clear());
            return Some(vec![element, of_element]);
        }
        let slots = self.slots(map, args, at.clone())?;
        let slot = |name: &str| slots.iter().find(|(param, _)| *param == name)?.1;
        let Some(attribute) = slot("attribute") else {
            let message = "the filter `map` takes the name of a filter, or `attribute=\"..\"`";
            self.problem(&codes::WRONG_ARGUMENTS, message.to_owned(), at.clone());
            return None;
        };
        let of_element = self.path_in(element.clone(), attribute, false)?;
        let of_element = match slot("default") {
            Some(default) => {
                let default = self.expr(default);
                self.or_default(of_element, default, at)
            }
            None => of_element,
        };
        Some(vec![element, of_element])
    }

    /// `select("odd")`, `selectattr("n", "gt", 3)`
    fn picked(
        &mut self,
        filter: &FunctionSpec,
        args: &[CallArg],
        at: &Range<usize>,
    ) -> Option<Vec<Expr>> {
        let element = self.element(at);
        let (path, rest) = match args {
            [CallArg::Pos(path), rest @ ..] if filter.name.ends_with("attr") => (Some(path), rest),
            _ if filter.name.ends_with("attr") => {
                let name = filter.bare_name();
                let message = format!("the filter `{name}` takes 1 or more arguments, found 0");
                self.problem(&codes::WRONG_ARGUMENTS, message, at.clone());
                return None;
            }
            rest => (None, rest),
        };
        let of_element = match path {
            Some(path) => self.path_in(element.clone(), path, false)?,
            None => element.clone(),
        };
        let (test, rest) = match rest {
            [] => return Some(vec![element, truth(of_element)]),
            [CallArg::Pos(test), rest @ ..] => (test, rest),
            _ => {
                self.written_out(rest);
                return None;
            }
        };
        let (test, place) = self.text_of(test, "the name of a test")?;
        let values = self.written_out(rest)?;
        let sign = self.test_named(&test, place.clone(), false)?;
        let holds = self.applied(
            sign,
            self.span(place.clone()),
            of_element,
            values,
            place.end,
        );
        Some(vec![element, holds])
    }

    /// A text that has to be written out, and where it stands between its quotes.
    fn text_of(&mut self, value: &ast::Expr, what: &str) -> Option<(String, Range<usize>)> {
        let place = range(value.span());
        if let ast::Expr::Const(constant) = value
            && let Some(text) = constant.value.as_str()
        {
            return Some((text.to_owned(), place));
        }
        let message = format!("{what} has to be written out here");
        self.problem(&codes::WRONG_ARGUMENTS, message, place);
        None
    }

    /// A field of an element, or one of its fields: `author.name`. With `several` the fields of a list: `age, name`.
    fn path_in(&mut self, of: Expr, path: &ast::Expr, several: bool) -> Option<Expr> {
        if let ast::Expr::Const(constant) = path
            && constant.value.is_integer()
        {
            let index = self.expr(path);
            let whole = begins(&index)..ends(&index);
            return Some(self.indexed(of, index, whole));
        }
        let (text, _) = self.text_of(path, "the name of a field")?;
        let at = self.expr(path);
        let parts: Vec<&str> = text.split(',').map(str::trim).collect();
        if several && parts.len() > 1 {
            let fields = parts.into_iter().map(|part| Element {
                value: self.field_in_text(of.clone(), part, &at),
                optional: false,
            });
            let fields = fields.collect();
            return Some(self.make(ExprKind::List(fields), begins(&at)..ends(&at)));
        }
        Some(self.field_in_text(of, &text, &at))
    }

    /// `of.a.b` for a path that stands in a text.
    fn field_in_text(&self, of: Expr, path: &str, text: &Expr) -> Expr {
        let whole = begins(text)..ends(text);
        path.split('.').fold(of, |of, name| {
            let written = self.template.text.get(whole.clone()).unwrap_or_default();
            let place = match written.rfind(name) {
                Some(at) => whole.start + at..whole.start + at + name.len(),
                None => whole.clone(),
            };
            match name.parse::<i64>() {
                Ok(at) => {
                    let index = self.make(ExprKind::Literal(Literal::Int(at)), place.clone());
                    self.indexed(of, index, place)
                }
                Err(_) => self.field(of, name, place),
            }
        })
    }
}
