//! `wide-scope`: a graph whose nodes may use more tools than they do.

use std::collections::BTreeSet;

use crate::base::{Span, name};
use crate::check::calls::called;
use crate::check::scope::needed_tools;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::ToolId;
use crate::resolve::program::{Graph, ToolList};

use super::cx::Cx;

/// Warns of each entry of a graph's `tools [..]` that nothing inside uses, with the smallest list that does.
pub fn lint(cx: &Cx<'_>, diags: &mut Diagnostics) {
    if cx.program.graphs.iter().all(|graph| graph.tools.is_none()) {
        return;
    }
    let needs = needed_tools(cx.program);
    for graph in &cx.program.graphs {
        let Some(bound) = &graph.tools else { continue };
        let mut used: BTreeSet<ToolId> = BTreeSet::new();
        for node in &graph.nodes {
            used.extend(node.tools().iter().map(|used| used.node));
            let child = called(node).and_then(|(child, _)| needs.get(child.0 as usize));
            used.extend(child.into_iter().flatten().map(|(tool, _)| *tool));
        }
        let idle: Vec<ToolId> = bound.tools.iter().map(|entry| entry.tool).collect();
        let idle: Vec<ToolId> = idle.into_iter().filter(|id| !used.contains(id)).collect();
        let mut seen: Vec<Span> = Vec::new();
        for entry in &bound.tools {
            if idle.contains(&entry.tool) && !seen.contains(&entry.span) {
                seen.push(entry.span);
                diags.push(wider(cx, graph, bound, &idle, entry.span));
            }
        }
    }
}

/// One finding for an entry: a tool, or a toolset of which all or some are idle.
fn wider(cx: &Cx<'_>, graph: &Graph, bound: &ToolList, idle: &[ToolId], entry: Span) -> Diagnostic {
    let tool = |id: ToolId| {
        let tool = cx.program.tools.get(id);
        tool.map_or("?", |tool| tool.name.node.as_str())
    };
    let of_entry = bound.tools.iter().filter(|used| used.span == entry);
    let (unused, kept): (Vec<_>, Vec<_>) = of_entry
        .map(|used| used.tool)
        .partition(|id| idle.contains(id));
    let what = match kept.is_empty() {
        true => format!("`{}`", cx.sources.text(entry)),
        false => name::list(unused.iter().map(|id| tool(*id))),
    };
    let message = format!(
        "nothing in `{}` uses {what}, which its `tools` let in",
        graph.name.node
    );
    let rest = bound.tools.iter().filter(|used| !idle.contains(&used.tool));
    let smallest: Vec<&str> = rest.map(|used| tool(used.tool)).collect();
    let finding = Diagnostic::new(&codes::WIDE_SCOPE, message, entry);
    if smallest.is_empty() {
        return finding.help("write `tools []`: no node of it may then use a tool");
    }
    let smallest = format!("tools [{}]", smallest.join(", "));
    let finding = finding.help(format!("the smallest scope is `{smallest}`"));
    match mendable(cx, bound) {
        true => finding.fix(bound.span, smallest),
        false => finding,
    }
}

/// Whether the list is written without toolsets, conditions and comments, so that it can be written anew.
fn mendable(cx: &Cx<'_>, bound: &ToolList) -> bool {
    let text = cx.sources.text(bound.span);
    let plain = !text.contains("//") && !text.contains(" where ") && text.starts_with("tools");
    let named = bound.tools.iter().all(|used| {
        let tool = cx.program.tools.get(used.tool);
        tool.is_some_and(|tool| tool.name.node == cx.sources.text(used.span))
    });
    plain && named
}
