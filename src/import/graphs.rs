//! From boxes, frames and arrows to graphs: which graph a node belongs to, what it is called, where it leads.
//!
//! A frame is a graph of its own, and a node of the graph around it that calls it. An arrow into a frame leads to that node
//! and begins the graph there; one out of a frame's end is that node's; one out of another box leaves for a node of the
//! caller (`parent.x`).

use std::collections::{BTreeMap, BTreeSet};

use super::drawing::{Arrow, Drawing, DrawnBox};

/// Names that no node can have.
const RESERVED: [&str; 5] = ["start", "end", "fail", "parent", "each"];

/// A graph of the skeleton.
#[derive(Debug, Default)]
pub struct Graph {
    /// Its name, in upper camel case.
    pub name: String,
    /// The graph around it.
    pub around: Option<usize>,
    /// Its node in the graph around it.
    pub call: usize,
    /// Where it begins.
    pub start: Vec<Way>,
    /// Its nodes, in the order drawn.
    pub nodes: Vec<Node>,
    /// Names of the callers' nodes that it leaves for.
    pub leaves: BTreeSet<String>,
    /// Nodes that the drawing leads nothing to, and of which it is a guess that the graph begins there.
    pub unreached: Vec<String>,
}

/// A node of the skeleton.
#[derive(Debug, Default)]
pub struct Node {
    /// Its name, in snake case.
    pub name: String,
    /// Its name in the drawing.
    pub drawn: String,
    /// The graph that it calls.
    pub calls: Option<usize>,
    /// Where it leads.
    pub ways: Vec<Way>,
    /// Names that it passes on upward, of nodes of its graph's callers.
    pub passes_on: BTreeSet<String>,
    /// Whether a run stops ahead of it, and behind it.
    pub stops: (bool, bool),
    /// Whether it waits until nothing else is left.
    pub deferred: bool,
}

/// A way on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    /// Where it leads.
    pub target: Target,
    /// What is written at it.
    pub label: Option<String>,
    /// Whether something decides whether it is taken.
    pub conditional: bool,
}

impl Way {
    /// A way that is always taken.
    fn always(target: Target) -> Self {
        Self {
            target,
            label: None,
            conditional: false,
        }
    }
}

/// Where a way leads.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// A node of the graph, by its index.
    Node(usize),
    /// A node of a caller, by its name.
    Parent(String),
    /// The end.
    End,
}

/// What a box is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Start,
    End,
    Node(usize),
}

/// The graphs of a drawing, the outermost first.
pub fn graphs(drawing: &Drawing, name: &str) -> Vec<Graph> {
    let mut builder = Builder {
        graphs: vec![Graph {
            name: upper_camel(name),
            ..Graph::default()
        }],
        frames: Vec::new(),
        nested: BTreeMap::new(),
        places: Vec::new(),
        left_for: BTreeSet::new(),
    };
    for frame in &drawing.frames {
        let around = frame.around.and_then(|frame| builder.frames.get(frame));
        let around = around.copied().unwrap_or(0);
        let graph = builder.graph(around, &frame.title);
        builder.frames.push(graph);
    }
    let marked = drawing
        .boxes
        .iter()
        .any(|drawn| last(&drawn.id) == "__start__");
    for drawn in &drawing.boxes {
        let framed = drawing.frames.iter().position(|frame| frame.id == drawn.id);
        let framed = framed.filter(|_| drawn.label.is_none());
        let place = match framed.and_then(|frame| builder.frames.get(frame)) {
            Some(graph) => builder.calling(*graph),
            None => builder.place(drawn, marked),
        };
        builder.places.push(place);
    }
    for arrow in &drawing.arrows {
        builder.arrow(arrow);
    }
    builder.ends_and_starts();
    builder.graphs
}

struct Builder {
    graphs: Vec<Graph>,
    /// The graph of each frame.
    frames: Vec<usize>,
    /// Graphs that only ids name: `outer:deep:a`.
    nested: BTreeMap<(usize, String), usize>,
    /// The graph and the role of each box.
    places: Vec<(usize, Role)>,
    /// Nodes, with their graphs, that called graphs leave for.
    left_for: BTreeSet<(usize, usize)>,
}

impl Builder {
    /// A graph inside of another, with its node there.
    fn graph(&mut self, around: usize, title: &str) -> usize {
        let taken: BTreeSet<&str> = self
            .graphs
            .iter()
            .map(|graph| graph.name.as_str())
            .collect();
        let name = unique(&upper_camel(title), |name| taken.contains(name));
        let index = self.graphs.len();
        let call = self.node(around, title);
        if let Some(node) = self.node_mut(around, call) {
            node.calls = Some(index);
        }
        self.nested.insert((around, title.to_owned()), index);
        self.graphs.push(Graph {
            name,
            around: Some(around),
            call,
            ..Graph::default()
        });
        index
    }

