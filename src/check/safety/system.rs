//! Untrusted text in a `system` prompt: there a model takes it for orders of its owner.

use std::collections::BTreeMap;

use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::resolve::program::{Program, Work};

use super::labels::{Label, Labels};

/// Warns of them.
pub fn system_texts(program: &Program, labels: &Labels<'_>, diags: &mut Diagnostics) {
    for (id, graph) in program.graphs.entries() {
        for (at, node) in graph.nodes.entries() {
            let (Work::Llm(call) | Work::Agent { call, .. }) = &node.work else {
                continue;
            };
            let Some(text) = &call.system else { continue };
            let is_found = &mut |value: &_| labels.trail(value, &[Label::Untrusted]).is_some();
            let mut by_source: BTreeMap<Span, Diagnostic> = BTreeMap::new();
            for carrier in labels.reader(id, Some(at)).text_carriers(text, is_found) {
                let Some(trail) = labels.trail(&carrier.value, &[Label::Untrusted]) else {
                    continue;
                };
                let shown = carrier.name.as_deref().unwrap_or("..");
                // What comes from one source is one mistake, however much of it is shown.
                let (source, _) = trail.source();
                let found = match by_source.remove(&source) {
                    Some(found) => found.label(carrier.span, format!("`{shown}` too")),
                    None => {
                        let message = format!(
                            "`{shown}` in the `system` text of `{}` was written by somebody untrusted",
                            node.name.node
                        );
                        let found =
                            Diagnostic::new(&codes::UNTRUSTED_SYSTEM, message, carrier.span);
                        trail.label(found)
                    }
                };
                by_source.insert(source, found);
            }
            for found in by_source.into_values() {
                diags.push(
                    found.help("show it in `prompt` or in a user message, as material to work on"),
                );
            }
        }
    }
}
