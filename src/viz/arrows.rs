//! The arrows of a graph, read from its routes.

use std::time::Duration;

use crate::base::duration;
use crate::ir::{Jump, Node, NodeId, Route, Target, Work};

use super::computed;
use super::jumps::jumps;
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
        behind: false,
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
    /// Whether they are those of a fan-out as a whole.
    behind: bool,
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
            let mut ends = node.ends.iter().filter(|end| end.name == name).peekable();
            if ends.peek().is_none() && name == "end" {
                self.arrows(&Target::End, Way::Jump, label);
            }
            for end in ends {
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
                    let given = self.given(&name.text);
                    let within = |end: &str| {
                        let mut names = given.iter().flatten();
                        given.is_none() || names.any(|name| name == end)
                    };
                    for end in table.iter().filter(|end| within(&end.name)) {
                        let own = format!("{} = {}", line(&name.text), end.name);
                        self.arrows(&end.to, Way::Choice, &joined(label, &own));
                    }
                }
                Target::Each { var, items, .. } => {
                    let own = format!("each {var} in {}", line(&items.text));
                    self.arrows(target, Way::Send, &joined(label, &own));
                    self.behind(target);
                }
                _ => self.arrows(target, way, label),
            }
        }
    }

    /// Arrows of a fan-out as a whole: from its worker, to what comes behind all of its tasks.
    fn behind(&mut self, target: &Target) {
        let Target::Each { worker, then, .. } = target else {
            return;
        };
        let Some(exit) = self.sketch.exit(self.level, *worker) else {
            return;
        };
        let before = (self.from.clone(), self.tail, self.spot, self.spent);
        (self.from, self.tail) = (exit, None);
        (self.spot, self.spent) = (Spot::Node(*worker), false);
        self.behind = true;
        for target in then {
            self.arrows(target, Way::Edge, "then");
        }
        self.behind = false;
        (self.from, self.tail, self.spot, self.spent) = before;
    }

    /// The names that a computed target may give here.
    fn given(&self, text: &str) -> Option<Vec<String>> {
        let graph = self.sketch.graph(self.level)?;
        let node = match self.spot {
            Spot::Node(id) => graph.nodes.get(id),
            _ => None,
        };
        computed::of_graph(self.sketch.flow, graph, node, text)
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
            behind: self.behind,
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
