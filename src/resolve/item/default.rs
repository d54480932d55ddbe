//! Defaults of record fields as JSON, in the order in which they need each other.

use std::collections::BTreeMap;

use serde_json::Value as Json;

use crate::ast::expr::{Expr, ExprKind};
use crate::diag::{Diagnostic, codes};
use crate::expr::infer::default_value;

use super::super::Resolver;
use super::super::program::RecordDecl;

/// How far the defaults of a record are.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Open,
    Busy,
    Done,
}

impl Resolver<'_> {
    /// Fills in the defaults of all records. A literal in a default takes the defaults of its own
    /// record, so those come first; a default that needs itself has no end and is reported.
    pub fn record_defaults(&mut self) {
        let decls = std::mem::take(&mut self.program.records);
        let by_name: BTreeMap<&str, usize> = decls
            .iter()
            .enumerate()
            .map(|(i, decl)| (decl.name.node.as_str(), i))
            .collect();
        let mut states = vec![State::Open; decls.len()];
        for index in 0..decls.len() {
            self.defaults_of(index, &decls, &by_name, &mut states);
        }
        self.program.records = decls;
    }

    fn defaults_of(
        &mut self,
        index: usize,
        decls: &[RecordDecl],
        by_name: &BTreeMap<&str, usize>,
        states: &mut [State],
    ) {
        states[index] = State::Busy;
        let decl = &decls[index];
        for (i, param) in decl.fields.iter().enumerate() {
            let Some(default) = &param.default else {
                continue;
            };
            let mut names = Vec::new();
            literals(default, &mut names);
            let mut circular = false;
            for needed in names.iter().filter_map(|name| by_name.get(name)) {
                match states[*needed] {
                    State::Open => self.defaults_of(*needed, decls, by_name, states),
                    State::Busy => circular = true,
                    State::Done => {}
                }
            }
            if circular {
                let message = format!("the default of `{}` needs itself", param.name.node);
                self.diags.push(Diagnostic::new(
                    &codes::CIRCULAR_TYPE,
                    message,
                    default.span,
                ));
            }
            let value = match circular {
                // Some value, so that it isn't missing where the record is made.
                true => Some(Json::Null),
                false => default_value(default, &param.ty.node, &self.program.types),
            };
            if let Some(field) = self.program.types.records[decl.id].fields.get_mut(i) {
                field.default = value;
            }
        }
        states[index] = State::Done;
    }
}

/// Names of the record literals of a constant.
fn literals<'e>(expr: &'e Expr, names: &mut Vec<&'e str>) {
    match &expr.kind {
        ExprKind::List(elements) => elements.iter().for_each(|e| literals(&e.value, names)),
        ExprKind::Map(entries) => entries.iter().for_each(|e| literals(&e.value, names)),
        ExprKind::Record { name, fields } => {
            names.push(&name.node);
            fields
                .iter()
                .for_each(|field| literals(&field.value, names));
        }
        _ => {}
    }
}
