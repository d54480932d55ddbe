//! What is said in a template's own words: of names, of fields, and of what may be null.

use crate::ast::Name;
use crate::ast::expr::{Expr, ExprKind};
use crate::ast::template::{ELEMENT, LOOP, shown_place};
use crate::base::access_path::Step;
use crate::base::{AccessPath, foreign};
use crate::diag::{Diagnostic, Fact, Home, Level, codes};

use super::super::super::function::{self, jinja};
use super::super::super::ty::Type;
use super::super::checker::Checker;
use super::super::path::{self, step_of};

/// What a `for` tells of itself in whole numbers, as truths, and of its elements.
const COUNTS: [&str; 5] = ["index", "index0", "revindex", "revindex0", "length"];
const TRUTHS: [&str; 2] = ["first", "last"];
const ELEMENTS: [&str; 2] = ["previtem", "nextitem"];

/// The place that an expression of a template names. A method gives the same again as long as nothing is written, so
/// `state.xs.first()` is a place too.
pub fn access_path(expr: &Expr) -> Option<AccessPath> {
    let (mut behind, mut at) = (Vec::new(), expr);
    let begin = loop {
        match &at.kind {
            ExprKind::Select { operand, field, .. } => {
                behind.push(Step::Field(field.as_str().into()));
                at = operand;
            }
            ExprKind::Call {
                target: Some(of),
                function,
                args,
            } if !function.node.starts_with('|') && !function.node.starts_with("is ") => {
                let args = args.iter().map(|arg| step_of(arg, access_path));
                let args = args.collect::<Option<_>>()?;
                behind.push(Step::Call(function.as_str().into(), args));
                at = of;
            }
            _ => break path::access_path(at)?,
        }
    };
    behind.reverse();
    Some(begin.part(&behind))
}

/// A place as it is written.
pub fn written(place: &AccessPath) -> String {
    shown_place(&place.to_string()).to_owned()
}

/// An expression as it is written, as far as a message needs it.
pub fn source(expr: &Expr) -> Option<String> {
    if let Some(place) = access_path(expr) {
        return Some(written(&place));
    }
    match &expr.kind {
        ExprKind::Call {
            target: Some(of),
            function,
            ..
        } if function.node.starts_with('|') => Some(format!(
            "{} | {}",
            source(of)?,
            function.node.trim_start_matches('|')
        )),
        _ => None,
    }
}

