//! `exit when`: a condition that nothing in the graph changes ends nothing.

use crate::base::name::list;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::expr::infer::reads;
use crate::ir::{FieldId, GraphId};
use crate::resolve::program::Graph;

use super::flow::{Written, exit};

/// Warns of conditions that read fields which nothing in the graph writes, and nothing of the run.
pub fn unchanging(graph: &Graph, id: GraphId, written: &Written, diags: &mut Diagnostics) {
    if graph.exits.is_empty() || graph.broken {
        return;
    }
    let (scope, run) = exit::scope(graph);
    for when in &graph.exits {
        let seen = reads(when, &scope);
        let changes = |field: &u32| written.has(id, FieldId(*field));
        if seen.fields.is_empty() || seen.slots.contains(&run) || seen.fields.iter().any(changes) {
            continue;
        }
        let fields = seen
            .fields
            .iter()
            .filter_map(|f| graph.fields.get(FieldId(*f)));
        let names = list(fields.map(|field| field.name.node.as_str()));
        let message = format!(
            "`exit when` of `{}` reads only {names}, which nothing in it writes",
            graph.name.node
        );
        diags.push(
            Diagnostic::new(&codes::CONSTANT_CONDITION, message, when.span)
                .help("read a field that some node writes, or route at `start`"),
        );
    }
}
