//! Where the tools of a node, or the graph that it runs, jump to.

use crate::ir::{Flow, Node, Route, Target, Work};

use super::computed;

/// Names among a node's `ends`, and `end`, each with who jumps there.
pub(super) fn jumps(flow: &Flow, node: &Node) -> Vec<(String, String)> {
    if let Some(graph) = node.called() {
        let leaves = flow.graphs.get(graph).map(|graph| graph.leaves.iter());
        let leaves = leaves.into_iter().flatten();
        return leaves
            .map(|name| (name.clone(), "leaves".to_owned()))
            .collect();
    }
    let tools = match &node.work {
        // It only asks for calls.
        Work::Llm(_) => &[],
        work => work.tools(),
    };
    let mut found = Vec::new();
    for id in tools {
        let Some(tool) = flow.tools.get(*id) else {
            continue;
        };
        let goto = tool.body.as_ref().and_then(|body| body.goto.as_ref());
        let jumps = goto.into_iter().flat_map(Route::jumps);
        for target in jumps.flat_map(|jump| &jump.to) {
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
