//! Filters and tests. One that goes over a list becomes a call with what it asks of each element: `xs | map(attribute="n")`
//! is `|map` of `xs` with the name of an element and its field `n`.

use std::ops::Range;

use minijinja::machinery::ast::{self, CallArg};

use crate::ast::expr::{Element, Expr, ExprKind, Literal};
use crate::ast::template::ELEMENT;
use crate::base::{Span, foreign};
use crate::diag::{Diagnostic, codes};

use super::super::super::function::{self, jinja};
use super::expression::{begins, ends, filter_name, truth};
use super::{Lower, range};

impl Lower<'_> {
    /// `of | name(args)`. The place begins with the filter's name.
    pub(super) fn filter(
        &mut self,
        written: &str,
        of: Expr,
        args: &[CallArg],
        place: Range<usize>,
    ) -> Expr {
        let name = filter_name(written);
        let at = place.start..place.start + written.len();
        let Some(params) = jinja::params(name) else {
            let source = self.template.text.get(begins(&of)..ends(&of));
            self.no_filter(written, at, source.unwrap_or("x"));
            return self.wrong(of, args, place);
        };
        let sign = format!("|{name}");
        let made = match name {
            "map" => self.map(args, &at),
            "select" | "reject" | "selectattr" | "rejectattr" => self.picked(name, args, &at),
            _ if params.variadic => self.written_out(args),
            _ => self.in_slots(name, params, args, at.clone()),
        };
        match made {
            Some(args) if name == "attr" => self.attr(of, args, place.end),
            Some(args) => {
                let at = self.span(at);
                self.applied(sign, at, of, args, place.end)
            }
            None => self.wrong(of, &[], place),
        }
    }

    /// `x | attr("name")`
    fn attr(&mut self, of: Expr, mut args: Vec<Expr>, end: usize) -> Expr {
        let whole = begins(&of)..end;
        let index = args.pop().unwrap_or_else(|| self.null(whole.clone()));
        if let ExprKind::Literal(Literal::String(name)) = &index.kind {
            return self.field_in_text(of, &name.clone(), &index);
        }
        let kind = ExprKind::Index {
            operand: Box::new(of),
            index: Box::new(index),
            optional: false,
        };
        self.make(kind, whole)
    }

    /// The call of a filter that has been reported: its parts are looked at all the same.
    fn wrong(&mut self, of: Expr, args: &[CallArg], place: Range<usize>) -> Expr {
        let mut parts = vec![of];
        for arg in args {
            match arg {
                CallArg::Pos(value)
                | CallArg::Kwarg(_, value)
                | CallArg::PosSplat(value)
                | CallArg::KwargSplat(value) => parts.push(self.expr(value)),
            }
        }
        let start = parts.first().map_or(place.start, begins);
        self.operator("", parts, start..place.end)
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
                let all: Vec<&str> = jinja::filters().collect();
                found.meant(span, name, all, "there are")
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
            let mut found = found.meant(span, name, all, "there are");
            if !fix {
                found.fix.clear();
            }
            self.problems.push(found);
        }
        found.map(str::to_owned)
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
        name: &str,
        params: jinja::Params,
        args: &[CallArg],
        at: Range<usize>,
    ) -> Option<Vec<Expr>> {
        let slots = self.slots(name, params, args, at.clone())?;
        let named = params.names.iter().zip(slots);
        let (mut key, mut other, mut values) = (None, None, Vec::new());
        for (param, slot) in named {
            match (*param, slot) {
                ("attribute", slot) => key = slot,
                ("default", slot) if name == "groupby" => other = slot,
                (_, Some(value)) => values.push(self.expr(value)),
                ("default_value", None) => {
                    let empty = ExprKind::Literal(Literal::String("".into()));
                    values.push(self.make(empty, at.clone()));
                }
                (_, None) => values.push(self.null(at.clone())),
            }
        }
        if !jinja::has_key(&format!("|{name}")) {
            return Some(values);
        }
        let element = self.element(&at);
        let mut of_element = match key {
            Some(key) => self.path_in(element.clone(), key, name == "sort")?,
            None if name == "groupby" => {
                let message = "the filter `groupby` takes 1 argument, found 0".to_owned();
                self.problem(&codes::WRONG_ARGUMENTS, message, at);
                return None;
            }
            None => element.clone(),
        };
        // An element without the field has its place all the same.
        if key.is_some() && name != "sum" && name != "join" {
            let other = match other {
                Some(other) => self.expr(other),
                None => self.null(at.clone()),
            };
            of_element = self.or_default(of_element, other, &at);
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
    fn map(&mut self, args: &[CallArg], at: &Range<usize>) -> Option<Vec<Expr>> {
        let element = self.element(at);
        let (mut attribute, mut default) = (None, None);
        let (mut values, mut sound) = (Vec::new(), true);
        for arg in args {
            match arg {
                CallArg::Kwarg("attribute", value) => attribute = Some(value),
                CallArg::Kwarg("default", value) => default = Some(value),
                CallArg::Pos(value) => values.push(value),
                _ => sound = false,
            }
        }
        if !sound {
            let params = jinja::Params {
                required: 0,
                positions: usize::MAX,
                names: &["attribute", "default"],
                variadic: true,
            };
            self.slots("map", params, args, at.clone());
            return None;
        }
        if let Some(attribute) = attribute {
            let of_element = self.path_in(element.clone(), attribute, false)?;
            let of_element = match default {
                Some(default) => {
                    let default = self.expr(default);
                    self.or_default(of_element, default, at)
                }
                None => of_element,
            };
            return Some(vec![element, of_element]);
        }
        let Some((named, _)) = values.split_first() else {
            let message = "the filter `map` takes the name of a filter, or `attribute=\"..\"`";
            self.problem(&codes::WRONG_ARGUMENTS, message.to_owned(), at.clone());
            return None;
        };
        let (filter, place) = self.text_of(named, "the name of a filter")?;
        if jinja::params(filter_name(&filter)).is_none() {
            let found = self.problems.len();
            self.no_filter(&filter, place, "x");
            self.problems
                .iter_mut()
                .skip(found)
                .for_each(|found| found.fix.clear());
            return None;
        }
        let rest = args.iter().skip(1);
        let of_element = self.filter_of(&filter, element.clone(), rest, place);
        Some(vec![element, of_element])
    }

    /// What a filter makes of each element.
    fn filter_of<'a, 's: 'a>(
        &mut self,
        filter: &str,
        element: Expr,
        args: impl Iterator<Item = &'a CallArg<'s>>,
        place: Range<usize>,
    ) -> Expr {
        let args: Vec<&ast::Expr> = args
            .filter_map(|arg| match arg {
                CallArg::Pos(value) => Some(value),
                _ => None,
            })
            .collect();
        let name = filter_name(filter);
        let mut values: Vec<Expr> = args.into_iter().map(|arg| self.expr(arg)).collect();
        if let Some(params) = jinja::params(name).filter(|params| !params.variadic) {
            let missing = params.names.len().saturating_sub(values.len());
            values.extend((0..missing).map(|_| self.null(place.clone())));
        }
        let at = self.span(place.clone());
        self.applied(format!("|{name}"), at, element, values, place.end)
    }

    /// `select("odd")`, `selectattr("n", "gt", 3)`
    fn picked(&mut self, name: &str, args: &[CallArg], at: &Range<usize>) -> Option<Vec<Expr>> {
        let element = self.element(at);
        let mut positions = args.iter().filter_map(|arg| match arg {
            CallArg::Pos(value) => Some(value),
            _ => None,
        });
        if positions.clone().count() < args.len() {
            self.written_out(args);
            return None;
        }
        let mut of_element = element.clone();
        if name.ends_with("attr") {
            let Some(path) = positions.next() else {
                let message = format!("the filter `{name}` takes 1 or more arguments, found 0");
                self.problem(&codes::WRONG_ARGUMENTS, message, at.clone());
                return None;
            };
            of_element = self.path_in(element.clone(), path, false)?;
        }
        let Some(test) = positions.next() else {
            return Some(vec![element, truth(of_element)]);
        };
        let (test, place) = self.text_of(test, "the name of a test")?;
        let sign = self.test_named(&test, place.clone(), false)?;
        let values: Vec<&ast::Expr> = positions.collect();
        let values = values.into_iter().map(|value| self.expr(value)).collect();
        let span: Span = self.span(place.clone());
        let holds = self.applied(sign, span, of_element, values, place.end);
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
            let kind = ExprKind::Index {
                operand: Box::new(of),
                index: Box::new(index),
                optional: false,
            };
            return Some(self.make(kind, whole));
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
                    let kind = ExprKind::Index {
                        operand: Box::new(of),
                        index: Box::new(index),
                        optional: false,
                    };
                    self.make(kind, place)
                }
                Err(_) => self.field(of, name, place),
            }
        })
    }
}
