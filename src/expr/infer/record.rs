//! Record literals: `Doc { id: "x" }`, and `r.with({..})`, which changes fields of one.

use std::collections::{HashMap, HashSet};

use crate::ast::Name;
use crate::ast::expr::{Expr, RecordField as Written};
use crate::base::Span;
use crate::base::name::{closest, list};
use crate::diag::{Diagnostic, Fact, Home, codes};

use super::super::ty::{MESSAGE, RecordField, RecordId, Type};
use super::checker::{Checker, Taker};

/// A field as written in a literal.
pub(super) struct Given<'e> {
    pub name: String,
    pub span: Span,
    pub value: &'e Expr,
    pub optional: bool,
    pub quoted: bool,
}

/// How messages are written: their record has no literal.
pub(super) const MADE_BY: &str =
    "messages are made by `user(..)`, `assistant(..)`, `system(..)` and `tool(..)`";

impl Checker<'_> {
    pub(super) fn record(&mut self, name: &Name, fields: &[Written]) -> Type {
        let Some(id) = self.record_named(name) else {
            for field in fields {
                self.expr(&field.value, None);
            }
            return self.unknown_type(name);
        };
        let given: Vec<Given> = fields
            .iter()
            .map(|field| Given {
                name: field.name.node.clone(),
                span: field.name.span,
                value: &field.value,
                optional: field.optional,
                quoted: false,
            })
            .collect();
        self.fields(id, &given);
        self.missing_fields(name.span, id, &given);
        Type::Record(id)
    }

    fn record_named(&self, name: &str) -> Option<RecordId> {
        self.types.record_named(name)
    }

    fn unknown_type(&mut self, name: &Name) -> Type {
        let near = closest(name, self.types.records.iter().map(|r| r.name.as_str()));
        self.report(
            Diagnostic::new(
                &codes::UNKNOWN_NAME,
                format!("no record type `{}`", name.node),
                name.span,
            )
            .unknown(&name.node, Home::Items)
            .near(near)
            .maybe_help(near.map(|n| format!("did you mean `{n}`?"))),
        )
    }

    /// Checks the fields that are given: known, once each, of their type.
    pub(super) fn fields(&mut self, id: RecordId, given: &[Given]) {
        let Some(record) = self.types.records.get(id) else {
            return;
        };
        let mut seen: HashMap<&str, Span> = HashMap::new();
        for field in given {
            if let Some(first) = seen.get(field.name.as_str()).copied() {
                let message = format!("field `{}` is given twice", field.name);
                self.report(
                    Diagnostic::new(&codes::DUPLICATE_FIELD, message, field.span)
                        .here("given again")
                        .label(first, "first given here")
                        .help("keep one of the two"),
                );
            }
            seen.entry(&field.name).or_insert(field.span);
            let Some(declared) = record.field(&field.name) else {
                self.expr(field.value, None);
                self.unknown_given(id, field);
                continue;
            };
            let outer = self.taker.replace(Taker {
                what: format!("`{}`", field.name),
                verb: "takes",
                part: false,
                declared: None,
                of: Some(id),
            });
            match field.optional {
                true => self.check(field.value, &Type::optional(declared.ty.clone())),
                false => self.check(field.value, &declared.ty),
            };
            self.taker = outer;
        }
    }

    fn unknown_given(&mut self, id: RecordId, field: &Given) {
        let Some(record) = self.types.records.get(id) else {
            return;
        };
        let names = || record.fields.iter().map(|f| f.name.as_str());
        let message = format!("`{}` has no field `{}`", record.name, field.name);
        let known: Vec<&str> = names().collect();
        let mut found = Diagnostic::new(&codes::UNKNOWN_FIELD, message, field.span)
            .unknown(&field.name, Home::Record(id.0))
            .meant(field.span, &field.name, known, "its fields are");
        for edit in found.fix.iter_mut().filter(|_| field.quoted) {
            edit.text = format!("{:?}", edit.text);
        }
        self.report(found);
    }

    /// Reports fields that a value must have and the literal doesn't give.
    fn missing_fields(&mut self, span: Span, id: RecordId, given: &[Given]) {
        self.missing(span, id, given, RecordField::required, None);
    }

    /// The same for a map that stands for a record: nothing fills in what it leaves out.
    pub(super) fn missing_entries(&mut self, span: Span, id: RecordId, given: &[Given]) {
        let name = self.types.records.get(id).map_or("", |r| &r.name);
        let help = match id {
            MESSAGE => MADE_BY.to_owned(),
            _ => format!("`{name} {{ .. }}` fills in defaults and null, a map does not"),
        };
        self.missing(span, id, given, |_| true, Some(help));
    }

    fn missing(
        &mut self,
        span: Span,
        id: RecordId,
        given: &[Given],
        wanted: fn(&RecordField) -> bool,
        help: Option<String>,
    ) {
        let Some(record) = self.types.records.get(id) else {
            return;
        };
        let names: HashSet<&str> = given.iter().map(|f| f.name.as_str()).collect();
        let unknown = || names.iter().filter(|name| record.field(name).is_none());
        let unknown: Vec<&str> = unknown().copied().collect();
        let is_given =
            |name: &str| names.contains(name) || unknown.iter().any(|written| near(written, name));
        let missing: Vec<&str> = record
            .fields
            .iter()
            .filter(|f| wanted(f) && !is_given(&f.name))
            .map(|f| f.name.as_str())
            .collect();
        // A field under another name is likely what is missing.
        if missing.len() > unknown.len() {
            let word = if missing.len() == 1 {
                "field"
            } else {
                "fields"
            };
            let first = missing.first().copied().unwrap_or_default();
            let give = format!("give it a value: `{} {{ {first}: .. }}`", record.name);
            let message = format!("`{}` lacks the {word} {}", record.name, list(missing));
            let found = Diagnostic::new(&codes::MISSING_FIELD, message, span);
            let found = found.help(help.unwrap_or(give));
            self.report(match id {
                MESSAGE => found.fact(Fact::Foreign),
                _ => found,
            });
        }
    }
}

/// Whether an unknown field was meant to be this one: then it isn't reported as missing as well.
fn near(written: &str, name: &str) -> bool {
    closest(written, [name]).is_some()
}
