//! Names standing alone.

use crate::ast::expr::Expr;
use crate::base::name::{closest, few};
use crate::base::{AccessPath, foreign};
use crate::diag::{Diagnostic, Fact, Home, codes};

use super::super::function;
use super::super::ty::{EnumType, TYPE_NAMES, Type};
use super::checker::Checker;
use super::relation::{Texts, texts};

impl Checker<'_> {
    pub(super) fn ident(&mut self, expr: &Expr, name: &str, hint: Option<&Type>) -> Type {
        if let Some(ty) = self.named(name) {
            return self.narrowed(ty, &AccessPath::name(name));
        }
        if name == "state" && self.scope.state.is_some() {
            return self.report(
                Diagnostic::new(
                    &codes::UNKNOWN_NAME,
                    "`state` is no value by itself",
                    expr.span,
                )
                .help("name one of its fields, such as `state.x`")
                .fact(Fact::Foreign),
            );
        }
        if self.template {
            return self.unknown_in_template(expr, name);
        }
        if TYPE_NAMES.contains(&name) {
            return Type::TypeValue;
        }
        self.unknown_name(expr, name, hint)
    }

    /// The declared type of a name that is a value: bound by a macro or of the scope.
    pub(super) fn named(&self, name: &str) -> Option<Type> {
        let local = self.locals.iter().rfind(|(n, _)| n == name);
        let ty = local.map(|(_, ty)| ty);
        let ty = ty.or_else(|| self.scope.slot(name).and_then(|slot| self.scope.ty(slot)));
        match ty? {
            Type::Optional(of) if self.template => Some(Type::nullable((**of).clone())),
            ty => Some(ty.clone()),
        }
    }

    fn unknown_name(&mut self, expr: &Expr, name: &str, hint: Option<&Type>) -> Type {
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
        if name == "error" {
            let help = "an error is known where it is handled: `on_error -> NODE { set { .. error.message } }`";
            return self.report(found.help(help));
        }
        if name == "state" && self.scope.state.is_none() {
            let help = "only nodes and routes see the state; elsewhere its value is a parameter, in a tool's body also a field that `reads` names, by its own name";
            return self.report(found.help(help));
        }
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
            let found = found.help(format!("write `state.{name}`"));
            // What a `let` is called may be the slip.
            let own = self.locals.iter().chain(&self.scope.names);
            return self.report(match closest(name, own.map(|(own, _)| own.as_str())) {
                Some(near) => found.near(Some(near)),
                None => found.fix(expr.span, format!("state.{name}")),
            });
        }
        if let Some(place) = self.field_elsewhere(name) {
            return self.report(found.help(format!("write `{place}`")).fix(expr.span, place));
        }
        let value = foreign::name::value(name).filter(|value| self.named(value).is_some());
        if let Some(meant) = foreign::name::constant(name).or(value) {
            let asked = found.help(format!("write `{meant}`"));
            return self.report(asked.fix(expr.span, meant));
        }
        if let Some(kind) = foreign::name::error_kind(name) {
            let help = format!("what failed is told by a text: `error.kind == \"{kind}\"`");
            return self.report(found.help(help).fact(Fact::Foreign));
        }
        if let Some(quoted) = self.quoted(name, hint) {
            return self.report(
                found
                    .help(format!("a text is written in quotes: `{quoted}`"))
                    .fix(expr.span, quoted),
            );
        }
        if let Some(call) = uncalled(name) {
            return self.report(
                found
                    .help(format!("it is a function: `{call}`"))
                    .fix(expr.span, call),
            );
        }
        if name == "context" && self.scope.state.is_some() {
            let help = "declare it in the graph: `context { name: string }`";
            return self.report(found.help(help));
        }
        if let Some(help) = foreign::name::behind_work(name).filter(|_| self.scope.state.is_some())
        {
            return self.report(found.help(help));
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
        let taken = hint.is_some_and(|hint| matches!(hint.without_null(), Type::Enum(_)));
        let reads = || {
            let in_tool = self.scope.state.is_none() && self.scope.slot("run").is_some();
            let near = closest(name, known.iter().copied()).is_some();
            let plain = name.starts_with(|c: char| c.is_ascii_lowercase());
            (in_tool && !near && plain).then(|| {
                format!(
                    "known here are {}; a field of the graph is named in `reads {{ {name}: .. }}`",
                    few(known.iter().copied())
                )
            })
        };
        let advice = match taken {
            true => params.or_else(member).or_else(reads),
            false => params.or_else(reads).or_else(member),
        };
        self.report(match advice {
            Some(help) => found.help(help),
            None => found.meant(expr.span, name, known, "known here are"),
        })
    }

    /// A field of that name of something in scope, where only one thing has it: `context.x`.
    pub(super) fn field_elsewhere(&self, name: &str) -> Option<String> {
        let names = self.scope.names.iter();
        let mut holders = names.filter(|(root, ty)| match ty.without_null() {
            Type::Record(id) => {
                let record = self.types.records.get(id);
                root != "run" && record.is_some_and(|record| record.field(name).is_some())
            }
            _ => false,
        });
        match (holders.next(), holders.next()) {
            (Some((root, _)), None) => Some(format!("{root}.{name}")),
            _ => None,
        }
    }

    /// The name as a text, where one is expected that can be so.
    fn quoted(&self, name: &str, hint: Option<&Type>) -> Option<String> {
        let wanted = hint?.without_null();
        if matches!(wanted, Type::Enum(_)) {
            return None;
        }
        let fits = match texts(&wanted, self.types)? {
            Texts::Any => self.declaring,
            Texts::Of(known) => known.contains(&name),
        };
        fits.then(|| format!("{name:?}"))
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

/// The call of a function without arguments whose name stands alone.
fn uncalled(name: &str) -> Option<String> {
    let alone =
        function::meant(name, false).is_some_and(|found| found.arities().any(|count| count == 0));
    alone.then(|| format!("{name}()"))
}
