//! The walk over an expression: which form is typed where, and what is in scope on the way.

use crate::ast::Name;
use crate::ast::expr::{Expr, ExprKind, Literal};
use crate::base::{AccessPath, Span};
use crate::diag::{Code, Diagnostic, Diagnostics};

use super::super::fold::inline::LetValue;
use super::super::scope::Scope;
use super::super::ty::{RecordId, Type, TypeTable};
use super::constant::is_whole_float;
use super::narrow::Narrowing;
use super::path::access_path;
use super::relation::assignable;
use super::template;

/// Types expressions in one scope and reports what can't be.
///
/// It holds what changes on the way down: the names that macros bind and the places that a guard
/// has shown not to be null.
pub struct Checker<'a> {
    pub(super) scope: &'a Scope,
    pub(super) types: &'a TypeTable,
    pub(super) diags: &'a mut Diagnostics,
    /// Names bound by macros, the innermost last.
    pub(super) locals: Vec<(String, Type)>,
    /// Places known not to be null here.
    pub(super) known: Narrowing,
    /// Whether nothing is reported at the moment.
    pub(super) quiet: bool,
    /// What the value goes into, for messages.
    pub(super) taker: Option<Taker>,
    /// Whether it is the default of a declaration, where a whole number may stand for a float.
    pub(super) declaring: bool,
    /// What names stand for.
    pub(super) lets: &'a [LetValue],
    /// Whether it is a template, where names and operators mean what they do in Jinja.
    pub(super) template: bool,
}

/// What a value goes into: a field, an argument, a result.
#[derive(Debug, Clone)]
pub struct Taker {
    /// What it is called: "`n`", "tool `search`".
    pub what: String,
    /// What it does with the value, before a type: "takes", "gives back".
    pub verb: &'static str,
    /// Whether the value is a part of what goes into it: an element of a list.
    pub part: bool,
    /// Where it is declared; none where the message is about nothing that has a place.
    pub declared: Option<Span>,
    /// The record that it is a field of.
    pub of: Option<RecordId>,
}

impl Taker {
    /// Something with a name that is declared at `name`.
    pub fn named(name: &Name) -> Self {
        Self {
            what: format!("`{}`", name.node),
            verb: "takes",
            part: false,
            declared: Some(name.span),
            of: None,
        }
    }
}

impl<'a> Checker<'a> {
    /// A checker that knows the names of `scope` and nothing about nulls.
    pub fn new(scope: &'a Scope, types: &'a TypeTable, diags: &'a mut Diagnostics) -> Self {
        Self {
            scope,
            types,
            diags,
            locals: Vec::new(),
            known: Narrowing::new(),
            quiet: false,
            taker: None,
            declaring: false,
            lets: &[],
            template: false,
        }
    }

    /// Says what the value goes into: messages then name it.
    pub fn into(mut self, taker: Option<Taker>) -> Self {
        self.taker = taker;
        self
    }

    /// Adds places that are known not to be null: what a `require`, a `skip` or a route arm has shown.
    pub fn knowing(mut self, facts: Narrowing) -> Self {
        self.known = self.known.and(facts);
        self
    }

    /// Says what names stand for: they show what that would.
    pub fn naming(mut self, lets: &'a [LetValue]) -> Self {
        self.lets = lets;
        self
    }

    /// For the default of a declaration: `0` may stand where a float is expected, as it may in JSON.
    pub fn declaring(mut self) -> Self {
        self.declaring = true;
        self
    }

    /// The type of an expression. With `expected`, one that doesn't fit is reported at the part
    /// that is to blame, and the answer is then [`Type::Error`].
    pub fn infer(&mut self, expr: &Expr, expected: Option<&Type>) -> Type {
        match expected {
            Some(expected) => self.check(expr, expected),
            None => self.expr(expr, None),
        }
    }

    pub(super) fn check(&mut self, expr: &Expr, expected: &Type) -> Type {
        if let ExprKind::Conditional(condition, yes, no) = &expr.kind {
            return self.conditional(condition, yes, no, Some(expected));
        }
        if self.declaring && is_whole_float(expr, expected) {
            return Type::Float;
        }
        // What is inside of another form is taken by that, not by what takes the whole.
        let taker = self.taker.take();
        if matches!(expr.kind, ExprKind::List(_) | ExprKind::Map(_)) {
            self.taker = taker.clone().map(|taker| Taker {
                part: true,
                ..taker
            });
        }
        let found = self.expr(expr, Some(expected));
        self.taker = taker;
        if assignable(&found, expected, self.types) {
            return found;
        }
        self.mismatch(expr, &found, expected);
        Type::Error
    }

