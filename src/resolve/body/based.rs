//! `based_on [..]` of fields, once all fields have their ids.

use std::collections::BTreeSet;

use crate::ast::Name;
use crate::ast::graph::BasedOn as Written;
use crate::base::name::did_you_mean;
use crate::base::{FileId, IdVec};
use crate::diag::{Diagnostic, codes};
use crate::ir::FieldId;

use super::super::Resolver;
use super::super::graph::{BasedOn, Basis, Field};

impl Resolver<'_> {
    /// Resolves the names in them, and says of each field what a write to it resets.
    pub(super) fn bases(
        &mut self,
        file: FileId,
        graph: &Name,
        written: &[(FieldId, &Written)],
        fields: &mut IdVec<FieldId, Field>,
    ) {
        for (id, written) in written {
            let based_on = self.based_on(file, graph, written, fields);
            fields[*id].based_on = Some(based_on);
        }
        if written.is_empty() {
            return;
        }
        let resets: Vec<(FieldId, Vec<String>)> = fields
            .ids()
            .map(|id| {
                let stale = dependents(fields, id).into_iter();
                let reset = stale.filter(|id| fields[*id].based_on.as_ref().is_some_and(|b| b.reset));
                (id, reset.map(|id| fields[id].name.node.clone()).collect())
            })
            .collect();
        for (id, names) in resets {
            fields[id].resets = names;
        }
    }

    fn based_on(
        &mut self,
        file: FileId,
        graph: &Name,
        written: &Written,
        fields: &IdVec<FieldId, Field>,
    ) -> BasedOn {
        let mut on: Vec<Basis> = Vec::new();
        for (name, keep) in &written.fields {
            if let Some(first) = on.iter().find(|basis| basis.name.node == name.node) {
                let first = first.name.clone();
                self.twice("field", &first, name);
                continue;
            }
            let found = fields.entries().find(|(_, field)| field.name.node == name.node);
            let field = found.map(|(id, _)| id);
            if field.is_none() && !self.is_lost(file, &name.node) {
                let message = format!("`{}` has no field `{}`", graph.node, name.node);
                let near = fields.iter().map(|field| field.name.node.as_str());
                let help = did_you_mean(&name.node, near)
                    .unwrap_or_else(|| format!("declare it: `state {{ {}: .. }}`", name.node));
                let diagnostic = Diagnostic::new(&codes::UNKNOWN_FIELD, message, name.span);
                self.diags.push(diagnostic.help(help));
            }
            on.push(Basis {
                field,
                name: name.clone(),
                keep: *keep,
            });
        }
        if written.fields.is_empty() {
            let message = "`based_on` names no field".to_owned();
            self.bad_value(message, written.span);
        }
        BasedOn {
            on,
            reset: written.reset,
            span: written.span,
        }
    }
}

/// The fields that become stale where one is written, directly or not. (A graph has few that are based
/// on others, so that looking through all of them is no matter.)
fn dependents(fields: &IdVec<FieldId, Field>, of: FieldId) -> BTreeSet<FieldId> {
    let based: Vec<(FieldId, &BasedOn)> = fields
        .entries()
        .filter_map(|(id, field)| Some((id, field.based_on.as_ref()?)))
        .collect();
    let mut found = BTreeSet::new();
    let mut open = vec![of];
    while let Some(at) = open.pop() {
        for (id, based_on) in &based {
            let cascades = |basis: &Basis| basis.field == Some(at) && !basis.keep;
            if based_on.on.iter().any(cascades) && found.insert(*id) {
                open.push(*id);
            }
        }
    }
    found
}
