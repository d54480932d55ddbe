//! The arrows of a graph, read from its routes.

use std::time::Duration;

use crate::base::duration;
use crate::ir::{Flow, Jump, Node, NodeId, Route, Target, ToolId, Work};

use super::label::{line, short};
use super::picture::{Arrow, Kind, Way};
use super::sketch::Sketch;
use super::taken::{Hop, Spot};

/// Draws all arrows of a level: those of the start, of each node, of the joins.
pub fn draw(sketch: &mut Sketch<'_, '_>, level: usize) {
    let Some(graph) = sketch.graph(level) else {
        return;
    };
    let mut pen = Pen {
        from: sketch.start(level),
        tail: None,
        spot: Spot::Start,
        spent: false,
        level,
        sketch,
    };
    pen.route(&graph.start, Way::Edge, "");
    for (id, node) in graph.nodes.entries() {
        pen.leaving(id, node);
    }
    for (id, join) in graph.joins.entries() {
        let Some(at) = pen.sketch.join(level, id) else {
            continue;
        };
        pen.tail = None;
        for member in &join.members {
            if let Some(from) = pen.sketch.exit(level, *member) {
                pen.from = from;
                pen.spot = Spot::Node(*member);
                pen.arrow(at.clone(), Spot::Join(id), Way::Edge, "");
            }
        }
        pen.from = at;
        pen.spot = Spot::Join(id);
        pen.jump(&join.to, Way::Edge, "");
    }
}

/// Draws the arrows that leave one box.
struct Pen<'p, 'a, 's> {
    sketch: &'p mut Sketch<'a, 's>,
    level: usize,
    from: String,
    /// The frame whose border they leave.
    tail: Option<usize>,
    /// What they leave.
    spot: Spot,
    /// Whether they are taken in place of a node whose visits are used up.
    spent: bool,
}

impl Pen<'_, '_, '_> {
    fn leaving(&mut self, id: NodeId, node: &Node) {
        let level = self.level;
        self.spot = Spot::Node(id);
        let ids = (
            self.sketch.entry(level, id),
            self.sketch.exit(level, id),
            self.sketch.frame(level, id),
        );
        let (Some(entry), Some(exit), frame) = ids else {
            return;
        };
        // What is decided at the entry, or anywhere inside, leaves an opened subgraph by its border.
        let border = |pen: &mut Self| {
            pen.from = entry.clone();
            pen.tail = frame;
        };
        border(self);
        for skip in &node.skips {
            if let Some(to) = &skip.to {
                let label = format!("skip when {}", line(&skip.when.text));
                self.jump(to, Way::Limit, &label);
            }
        }
        if let Some(next) = &node.next {
            self.from = exit;
            self.tail = None;
            self.route(next, Way::Edge, "");
        }
        border(self);
        if let Work::Interrupt {
            timeout: Some(timeout),
            ..
        } = &node.work
        {
            let label = format!(
                "after {}",
                duration::show(Duration::from_millis(timeout.after_ms))
            );
            self.jump(&timeout.to, Way::Limit, &label);
        }
        if let Some(visits) = &node.max_visits {
            let label = match visits.limit {
                1 => "after 1 visit".to_owned(),
                limit => format!("after {limit} visits"),
            };
            self.spent = true;
            self.jump(&visits.to, Way::Limit, &label);
            self.spent = false;
        }
        for (name, label) in jumps(self.sketch.flow, node) {
            let Some(port) = self.sketch.port(level, id, &name) else {
                continue;
            };
            self.from = port;
            self.tail = None;
            let label = if frame.is_some() { "" } else { &*label };
            for end in node.ends.iter().filter(|end| end.name == name) {
                self.arrows(&end.to, Way::Jump, label);
            }
        }
        border(self);
        if let Some(on_error) = &node.on_error {
            self.route(on_error, Way::Error, "error");
        }
    }

    /// Arrows of a route. `label` stands before the conditions.
    fn route(&mut self, route: &Route, way: Way, label: &str) {
        match route {
            Route::Always(to) => self.jump(to, way, label),
            Route::Arms(arms) => {
                let way = if way == Way::Edge { Way::Choice } else { way };
                for arm in arms {
                    let condition = match &arm.when {
                        Some(when) => line(&when.text),
                        None => "else".to_owned(),
                    };
                    self.jump(&arm.jump, way, &joined(label, &condition));
                }
            }
        }
    }

    fn jump(&mut self, jump: &Jump, way: Way, label: &str) {
        for target in &jump.to {
            match target {
                Target::Computed { name, table } => {
                    for end in table {
                        let own = format!("{} = {}", line(&name.text), end.name);
                        self.arrows(&end.to, Way::Choice, &joined(label, &own));
                    }
                }
                Target::Each { var, items, .. } => {
                    let own = format!("each {var} in {}", line(&items.text));
                    self.arrows(target, Way::Send, &joined(label, &own));
                }
                _ => self.arrows(target, way, label),
            }
        }
    }

    fn arrows(&mut self, target: &Target, way: Way, label: &str) {
        if let Some((to, spot)) = self.reached(target) {
            self.arrow(to, spot, way, label);
        }
    }

    fn arrow(&mut self, to: String, spot: Spot, kind: Way, label: &str) {
        let arrow = Arrow {
            from: self.from.clone(),
            to,
            label: label.to_owned(),
            kind,
            tail: self.tail,
            taken: false,
        };
        let hop = Hop {
            from: self.spot,
            to: spot,
            spent: self.spent,
        };
        self.sketch.arrow(arrow, self.level, hop);
    }

    /// The box that a target leads to, and what it is.
    fn reached(&mut self, target: &Target) -> Option<(String, Spot)> {
        let level = self.level;
        match target {
            Target::Node(node) | Target::Each { worker: node, .. } => {
                Some((self.sketch.entry(level, *node)?, Spot::Node(*node)))
            }
            Target::End => Some((self.sketch.outside(level, Kind::End, "end"), Spot::End)),
            Target::Fail { message, .. } => {
                let text = match message {
                    Some(message) => format!("fail {}", short(&message.text)),
                    None => "fail".to_owned(),
                };
                Some((self.sketch.outside(level, Kind::Fail, &text), Spot::Fail))
            }
            Target::Parent(name) => {
                let text = format!("parent.{name}");
                Some((
                    self.sketch.outside(level, Kind::Parent, &text),
                    Spot::Parent,
                ))
            }
            // A table holds no tables, and only tools' bodies have the others.
            Target::Computed { .. } | Target::Named(_) | Target::NamedEach { .. } => None,
        }
    }
}

/// What stands before a condition, and the condition.
fn joined(label: &str, own: &str) -> String {
    match (label, own) {
        (label, "") => label.to_owned(),
        ("", own) => own.to_owned(),
        (label, own) => format!("{label}: {own}"),
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
            found.extend(
                names
                    .into_iter()
                    .map(|name| (name.clone(), tool.name.clone())),
            );
        }
    }
    found
}
