//! Expressions of a template: names, fields, indexes, filters, tests, calls.

use minijinja::machinery::{Span as Range, ast};
use minijinja::value::ValueKind;

use crate::base::{Span, foreign};
use crate::diag::{Diagnostic, Fact, Home, Level, codes};

use super::super::infer::{join, narrowed, some_lack};
use super::super::ty::Type;
use super::check::Check;
use super::narrow::path;
use super::parts;

/// What a `for` tells of itself.
const LOOP: [&str; 11] = [
    "index",
    "index0",
    "revindex",
    "revindex0",
    "first",
    "last",
    "length",
    "depth",
    "depth0",
    "previtem",
    "nextitem",
];

impl Check<'_> {
    pub(super) fn silent(&mut self, expr: &ast::Expr) -> Type {
        let heard = std::mem::take(self.diags);
        let loops = std::mem::take(&mut self.loops);
        let ty = self.expr(expr);
        *self.diags = heard;
        self.loops = loops;
        ty
    }

    pub(super) fn expr(&mut self, expr: &ast::Expr) -> Type {
        use ast::Expr;
        let ty = match expr {
            Expr::Var(var) => self.var(var.id, var.span()),
            Expr::Const(constant) => self.constant(&constant.value),
            Expr::Slice(slice) => {
                for bound in [&slice.start, &slice.stop, &slice.step]
                    .into_iter()
                    .flatten()
                {
                    self.expr(bound);
                }
                self.expr(&slice.expr)
            }
            Expr::UnaryOp(op) => self.unary(op),
            Expr::BinOp(op) => self.binary(op),
            Expr::Compare(compare) => self.compare(compare),
            Expr::IfExpr(choice) => self.choice(choice),
            Expr::Filter(applied) => self.filter(applied, applied.span()),
            Expr::Test(test) => self.test(test, test.span()),
            Expr::GetAttr(get) => self.attr(get, get.span()),
            Expr::GetItem(get) => self.item(get),
            Expr::Call(call) => self.call(call, call.span()),
            Expr::List(items) => Type::list(self.joined(&items.items)),
            Expr::Tuple(items) => Type::list(self.joined(&items.items)),
            Expr::Map(map) => {
                self.joined(&map.keys);
                Type::map(self.joined(&map.values))
            }
        };
        // An optional is null here where there is nothing.
        let ty = match ty {
            Type::Optional(of) => Type::nullable((*of).clone()),
            ty => ty,
        };
        match path(expr) {
            Some(path) => narrowed(ty, &path, &self.known, self.types),
            None => ty,
        }
    }

    fn joined(&mut self, items: &[ast::Expr]) -> Type {
        items.iter().fold(Type::Never, |all, item| {
            let ty = self.expr(item);
            join(&all, &ty, self.types)
        })
    }

    fn constant(&self, value: &minijinja::Value) -> Type {
        match value.kind() {
            ValueKind::None => Type::Null,
            ValueKind::Bool => Type::Bool,
            ValueKind::Number if value.is_integer() => Type::Int,
            ValueKind::Number => Type::Float,
            ValueKind::String => Type::Literal(value.as_str().unwrap_or_default().into()),
            _ => Type::Json,
        }
    }

    fn var(&mut self, name: &str, range: Range) -> Type {
        let local = self.locals.iter().rfind(|(n, _)| n == name);
        if let Some((_, ty)) = local {
            let ty = ty.clone();
            self.reads_name(name, range);
            return ty;
        }
        if let Some(ty) = self.scope.slot(name).and_then(|slot| self.scope.ty(slot)) {
            return ty.clone();
        }
        let span = self.span(range);
        let unknown = |message: String| Diagnostic::new(&codes::UNKNOWN_NAME, message, span);
        if name == "state" && self.scope.state.is_some() {
            let found = unknown("`state` is no value by itself".into());
            return self.report(found.help("name one of its fields, such as `state.x`"));
        }
        let found = unknown(format!("no `{name}` in scope")).unknown(name, Home::Scope(None));
        if self.types.enum_named(name).is_some() {
            return self
                .report(found.help("in a template a member of an enum is a text: `\"..\"`"));
        }
        if self.scope.field(name).is_some() {
            return self.report(
                found
                    .help(format!("write `state.{name}`"))
                    .fix(span, format!("state.{name}")),
            );
        }
        if let Some(meant) = match foreign::name::constant(name) {
            Some("null") => Some("none"),
            _ if name == "null" => Some("none"),
            other => other,
        } {
            self.report(found.help(format!("write `{meant}`")).fix(span, meant));
            // What is compared with it is guarded all the same.
            return match meant {
                "none" => Type::Null,
                _ => Type::Error,
            };
        }
        if let Some(help) = foreign::name::behind_work(name).filter(|_| self.scope.state.is_some())
        {
            return self.report(found.help(help));
        }
        let state = self.scope.state.is_some().then_some("state");
        let all = self.locals.iter().chain(&self.scope.names);
        let all: Vec<&str> = all.map(|(n, _)| n.as_str()).chain(state).collect();
        let found = found.meant(span, name, all, "known here are");
        self.report(found)
    }

    /// Whether it is what a `for` tells of itself, not a name of the flow or of a `set`.
    fn is_loop(&self, expr: &ast::Expr) -> bool {
        let local = self.locals.iter().rfind(|(name, _)| name == "loop");
        matches!(expr, ast::Expr::Var(var) if var.id == "loop")
            && local.is_some_and(|(_, ty)| *ty == Type::Json)
    }

    fn is_state(&self, expr: &ast::Expr) -> bool {
        matches!(expr, ast::Expr::Var(var) if var.id == "state")
            && self.scope.state.is_some()
            && self.scope.slot("state").is_none()
            && !self.locals.iter().any(|(n, _)| n == "state")
    }

    fn attr(&mut self, get: &ast::GetAttr, range: Range) -> Type {
        let span = self.name_span(range, get.name);
        if self.is_state(&get.expr) {
            return self.state_field(get.name, span);
        }
        if self.is_loop(&get.expr) && !LOOP.contains(&get.name) {
            let message = format!("`loop` has no field `{}`", get.name);
            let found = Diagnostic::new(&codes::UNKNOWN_FIELD, message, span);
            return self.report(found.meant(span, get.name, LOOP, "it has"));
        }
        let of = self.expr(&get.expr);
        let of = self.not_null(&get.expr, of, &format!("so `.{}` may fail", get.name));
        if let Type::Map(entries) = &of
            && let "keys" | "values" | "items" = get.name
        {
            let name = get.name;
            let source = self.source(&get.expr).to_owned();
            let message = format!("`{source}.{name}` without `()` is the entry of that name");
            let mut found = Diagnostic::new(&codes::UNKNOWN_FUNCTION, message, span);
            found.level = Level::Warning;
            self.report(found.help(format!(
                "write `{source}.{name}()`, or `{source}['{name}']` where that entry is meant"
            )));
            return (**entries).clone();
        }
        self.field(Some(&get.expr), &of, get.name, span)
    }

    fn state_field(&mut self, name: &str, span: Span) -> Type {
        if let Some((_, ty)) = self.scope.field(name) {
            return ty.clone();
        }
        let fields = self.scope.state.clone().unwrap_or_default();
        let names: Vec<&str> = fields.iter().map(|(n, _)| n.as_str()).collect();
        let message = format!("the state has no field `{name}`");
        self.report(
            Diagnostic::new(&codes::UNKNOWN_FIELD, message, span)
                .unknown(name, Home::State(None))
                .meant(span, name, names, "its fields are"),
        )
    }

    /// The type of a field of a value of type `of`; `place` is that value, for messages.
    pub(super) fn field(
        &mut self,
        place: Option<&ast::Expr>,
        of: &Type,
        name: &str,
        span: Span,
    ) -> Type {
        match of {
            Type::Json | Type::Error | Type::Never => of.clone(),
            Type::Map(of) => (**of).clone(),
            Type::Record(id) => {
                let types = self.types;
                if let Some(ty) = types.field_type(*id, name) {
                    return ty;
                }
                let Some(record) = types.records.get(*id) else {
                    return Type::Error;
                };
                let message = format!("`{}` has no field `{name}`", record.name);
                let names: Vec<&str> = types.field_names(*id).collect();
                let found = Diagnostic::new(&codes::UNKNOWN_FIELD, message, span)
                    .unknown(name, Home::Record(id.0));
                self.report(found.meant(span, name, names, "its fields are"))
            }
            Type::Union(members) => {
                let place = place.map(|place| self.source(place).to_owned());
                let ask = |place: &str| format!("`{{% if {place}.{name} is defined %}}`");
                if let Some(found) = some_lack(place, of, (name, span), ask, self.types) {
                    return self.report(found);
                }
                let mut all = Type::Never;
                for member in members.iter() {
                    let ty = self.field(None, member, name, span);
                    if ty == Type::Error {
                        return Type::Error;
                    }
                    all = join(&all, &ty, self.types);
                }
                all
            }
            other => {
                let message = format!("{} has no field `{name}`", self.show(other));
                let method = self.of_language(other, name).is_some();
                let filter = super::filter::find(name).is_some();
                let help = match (method, filter) {
                    (_, true) => Some(format!("it is a filter: `x | {name}`")),
                    (true, _) => Some(format!("it is a method: `x.{name}(..)`")),
                    _ => foreign::call::in_template(name),
                };
                self.report(Diagnostic::new(&codes::UNKNOWN_FIELD, message, span).maybe_help(help))
            }
        }
    }

    /// The type without null; reported where it may be null.
    pub(super) fn not_null(&mut self, expr: &ast::Expr, ty: Type, so: &str) -> Type {
        let Type::Nullable(of) = ty else {
            return ty;
        };
        let source = self.source(expr).to_owned();
        let span = self.span(expr.span());
        let guard = match (path(expr), &*of) {
            (None, _) => format!(
                "name it and guard that: `{{% set x = {source} %}}{{% if x %}} .. {{% endif %}}`"
            ),
            // Zero and false are no nulls.
            (_, Type::Bool | Type::Int | Type::Uint | Type::Float) => {
                format!("guard it: `{{% if {source} is not none %}} .. {{% endif %}}`")
            }
            _ => format!("guard it: `{{% if {source} %}} .. {{% endif %}}`"),
        };
        self.report(
            Diagnostic::new(
                &codes::NULL_NOT_HANDLED,
                format!("`{source}` may be null, {so}"),
                span,
            )
            .fact(Fact::Value(source.clone()))
            .fact(Fact::Unproven)
            .help(guard),
        );
        (*of).clone()
    }

    fn item(&mut self, get: &ast::GetItem) -> Type {
        let index = self.expr(&get.subscript_expr);
        if self.is_state(&get.expr) {
            return match &get.subscript_expr {
                ast::Expr::Const(key) => {
                    let span = self.span(key.span());
                    self.state_field(key.value.as_str().unwrap_or_default(), span)
                }
                _ => Type::Json,
            };
        }
        let of = self.expr(&get.expr);
        let of = self.not_null(&get.expr, of, "so an index into it may fail");
        let span = self.span(get.subscript_expr.span());
        match (&of, &get.subscript_expr) {
            (Type::List(of), _) => {
                if !matches!(index, Type::Int | Type::Json | Type::Error | Type::Never) {
                    let message = format!("expected `int`, found {}", self.show(&index));
                    self.error(&codes::TYPE_MISMATCH, message, span);
                }
                (**of).clone()
            }
            (Type::Record(_), ast::Expr::Const(key)) if key.value.as_str().is_some() => self.field(
                Some(&get.expr),
                &of,
                key.value.as_str().unwrap_or_default(),
                span,
            ),
            (Type::Map(of), _) => (**of).clone(),
            (Type::String | Type::Literal(_) | Type::Enum(_), _) => Type::String,
            (Type::Error, _) => Type::Error,
            _ => Type::Json,
        }
    }

    pub(super) fn args(&mut self, args: &[ast::CallArg]) -> Vec<Type> {
        parts::args(args).map(|arg| self.expr(arg)).collect()
    }
}
