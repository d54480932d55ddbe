//! Types, fields and attributes.

use crate::ast::expr::{Expr, ExprKind, Literal};
use crate::ast::ty::{Attribute, Field, TypeExpr, TypeKind};
use crate::base::Spanned;
use crate::base::foreign::{self, ty::Kind};
use crate::diag::{Diagnostic, codes};

use super::build::Builder;
use super::grammar::{Pair, Rule};
use super::text::Quoted;

impl Builder<'_> {
    /// A type.
    pub fn type_expr(&mut self, pair: Pair) -> TypeExpr {
        let span = self.span(&pair);
        let mut members: Vec<TypeExpr> = pair
            .into_inner()
            .filter_map(|member| self.type_member(member))
            .collect();
        match members.pop() {
            Some(only) if members.is_empty() => only,
            last => {
                members.extend(last);
                TypeExpr {
                    kind: TypeKind::Union(members),
                    span,
                }
            }
        }
    }

    /// A member of a union, with its `?`.
    fn type_member(&mut self, pair: Pair) -> Option<TypeExpr> {
        let span = self.span(&pair);
        let mut parts = pair.into_inner();
        let first = parts.next()?;
        let mut ty = match first.as_rule() {
            Rule::string => {
                let span = self.word_span(&first);
                let text = self.decoder(span).string(&Quoted::new(first.as_str()));
                TypeExpr {
                    kind: TypeKind::Literal(text),
                    span,
                }
            }
            Rule::type_expr => self.type_expr(first),
            _ => TypeExpr {
                kind: TypeKind::Name(first.as_str().to_owned()),
                span: self.word_span(&first),
            },
        };
        for part in parts {
            ty = match part.as_rule() {
                Rule::type_args => self.generic(ty, part)?,
                _ => TypeExpr {
                    kind: TypeKind::Optional(Box::new(ty)),
                    span,
                },
            };
        }
        Some(ty)
    }

    fn generic(&mut self, base: TypeExpr, args: Pair) -> Option<TypeExpr> {
        let span = base.span.to(self.span(&args));
        let args_span = self.span(&args);
        let TypeKind::Name(name) = base.kind else {
            return Some(base);
        };
        let args = args.into_inner().filter(|p| p.as_rule() == Rule::type_expr);
        let mut args: Vec<TypeExpr> = args.map(|a| self.type_expr(a)).collect();
        let Some(last) = args.pop() else {
            // That `list` and `map` lack a type is said where their names are looked up.
            if !matches!(name.as_str(), "list" | "map") {
                let message = format!("`{name}` takes no type in `<>`");
                self.diags
                    .push(Diagnostic::new(&codes::SYNTAX_ERROR, message, args_span));
            }
            return Some(TypeExpr {
                kind: TypeKind::Name(name),
                span: base.span,
            });
        };
        let kind = foreign::ty::kind(&name);
        if !args.is_empty() && matches!(kind, Some(Kind::Map | Kind::List)) {
            let here = match kind {
                Some(Kind::Map) => "map",
                _ => "list",
            };
            let end = last.span.end as usize;
            let of = self.text.get(last.span.start as usize..end).unwrap_or("..");
            let written = format!("{here}<{of}>");
            let message = format!("`{name}` takes one type");
            let found = Diagnostic::new(&codes::SYNTAX_ERROR, message, args_span);
            self.diags.push(match here {
                "map" => found
                    .help(format!("keys are always text: write `{written}`"))
                    .fix(span, written),
                _ => found.help(format!(
                    "write `{written}`, or declare a record: `type NAME {{ .. }}`"
                )),
            });
            return Some(TypeExpr {
                kind: TypeKind::Generic(Spanned::new(here.to_owned(), base.span), Box::new(last)),
                span,
            });
        }
        if !args.is_empty() {
            let message = format!("`{name}` takes one type");
            let found = Diagnostic::new(&codes::SYNTAX_ERROR, message, args_span);
            self.diags.push(found);
        }
        Some(TypeExpr {
            kind: TypeKind::Generic(Spanned::new(name, base.span), Box::new(last)),
            span,
        })
    }

    /// `name: T = default @attributes`
    pub fn field(&mut self, pair: Pair) -> Option<Field> {
        let (doc, span) = (self.doc(&pair), self.span(&pair));
        let mut parts = pair.into_inner();
        let name = self.name(&parts.next()?);
        let mut ty = None;
        let mut default = None;
        let mut attributes = Vec::new();
        for part in parts {
            match part.as_rule() {
                Rule::type_expr => ty = Some(self.type_expr(part)),
                Rule::expr => self.once(&mut default, "default", part, Self::expr),
                Rule::attribute => attributes.extend(self.attribute(part)),
                _ => {}
            }
        }
        Some(Field {
            doc,
            name,
            ty: ty?,
            default,
            attributes,
            span,
        })
    }

    /// Fills a slot that may be filled once; a second time is reported.
    pub fn once<'i, T>(
        &mut self,
        slot: &mut Option<T>,
        what: &str,
        pair: Pair<'i>,
        build: impl FnOnce(&mut Self, Pair<'i>) -> T,
    ) {
        let span = self.span(&pair);
        let value = build(self, pair);
        if slot.is_some() {
            let message = format!("a second {what} here");
            self.diags.push(
                Diagnostic::new(&codes::SYNTAX_ERROR, message, span).help("keep one of the two"),
            );
        } else {
            *slot = Some(value);
        }
    }

    /// The fields between braces.
    pub fn field_block(&mut self, pair: Pair) -> Vec<Field> {
        self.entries(pair.into_inner(), Rule::only_field, Self::field)
    }

    /// A type, or a record that is written in its place.
    pub fn answer_type(&mut self, pair: Pair) -> TypeExpr {
        let span = self.span(&pair);
        match pair.as_rule() {
            Rule::field_block => TypeExpr {
                kind: TypeKind::Record(self.field_block(pair)),
                span,
            },
            _ => self.type_expr(pair),
        }
    }

    /// Parameters between parentheses.
    pub fn params(&mut self, pair: Pair) -> Vec<Field> {
        pair.into_inner().filter_map(|p| self.field(p)).collect()
    }

    /// `@name(args)`
    pub fn attribute(&mut self, pair: Pair) -> Option<Attribute> {
        let span = self.span(&pair);
        let mut parts = pair.into_inner();
        let name = self.name(&parts.next()?);
        let args = parts.filter(|p| p.as_rule() != Rule::rparen);
        let args = args.map(|arg| self.attribute_arg(arg)).collect();
        Some(Attribute { name, args, span })
    }

    /// An expression; a duration is the call that makes one: `10s` is `duration("10s")`.
    fn attribute_arg(&mut self, pair: Pair) -> Expr {
        if pair.as_rule() != Rule::sure_duration {
            return self.expr(pair);
        }
        let span = self.word_span(&pair);
        if let Err(found) = super::literal::duration(pair.as_str(), span) {
            self.diags.push(*found);
        }
        let text = Expr {
            kind: ExprKind::Literal(Literal::String(pair.as_str().into())),
            span,
        };
        Expr {
            kind: ExprKind::Call {
                target: None,
                function: Spanned::new("duration".to_owned(), span),
                args: [text].into(),
            },
            span,
        }
    }
}
