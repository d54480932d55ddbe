//! `wide-scope`: a graph whose nodes may use more tools than they do.

use std::collections::{BTreeMap, BTreeSet};

use crate::base::{Span, name};
use crate::check::scope::needed_tools;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::ToolId;
use crate::resolve::program::{Graph, ToolList, ToolUse};

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
            let child = node
                .called()
                .and_then(|(child, _)| needs.get(child.0 as usize));
            used.extend(child.into_iter().flatten().map(|(tool, _)| *tool));
        }
        let idle = |entry: &&ToolUse| !used.contains(&entry.tool);
        let kept: Vec<&str> = bound
            .tools
            .iter()
            .filter(|entry| !idle(entry))
            .map(|entry| tool(cx, entry.tool))
            .collect();
        let mut entries: BTreeMap<Span, Vec<&ToolUse>> = BTreeMap::new();
        for entry in &bound.tools {
            entries.entry(entry.span).or_default().push(entry);
        }
        for (place, members) in entries {
            let unused: Vec<ToolId> = members
                .iter()
                .copied()
                .filter(idle)
                .map(|e| e.tool)
                .collect();
            if !unused.is_empty() {
                let all = unused.len() == members.len();
                let what = match all {
                    true => format!("`{}`", cx.sources.text(place)),
                    false => name::list(unused.iter().map(|id| tool(cx, *id))),
                };
                diags.push(wider(cx, graph, bound, &what, place, &kept));
            }
        }
    }
}

fn tool<'p>(cx: &Cx<'p>, id: ToolId) -> &'p str {
    let tool = cx.program.tools.get(id);
    tool.map_or("?", |tool| &tool.name.node)
}

/// One finding for an entry: a tool, or a toolset of which all or some are idle. `kept` are the tools that are used.
fn wider(
    cx: &Cx<'_>,
    graph: &Graph,
    bound: &ToolList,
    what: &str,
    entry: Span,
    kept: &[&str],
) -> Diagnostic {
    let message = format!(
        "nothing in `{}` uses {what}, which its `tools` let in",
        graph.name.node
    );
    let finding = Diagnostic::new(&codes::WIDE_SCOPE, message, entry);
    if kept.is_empty() {
        return finding.help("write `tools []`: no node of it may then use a tool");
    }
    if cx.sources.text(bound.span).contains(" where ") {
        // The bounds of the others are to stay.
        return finding.help(format!("take {what} out of `tools [..]`"));
    }
    let smallest = format!("tools [{}]", kept.join(", "));
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
