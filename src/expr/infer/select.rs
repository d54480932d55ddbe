//! `a.b` and `a.?b`: fields of the state, of records, of maps and of `json`; members of enums.

use crate::ast::Name;
use crate::ast::expr::{Expr, ExprKind};
use crate::base::foreign;
use crate::diag::{Diagnostic, Fact, Home, codes};

use super::super::ty::{EnumId, Type, TypeTable};
use super::checker::Checker;
use super::either::some_lack;
use super::join::join;
use super::numbered::{PARTS, element_of, part_of};
use super::path::{access_path, path};

impl Checker<'_> {
    pub(super) fn select(
        &mut self,
        expr: &Expr,
        operand: &Expr,
        field: &Name,
        optional: bool,
    ) -> Type {
        let ty = match self.declared(operand, field, optional) {
            Some(ty) => ty,
            None => {
                let of = self.expr(operand, None);
                self.field_of(operand, &of, field, optional)
            }
        };
        let ty = match self.place_of(expr) {
            Some(place) => self.narrowed(ty, &place),
            None => ty,
        };
        self.of_filtered(expr, ty)
    }

    /// A field of `state` or a member of an enum; `None` where the operand is a value.
    fn declared(&mut self, operand: &Expr, field: &Name, optional: bool) -> Option<Type> {
        let ExprKind::Ident(name) = &operand.kind else {
            return None;
        };
        if self.named(name).is_some() {
            return None;
        }
        if name == "state" && self.scope.state.is_some() {
            let found = self.scope.field(field).map(|(_, ty)| ty.clone());
            return Some(match found {
                Some(ty) if optional => Type::optional(ty.without_null()),
                Some(ty) => ty,
                None => self.unknown_state_field(field),
            });
        }
        let id = self.enum_named(name).filter(|_| !self.template)?;
        Some(self.member(id, field))
    }

    pub(super) fn unknown_state_field(&mut self, field: &Name) -> Type {
        let fields = self.scope.state.clone().unwrap_or_default();
        let names: Vec<&str> = fields.iter().map(|(n, _)| n.as_str()).collect();
        let message = format!("the state has no field `{}`", field.node);
        let found = Diagnostic::new(&codes::UNKNOWN_FIELD, message, field.span)
            .unknown(field, Home::State(None));
        self.report(match self.field_elsewhere(field) {
            Some(place) => found.help(format!("write `{place}`")),
            None => found.meant(field.span, field, names, "its fields are"),
        })
    }

    /// The enum of that name.
    pub(super) fn enum_named(&self, name: &str) -> Option<EnumId> {
        self.types.enum_named(name)
    }

    fn member(&mut self, id: EnumId, member: &Name) -> Type {
        let Some(declared) = self.types.enums.get(id) else {
            return Type::Error;
        };
        let names = || declared.members.iter().map(|m| m.name.as_str());
        if names().any(|n| n == member.node) {
            return Type::Enum(id);
        }
        self.report(
            Diagnostic::new(
                &codes::UNKNOWN_MEMBER,
                format!("enum `{}` has no member `{}`", declared.name, member.node),
                member.span,
            )
            .unknown(member, Home::Enum(id.0))
            .meant(
                member.span,
                member,
                names().collect::<Vec<_>>(),
                "its members are",
            ),
        )
    }

    /// The type of a field of a value; `operand` is named in messages.
    pub(super) fn field_of(
        &mut self,
        operand: &Expr,
        of: &Type,
        field: &Name,
        optional: bool,
    ) -> Type {
        if self.template
            && let Some(ty) = self.field_in_template(operand, of, field)
        {
            return ty;
        }
        match of {
            Type::Error => Type::Error,
            Type::Json => match self.field_of_content(operand, field) {
                Some(reported) => reported,
                None if optional => Type::optional(Type::Json),
                None => Type::Json,
            },
            Type::Optional(inner) => {
                let found = self.field_of(operand, &inner.without_null(), field, false);
                match found {
                    Type::Error => Type::Error,
                    Type::Optional(_) => found,
                    plain => Type::optional(plain.without_null()),
                }
            }
            Type::Nullable(inner) if !optional => {
                let message = format!(
                    "{}, so `.{}` may fail",
                    self.may_be_null(operand),
                    field.node
                );
                self.null_not_handled(operand, message, Some(field));
                self.silent_field(operand, inner, field)
            }
            _ => {
                let inner = of.without_null();
                match self.plain_field(&inner, field) {
                    Some(ty) if optional => Type::optional(ty.without_null()),
                    Some(ty) => ty,
                    None => self.unknown_field(operand, of, field),
                }
            }
        }
    }

    /// The type of a field whose access is already reported.
    fn silent_field(&mut self, operand: &Expr, of: &Type, field: &Name) -> Type {
        self.quietly(|checker| checker.field_of(operand, of, field, false))
    }

    fn plain_field(&self, of: &Type, field: &Name) -> Option<Type> {
        match of {
            Type::Json => Some(Type::Json),
            Type::Never => Some(Type::Never),
            numbered if element_of(numbered).is_some() => part_of(numbered, field),
            Type::Map(of) => Some((**of).clone()),
            Type::Record(id) => self.types.field_type(*id, field),
            Type::Union(members) => {
                let mut all = Type::Never;
                for member in members.iter() {
                    all = join(&all, &self.plain_field(member, field)?, self.types);
                }
                Some(all)
            }
            _ => None,
        }
    }

    fn unknown_field(&mut self, operand: &Expr, of: &Type, field: &Name) -> Type {
        if element_of(of).is_some() {
            let message = format!("what `enumerate()` gives has no field `{}`", field.node);
            let found = Diagnostic::new(&codes::UNKNOWN_FIELD, message, field.span);
            return self.report(found.meant(field.span, field, PARTS, "its fields are"));
        }
        let name = &field.node;
        let ask = |place: &str| match self.template {
            true => format!("`{{% if {place}.{name} is defined %}}`"),
            false => format!("`has({place}.{name}) ? {place}.{name} : ..`"),
        };
        let at = (name.as_str(), field.span);
        if let Some(found) = some_lack(path(operand), of, at, ask, self.types) {
            return self.report(found);
        }
        let record = match of.without_null() {
            Type::Record(id) => self.types.records.get(id),
            _ => None,
        };
        let message = match record {
            Some(r) => match graph_of(&r.name) {
                Some(graph) => format!("graph `{graph}` has no parameter `{}`", field.node),
                // `result of Search`: what belongs to a graph.
                None => match r.name.rsplit_once(" of ") {
                    Some((what, of)) => {
                        format!("the {what} of `{of}` has no field `{}`", field.node)
                    }
                    None => format!("`{}` has no field `{}`", r.name, field.node),
                },
            },
            None => format!("{} has no field `{}`", self.show(of), field.node),
        };
        let there_are = match record.and_then(|r| graph_of(&r.name)) {
            Some(_) => "its parameters are",
            None => "its fields are",
        };
        let names = fields_of(of, self.types);
        let found = Diagnostic::new(&codes::UNKNOWN_FIELD, message, field.span);
        let found = match (of.without_null(), access_path(operand)) {
            (Type::Record(id), Some(of)) => found
                .unknown(field, Home::Record(id.0))
                .fact(Fact::Value(of)),
            (Type::Record(id), None) => found.unknown(field, Home::Record(id.0)),
            (_, Some(of)) => found
                .unknown(&format!("{of}.{}", field.node), Home::Scope(None))
                .fact(Fact::Value(of)),
            _ => found,
        };
        // Members of enums are texts already; Python's have a `value`.
        let is_text = matches!(of.without_null(), Type::Enum(_));
        if let Some(of) =
            path(operand).filter(|_| is_text && ["value", "name"].contains(&&*field.node))
        {
            let help = format!("a member of an enum is its text: write `{of}`");
            return self.report(found.help(help).fix(operand.span.to(field.span), of));
        }
        let found = found.meant(field.span, field, names, there_are);
        if self.template {
            return self.report(match found.help {
                None => found.maybe_help(self.no_field_in_template(of, field)),
                Some(_) => found,
            });
        }
        self.report(match self.uncalled_method(of, field) {
            Some(call) if found.fix.is_empty() => found
                .help(format!("it is a method: `x.{call}`"))
                .fix(field.span, call),
            _ if found.help.is_none() => found
                .maybe_help(foreign::call::in_expression(field))
                .fact(Fact::Foreign),
            _ => found,
        })
    }
}

/// The fields of a record, or of any of several.
fn fields_of<'t>(of: &Type, types: &'t TypeTable) -> Vec<&'t str> {
    let members = match of.without_null() {
        Type::Union(members) => members,
        one => [one].into(),
    };
    let records = members.iter().filter_map(|member| match member {
        Type::Record(id) => Some(*id),
        _ => None,
    });
    let names = records.flat_map(|id| types.field_names(id));
    let mut all: Vec<&str> = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}

/// The graph whose parameters a record holds: no other record's name has blanks and these words.
fn graph_of(record: &str) -> Option<&str> {
    record.strip_prefix("parameters of ")
}
