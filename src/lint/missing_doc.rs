//! `missing-doc`: tools that a model is given without a word on what they do.

use std::collections::BTreeMap;

use crate::base::{Span, name};
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::ToolId;

use super::cx::{Cx, call};

/// Notes tools in the list of a node that asks a model, which have no doc comment or parameters without one.
pub fn lint(cx: &Cx<'_>, diags: &mut Diagnostics) {
    let mut given: BTreeMap<ToolId, Span> = BTreeMap::new();
    for (_, node) in cx.nodes() {
        let tools = call(node).and_then(|call| call.tools.as_ref());
        for used in tools.into_iter().flat_map(|list| &list.tools) {
            given.entry(used.tool).or_insert(used.span);
        }
    }
    for (id, place) in given {
        let Some(tool) = cx.program.tools.get(id) else {
            continue;
        };
        let name = &tool.name.node;
        if tool.doc.trim().is_empty() {
            let message = format!("tool `{name}` has no doc comment: a model sees only its name");
            diags.push(
                Diagnostic::new(&codes::MISSING_DOC, message, tool.name.span)
                    .label(place, "given to a model here")
                    .help("write above it, behind `///`, what it does and when to use it"),
            );
            continue;
        }
        let silent = tool.params.iter().filter(|p| p.doc.trim().is_empty());
        let silent: Vec<_> = silent.collect();
        if let Some(first) = silent.first() {
            let names = name::list(silent.iter().map(|param| param.name.as_str()));
            let (s, have) = match silent.len() {
                1 => ("", "has"),
                _ => ("s", "have"),
            };
            let message = format!("parameter{s} {names} of tool `{name}` {have} no doc comment");
            diags.push(
                Diagnostic::new(&codes::MISSING_DOC, message, first.name.span)
                    .label(place, "given to a model here")
                    .help("write above each, behind `///`, what it is"),
            );
        }
    }
}
