//! Defaults of record fields as JSON, in the order in which they need each other.

use std::collections::HashMap;

use serde_json::Value as Json;

use crate::ast::Name;
use crate::ast::expr::{Expr, ExprKind};
use crate::base::Span;
use crate::diag::{Diagnostic, codes};
use crate::expr::infer::default_value;
use crate::expr::ty::RecordId;

use super::super::order::behind_what_they_name;
use super::super::program::RecordDecl;
use super::super::{Resolver, State};

/// Most values that a default takes from defaults of other records. Where each record holds two of the one before, they
/// double with each line.
const MOST_TAKEN: usize = 1_000;

/// How deep a default may nest, so that readers of JSON, who take 128 levels, can take it with what is around it.
const MOST_LEVELS: usize = 100;

/// The records, and how far each is.
struct Records<'d> {
    decls: &'d [RecordDecl],
    /// Where a record is declared, or the one that it is a copy of.
    places: HashMap<RecordId, usize>,
    /// The copies of a record under other names.
    copies: HashMap<RecordId, Vec<RecordId>>,
    /// Whether its defaults go beyond a bound, or need some that do.
    states: Vec<State<bool>>,
}

impl Resolver<'_> {
    /// Fills in the defaults of all records, and of their copies. A literal in a default takes the defaults of its own
    /// record, so those come first; a default that needs itself has no end and is reported.
    pub fn record_defaults(&mut self) {
        let decls = std::mem::take(&mut self.program.records);
        let own = decls.iter().enumerate().map(|(at, decl)| (decl.id, at));
        let mut records = Records {
            decls: &decls,
            places: own.collect(),
            copies: HashMap::new(),
            states: decls.iter().map(|_| State::Open).collect(),
        };
        for (copy, original) in std::mem::take(&mut self.record_copies) {
            if let Some(at) = records.places.get(&original).copied() {
                records.places.insert(copy, at);
            }
            records.copies.entry(original).or_default().push(copy);
        }
        for index in 0..decls.len() {
            behind_what_they_name(
                index,
                &mut (&mut *self, &mut records),
                |(resolver, records), index| {
                    let defaults = records.decls[index].fields.iter();
                    let defaults = defaults.filter_map(|field| field.default.as_ref());
                    let begun = records.states[index].begin();
                    let records = &**records;
                    begun.then(|| defaults.flat_map(|e| resolver.needed(e, records)).collect())
                },
                |(resolver, records), index| {
                    records.states[index] = State::Done(resolver.fill(index, records));
                },
            );
        }
        self.program.records = decls;
    }

    /// Where the records are declared whose literals stand in a default.
    fn needed(&self, default: &Expr, records: &Records) -> Vec<usize> {
        let mut found = Vec::new();
        let mut open = vec![default];
        while let Some(expr) = open.pop() {
            if let ExprKind::Record { name, .. } = &expr.kind {
                let id = self.program.types.record_named(&name.node);
                found.extend(id.and_then(|id| records.places.get(&id)));
            }
            expr.each_part(|part| open.push(part));
        }
        found
    }

    /// Writes the defaults of a record, and of its copies, into the table. Whether one goes beyond a bound.
    fn fill(&mut self, index: usize, records: &Records) -> bool {
        let decl = &records.decls[index];
        let mut any_beyond = false;
        for (i, param) in decl.fields.iter().enumerate() {
            let Some(default) = &param.default else {
                continue;
            };
            let needed = self.needed(default, records);
            let mut states = needed.iter().map(|at| &records.states[*at]);
            // Some value, so that it isn't missing where the record is made.
            let mut value = Some(Json::Null);
            if states.clone().any(|state| !matches!(state, State::Done(_))) {
                let message = format!("the default of `{}` needs itself", param.name.node);
                self.diags.push(Diagnostic::new(
                    &codes::CIRCULAR_TYPE,
                    message,
                    default.span,
                ));
            } else if states.any(|state| matches!(state, State::Done(true))) {
                any_beyond = true;
            } else {
                value = default_value(default, &param.ty.node, &self.program.types);
                if let Some(beyond) = value.as_ref().and_then(|value| beyond(default, value)) {
                    // Of several that go beyond a bound the first is enough.
                    if !any_beyond {
                        self.beyond(&param.name, default.span, &beyond);
                    }
                    any_beyond = true;
                    value = Some(Json::Null);
                }
            }
            if let Some(field) = self.program.types.records[decl.id].fields.get_mut(i) {
                field.default = value;
            }
        }
        for copy in records.copies.get(&decl.id).into_iter().flatten() {
            let fields = self.program.types.records[decl.id].fields.clone();
            self.program.types.records[*copy].fields = fields;
        }
        any_beyond
    }

    fn beyond(&mut self, field: &Name, span: Span, beyond: &str) {
        let message = format!("the default of `{}` {beyond}", field.node);
        let help = "leave this default out, or one of those that it takes, and give the value where one is made";
        self.report(&codes::LIMIT_EXCEEDED, message, span, help);
    }
}

/// Which bound a default goes beyond. What is written in it itself counts for nothing.
fn beyond(default: &Expr, value: &Json) -> Option<String> {
    let mut written = 0;
    let mut open = vec![default];
    while let Some(expr) = open.pop() {
        written += 1;
        expr.each_part(|part| open.push(part));
    }
    let mut values = 0;
    let mut open = vec![(value, 1)];
    while let Some((value, level)) = open.pop() {
        values += 1;
        if level > MOST_LEVELS {
            return Some(format!("nests more than {MOST_LEVELS} levels deep"));
        }
        match value {
            Json::Array(items) => open.extend(items.iter().map(|item| (item, level + 1))),
            Json::Object(entries) => open.extend(entries.values().map(|item| (item, level + 1))),
            _ => {}
        }
    }
    (values > written + MOST_TAKEN)
        .then(|| format!("takes more than {MOST_TAKEN} values from defaults of records"))
}