    /// The type without checking it against the hint, which only fills in what the form leaves open.
    pub(super) fn expr(&mut self, expr: &Expr, hint: Option<&Type>) -> Type {
        match self.form(expr, hint) {
            // In a template an optional is null where it holds nothing.
            Type::Optional(of) if self.template => Type::nullable((*of).clone()),
            ty => ty,
        }
    }

    fn form(&mut self, expr: &Expr, hint: Option<&Type>) -> Type {
        match &expr.kind {
            ExprKind::Literal(literal) => {
                if let Literal::String(text) = literal
                    && !self.template
                {
                    self.plain_placeholder(text, expr.span);
                }
                Self::literal(literal)
            }
            ExprKind::Ident(name) => self.ident(expr, name, hint),
            ExprKind::Select {
                operand,
                field,
                optional,
            } => self.select(expr, operand, field, *optional),
            ExprKind::Index {
                operand,
                index,
                optional,
            } => self.index(expr, operand, index, *optional),
            ExprKind::Call {
                target,
                function,
                args,
            } if self.template => self.call_in_template(expr, target.as_deref(), function, args),
            ExprKind::Call {
                target,
                function,
                args,
            } => self.call(expr, target.as_deref(), function, args, hint),
            ExprKind::Unary(op, operand) => self.unary(*op, operand),
            ExprKind::Binary(op, left, right) => self.binary(expr, op, left, right, hint),
            ExprKind::Logical(op, operands) => self.logical(*op, operands),
            ExprKind::Conditional(condition, yes, no) => self.conditional(condition, yes, no, hint),
            ExprKind::List(elements) => self.list(elements, hint),
            ExprKind::Map(entries) => self.map(expr, entries, hint),
            ExprKind::Record { name, fields } => self.record(name, fields),
            ExprKind::Error => Type::Error,
        }
    }

    /// The type, with nothing reported. Inside another such look only a plain place or literal is
    /// looked at, anything else is `json`: otherwise the work would double with each level of nesting.
    pub(super) fn silent(&mut self, expr: &Expr) -> Type {
        if self.quiet && access_path(expr).is_none() && !matches!(expr.kind, ExprKind::Literal(_)) {
            return Type::Json;
        }
        self.quietly(|checker| checker.expr(expr, None))
    }

    /// Does something with nothing reported.
    pub(super) fn quietly<T>(&mut self, look: impl FnOnce(&mut Self) -> T) -> T {
        let (heard, before) = (std::mem::take(self.diags), self.quiet);
        self.quiet = true;
        let seen = look(self);
        self.quiet = before;
        *self.diags = heard;
        seen
    }

    /// Types something where more is known not to be null.
    pub(super) fn under<T>(&mut self, facts: Narrowing, then: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.known.clone();
        self.known = std::mem::take(&mut self.known).and(facts);
        let result = then(self);
        self.known = before;
        result
    }

    /// Types something where names are bound; what was known of names that they hide is set aside.
    pub(super) fn binding<T>(
        &mut self,
        names: impl IntoIterator<Item = (String, Type)>,
        then: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let (before, depth) = (self.known.clone(), self.locals.len());
        for (name, ty) in names {
            self.known.forget(&AccessPath::name(&name));
            self.locals.push((name, ty));
        }
        let result = then(self);
        self.locals.truncate(depth);
        self.known = before;
        result
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) -> Type {
        self.diags.push(diagnostic);
        Type::Error
    }

    pub(super) fn error(&mut self, code: &'static Code, message: String, span: Span) -> Type {
        self.report(Diagnostic::new(code, message, span))
    }

    /// The place that an expression names.
    pub(super) fn place_of(&self, expr: &Expr) -> Option<AccessPath> {
        match self.template {
            true => template::access_path(expr),
            false => access_path(expr),
        }
    }

    /// A type in backticks.
    pub(super) fn show(&self, ty: &Type) -> String {
        format!("`{}`", self.types.show(ty))
    }
}
