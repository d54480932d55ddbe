//! Untrusted text in a `system` prompt: there a model takes it for orders of its owner.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::resolve::program::{Node, Program, Work};

use super::super::cfg::MhpCache;
use super::origin::{Inside, Search, Trail, Wanted, text_leaves};

/// Warns of them.
pub fn system_texts<'a>(
    program: &'a Program,
    mhp_cache: &Rc<MhpCache<'a>>,
    diags: &mut Diagnostics,
) {
    if !super::marked(program, |marks| marks.untrusted.is_some()) {
        return;
    }
    let wanted = Wanted {
        untrusted: true,
        guarded: true,
        ..Wanted::default()
    };
    let mut search = Search::new(program, mhp_cache, wanted);
    for (id, graph) in program.graphs.entries() {
        for (at, node) in graph.nodes.entries() {
            let (Work::Llm(call) | Work::Agent { call, .. }) = &node.work else {
                continue;
            };
            let Some(text) = &call.system else { continue };
            let read = text_leaves(text, &search.guarded(node));
            let mut by_source: BTreeMap<Span, Diagnostic> = BTreeMap::new();
            for leaf in search.unguarded(node, read) {
                let one = std::slice::from_ref(&leaf);
                let Some(trail) = search.source(Inside::Before(id, at), one) else {
                    continue;
                };
                let path = leaf.path.shown();
                // What comes from one source is one mistake, however much of it is shown.
                let source = trail.source.0;
                let found = match by_source.remove(&source) {
                    Some(found) => found.label(leaf.span, format!("`{path}` too")),
                    None => written_by_others(node, &path, leaf.span, &trail),
                };
                by_source.insert(source, found);
            }
            let found = by_source.into_values();
            found.for_each(|found| diags.push(found.help(MEND)));
        }
    }
}

const MEND: &str = "show it in `prompt` or in a user message, as material to work on";

fn written_by_others(node: &Node, path: &str, span: Span, trail: &Trail) -> Diagnostic {
    let message = format!(
        "`{path}` in the `system` text of `{}` was written by somebody untrusted",
        node.name.node
    );
    trail.label(Diagnostic::new(&codes::UNTRUSTED_SYSTEM, message, span))
}
