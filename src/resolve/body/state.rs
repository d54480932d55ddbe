//! `state { .. }` of a graph.

use std::collections::BTreeMap;

use crate::ast::Name;
use crate::ast::graph::{Graph as Written, Member, StateField};
use crate::base::{FileId, IdVec};
use crate::ir::{Channel, FieldId, FieldMode};

use super::super::Resolver;
use super::super::graph::Field;
use super::super::mark::Place;
use super::super::naming::Style;
use super::super::unsupported;

impl Resolver<'_> {
    /// Fields of all `state` blocks, in order.
    pub fn state(&mut self, file: FileId, written: &Written) -> IdVec<FieldId, Field> {
        let mut fields: IdVec<FieldId, Field> = IdVec::new();
        let mut seen: BTreeMap<&str, &Name> = BTreeMap::new();
        for member in &written.members {
            let Member::State(block, _) = member else {
                continue;
            };
            for field in block {
                self.check_style(&field.name, Style::Snake);
                match seen.get(field.name.as_str()) {
                    Some(first) => self.twice("field", first, &field.name),
                    None => {
                        seen.insert(&field.name, &field.name);
                        let field = self.state_field(file, field);
                        fields.push(field);
                    }
                }
            }
        }
        fields
    }

    fn state_field(&mut self, file: FileId, field: &StateField) -> Field {
        let refused = [
            field.ephemeral.map(|span| ("`ephemeral`", span)),
            field.untracked.map(|span| ("`untracked`", span)),
            field
                .based_on
                .as_ref()
                .map(|based| ("`based_on`", based.span)),
        ];
        for (what, span) in refused.into_iter().flatten() {
            self.diags.push(unsupported(what, span));
        }
        let ty = self.spanned_type(file, &field.ty);
        let bounds = self.bounds(&field.attributes, &ty.node, false, Place::Field);
        let (marks, _) = self.marks(&field.attributes, &ty.node, Place::Field);
        let channel = match &field.reducer {
            Some(via) => self.channel(file, via, &ty.node),
            None => Channel::Last,
        };
        Field {
            name: field.name.clone(),
            doc: bounds.doc.unwrap_or_else(|| field.doc.clone()),
            ty,
            mode: match (field.input, field.output) {
                (true, true) => FieldMode::InOut,
                (true, false) => FieldMode::In,
                (false, true) => FieldMode::Out,
                (false, false) => FieldMode::Private,
            },
            channel,
            via: field.reducer.as_ref().map(|via| via.span),
            default: field.default.as_ref().map(|e| self.expr(file, e)),
            marks,
            span: field.span,
        }
    }
}
