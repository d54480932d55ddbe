//! The arrows of a graph, read from its routes.

use std::time::Duration;

use crate::base::duration;
use crate::ir::{Flow, Jump, Node, Route, Target, ToolId, Work};

use super::label::short;
use super::picture::{Arrow, Kind, Sketch, Way};

/// Draws all arrows: those of the start, of each node, of the joins.
pub fn draw(sketch: &mut Sketch<'_>) {
    let graph = sketch.graph;
    let start = sketch.start();
    route(sketch, &start, &graph.start, Way::Edge, "");
    for (id, node) in graph.nodes.entries() {
        if let Some(from) = sketch.node(id) {
            leaving(sketch, &from, node);
        }
    }
    for (id, join) in graph.joins.entries() {
        let Some(at) = sketch.join(id) else { continue };
        for member in &join.members {
            if let Some(from) = sketch.node(*member) {
                sketch.arrow(Arrow {
                    from,
                    to: at.clone(),
                    label: String::new(),
                    kind: Way::Edge,
                });
            }
        }
        jump(sketch, &at, &join.to, Way::Edge, "");
    }
}

fn leaving(sketch: &mut Sketch<'_>, from: &str, node: &Node) {
    for skip in &node.skips {
        if let Some(to) = &skip.to {
            let label = format!("skip when {}", short(&skip.when.text));
            jump(sketch, from, to, Way::Choice, &label);
        }
    }
    if let Some(next) = &node.next {
        route(sketch, from, next, Way::Edge, "");
    }
    if let Work::Interrupt {
        timeout: Some(timeout),
        ..
    } = &node.work
    {
        let label = format!(
            "after {}",
            duration::show(Duration::from_millis(timeout.after_ms))
        );
        jump(sketch, from, &timeout.to, Way::Limit, &label);
    }
    if let Some(visits) = &node.max_visits {
        let label = match visits.limit {
            1 => "after 1 visit".to_owned(),
            limit => format!("after {limit} visits"),
        };
        jump(sketch, from, &visits.to, Way::Limit, &label);
    }
    for (name, label) in jumps(sketch.flow, node) {
        for end in node.ends.iter().filter(|end| end.name == name) {
            arrows(sketch, from, &end.to, Way::Jump, &label);
        }
    }
    if let Some(on_error) = &node.on_error {
        route(sketch, from, on_error, Way::Error, "error");
    }
}

/// Names that the tools of a node or the graph it runs jump to, each with who jumps.
fn jumps(flow: &Flow, node: &Node) -> Vec<(String, String)> {
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
    for tool in tools.iter().filter_map(|tool| flow.tools.get(*tool)) {
        let goto = tool.body.as_ref().and_then(|body| body.goto.as_ref());
        let targets: Vec<&Target> = match goto {
            None => Vec::new(),
            Some(Route::Always(jump)) => jump.to.iter().collect(),
            Some(Route::Arms(arms)) => arms.iter().flat_map(|arm| &arm.jump.to).collect(),
        };
        for target in targets {
            let names: Vec<&String> = match target {
                Target::Named(name) | Target::Parent(name) => vec![name],
                Target::NamedEach { worker, .. } => vec![worker],
                // Any of them: the tool decides when it runs.
                Target::Computed { .. } => node.ends.iter().map(|end| &end.name).collect(),
                _ => Vec::new(),
            };
            found.extend(names.into_iter().map(|name| (name.clone(), tool.name.clone())));
        }
    }
    found
}

/// Arrows of a route. `label` stands before the conditions.
fn route(sketch: &mut Sketch<'_>, from: &str, route: &Route, way: Way, label: &str) {
    match route {
        Route::Always(to) => jump(sketch, from, to, way, label),
        Route::Arms(arms) => {
            let way = if way == Way::Edge { Way::Choice } else { way };
            for arm in arms {
                let condition = match &arm.when {
                    Some(when) => short(&when.text),
                    None => "else".to_owned(),
                };
                let label = match label {
                    "" => condition,
                    label => format!("{label}: {condition}"),
                };
                jump(sketch, from, &arm.jump, way, &label);
            }
        }
    }
}

fn jump(sketch: &mut Sketch<'_>, from: &str, jump: &Jump, way: Way, label: &str) {
    let labelled = |own: &str| match (label, own) {
        (label, "") => label.to_owned(),
        ("", own) => own.to_owned(),
        (label, own) => format!("{label}: {own}"),
    };
    for target in &jump.to {
        match target {
            Target::Computed { name, table } => {
                for end in table {
                    let label = labelled(&format!("{} = {}", short(&name.text), end.name));
                    arrows(sketch, from, &end.to, Way::Choice, &label);
                }
            }
            Target::Each { var, items, .. } => {
                let label = labelled(&format!("each {var} in {}", short(&items.text)));
                arrows(sketch, from, target, Way::Send, &label);
            }
            _ => arrows(sketch, from, target, way, label),
        }
    }
}

fn arrows(sketch: &mut Sketch<'_>, from: &str, target: &Target, kind: Way, label: &str) {
    for to in reached(sketch, target) {
        sketch.arrow(Arrow {
            from: from.to_owned(),
            to,
            label: label.to_owned(),
            kind,
        });
    }
}

/// The boxes that a target leads to.
fn reached(sketch: &mut Sketch<'_>, target: &Target) -> Vec<String> {
    match target {
        Target::Node(node) => sketch.node(*node).into_iter().collect(),
        Target::End => vec![sketch.outside(Kind::End, "end")],
        Target::Fail { message, .. } => {
            let text = match message {
                Some(message) => format!("fail {}", short(&message.text)),
                None => "fail".to_owned(),
            };
            vec![sketch.outside(Kind::Fail, &text)]
        }
        Target::Computed { table, .. } => {
            let ends = table.iter();
            ends.flat_map(|end| reached(sketch, &end.to)).collect()
        }
        Target::Each { worker, .. } => sketch.node(*worker).into_iter().collect(),
        Target::Parent(name) => vec![sketch.outside(Kind::Parent, &format!("parent.{name}"))],
        // Only tools' bodies have these.
        Target::Named(_) | Target::NamedEach { .. } => Vec::new(),
    }
}
