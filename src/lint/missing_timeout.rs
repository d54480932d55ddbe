//! `missing-timeout`: a model or tool that may keep a run waiting for as long as any call may take.

use std::collections::BTreeMap;

use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{ModelId, ToolId};
use crate::resolve::program::Work;

use super::cx::{Cx, call};

/// Notes each model and each tool without a timeout that a node without one calls.
pub fn lint(cx: &Cx<'_>, diags: &mut Diagnostics) {
    let mut models: BTreeMap<ModelId, Span> = BTreeMap::new();
    let mut tools: BTreeMap<ToolId, Span> = BTreeMap::new();
    let open = cx.nodes().filter(|(_, node)| node.timeout_ms.is_none());
    for (_, node) in open {
        let first = call(node).and_then(|call| call.model);
        let new = first.filter(|model| !models.contains_key(model));
        for model in new.into_iter().flat_map(|model| cx.asked(model)) {
            models.entry(model).or_insert(node.name.span);
        }
        // An `llm` node has its tools called by another.
        if !matches!(node.work, Work::Llm(_)) {
            for used in node.tools() {
                tools.entry(used.node).or_insert(node.name.span);
            }
        }
    }
    for (id, place) in models {
        let model = cx.program.models.get(id);
        if let Some(model) = model.filter(|model| model.settings.timeout_ms.is_none()) {
            let help = "write `timeout 60s` among its settings, or in the nodes that ask it";
            diags.push(open_ended("model", &model.name, place).help(help));
        }
    }
    for (id, place) in tools {
        let tool = cx.program.tools.get(id);
        let tool = tool.filter(|tool| tool.timeout_ms.is_none() && tool.body.is_none());
        if let Some(tool) = tool {
            let help = "write `@timeout(10s)` behind its result, or `timeout 10s` in the nodes that call it";
            diags.push(open_ended("tool", &tool.name, place).help(help));
        }
    }
}

fn open_ended(kind: &str, name: &crate::ast::Name, place: Span) -> Diagnostic {
    let message = format!("a call of {kind} `{}` has no timeout", name.node);
    Diagnostic::new(&codes::MISSING_TIMEOUT, message, name.span).label(place, "called here")
}
