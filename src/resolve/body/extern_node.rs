//! `reads` and `writes` of an `extern` node.

use crate::ast::Name;
use crate::base::Spanned;
use crate::diag::{Diagnostic, codes};
use crate::ir::{FieldId, FieldMode};

use super::super::Resolver;
use super::super::names::Seen;
use super::Inside;

impl Resolver<'_> {
    /// The fields that the node may write: none that the caller alone writes.
    pub(super) fn extern_writes(
        &mut self,
        inside: &Inside,
        names: &[Name],
    ) -> Vec<Spanned<FieldId>> {
        let found = self.extern_fields(inside, names);
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

    /// Fields that are named, each once.
    pub(super) fn extern_fields(
        &mut self,
        inside: &Inside,
        names: &[Name],
    ) -> Vec<Spanned<FieldId>> {
        let mut seen = Seen::default();
        let mut fields = Vec::new();
        for name in names {
            if let Some(field) = self.field_named(inside, name)
                && self.once(&mut seen, "field", name)
            {
                fields.push(Spanned::new(field, name.span));
            }
        }
        fields
    }
}
