//! Where the tools of a node, or the graph that it runs, jump to.

use crate::ir::{Flow, Node, Route, Target, ToolId, Work};

use super::computed;

/// Names among a node's `ends`, and `end`, each with who jumps there.
pub(super) fn jumps(flow: &Flow, node: &Node) -> Vec<(String, String)> {
    let tools: &[ToolId] = match &node.work {
        Work::Agent { call, .. } => &call.tools,
        Work::Tools { tools, .. } => tools,
        Work::Call { tool, .. } => std::slice::from_ref(tool),
        Work::Subgraph { graph, .. } => {
            let leaves = flow.graphs.get(*graph).map(|graph| graph.leaves.iter());
            let leaves = leaves.into_iter().flatten();
            return leaves
                .map(|name| (name.clone(), "leaves".to_owned()))
                .collect();
        }
        _ => &[],
    };
    let mut found = Vec::new();
    for id in tools {
        let Some(tool) = flow.tools.get(*id) else {
            continue;
        };
        let goto = tool.body.as_ref().and_then(|body| body.goto.as_ref());
        let targets: Vec<&Target> = match goto {
            None => Vec::new(),
            Some(Route::Always(jump)) => jump.to.iter().collect(),
            Some(Route::Arms(arms)) => arms.iter().flat_map(|arm| &arm.jump.to).collect(),
        };
        for target in targets {
            let names = match target {
                Target::Named(name) | Target::Parent(name) => vec![name.clone()],
                Target::NamedEach { worker, then, .. } => {
                    let behind = then.iter().filter_map(|target| match target {
                        Target::Named(name) => Some(name.clone()),
                        _ => None,
                    });
                    std::iter::once(worker.clone()).chain(behind).collect()
                }
                Target::End => vec!["end".to_owned()],
                // Any of them that its type allows: the tool decides when it runs.
                Target::Computed { name, .. } => {
                    let given = computed::of_tool(flow, node, *id, &name.text);
                    let ends = node.ends.iter().map(|end| end.name.clone());
                    let within = |end: &String| given.as_ref().is_none_or(|of| of.contains(end));
                    ends.filter(within).collect()
                }
                _ => Vec::new(),
            };
            for name in names {
                let jump = (name, tool.name.clone());
                if !found.contains(&jump) {
                    found.push(jump);
                }
            }
        }
    }
    found
}
