//! Reads of which it can't be told whether a run comes to them without a value: there is too much to be told apart.

use std::collections::BTreeMap;

use crate::base::Span;
use crate::base::name::few;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::TypeTable;
use crate::ir::FieldId;
use crate::resolve::program::Graph;

use super::tell::{Doubt, may_be_unset};

/// Most fields of a graph that are told of one by one, and most places that a message points at.
const SHOWN: usize = 6;

/// These reads, by field.
#[derive(Default)]
pub(super) struct Unclear {
    reads: BTreeMap<FieldId, Vec<Span>>,
}

impl Unclear {
    /// Adds a read.
    pub(super) fn add(&mut self, field: FieldId, read: Span) {
        self.reads.entry(field).or_default().push(read);
    }

    /// Warns of them: once for a field, and once for all where there are many.
    pub(super) fn report(&self, graph: &Graph, types: &TypeTable, diags: &mut Diagnostics) {
        if self.reads.len() > SHOWN {
            self.all(graph)
                .into_iter()
                .for_each(|found| diags.push(found));
            return;
        }
        for (field, reads) in &self.reads {
            let mut reads = reads.clone();
            reads.sort();
            let (Some(declared), Some((first, more))) =
                (graph.fields.get(*field), reads.split_first())
            else {
                continue;
            };
            let shown = types.show(&declared.ty.node).to_string();
            let found = may_be_unset(&declared.name, &shown, *first, Doubt::TooMuch);
            diags.push(pointing(found, more));
        }
    }

    fn all(&self, graph: &Graph) -> Option<Diagnostic> {
        let mut reads: Vec<Span> = self.reads.values().flatten().copied().collect();
        reads.sort();
        let (first, more) = reads.split_first()?;
        let fields = self.reads.keys().filter_map(|id| graph.fields.get(*id));
        let names: Vec<String> = fields
            .map(|field| format!("state.{}", field.name.node))
            .collect();
        let message = format!(
            "{} may have no value yet where they are read",
            few(names.iter().map(String::as_str))
        );
        let found = Diagnostic::new(&codes::MAYBE_UNSET, message, *first)
            .here("there is too much to be told apart on the ways to these places to be sure of it")
            .label(graph.name.span, "in this graph")
            .help("give them first values: `= ..` behind their types, or types with a `?`");
        Some(pointing(found, more))
    }
}

/// Points at further reads; the last label counts those that there is no room for.
fn pointing(mut found: Diagnostic, reads: &[Span]) -> Diagnostic {
    let left = reads.len().saturating_sub(SHOWN);
    for (number, read) in reads.iter().take(SHOWN).enumerate() {
        let said = match (number + 1 == SHOWN, left) {
            (true, 1..) => format!("read here too, and in {left} more places"),
            _ => "read here too".to_owned(),
        };
        found = found.label(*read, said);
    }
    found
}
