//! Parameters of graphs that nothing uses.

use std::collections::BTreeSet;

use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::resolve::Program;

/// Warns of them, each once: graphs that were made of one for each list of items have the same parameters.
pub fn unused(program: &Program, diags: &mut Diagnostics) {
    let mut seen = BTreeSet::new();
    for graph in &program.graphs {
        let params = graph.params.iter().map(|param| &param.name);
        let unused = params.filter(|name| program.references_to(name.span).next().is_none());
        let unused =
            unused.map(|name| (name, format!("use `params.{}`, or take it out", name.node)));
        let items = graph.unused_params.iter();
        let items = items.map(|name| (name, "use it, or take it out".to_owned()));
        for (name, help) in items
            .chain(unused)
            .filter(|(name, _)| seen.insert(name.span))
        {
            let message = format!(
                "nothing in graph `{}` uses its parameter `{}`",
                graph.name.node, name.node
            );
            let found = Diagnostic::new(&codes::UNUSED_PARAMETER, message, name.span);
            diags.push(found.help(help));
        }
    }
}
