//! Literals: primitive ones, lists and maps. Record literals are in [`record`](super::record).

use std::collections::HashMap;

use crate::ast::expr::{Element, Entry, Expr, ExprKind, Literal};
use crate::base::Span;
use crate::diag::{Diagnostic, Fact, Home, codes};

use super::super::ty::{MESSAGE, RUN, RecordId, Type};
use super::checker::Checker;
use super::join::join;
use super::record::{Given, MADE_BY};

impl Checker<'_> {
    pub(super) fn literal(literal: &Literal) -> Type {
        match literal {
            Literal::Null => Type::Null,
            Literal::Bool(_) => Type::Bool,
            Literal::Int(_) => Type::Int,
            Literal::UInt(_) => Type::Uint,
            Literal::Float(_) => Type::Float,
            Literal::String(text) => Type::Literal(text.clone()),
            Literal::Bytes(_) => Type::Bytes,
        }
    }

    pub(super) fn list(&mut self, elements: &[Element], hint: Option<&Type>) -> Type {
        let of = hint.and_then(|hint| {
            within(hint, |ty| match ty {
                Type::List(of) => Some((**of).clone()),
                Type::Json => Some(Type::Json),
                _ => None,
            })
        });
        let mut all = Type::Never;
        for element in elements {
            let found = self.part(&element.value, element.optional, of.as_ref());
            all = join(&all, &found, self.types);
        }
        match (of, all) {
            // Its elements are checked one by one, each with its own message.
            (Some(of), Type::Error) => Type::list(of),
            (_, all) => Type::list(all),
        }
    }

    /// The type of an element; with `?` before it, of what its optional holds.
    fn part(&mut self, value: &Expr, optional: bool, expected: Option<&Type>) -> Type {
        if !optional {
            return self.infer(value, expected);
        }
        let expected = expected.map(|ty| Type::optional(ty.clone()));
        match self.infer(value, expected.as_ref()) {
            Type::Optional(of) => (*of).clone(),
            Type::Error => Type::Error,
            other => {
                let message = format!("`?` needs an optional, found {}", self.show(&other));
                self.error(&codes::TYPE_MISMATCH, message, value.span)
            }
        }
    }

    pub(super) fn map(&mut self, expr: &Expr, entries: &[Entry], hint: Option<&Type>) -> Type {
        if let Some(id) = hint.and_then(|hint| within(hint, record_of)) {
            return self.map_as_record(expr, entries, id);
        }
        let of = hint.and_then(|hint| {
            within(hint, |ty| match ty {
                Type::Map(of) => Some((**of).clone()),
                Type::Json => Some(Type::Json),
                _ => None,
            })
        });
        let mut all = Type::Never;
        self.keys_twice(entries);
        for entry in entries {
            self.key(&entry.key);
            let found = self.part(&entry.value, entry.optional, of.as_ref());
            all = join(&all, &found, self.types);
        }
        match (of, all) {
            (Some(of), Type::Error) => Type::map(of),
            (_, all) => Type::map(all),
        }
    }

    fn key(&mut self, key: &Expr) {
        if let ExprKind::Ident(bare) = &key.kind
            && self.named(bare).is_none()
            && bare != "state"
        {
            let message = format!("`{bare}` is a name, and keys of a map are texts");
            self.report(
                Diagnostic::new(&codes::UNKNOWN_NAME, message, key.span)
                    .unknown(bare, Home::Scope(None))
                    .help(format!("write `\"{bare}\"`"))
                    .fix(key.span, format!("{bare:?}")),
            );
            return;
        }
        let found = self.expr(key, None);
        if matches!(found, Type::Bool | Type::Int | Type::Uint) {
            return;
        }
        if !super::relation::assignable(&found, &Type::String, self.types) && found != Type::Json {
            self.mismatch(key, &found, &Type::String);
        }
    }

    /// `{ name: .. }` where the name of the record belongs before the brace.
    fn unnamed_record(&mut self, expr: &Expr, entry: &Entry, key: &str, id: RecordId) {
        let name = self.types.records.get(id).map_or("", |record| &record.name);
        let message =
            format!("`{key}` is a name, and keys of a map are texts; `{name}` is expected here");
        let found = Diagnostic::new(&codes::TYPE_MISMATCH, message, entry.key.span);
        // Names of records that the language, a graph or a node has for itself can't be written.
        let plain = id > RUN && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let start = expr.span.before();
        self.report(match plain {
            _ if id == MESSAGE => found.help(MADE_BY).fact(Fact::Foreign),
            true => found
                .help(format!("write the record: `{name} {{ {key}: .. }}`"))
                .fix(start, format!("{name} ")),
            false => found.help(format!("write the key as a text: `{{ \"{key}\": .. }}`")),
        });
    }

    /// Keys that are written out twice: a map has each once, and one that is made with two fails.
    fn keys_twice(&mut self, entries: &[Entry]) {
        let mut seen: HashMap<&str, Span> = HashMap::new();
        for entry in entries {
            let ExprKind::Literal(Literal::String(key)) = &entry.key.kind else {
                continue;
            };
            if let Some(first) = seen.insert(key, entry.key.span) {
                let message = format!("key `{key:?}` is given twice");
                self.report(
                    Diagnostic::new(&codes::DUPLICATE_FIELD, message, entry.key.span)
                        .here("given again")
                        .label(first, "first given here")
                        .help("keep one of the two"),
                );
            }
        }
    }

    /// `{"a": 1}` where a record is expected: its keys must be written out and fit.
    fn map_as_record(&mut self, expr: &Expr, entries: &[Entry], id: RecordId) -> Type {
        let mut given = Vec::new();
        let mut known = true;
        for entry in entries {
            let ExprKind::Literal(Literal::String(key)) = &entry.key.kind else {
                let ExprKind::Ident(bare) = &entry.key.kind else {
                    self.expr(&entry.value, None);
                    let name = self.show(&Type::Record(id));
                    let message = format!("a key of {name} must be written out as text");
                    self.error(&codes::TYPE_MISMATCH, message, entry.key.span);
                    known = false;
                    continue;
                };
                // One mistake, however many fields there are.
                if known {
                    self.unnamed_record(expr, entry, bare, id);
                }
                known = false;
                given.push(Given {
                    name: bare.clone(),
                    span: entry.key.span,
                    value: &entry.value,
                    optional: entry.optional,
                    quoted: false,
                });
                continue;
            };
            given.push(Given {
                name: key.to_string(),
                span: entry.key.span,
                value: &entry.value,
                optional: entry.optional,
                // The name is quoted, so a fix of it is too.
                quoted: true,
            });
        }
        self.fields(id, &given);
        if known {
            self.missing_entries(expr.span, id, &given);
        }
        Type::Record(id)
    }
}

fn record_of(ty: &Type) -> Option<RecordId> {
    match ty {
        Type::Record(id) => Some(*id),
        _ => None,
    }
}

/// The first part of an expected type (below `?` and `|`) that a literal can take its shape from.
fn within<T>(hint: &Type, wanted: impl Fn(&Type) -> Option<T> + Copy) -> Option<T> {
    match hint {
        Type::Nullable(of) | Type::Optional(of) => within(of, wanted),
        Type::Union(members) => members.iter().find_map(wanted),
        other => wanted(other),
    }
}
