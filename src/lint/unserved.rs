//! `wide-scope` of a model: tools that an `llm` offers and no `tools` node behind it runs, and those of which the two fix different
//! arguments.

use std::collections::{BTreeSet, VecDeque};

use crate::ast::expr::{Expr, ExprKind, Literal};
use crate::base::name::list;
use crate::diag::{Diagnostic, Diagnostics, codes};
use crate::ir::{NodeId, ToolId};
use crate::resolve::program::{Graph, ModelCall, Node, TargetKind, ToolList, ToolUse, Work};

use super::cx::Cx;

/// Most nodes that are looked through behind one `llm`.
const MOST: usize = 200;

/// Warns of them: each call of one is refused. A route that speaks of a tool's name handles its calls itself.
pub fn lint(cx: &Cx<'_>, diags: &mut Diagnostics) {
    for graph in &cx.program.graphs {
        let serves = |node: &Node| matches!(node.work, Work::Tools { .. });
        if !graph.nodes.iter().any(serves) {
            continue;
        }
        for (id, node) in graph.nodes.entries() {
            if let Work::Llm(call) = &node.work {
                unserved(cx, graph, (id, node, call), diags);
            }
        }
    }
}

fn unserved(
    cx: &Cx<'_>,
    graph: &Graph,
    (id, node, call): (NodeId, &Node, &ModelCall),
    diags: &mut Diagnostics,
) {
    let Some(offered) = &call.tools else { return };
    let Some(behind) = behind(graph, id) else {
        return;
    };
    let serving: Vec<(&Node, &ToolList)> = behind
        .iter()
        .filter_map(|node| match &node.work {
            Work::Tools {
                tools: Some(tools), ..
            } => Some((*node, tools)),
            _ => None,
        })
        .collect();
    let all_listed = behind.iter().all(|node| {
        let open = matches!(node.work, Work::Tools { tools: None, .. });
        !open
    });
    if serving.is_empty() || !all_listed {
        return;
    }
    for (serving, tools) in &serving {
        fixed_elsewhere(cx, (node, offered), (serving, tools), diags);
    }
    let served: BTreeSet<ToolId> = serving
        .iter()
        .flat_map(|(_, tools)| tools.tools.iter().map(|used| used.tool))
        .collect();
    let routes = behind.iter().copied().chain([node]);
    let spoken: BTreeSet<&str> = routes.flat_map(words).collect();
    let tool_name = |tool: ToolId| cx.program.tools.get(tool).map(|tool| &*tool.name.node);
    let lacking: Vec<&str> = offered
        .tools
        .iter()
        .filter(|used| !served.contains(&used.tool))
        .filter_map(|used| tool_name(used.tool))
        .filter(|name| !spoken.contains(name))
        .collect();
    if lacking.is_empty() {
        return;
    }
    let (shown, name) = (list(lacking.iter().copied()), &node.name.node);
    let found = match serving.as_slice() {
        [(serving, tools)] => {
            let by = &serving.name.node;
            let message = format!(
                "`{name}` offers its model {shown}, and `{by}`, which runs the calls, has it not"
            );
            Diagnostic::new(&codes::WIDE_SCOPE, message, tools.span)
                .label(offered.span, "offered here")
                .help(format!("add {shown} here, or take it out of `{name}`"))
        }
        _ => {
            let message =
                format!("`{name}` offers its model {shown}, and no `tools` node behind it has it");
            let found = Diagnostic::new(&codes::WIDE_SCOPE, message, offered.span);
            let places = serving.iter().map(|(_, tools)| tools.span);
            let found = places.fold(found, |found, at| found.label(at, "not here"));
            found.help(format!("add {shown} to one of them, or take it out here"))
        }
    };
    diags.push(found);
}

/// Warns of parameters that one of both fixes: a model is to give what is shown to it, and nothing else.
fn fixed_elsewhere(
    cx: &Cx<'_>,
    (node, offered): (&Node, &ToolList),
    (serving, tools): (&Node, &ToolList),
    diags: &mut Diagnostics,
) {
    let fixes = |used: &ToolUse, name: &str| used.fixed.iter().any(|arg| arg.name.node == name);
    for used in &offered.tools {
        let (Some(other), Some(tool)) = (tools.find(used.tool), cx.program.tools.get(used.tool))
        else {
            continue;
        };
        let names = tool.params.iter().map(|param| &param.name.node);
        let mut differ = names.filter(|name| fixes(used, name) != fixes(other, name));
        let Some(name) = differ.next() else { continue };
        let (by, tool) = (&serving.name.node, &tool.name.node);
        let model = &node.name.node;
        let message = match fixes(used, name) {
            true => format!(
                "`{model}` hides `{name}` of `{tool}`, and `{by}`, which makes the calls, does not fix it"
            ),
            false => format!(
                "`{model}` shows its model `{name}` of `{tool}`, and `{by}`, which makes the calls, fixes it"
            ),
        };
        let found = Diagnostic::new(&codes::WIDE_SCOPE, message, other.span);
        let found = found.label(used.span, "shown here");
        diags.push(found.help("list the same toolset in both, or the same `with`"));
    }
}

/// The nodes that may read what the model said, up to the next model; `None` where not all are known.
fn behind(graph: &Graph, from: NodeId) -> Option<Vec<&Node>> {
    let mut seen = BTreeSet::from([from]);
    let mut open = VecDeque::from([from]);
    let mut found = Vec::new();
    while let Some(id) = open.pop_front() {
        let node = graph.nodes.get(id)?;
        if id != from {
            match node.work {
                Work::Llm(_) | Work::Agent { .. } => continue,
                // What a called graph does with the message is not known here.
                Work::Subgraph { .. } | Work::Extern { .. } => return None,
                _ => found.push(node),
            }
        }
        if seen.len() > MOST {
            return None;
        }
        let joins = node.joins.iter().filter_map(|join| graph.joins.get(*join));
        let joined = joins.flat_map(|join| &join.to.to);
        let ends = node.ends.iter().flat_map(|ends| &ends.items);
        let targets = node.targets().chain(joined).chain(ends.map(|end| &end.to));
        for target in targets {
            if matches!(target.kind, TargetKind::Parent(_)) {
                return None;
            }
            let Some(to) = target.node() else { continue };
            if seen.insert(to) {
                open.push_back(to);
            }
        }
    }
    Some(found)
}

/// Texts that the conditions of a node's route compare with.
fn words(node: &Node) -> impl Iterator<Item = &str> {
    let conditions = node.goto.iter().flat_map(|goto| goto.node.conditions());
    let skips = node.skips.iter().map(|skip| &skip.when);
    conditions.chain(skips).flat_map(texts)
}

fn texts(expr: &Expr) -> Vec<&str> {
    let mut open = vec![expr];
    let mut found = Vec::new();
    while let Some(expr) = open.pop() {
        if let ExprKind::Literal(Literal::String(text)) = &expr.kind {
            found.push(&**text);
        }
        open.extend(expr.parts());
    }
    found
}
