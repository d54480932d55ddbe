//! `state { .. }` of a graph.

use crate::ast::graph::{Graph as Written, Member, StateField};
use crate::base::{FileId, IdVec};
use crate::ir::{Channel, FieldId, FieldMode};

use super::super::Resolver;
use super::super::graph::Field;
use super::super::mark::Place;
use super::super::names::Seen;
use super::super::naming::Style;

impl Resolver<'_> {
    /// Fields of all `state` blocks, in order.
    pub fn state(&mut self, file: FileId, written: &Written) -> IdVec<FieldId, Field> {
        let mut fields: IdVec<FieldId, Field> = IdVec::new();
        let mut bases = Vec::new();
        let mut seen = Seen::default();
        let blocks = written.members.iter().filter_map(|member| match member {
            Member::State(block, _) => Some(block),
            _ => None,
        });
        for (number, block) in blocks.enumerate() {
            for field in block {
                self.check_style(&field.name, Style::Snake);
                // A second block is reported as such.
                if number > 0 && seen.contains_key(field.name.as_str()) {
                    continue;
                }
                if self.once(&mut seen, "field", &field.name) {
                    let id = fields.push(self.state_field(file, field));
                    bases.extend(field.based_on.as_ref().map(|written| (id, written)));
                }
            }
        }
        self.bases(file, &written.name, &bases, &mut fields);
        fields
    }

    fn state_field(&mut self, file: FileId, field: &StateField) -> Field {
        let ty = self.spanned_type(file, &field.ty);
        let bounds = self.bounds(&field.attributes, &ty.node, true, Place::Field);
        let (marks, _) = self.marks(&field.attributes, &ty.node, Place::Field);
        let reported = self.diags.len();
        let channel = match &field.reducer {
            Some(via) => self.channel(file, via, &ty.node),
            None => Channel::Last,
        };
        let via_wrong = self.diags.len() > reported;
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
            via_wrong,
            default: field.default.as_ref().map(|e| self.expr(file, e)),
            constraints: bounds.constraints,
            persist: field.persist,
            ephemeral: field.ephemeral,
            untracked: field.untracked,
            based_on: None,
            resets: Vec::new(),
            marks,
            span: field.span,
        }
    }
}