    fn node(&mut self, graph: usize, drawn: &str) -> usize {
        let Some(graph) = self.graphs.get_mut(graph) else {
            return 0;
        };
        let name = match snake(drawn) {
            name if RESERVED.contains(&name.as_str()) => format!("{name}_node"),
            name => name,
        };
        let name = unique(&name, |name| {
            graph.nodes.iter().any(|node| node.name == name)
        });
        graph.nodes.push(Node {
            name,
            drawn: drawn.to_owned(),
            ..Node::default()
        });
        graph.nodes.len() - 1
    }

    fn node_mut(&mut self, graph: usize, node: usize) -> Option<&mut Node> {
        self.graphs.get_mut(graph)?.nodes.get_mut(node)
    }

    /// The node that calls a graph.
    fn calling(&self, graph: usize) -> (usize, Role) {
        let graph = self.graphs.get(graph);
        let around = graph.and_then(|graph| graph.around).unwrap_or(0);
        (around, Role::Node(graph.map_or(0, |graph| graph.call)))
    }

    /// The graph that a box stands in, and what it is there.
    fn place(&mut self, drawn: &DrawnBox, marked: bool) -> (usize, Role) {
        let mut graph = drawn
            .frame
            .and_then(|frame| self.frames.get(frame).copied());
        if graph.is_none() && drawn.label.is_none() {
            let mut parts: Vec<&str> = drawn.id.split(':').collect();
            parts.pop();
            graph = Some(parts.into_iter().fold(0, |around, title| {
                let known = self.nested.get(&(around, title.to_owned())).copied();
                known.unwrap_or_else(|| self.graph(around, title))
            }));
        }
        let graph = graph.unwrap_or(0);
        let id = last(&drawn.id);
        let label = drawn.label.as_deref().unwrap_or(id);
        // What stands in brackets says what a box is, not what it is called.
        let title = label.split('(').next().map(str::trim);
        let title = title.filter(|title| !title.is_empty()).unwrap_or(id);
        let named = |name: &str, mark: &str| {
            id == mark
                || !marked && (id.eq_ignore_ascii_case(name) || title.eq_ignore_ascii_case(name))
        };
        if named("start", "__start__") {
            return (graph, Role::Start);
        }
        if named("end", "__end__") {
            return (graph, Role::End);
        }
        let node = self.node(graph, title);
        let notes = drawn.notes.as_deref().unwrap_or_default();
        if let Some(node) = self.node_mut(graph, node) {
            let stops = |when: &str| {
                notes.contains(&format!("__interrupt = {when}"))
                    || notes.contains("__interrupt = before,after")
            };
            node.stops = (stops("before"), stops("after"));
            node.deferred = notes.contains("defer = True");
        }
        (graph, Role::Node(node))
    }

    /// A graph and those around it, from the inside out.
    fn chain(&self, graph: usize) -> Vec<usize> {
        let around = |graph: &usize| self.graphs.get(*graph).and_then(|graph| graph.around);
        std::iter::successors(Some(graph), around).collect()
    }

    fn arrow(&mut self, arrow: &Arrow) {
        let ends = self.places.get(arrow.from).zip(self.places.get(arrow.to));
        let Some((&(from, mut source), &(to, target))) = ends else {
            return;
        };
        let (inner, outer) = (self.chain(from), self.chain(to));
        let Some(&common) = inner.iter().find(|graph| outer.contains(graph)) else {
            return;
        };
        let way = |target| Way {
            target,
            label: arrow.label.clone(),
            conditional: arrow.dotted || arrow.label.is_some(),
        };
        let entered = self.enter(common, &outer, target);
        let up: Vec<usize> = inner
            .into_iter()
            .take_while(|graph| *graph != common)
            .collect();
        // Out of a frame: by its end, or by a jump to a node of a caller.
        for (depth, graph) in up.iter().enumerate() {
            let (around, call) = self.calling(*graph);
            match (source, &entered) {
                (Role::End, _) => {}
                (_, Target::End) => self.lead(*graph, source, way(Target::End)),
                (_, Target::Node(node)) => {
                    let name = self.name(common, *node);
                    self.lead(*graph, source, way(Target::Parent(name.clone())));
                    self.left_for.insert((common, *node));
                    self.leave(&up, depth, name);
                    return;
                }
                (_, Target::Parent(_)) => return,
            }
            // The graph has ended: its node leads on.
            source = call;
            if around != common {
                self.lead(around, source, Way::always(Target::End));
                source = Role::End;
            }
        }
        self.lead(common, source, way(entered));
    }

    fn name(&self, graph: usize, node: usize) -> String {
        let found = self
            .graphs
            .get(graph)
            .and_then(|graph| graph.nodes.get(node));
        found.map(|node| node.name.clone()).unwrap_or_default()
    }

