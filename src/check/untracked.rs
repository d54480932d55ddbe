//! Fields that don't last: `untracked` ones are lost where a run goes on in another process.

use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::resolve::program::Graph;

use super::types::flow_state::has_first_value;

/// Warns of `untracked` fields that would have no value after a resume.
pub fn lost(graph: &Graph, diags: &mut Diagnostics) {
    for field in &graph.fields {
        let Some(word) = field.untracked.filter(|_| !has_first_value(field)) else {
            continue;
        };
        let name = &field.name.node;
        let message = format!("`{name}` is kept in no checkpoint, and has no value after a resume");
        diags.push(
            Diagnostic::new(&codes::LOST_ON_RESUME, message, word)
                .about(field.name.span)
                .label(field.ty.span, "may not be null, and has no default")
                .help("give it a first value: `= ..` behind its type, or a type `T?`"),
        );
    }
}
