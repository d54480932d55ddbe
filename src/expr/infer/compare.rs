//! `==`, `!=`, `<` and the like, `in`; and comparisons that can never be true.

use crate::ast::expr::{BinaryOp, Expr, ExprKind, Literal, UnaryOp};
use crate::base::Spanned;
use crate::base::name::{closest, either};
use crate::diag::{Diagnostic, Fact, codes};

use super::super::operator as operators;
use super::super::ty::Type;
use super::checker::Checker;
use super::join::widen;
use super::operator::is_simple;
use super::path::{access_path, path};
use super::relation::{Texts, assignable, overlaps, texts};
use super::usage::named;

impl Checker<'_> {
    pub(super) fn equality(
        &mut self,
        expr: &Expr,
        op: &Spanned<BinaryOp>,
        left: &Expr,
        right: &Expr,
    ) -> Type {
        let a = self.compared(left, right);
        let b = self.compared(right, left);
        // What a template shows may stand in several places, in some of which null is ruled out already.
        let guards = self.template && (a == Type::Null || b == Type::Null);
        if guards {
            return Type::Bool;
        }
        if !overlaps(&a, &b, self.types) {
            self.never_equal(expr, op.node == BinaryOp::NotEqual, (left, &a), (right, &b));
        } else if self.is_text_for_enum(&a, &b, right) || self.is_text_for_enum(&b, &a, left) {
            let (text, of) = match matches!(b, Type::Literal(_)) {
                true => (right, &a),
                false => (left, &b),
            };
            let literal = if std::ptr::eq(text, right) { &b } else { &a };
            self.mismatch(text, &literal.clone(), &of.without_null());
        }
        Type::Bool
    }

    /// A comparison with `null` or a text is judged by the declared type: a second guard is no mistake.
    fn compared(&mut self, side: &Expr, other: &Expr) -> Type {
        let literal = matches!(
            other.kind,
            ExprKind::Literal(Literal::Null | Literal::String(_))
        );
        let Some(place) = access_path(side).filter(|_| literal) else {
            return self.expr(side, None);
        };
        let narrowed = self.expr(side, None);
        let known = self.known.clone();
        self.known.forget(&place);
        self.known.anything = false;
        let declared = self.silent(side);
        self.known = known;
        match narrowed {
            Type::Error => Type::Error,
            _ => declared,
        }
    }

    /// Whether one side is an enum and the other a text written out, which should be a member.
    fn is_text_for_enum(&self, of: &Type, text: &Type, written: &Expr) -> bool {
        !self.template
            && matches!(of.without_null(), Type::Enum(_))
            && matches!(text, Type::Literal(_))
            && matches!(written.kind, ExprKind::Literal(_))
    }

    fn never_equal(
        &mut self,
        expr: &Expr,
        negated: bool,
        (left, a): (&Expr, &Type),
        (right, b): (&Expr, &Type),
    ) {
        let always = if negated { "always" } else { "never" };
        let message = match (a, b) {
            (Type::Null, other) | (other, Type::Null) => {
                let side = if *a == Type::Null { right } else { left };
                let other = named(side, &self.show(other));
                format!("this is {always} true: {other} is never null")
            }
            _ => format!(
                "this is {always} true: {} and {} have no value in common",
                named(left, &self.show(a)),
                named(right, &self.show(b))
            ),
        };
        let help = self.meant(a, b).or_else(|| self.meant(b, a)).or_else(|| {
            let wrapped = |ty: &Type| matches!(ty, Type::Optional(_));
            (wrapped(a) != wrapped(b))
                .then(|| "give the optional a default: `.orValue(..)`".to_owned())
        });
        let plain = match (a, b) {
            (Type::Null, _) | (_, Type::Null) => "take the comparison out".to_owned(),
            (Type::Bool, _) => match path(left) {
                Some(of) => format!("it is true or false by itself: write `{of}` or `!{of}`"),
                None => "it is true or false by itself: take the comparison out".to_owned(),
            },
            _ => match self.field_to_compare((left, a), b) {
                Some(field) => {
                    let sign = if negated { "!=" } else { "==" };
                    format!(
                        "compare its field: `{field} {sign} {}`",
                        self.show(b).trim_matches('`')
                    )
                }
                None => format!("compare it with a value of type {}", self.show(a)),
            },
        };
        let help = help.unwrap_or(plain);
        let found = Diagnostic::new(&codes::NEVER_EQUAL, message, expr.span).help(help);
        let found = self.with_types(found, &[(left, a), (right, b)]);
        self.report(found);
    }

    /// The first field of a record that may have the value that it is compared with: `error.kind`.
    fn field_to_compare(&self, (left, a): (&Expr, &Type), b: &Type) -> Option<String> {
        let Type::Record(id) = a.without_null() else {
            return None;
        };
        let of = path(left)?;
        let record = self.types.records.get(id)?;
        let mut fields = record
            .fields
            .iter()
            .filter(|field| assignable(b, &field.ty, self.types));
        let field = fields.next()?;
        Some(format!("{of}.{}", field.name))
    }

    /// Labels operands with their types, those written out left aside.
    pub(super) fn with_types(&self, found: Diagnostic, operands: &[(&Expr, &Type)]) -> Diagnostic {
        let named = operands
            .iter()
            .filter(|(expr, _)| !matches!(expr.kind, ExprKind::Literal(_)));
        named.fold(found, |found, (expr, ty)| {
            found.label(expr.span, format!("this is {}", self.show(ty)))
        })
    }

    /// What a text that isn't one of a type's texts may have meant.
    fn meant(&self, of: &Type, text: &Type) -> Option<String> {
        let Type::Literal(written) = text else {
            return None;
        };
        let of = of.without_null();
        let Some(Texts::Of(known)) = texts(&of, self.types) else {
            return None;
        };
        let show = |text: &str| match &of {
            Type::Enum(id) if !self.template => self
                .types
                .enums
                .get(*id)
                .map_or_else(String::new, |e| format!("{}.{text}", e.name)),
            _ => format!("{text:?}"),
        };
        Some(match closest(written, known.iter().copied()) {
            Some(near) => format!("did you mean `{}`?", show(near)),
            None => {
                let shown: Vec<String> = known.iter().map(|text| show(text)).collect();
                format!("it can be {}", either(shown.iter().map(String::as_str)))
            }
        })
    }

    pub(super) fn ordering(&mut self, op: &Spanned<BinaryOp>, left: &Expr, right: &Expr) -> Type {
        let sign = op.node.sign();
        let what = format!("`{sign}`");
        if self.denies_a_side(left) {
            self.non_null(right, &what);
            return Type::Error;
        }
        let a = self.non_null(left, &what);
        let b = self.non_null(right, &what);
        let error = matches!(a, Type::Error) || matches!(b, Type::Error);
        let known = || operators::binary(op.node, &a, &b).is_some();
        if error || (ordered(&a) && ordered(&b) && known()) {
            return Type::Bool;
        }
        let shown = |expr, ty: &Type| named(expr, &self.show(&widen(ty.clone())));
        let (shown_a, shown_b) = (shown(left, &a), shown(right, &b));
        let message = match ordered(&a) && ordered(&b) {
            true => format!("`{sign}` does not go with {shown_a} and {shown_b}"),
            false => {
                let odd = if ordered(&a) { &shown_b } else { &shown_a };
                format!("`{sign}` needs numbers, texts, times or bools, found {odd}")
            }
        };
        let found = Diagnostic::new(&codes::TYPE_MISMATCH, message, op.span);
        let found = self.with_types(found, &[(left, &a), (right, &b)]);
        let members = matches!(a, Type::Enum(_)) || matches!(b, Type::Enum(_));
        self.report(match members {
            true => found.help(NO_RANKS),
            false => found,
        });
        Type::Bool
    }

    /// `!state.n > 1`: the sign before the whole comparison was meant, and holds for its left side alone.
    fn denies_a_side(&mut self, left: &Expr) -> bool {
        let ExprKind::Unary(UnaryOp::Not, inner) = &left.kind else {
            return false;
        };
        if !is_simple(inner) {
            return false;
        }
        let reported = self.diags.len();
        let ty = self.expr(inner, None).without_null();
        self.diags.truncate(reported);
        if ty == Type::Bool || !ordered(&ty) {
            return false;
        }
        let shown = named(inner, &self.show(&ty));
        let message = format!("`!` holds for the left side alone, found {shown}");
        let found = Diagnostic::new(&codes::TYPE_MISMATCH, message, inner.span);
        self.report(found.help("put what is denied in parentheses: `!(a > b)`"));
        true
    }

    pub(super) fn membership(&mut self, expr: &Expr, item: &Expr, of: &Expr) -> Type {
        let found = self.expr(item, None);
        let container = self.expr(of, None);
        if matches!(container, Type::Nullable(_)) && holds(&container.without_null()) {
            let message = format!("{}, which `in` does not take", self.may_be_null(of));
            self.null_not_handled(of, message, None);
        }
        match container.without_null() {
            Type::List(_) if matches!(of.kind, ExprKind::List(_)) => {
                self.member_of_written((item, &found), of);
            }
            Type::List(elements) => self.member_of(expr, (item, &found), (of, &elements)),
            Type::Map(_) | Type::Record(_) => {
                self.member_of(expr, (item, &found), (of, &Type::String));
            }
            Type::Json | Type::Error | Type::Never => {}
            Type::String | Type::Literal(_) | Type::Enum(_) if self.template => {}
            Type::Union(_) if self.template => {}
            other => {
                let help = match other {
                    Type::String | Type::Literal(_) => {
                        Some("to look for text in a text, write `text.contains(part)`".to_owned())
                    }
                    _ => None,
                };
                let message = format!("`in` needs a list or a map, found {}", self.show(&other));
                let found = Diagnostic::new(&codes::TYPE_MISMATCH, message, of.span);
                self.report(found.maybe_help(help).fact(Fact::Foreign));
            }
        }
        Type::Bool
    }

    /// Elements that are written out are compared one by one.
    fn member_of_written(&mut self, (item, found): (&Expr, &Type), of: &Expr) {
        let ExprKind::List(elements) = &of.kind else {
            return;
        };
        for element in elements.iter().filter(|e| !e.optional) {
            let ty = self.silent(&element.value);
            if self.is_text_for_enum(&ty, found, item) {
                self.mismatch(item, found, &ty.without_null());
                return;
            }
            if self.is_text_for_enum(found, &ty, &element.value) {
                self.mismatch(&element.value, &ty, &found.without_null());
            } else if !overlaps(found, &ty, self.types) {
                let help = self.meant(found, &ty);
                let message = format!(
                    "this is never found: {} and {} have no value in common",
                    named(item, &self.show(found)),
                    self.show(&ty)
                );
                self.report(
                    Diagnostic::new(&codes::NEVER_EQUAL, message, element.value.span)
                        .maybe_help(help),
                );
            }
        }
    }

    fn member_of(
        &mut self,
        expr: &Expr,
        (item, found): (&Expr, &Type),
        (of, elements): (&Expr, &Type),
    ) {
        if overlaps(found, elements, self.types) {
            if self.is_text_for_enum(elements, found, item) {
                self.mismatch(item, found, &elements.without_null());
            }
            return;
        }
        let help = self.meant(elements, found);
        let message = format!(
            "this is never true: no {} is among elements of type {}",
            named(item, &self.show(found)),
            named(of, &self.show(elements))
        );
        let elements = self.show(elements);
        self.report(
            Diagnostic::new(&codes::NEVER_EQUAL, message, expr.span)
                .label(of.span, format!("holds {elements}"))
                .maybe_help(help),
        );
    }
}

/// What to write in place of `level > Level.low`.
pub(in crate::expr) const NO_RANKS: &str =
    "members of an enum have no order: ask for those that are meant, `x in [..]`";

/// Whether `in` can look into values of the type.
fn holds(ty: &Type) -> bool {
    matches!(ty, Type::List(_) | Type::Map(_) | Type::Record(_))
}

/// Whether `<` is defined on values of the type.
pub(super) fn ordered(ty: &Type) -> bool {
    match ty {
        Type::Error => true,
        // Its members are no ranks: `Level.high < Level.low` would compare their names.
        Type::Enum(_) => false,
        Type::Union(members) => members.iter().all(ordered),
        ty => operators::binary(BinaryOp::Less, ty, ty).is_some(),
    }
}
