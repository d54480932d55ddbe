//! `a[i]` and `a[?i]`.

use crate::ast::Name;
use crate::ast::expr::{Expr, ExprKind, Literal};
use crate::diag::{Diagnostic, Fact, codes};

use super::super::ty::Type;
use super::checker::Checker;
use super::join::join;
use super::numbered::element_of;
use super::usage::named;

impl Checker<'_> {
    pub(super) fn index(
        &mut self,
        expr: &Expr,
        operand: &Expr,
        index: &Expr,
        optional: bool,
    ) -> Type {
        if self.template
            && let Some(ty) = self.index_in_template(operand, index)
        {
            return ty;
        }
        if let (ExprKind::Ident(root), ExprKind::Literal(Literal::String(name))) =
            (&operand.kind, &index.kind)
            && root == "state"
            && self.named("state").is_none()
            && self.scope.field(name).is_some()
        {
            let message = "a field of the state is named behind a dot";
            let found = Diagnostic::new(&codes::UNKNOWN_NAME, message, expr.span);
            let meant = format!("state.{name}");
            let found = found.help(format!("write `{meant}`")).fix(expr.span, meant);
            return self.report(found.fact(Fact::Foreign));
        }
        let of = self.expr(operand, None);
        let ty = self.element(operand, &of, index, optional);
        let ty = match ty {
            Type::Error => Type::Error,
            Type::Optional(_) if matches!(of, Type::Optional(_)) => ty,
            ty if optional => Type::optional(ty.without_null()),
            ty => ty,
        };
        let ty = match self.place_of(expr) {
            Some(place) => self.narrowed(ty, &place),
            None => ty,
        };
        self.of_filtered(expr, ty)
    }

    /// `x["f"]`, a field as a key. Of a name that is computed nothing is known.
    pub(super) fn field_by_name(&mut self, operand: &Expr, of: &Type, index: &Expr) -> Type {
        let ExprKind::Literal(Literal::String(name)) = &index.kind else {
            self.expr(index, None);
            return Type::Json;
        };
        let field = Name::new(name.to_string(), index.span);
        self.field_of(operand, of, &field, false)
    }

    fn element(&mut self, operand: &Expr, of: &Type, index: &Expr, optional: bool) -> Type {
        match of {
            Type::Error | Type::Never => {
                self.expr(index, None);
                of.clone()
            }
            Type::Json => {
                self.json_index(index);
                Type::Json
            }
            Type::List(of) => {
                self.check_index(index);
                (**of).clone()
            }
            Type::Map(of) => {
                let found = self.silent(index);
                if matches!(found, Type::Int | Type::Uint | Type::Float | Type::Bool) {
                    let message = format!(
                        "keys of {} are texts, found {}",
                        named(operand, &self.show(&Type::Map(of.clone()))),
                        self.show(&found)
                    );
                    self.report(
                        Diagnostic::new(&codes::TYPE_MISMATCH, message, index.span)
                            .help("write the key as a text: `m[\"key\"]`"),
                    );
                } else {
                    self.check(index, &Type::String);
                }
                match element_of(&Type::Map(of.clone())) {
                    Some(_) => Type::Json,
                    None => (**of).clone(),
                }
            }
            Type::String | Type::Literal(_) | Type::Enum(_) if self.template => {
                self.check_index(index);
                Type::String
            }
            Type::Record(_) | Type::Union(_) if self.template => {
                self.field_by_name(operand, of, index)
            }
            Type::Record(_) if matches!(index.kind, ExprKind::Literal(Literal::String(_))) => {
                self.field_by_name(operand, of, index)
            }
            Type::Record(id) => {
                self.check(index, &Type::String);
                let fields = self
                    .types
                    .records
                    .get(*id)
                    .into_iter()
                    .flat_map(|r| &r.fields);
                fields.fold(Type::Never, |all, f| join(&all, &f.ty, self.types))
            }
            Type::Optional(inner) => {
                let found = self.element(operand, &inner.without_null(), index, true);
                match found {
                    Type::Error | Type::Optional(_) => found,
                    plain => Type::optional(plain.without_null()),
                }
            }
            Type::Nullable(inner) => {
                if !optional {
                    let message = format!(
                        "{}, so an index into it may fail",
                        self.may_be_null(operand)
                    );
                    self.null_not_handled(operand, message, None);
                }
                self.element(operand, inner, index, optional)
            }
            other => {
                self.expr(index, None);
                let message = format!(
                    "{} has no elements; only a list, a map or `json` can be indexed",
                    named(operand, &self.show(other))
                );
                let help = matches!(other, Type::String | Type::Literal(_) | Type::Enum(_));
                let help = help.then(|| {
                    "a letter of a text is `.charAt(0)`, a part `.substring(from, to)`".to_owned()
                });
                self.report(
                    Diagnostic::new(&codes::TYPE_MISMATCH, message, operand.span).maybe_help(help),
                )
            }
        }
    }

    /// `state["x"]`; `None` where the operand is a value.
    fn index_in_template(&mut self, operand: &Expr, index: &Expr) -> Option<Type> {
        let is_state = matches!(&operand.kind, ExprKind::Ident(name) if name == "state")
            && self.scope.state.is_some()
            && self.named("state").is_none();
        match &index.kind {
            _ if !is_state => None,
            ExprKind::Literal(Literal::String(name)) => {
                let field = Name::new(name.to_string(), index.span);
                let found = self.scope.field(name).map(|(_, ty)| ty.clone());
                Some(found.unwrap_or_else(|| self.unknown_state_field(&field)))
            }
            _ => {
                self.expr(index, None);
                Some(Type::Json)
            }
        }
    }

    /// CEL takes any whole number as the index of a list.
    fn check_index(&mut self, index: &Expr) {
        let found = self.expr(index, Some(&Type::Int));
        if !matches!(
            found,
            Type::Int | Type::Uint | Type::Json | Type::Error | Type::Never
        ) {
            self.mismatch(index, &found, &Type::Int);
        }
    }

    fn json_index(&mut self, index: &Expr) {
        let found = self.expr(index, None);
        let is_key = matches!(
            found,
            Type::Int
                | Type::Uint
                | Type::String
                | Type::Literal(_)
                | Type::Enum(_)
                | Type::Json
                | Type::Error
                | Type::Never
        );
        if !is_key {
            self.mismatch(index, &found, &Type::String);
        }
    }
}
