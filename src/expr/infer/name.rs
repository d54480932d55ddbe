//! Names standing alone.

use crate::ast::expr::Expr;
use crate::diag::{Diagnostic, Home, codes};

use super::super::ty::{EnumType, Type};
use super::checker::Checker;

/// Names of CEL's type values, for `type(x) == int`.
pub(super) const TYPE_NAMES: &[&str] = &[
    "bool",
    "bytes",
    "double",
    "duration",
    "float",
    "int",
    "list",
    "map",
    "null_type",
    "optional_type",
    "string",
    "timestamp",
    "type",
    "uint",
];

impl Checker<'_> {
    pub(super) fn ident(&mut self, expr: &Expr, name: &str) -> Type {
        if let Some(ty) = self.named(name) {
            return match self.known.holds(name) {
                true => ty.without_null(),
                false => ty,
            };
        }
        if name == "state" && self.scope.state.is_some() {
            return self.report(
                Diagnostic::new(
                    &codes::UNKNOWN_NAME,
                    "`state` is no value by itself",
                    expr.span,
                )
                .help("name one of its fields, such as `state.x`"),
            );
        }
        if TYPE_NAMES.contains(&name) {
            return Type::TypeValue;
        }
        self.unknown_name(expr, name)
    }

    /// The declared type of a name that is a value: bound by a macro or of the scope.
    pub(super) fn named(&self, name: &str) -> Option<Type> {
        let local = self.locals.iter().rfind(|(n, _)| n == name);
        let ty = local.map(|(_, ty)| ty);
        ty.or_else(|| self.scope.slot(name).and_then(|slot| self.scope.ty(slot)))
            .cloned()
    }

    fn unknown_name(&mut self, expr: &Expr, name: &str) -> Type {
        // A name of a type, which the file lacks.
        let home = match name.starts_with(|c: char| c.is_ascii_uppercase()) {
            true => Home::Items,
            false => Home::Scope(None),
        };
        let found = Diagnostic::new(
            &codes::UNKNOWN_NAME,
            format!("no `{name}` in scope"),
            expr.span,
        )
        .unknown(name, home);
        if self.enum_named(name).is_some() {
            let message = format!("`{name}` is an enum, no value");
            return self.report(
                Diagnostic::new(&codes::UNKNOWN_NAME, message, expr.span).help(format!(
                    "name a member, such as `{}`",
                    self.first_member(name)
                )),
            );
        }
        if self.scope.field(name).is_some() {
            return self.report(
                found
                    .help(format!("write `state.{name}`"))
                    .fix(expr.span, format!("state.{name}")),
            );
        }
        if name == "context" && self.scope.state.is_some() {
            let help = "declare it in the graph: `context { name: string }`";
            return self.report(found.help(help));
        }
        if let Some(meant) = foreign(name) {
            let asked = found.help(format!("write `{meant}`"));
            return self.report(asked.fix(expr.span, meant));
        }
        let state = self.scope.state.is_some().then_some("state");
        let known = self
            .locals
            .iter()
            .chain(&self.scope.names)
            .map(|(n, _)| n.as_str())
            .chain(state)
            .chain(self.types.enums.iter().map(|e| e.name.as_str()));
        let known: Vec<&str> = known.collect();
        let member = || {
            let with = |e: &&EnumType| e.members.iter().any(|member| member.name == name);
            let found = self.types.enums.iter().find(with)?;
            Some(format!("write `{}.{name}`", found.name))
        };
        let params = (name == "params").then(|| {
            "a graph declares its parameters behind its name: `graph NAME(x: bool = false)`"
                .to_owned()
        });
        self.report(match params.or_else(member) {
            Some(help) => found.help(help),
            None => found.meant(expr.span, name, known, "known here are"),
        })
    }

    fn first_member(&self, name: &str) -> String {
        let first = self
            .enum_named(name)
            .and_then(|id| self.types.enums.get(id))
            .and_then(|e| e.members.first());
        match first {
            Some(member) => format!("{name}.{}", member.name),
            None => name.to_owned(),
        }
    }
}

/// What a word of other languages is here, or a function without its parentheses.
fn foreign(name: &str) -> Option<&'static str> {
    Some(match name {
        "True" | "TRUE" => "true",
        "False" | "FALSE" => "false",
        "None" | "nil" | "NULL" | "Null" | "undefined" => "null",
        "now" => "now()",
        "uuid" => "uuid()",
        "random" => "random()",
        _ => return None,
    })
}