    /// The frames from `depth` on are left for a node of the graph around all of them.
    fn leave(&mut self, up: &[usize], depth: usize, name: String) {
        for (at, graph) in up.iter().enumerate().skip(depth) {
            let Some(left) = self.graphs.get_mut(*graph) else {
                continue;
            };
            left.leaves.insert(name.clone());
            let (call, around) = (left.call, left.around.unwrap_or(0));
            if at + 1 < up.len()
                && let Some(node) = self.node_mut(around, call)
            {
                node.passes_on.insert(name.clone());
            }
        }
    }

    /// Where an arrow leads in the graph that both of its boxes are in, with the frames between begun.
    fn enter(&mut self, common: usize, outer: &[usize], target: Role) -> Target {
        let mut target = match target {
            Role::Node(node) => Target::Node(node),
            Role::Start | Role::End => Target::End,
        };
        for graph in outer.iter().take_while(|graph| **graph != common) {
            if matches!(target, Target::Node(_)) {
                self.lead(*graph, Role::Start, Way::always(target));
            }
            target = Target::Node(self.graphs.get(*graph).map_or(0, |graph| graph.call));
        }
        target
    }

    fn lead(&mut self, graph: usize, source: Role, way: Way) {
        let Some(graph) = self.graphs.get_mut(graph) else {
            return;
        };
        let ways = match source {
            Role::Start => &mut graph.start,
            Role::Node(node) => match graph.nodes.get_mut(node) {
                Some(node) => &mut node.ways,
                None => return,
            },
            Role::End => return,
        };
        match ways.iter_mut().find(|known| known.target == way.target) {
            // Two arrows to one place: what decides between them changes nothing.
            Some(known) => known.conditional &= way.conditional,
            None => ways.push(way),
        }
    }

    /// What leads nowhere leads to the end; what nothing leads to is where the graph begins.
    fn ends_and_starts(&mut self) {
        for (index, graph) in self.graphs.iter_mut().enumerate() {
            let ways = graph.nodes.iter().flat_map(|node| &node.ways);
            let reached: BTreeSet<&Target> =
                ways.chain(&graph.start).map(|way| &way.target).collect();
            let nodes = 0..graph.nodes.len();
            let sources = nodes.filter(|node| {
                !reached.contains(&Target::Node(*node)) && !self.left_for.contains(&(index, *node))
            });
            let mut begins: Vec<usize> = sources.collect();
            let circle = begins.is_empty() && graph.start.is_empty() && !graph.nodes.is_empty();
            if circle {
                begins.push(0);
            }
            if circle || begins.len() > 1 || !graph.start.is_empty() {
                let names = begins.iter().filter_map(|node| graph.nodes.get(*node));
                graph.unreached = names.map(|node| node.name.clone()).collect();
            }
            let begins = begins.into_iter().map(Target::Node);
            graph.start.extend(begins.map(Way::always));
            for node in graph.nodes.iter_mut().filter(|node| node.ways.is_empty()) {
                node.ways.push(Way::always(Target::End));
            }
        }
    }
}

fn last(id: &str) -> &str {
    id.rsplit(':').next().unwrap_or(id)
}

/// The name, or the first of `name_2`, `name_3`, .. that is free.
pub fn unique(name: &str, taken: impl Fn(&str) -> bool) -> String {
    let mut found = name.to_owned();
    let mut number = 1;
    while taken(&found) {
        number += 1;
        found = format!("{name}_{number}");
    }
    found
}

/// `leadAgent`, `agent node` and `write-up` as `lead_agent`, `agent_node` and `write_up`.
pub fn snake(drawn: &str) -> String {
    let mut out = String::new();
    let mut before = ' ';
    for c in drawn.chars() {
        match c.is_ascii_alphanumeric() {
            true => {
                let word = c.is_ascii_uppercase()
                    && (before.is_ascii_lowercase() || before.is_ascii_digit());
                if word && !out.ends_with('_') {
                    out.push('_');
                }
                out.push(c.to_ascii_lowercase());
            }
            false if !out.is_empty() && !out.ends_with('_') => out.push('_'),
            false => {}
        }
        before = c;
    }
    let out = out.trim_end_matches('_');
    match out.chars().next() {
        None => "node".to_owned(),
        Some(c) if c.is_ascii_digit() => format!("node_{out}"),
        Some(_) => out.to_owned(),
    }
}

/// `agent node` as `AgentNode`.
pub fn upper_camel(drawn: &str) -> String {
    let snake = snake(drawn);
    let words = snake.split('_').filter_map(|word| {
        let first = word.chars().next()?;
        Some(format!("{}{}", first.to_ascii_uppercase(), word.get(1..)?))
    });
    words.collect()
}
