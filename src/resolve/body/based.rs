//! `based_on [..]` of fields, once all fields have their ids.

use std::collections::{BTreeMap, BTreeSet};

use crate::ast::Name;
use crate::ast::graph::BasedOn as Written;
use crate::base::{FileId, IdVec};
use crate::diag::{Home, codes};
use crate::ir::FieldId;

use super::super::Resolver;
use super::super::graph::{BasedOn, Basis, Field};
use super::super::names::{Seen, has_no};

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
        let resets: BTreeSet<FieldId> = fields
            .entries()
            .filter(|(_, field)| (field.based_on.as_ref()).is_some_and(|based_on| based_on.reset))
            .map(|(id, _)| id)
            .collect();
        if resets.is_empty() {
            return;
        }
        for (id, stale) in dependents(fields) {
            let reset = stale.intersection(&resets);
            let names = reset.map(|id| fields[*id].name.node.clone()).collect();
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
        let mut seen = Seen::default();
        for (name, keep) in &written.fields {
            if !self.once(&mut seen, "field", name) {
                continue;
            }
            let mut known = fields.entries();
            let found = known.find(|(_, field)| field.name.node == name.node);
            let field = found.map(|(id, _)| id);
            if field.is_none() && !self.is_lost(file, &name.node) {
                let known = fields.iter().map(|field| field.name.node.as_str());
                let found = has_no(graph, "", name, Home::State(None), known);
                self.diags.push(found);
            }
            on.push(Basis {
                field,
                name: name.clone(),
                keep: *keep,
            });
        }
        if written.fields.is_empty() {
            let message = "`based_on` names no field".to_owned();
            self.report(
                &codes::BAD_VALUE,
                message,
                written.span,
                "take it out, or name what it is made from: `based_on [..]`",
            );
        }
        BasedOn {
            on,
            reset: written.reset,
            span: written.span,
        }
    }
}

/// For each field that others are based on, those that become stale where it is written, directly or not.
fn dependents(fields: &IdVec<FieldId, Field>) -> BTreeMap<FieldId, BTreeSet<FieldId>> {
    let mut direct: BTreeMap<FieldId, Vec<FieldId>> = BTreeMap::new();
    for (id, field) in fields.entries() {
        let on = field.based_on.iter().flat_map(|based_on| &based_on.on);
        for from in on
            .filter(|basis| !basis.keep)
            .filter_map(|basis| basis.field)
        {
            direct.entry(from).or_default().push(id);
        }
    }
    let all = direct.keys().map(|from| {
        let mut found = BTreeSet::new();
        let mut open = vec![*from];
        while let Some(at) = open.pop() {
            let next = direct.get(&at).into_iter().flatten();
            open.extend(next.filter(|id| found.insert(**id)));
        }
        (*from, found)
    });
    all.collect()
}