impl Checker<'_> {
    /// The type without null; reported where it may be null.
    pub(super) fn not_null(&mut self, expr: &Expr, so: &str) -> Type {
        match self.expr(expr, None) {
            Type::Nullable(of) => {
                let message = format!("{}, {so}", self.may_be_null(expr));
                self.unguarded(expr, &of, message);
                (*of).clone()
            }
            ty => ty,
        }
    }

    /// Reports a null that nothing guards, of an expression whose type is `of` where it is not null.
    pub(in super::super) fn unguarded(&mut self, expr: &Expr, of: &Type, message: String) {
        let found = Diagnostic::new(&codes::NULL_NOT_HANDLED, message, expr.span);
        let found = found.fact(Fact::Unproven);
        let Some(place) = access_path(expr) else {
            let source = source(expr).unwrap_or_else(|| "..".to_owned());
            self.report(found.help(format!(
                "name it and guard that: `{{% set x = {source} %}}{{% if x %}} .. {{% endif %}}`"
            )));
            return;
        };
        let source = written(&place);
        let guard = match of {
            _ if place.as_name() == Some(ELEMENT) => {
                "leave out what is null: `xs | select`".to_owned()
            }
            _ if place.root() == Some(ELEMENT) => {
                format!(
                    "take it first and leave out what is null: `xs | map(attribute=\"{source}\") | select`"
                )
            }
            // Zero and false are no nulls.
            Type::Bool | Type::Int | Type::Uint | Type::Float => {
                format!("guard it: `{{% if {source} is not none %}} .. {{% endif %}}`")
            }
            _ => format!("guard it: `{{% if {source} %}} .. {{% endif %}}`"),
        };
        self.report(found.fact(Fact::Value(place)).help(guard));
    }

    pub(in super::super) fn unknown_in_template(&mut self, expr: &Expr, name: &str) -> Type {
        let unknown = |message: String| Diagnostic::new(&codes::UNKNOWN_NAME, message, expr.span);
        let found = unknown(format!("no `{name}` in scope")).unknown(name, Home::Scope(None));
        if self.types.enum_named(name).is_some() {
            return self
                .report(found.help("in a template a member of an enum is a text: `\"..\"`"));
        }
        if self.scope.field(name).is_some() {
            let found = found.help(format!("write `state.{name}`"));
            return self.report(found.fix(expr.span, format!("state.{name}")));
        }
        let meant = match foreign::name::constant(name) {
            Some("null") => Some("none"),
            _ if name == "null" => Some("none"),
            other => other,
        };
        if let Some(meant) = meant {
            self.report(found.help(format!("write `{meant}`")).fix(expr.span, meant));
            // What is compared with it is guarded all the same.
            return match meant {
                "none" => Type::Null,
                _ => Type::Error,
            };
        }
        let behind = foreign::name::behind_work(name).filter(|_| self.scope.state.is_some());
        if let Some(help) = behind {
            return self.report(found.help(help));
        }
        if let Some(place) = self.field_elsewhere(name) {
            return self.report(found.help(format!("write `{place}`")).fix(expr.span, place));
        }
        let state = self.scope.state.is_some().then_some("state");
        let all = self.locals.iter().chain(&self.scope.names);
        let all = all.map(|(name, _)| name.as_str());
        // What stands for an element has a name that can't be written.
        let all = all.filter(|name| !name.starts_with('('));
        let all: Vec<&str> = all.chain(state).collect();
        let found = found.meant(expr.span, name, all, "known here are");
        self.report(found)
    }

    /// What a template has to say of a field before its type is looked up; `None` where it has nothing to.
    pub(in super::super) fn field_in_template(
        &mut self,
        operand: &Expr,
        of: &Type,
        field: &Name,
    ) -> Option<Type> {
        let name = field.node.as_str();
        if let Some(element) = self.element_of_loop(operand) {
            let all = [COUNTS.as_slice(), &TRUTHS, &ELEMENTS];
            return Some(match all.map(|names| names.contains(&name)) {
                [true, ..] => Type::Int,
                [_, true, _] => Type::Bool,
                [.., true] => Type::nullable(element.without_null()),
                _ => {
                    let message = format!("`loop` has no field `{name}`");
                    let found = Diagnostic::new(&codes::UNKNOWN_FIELD, message, field.span);
                    self.report(found.meant(field.span, name, all.concat(), "it has"))
                }
            });
        }
        if let (Type::Map(entries), "keys" | "values" | "items") = (of, name) {
            let source =
                access_path(operand).map_or_else(|| "x".to_owned(), |place| written(&place));
            let message = format!("`{source}.{name}` without `()` is the entry of that name");
            let mut found = Diagnostic::new(&codes::UNKNOWN_FUNCTION, message, field.span);
            found.level = Level::Warning;
            self.report(found.help(format!(
                "write `{source}.{name}()`, or `{source}['{name}']` where that entry is meant"
            )));
            return Some((**entries).clone());
        }
        None
    }

    /// What the loop goes over that an expression names.
    fn element_of_loop(&self, expr: &Expr) -> Option<Type> {
        let is_loop = matches!(&expr.kind, ExprKind::Ident(name) if name == LOOP);
        let at = self.locals.iter().rposition(|(name, _)| name == LOOP)?;
        let (name, ty) = self.locals.get(at + 1)?;
        (is_loop && name == ELEMENT).then(|| ty.clone())
    }

    /// What may be meant by a field that there is not: a filter, a method, what another language has.
    pub(in super::super) fn no_field_in_template(&self, of: &Type, name: &str) -> Option<String> {
        let found = jinja::find(&format!(".{name}")).or_else(|| function::find(name, true));
        let method = found.is_some_and(|found| self.is_method_of(found, of));
        match (jinja::filter_named(name).is_some(), method) {
            (true, _) => Some(format!("it is a filter: `x | {name}`")),
            (_, true) => Some(format!("it is a method: `x.{name}(..)`")),
            _ => foreign::call::in_template(name),
        }
    }
}
