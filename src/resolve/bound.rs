//! Attributes of fields: `@min @max @len @pattern @alias` bound values that enter from outside, `@desc`
//! describes.

use crate::ast::expr::{Expr, ExprKind, Literal};
use crate::ast::ty::Attribute;
use crate::diag::{Diagnostic, codes};
use crate::expr::constraint::Constraints;
use crate::expr::ty::Type;

use super::Resolver;
use super::mark::Place;
use super::names::Seen;
use super::setting::{integer, number};

/// Attributes of a field.
const KNOWN: [&str; 6] = ["min", "max", "len", "pattern", "desc", "alias"];

/// What the attributes of a field come to.
#[derive(Default)]
pub(super) struct Bounds {
    /// The bounds.
    pub constraints: Constraints,
    /// `@desc("..")`, in place of the doc comment.
    pub doc: Option<String>,
}

impl Resolver<'_> {
    /// The bounds of a field of that type. Where values never come from outside, bounds would
    /// mean nothing and are refused.
    pub fn bounds(
        &mut self,
        attributes: &[Attribute],
        ty: &Type,
        outside: bool,
        place: Place,
    ) -> Bounds {
        let mut bounds = Bounds::default();
        let mut seen = Seen::default();
        for attribute in attributes {
            let word = attribute.name.node.as_str();
            if !self.given_once(&mut seen, &attribute.name) || self.no_bound(attribute, place) {
                continue;
            }
            if !KNOWN.contains(&word) {
                let marks = place.marks();
                let all: Vec<&str> = KNOWN.iter().chain(marks).copied().collect();
                self.refuse_attribute(attribute, &all);
            } else if word == "desc" {
                bounds.doc = self.text_argument(attribute);
            } else if !outside {
                let what = format!("`@{word}` on values that do not come from outside");
                self.diags.push(super::unsupported(&what, attribute.span));
            } else {
                self.constrain(&mut bounds.constraints, attribute, ty);
            }
        }
        self.leave_nothing(&bounds.constraints, attributes);
        bounds
    }

    /// A least value above the greatest.
    fn leave_nothing(&mut self, constraints: &Constraints, attributes: &[Attribute]) {
        let (Some(min), Some(max)) = (&constraints.min, &constraints.max) else {
            return;
        };
        let crossed = min.as_f64().zip(max.as_f64()).is_some_and(|(a, b)| a > b);
        let bounds = attributes.iter();
        let mut bounds = bounds.filter(|a| matches!(a.name.node.as_str(), "min" | "max"));
        if let Some((first, second)) = bounds.next().zip(bounds.next()).filter(|_| crossed) {
            let message = format!("no value is within `@min({min})` and `@max({max})`");
            self.diags.push(
                Diagnostic::new(&codes::BAD_VALUE, message, second.span)
                    .label(first.span, "the other bound")
                    .help("swap the two"),
            );
        }
    }

    fn constrain(&mut self, constraints: &mut Constraints, attribute: &Attribute, ty: &Type) {
        let of = ty.without_null();
        let is_number = matches!(of, Type::Int | Type::Float | Type::Error);
        let is_text = matches!(of, Type::String | Type::Error);
        let has_length = is_text || matches!(of, Type::List(_) | Type::Map(_));
        match attribute.name.node.as_str() {
            "min" if is_number => constraints.min = self.number_argument(attribute),
            "max" if is_number => constraints.max = self.number_argument(attribute),
            "len" if has_length => constraints.len = self.length_arguments(attribute),
            "pattern" if is_text => constraints.pattern = self.pattern_argument(attribute),
            "alias" => constraints.alias = self.text_argument(attribute),
            word => {
                let needs = match word {
                    "len" => "a text, list or map",
                    "pattern" => "a text",
                    _ => "a number",
                };
                let shown = self.program.types.show(ty).to_string();
                let message = format!("`@{word}` needs {needs}, but this is `{shown}`");
                self.bad_value(message, attribute.span);
            }
        }
    }

    fn number_argument(&mut self, attribute: &Attribute) -> Option<serde_json::Number> {
        let found = match attribute.args.as_slice() {
            [argument] => match integer(argument) {
                Some(number) => Some(number.into()),
                None => number(argument).and_then(serde_json::Number::from_f64),
            },
            _ => None,
        };
        self.or_wrong(attribute, found, "a number, as in `@min(0)`")
    }

    fn length_arguments(&mut self, attribute: &Attribute) -> Option<(u64, u64)> {
        let count = |e: &Expr| integer(e).and_then(|n| u64::try_from(n).ok());
        let found = match attribute.args.as_slice() {
            [least, most] => count(least).zip(count(most)),
            _ => None,
        };
        let found = found.filter(|(least, most)| least <= most);
        self.or_wrong(
            attribute,
            found,
            "the least and the greatest length, as in `@len(1, 80)`",
        )
    }

    fn pattern_argument(&mut self, attribute: &Attribute) -> Option<String> {
        let pattern = self.text_argument(attribute)?;
        if let Err(message) = crate::expr::function::pattern::regex(&pattern) {
            let help = "a character that has a meaning there stands for itself behind a backslash: `\\\\(`";
            self.report(&codes::BAD_REGEX, message, attribute.span, help);
            return None;
        }
        Some(pattern)
    }

    pub(super) fn text_argument(&mut self, attribute: &Attribute) -> Option<String> {
        let found = match attribute.args.as_slice() {
            [argument] => match &argument.kind {
                ExprKind::Literal(Literal::String(text)) => Some(text.to_string()),
                _ => None,
            },
            _ => None,
        };
        self.or_wrong(attribute, found, "one text")
    }

    /// What the arguments of an attribute are; reported where they are none that it `needs`.
    pub(super) fn or_wrong<T>(
        &mut self,
        attribute: &Attribute,
        found: Option<T>,
        needs: &str,
    ) -> Option<T> {
        if found.is_none() {
            let message = format!("`@{}` needs {needs}", attribute.name.node);
            self.bad_value(message, attribute.span);
        }
        found
    }
}
