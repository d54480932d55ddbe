//! `reads` and `writes` of an `extern` node.

use crate::ast::Name;
use crate::ast::node::PropertyKind;
use crate::base::Spanned;
use crate::diag::{Diagnostic, codes};
use crate::ir::{FieldId, FieldMode};

use super::super::Resolver;
use super::Inside;
use super::property::Properties;

impl Resolver<'_> {
    /// The fields that the node is given.
    pub(super) fn extern_reads(
        &mut self,
        inside: &Inside,
        properties: &Properties,
    ) -> Vec<Spanned<FieldId>> {
        let names = properties.one(|kind| match kind {
            PropertyKind::Reads(names) => Some(names),
            _ => None,
        });
        self.extern_fields(inside, names.map(Vec::as_slice).unwrap_or_default())
    }

    /// The fields that the node may write: none that the caller alone writes.
    pub(super) fn extern_writes(
        &mut self,
        inside: &Inside,
        properties: &Properties,
    ) -> Vec<Spanned<FieldId>> {
        let names = properties.one(|kind| match kind {
            PropertyKind::Writes(names) => Some(names),
            _ => None,
        });
        let found = self.extern_fields(inside, names.map(Vec::as_slice).unwrap_or_default());
        for field in &found {
            let declared = &self.program.graphs[inside.graph].fields[field.node];
            if declared.mode != FieldMode::In {
                continue;
            }
            let name = &declared.name;
            let message = format!("`{}` is an `in` field and can only be read here", name.node);
            let diagnostic = Diagnostic::new(&codes::READ_ONLY_FIELD, message, field.span)
                .label(name.span, "declared `in`")
                .help(format!(
                    "declare it `in out {}` to give it back to the caller",
                    name.node
                ));
            self.diags.push(diagnostic);
        }
        found
    }

    fn extern_fields(&mut self, inside: &Inside, names: &[Name]) -> Vec<Spanned<FieldId>> {
        let mut fields: Vec<Spanned<FieldId>> = Vec::new();
        for name in names {
            let Some(field) = self.field_named(inside, name) else {
                continue;
            };
            match fields.iter().find(|known| known.node == field) {
                Some(first) => {
                    let first = Name::new(name.node.clone(), first.span);
                    self.twice("field", &first, name);
                }
                None => fields.push(Spanned::new(field, name.span)),
            }
        }
        fields
    }
}
