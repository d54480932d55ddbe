//! What is drawn: boxes and arrows, whatever the form.

use std::collections::BTreeSet;

use crate::ir::{Flow, Graph, GraphId, JoinId, Node, NodeId, Work};

use super::arrows;

/// Graphs, each with its boxes and arrows.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// In the order asked for.
    pub panels: Vec<Panel>,
}

/// One graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Panel {
    /// Id of the frame: letters, digits, `_`; no other part of the picture has it.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Doc comment.
    pub doc: String,
    /// Boxes: the start, the nodes as declared, then what arrows need besides.
    pub boxes: Vec<Shape>,
    /// Arrows, by the box that they leave.
    pub arrows: Vec<Arrow>,
}

/// A box.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// As a panel's id.
    pub id: String,
    /// What is written in it.
    pub label: Vec<String>,
    /// Doc comment.
    pub doc: String,
    /// What it stands for.
    pub kind: Kind,
}

/// What a box stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Where a run begins.
    Start,
    /// Where a path ends.
    End,
    /// An error that the flow makes.
    Fail,
    /// A node of the caller's graph.
    Parent,
    /// Waits for several nodes.
    Join,
    /// One model call.
    Llm,
    /// Model and tools in a loop.
    Agent,
    /// Tool calls.
    Tool,
    /// Reads and writes state.
    Update,
    /// Only routes.
    Branch,
    /// Waits for a person.
    Interrupt,
    /// Runs a graph.
    Subgraph,
}

/// An arrow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrow {
    /// Id of the box that it leaves.
    pub from: String,
    /// Id of the box that it reaches.
    pub to: String,
    /// When it is taken; empty where always.
    pub label: String,
    /// Why it is taken.
    pub kind: Way,
}

/// Why an arrow is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Always.
    Edge,
    /// A condition, or a target computed at run time.
    Choice,
    /// One task an element.
    Send,
    /// A jump of a tool or out of a subgraph.
    Jump,
    /// An error.
    Error,
    /// A bound is reached: visits, or a wait.
    Limit,
}

impl Picture {
    /// The picture of graphs of a flow.
    pub fn of(flow: &Flow, graphs: &[GraphId]) -> Self {
        let mut ids = Ids::default();
        let panels = graphs.iter().filter_map(|id| {
            let graph = flow.graphs.get(*id)?;
            Some(Sketch::new(flow, graph, &mut ids).finish())
        });
        Self {
            panels: panels.collect(),
        }
    }
}

/// Ids given out so far.
#[derive(Debug, Default)]
pub struct Ids(BTreeSet<String>);

impl Ids {
    /// An id that reads like the name and that nothing else has.
    fn take(&mut self, name: &str) -> String {
        let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
        let base: String = name.chars().map(plain).collect();
        let numbered = (2..).map(|number| format!("{base}_{number}"));
        let mut candidates = std::iter::once(base.clone()).chain(numbered);
        let free = candidates.find(|id| !self.0.contains(id));
        let id = free.unwrap_or(base);
        self.0.insert(id.clone());
        id
    }
}

/// A panel under way.
pub struct Sketch<'a> {
    /// The flow.
    pub flow: &'a Flow,
    /// The graph.
    pub graph: &'a Graph,
    ids: &'a mut Ids,
    panel: Panel,
    nodes: Vec<String>,
    joins: Vec<String>,
    start: String,
    /// Boxes made on demand, by what is written in them.
    extra: Vec<(Kind, String, String)>,
}

impl<'a> Sketch<'a> {
    fn new(flow: &'a Flow, graph: &'a Graph, ids: &'a mut Ids) -> Self {
        let name = &graph.name;
        let panel = Panel {
            id: ids.take(name),
            name: name.clone(),
            doc: graph.doc.clone(),
            boxes: Vec::new(),
            arrows: Vec::new(),
        };
        let mut sketch = Self {
            flow,
            graph,
            start: ids.take(&format!("{name}_0start")),
            ids,
            panel,
            nodes: Vec::new(),
            joins: Vec::new(),
            extra: Vec::new(),
        };
        let start = sketch.start.clone();
        sketch.add(start, vec!["start".to_owned()], String::new(), Kind::Start);
        for node in &graph.nodes {
            let id = sketch.ids.take(&format!("{name}_{}", node.name));
            sketch.nodes.push(id.clone());
            let (kind, detail) = looks(flow, node);
            let label = std::iter::once(node.name.clone()).chain(Some(detail));
            sketch.add(id, label.collect(), node.doc.clone(), kind);
        }
        for index in 0..graph.joins.len() {
            let id = sketch.ids.take(&format!("{name}_0join{index}"));
            sketch.joins.push(id.clone());
            sketch.add(id, vec!["join".to_owned()], String::new(), Kind::Join);
        }
        sketch
    }

    fn finish(mut self) -> Panel {
        arrows::draw(&mut self);
        self.panel
    }

    fn add(&mut self, id: String, label: Vec<String>, doc: String, kind: Kind) {
        self.panel.boxes.push(Shape {
            id,
            label,
            doc,
            kind,
        });
    }

    /// Id of the start.
    pub fn start(&self) -> String {
        self.start.clone()
    }

    /// Id of a node; none for one that the graph doesn't have.
    pub fn node(&self, node: NodeId) -> Option<String> {
        self.nodes.get(node.0 as usize).cloned()
    }

    /// Id of a join.
    pub fn join(&self, join: JoinId) -> Option<String> {
        self.joins.get(join.0 as usize).cloned()
    }

    /// Id of the box that stands for something outside of the nodes; made when first asked for.
    pub fn outside(&mut self, kind: Kind, text: &str) -> String {
        let known = |(k, t, _): &&(Kind, String, String)| *k == kind && t == text;
        if let Some((_, _, id)) = self.extra.iter().find(known) {
            return id.clone();
        }
        let word = match kind {
            Kind::End => "0end",
            Kind::Fail => "0fail",
            _ => "0parent",
        };
        let id = self.ids.take(&format!("{}_{word}", self.graph.name));
        self.extra.push((kind, text.to_owned(), id.clone()));
        self.add(id.clone(), vec![text.to_owned()], String::new(), kind);
        id
    }

    /// Adds an arrow, once.
    pub fn arrow(&mut self, arrow: Arrow) {
        if !self.panel.arrows.contains(&arrow) {
            self.panel.arrows.push(arrow);
        }
    }
}

/// How a node looks, and the line under its name.
fn looks(flow: &Flow, node: &Node) -> (Kind, String) {
    let word = node.work.keyword();
    let model = |id| flow.models.get(id).map_or("", |model| model.name.as_str());
    let detail = |detail: &str| format!("{word} {detail}").trim_end().to_owned();
    match &node.work {
        Work::Llm(call) => (Kind::Llm, detail(model(call.model))),
        Work::Agent { call, .. } => (Kind::Agent, detail(model(call.model))),
        Work::Tools { .. } => (Kind::Tool, detail("")),
        Work::Call { tool, .. } => {
            let tool = flow.tools.get(*tool).map_or("", |tool| tool.name.as_str());
            (Kind::Tool, detail(tool))
        }
        Work::Extern { name, .. } => (Kind::Tool, detail(name)),
        Work::Update => (Kind::Update, detail("")),
        Work::Branch => (Kind::Branch, detail("")),
        Work::Interrupt { .. } => (Kind::Interrupt, detail("")),
        Work::Subgraph { graph, .. } => {
            let graph = flow.graphs.get(*graph).map_or("", |graph| &*graph.name);
            (Kind::Subgraph, detail(graph))
        }
    }
}
