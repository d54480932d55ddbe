//! A panel under way: the boxes of a graph, and those of the subgraphs that are opened in it.
//!
//! Each opened graph is a [`Level`]. Levels are made one after another, callers before what they call,
//! and their arrows are drawn in the opposite order: what leaves an opened subgraph needs its end.

use std::collections::BTreeMap;

use crate::ir::{Flow, Graph, GraphId, JoinId, Node, NodeId, Work};

use super::arrows;
use super::label::{brief, listed};
use super::picture::{Arrow, Cluster, Ids, Kind, MOST_OPEN, Panel, Shape};
use super::risk::{Risks, called};
use super::taken::{self, Hop};
use super::trace::{Standing, Trace};

/// A graph that is drawn: the panel's own, or an opened subgraph.
pub struct Level<'a> {
    /// The graph.
    pub graph: &'a Graph,
    id: GraphId,
    /// What the ids of its boxes begin with.
    prefix: String,
    /// Path of its nodes, `/` at the end; empty in the panel's own.
    pub path: String,
    cluster: Option<usize>,
    caller: Option<usize>,
    depth: usize,
    /// Id of its start.
    pub start: String,
    nodes: Vec<Place>,
    joins: Vec<String>,
    /// Boxes made on demand, by what is written in them.
    pub extra: Vec<(Kind, String, String)>,
    /// Its arrows, by index of the panel's.
    pub hops: Vec<(usize, Hop)>,
}

/// What stands for a node.
enum Place {
    /// A box, by id.
    Box(String),
    /// A level, by index.
    Open(usize),
}

/// A panel under way.
pub struct Sketch<'a, 's> {
    /// The flow.
    pub flow: &'a Flow,
    ids: &'s mut Ids,
    /// The thread whose way is marked.
    pub trace: Option<&'s Trace>,
    risks: &'s Risks<'a>,
    /// What has been drawn.
    pub panel: Panel,
    /// The panel's own graph, then those opened in it.
    pub levels: Vec<Level<'a>>,
    drawn: BTreeMap<Arrow, usize>,
}

impl<'a, 's> Sketch<'a, 's> {
    /// Draws a graph; none where the flow has no such.
    pub fn draw(
        flow: &'a Flow,
        id: GraphId,
        depth: usize,
        ids: &'s mut Ids,
        trace: Option<&'s Trace>,
        risks: &'s Risks<'a>,
    ) -> Option<Panel> {
        let graph = flow.graphs.get(id)?;
        let panel = Panel {
            id: ids.take(&graph.name),
            name: graph.name.clone(),
            doc: graph.doc.clone(),
            boxes: Vec::new(),
            clusters: Vec::new(),
            arrows: Vec::new(),
            closed: 0,
        };
        let mut sketch = Self {
            flow,
            ids,
            trace,
            risks,
            panel,
            levels: Vec::new(),
            drawn: BTreeMap::new(),
        };
        sketch.open(id, graph, &graph.name, String::new(), None, None, 0);
        let mut next = 0;
        while next < sketch.levels.len() {
            sketch.boxes(next, depth);
            next += 1;
        }
        for level in (0..sketch.levels.len()).rev() {
            arrows::draw(&mut sketch, level);
        }
        taken::mark(&mut sketch);
        Some(sketch.panel)
    }

    #[expect(clippy::too_many_arguments, reason = "the fields of a level, once")]
    fn open(
        &mut self,
        id: GraphId,
        graph: &'a Graph,
        prefix: &str,
        path: String,
        cluster: Option<usize>,
        caller: Option<usize>,
        depth: usize,
    ) -> usize {
        let start = self.ids.take(&format!("{prefix}_0start"));
        self.levels.push(Level {
            graph,
            id,
            prefix: prefix.to_owned(),
            path,
            cluster,
            caller,
            depth,
            start,
            nodes: Vec::new(),
            joins: Vec::new(),
            extra: Vec::new(),
            hops: Vec::new(),
        });
        self.levels.len() - 1
    }

    /// Makes the boxes of a level, and the levels of the subgraphs that are opened in it.
    fn boxes(&mut self, at: usize, most: usize) {
        let Some(level) = self.levels.get(at) else {
            return;
        };
        let (graph, id, cluster) = (level.graph, level.id, level.cluster);
        let (prefix, path, start) = (
            level.prefix.clone(),
            level.path.clone(),
            level.start.clone(),
        );
        self.panel
            .boxes
            .push(shape(start, "start", Kind::Start, cluster));
        for (node_id, node) in graph.nodes.entries() {
            let name = self.ids.take(&format!("{prefix}_{}", node.name));
            let mark = self.mark(id, &path, &node.name);
            let place = match self.opened(at, node, most) {
                Some(called) => {
                    let (child, callee) = called;
                    let index = self.panel.clusters.len();
                    let said = if node.doc.is_empty() {
                        &callee.doc
                    } else {
                        &node.doc
                    };
                    self.panel.clusters.push(Cluster {
                        id: name.clone(),
                        name: format!("{}: {}", node.name, callee.name),
                        doc: said.clone(),
                        parent: cluster,
                        node: (id, node_id),
                        mark,
                    });
                    let depth = self.levels.get(at).map_or(0, |level| level.depth);
                    let path = format!("{path}{}/", node.name);
                    let inside = Some(index);
                    let level = self.open(child, callee, &name, path, inside, Some(at), depth + 1);
                    Place::Open(level)
                }
                None => {
                    let mut drawn = self.node(node, name.clone());
                    drawn.cluster = cluster;
                    drawn.node = Some((id, node_id));
                    drawn.mark = mark;
                    self.panel.boxes.push(drawn);
                    Place::Box(name)
                }
            };
            if let Some(level) = self.levels.get_mut(at) {
                level.nodes.push(place);
            }
        }
        for index in 0..graph.joins.len() {
            let join = self.ids.take(&format!("{prefix}_0join{index}"));
            self.panel
                .boxes
                .push(shape(join.clone(), "join", Kind::Join, cluster));
            if let Some(level) = self.levels.get_mut(at) {
                level.joins.push(join);
            }
        }
    }

    /// The graph of a node that is to be drawn in its place. A graph inside itself stays closed.
    fn opened(&mut self, at: usize, node: &Node, most: usize) -> Option<(GraphId, &'a Graph)> {
        let Work::Subgraph { graph, .. } = &node.work else {
            return None;
        };
        let callee = self.flow.graphs.get(*graph)?;
        if self.levels.get(at)?.depth >= most {
            return None;
        }
        let mut around = Some(at);
        while let Some(level) = around.and_then(|index| self.levels.get(index)) {
            if level.id == *graph {
                return None;
            }
            around = level.caller;
        }
        let pending = self.levels.iter().map(|level| level.graph.nodes.len());
        let drawn: usize = pending.sum();
        if drawn + callee.nodes.len() > MOST_OPEN {
            self.panel.closed += 1;
            return None;
        }
        Some((*graph, callee))
    }

    fn node(&self, node: &Node, id: String) -> Shape {
        let (kind, detail) = looks(self.flow, node);
        let mut label = vec![node.name.clone(), detail];
        let tool = |id| self.flow.tools.get(id).map(|tool| tool.name.as_str());
        let tools = match &node.work {
            Work::Call { .. } => &[],
            _ => called(node),
        };
        let stops = node.stops.iter().map(|stop| &*stop.name);
        label.extend(listed("asks:", stops));
        label.extend(listed("tools:", tools.iter().filter_map(|id| tool(*id))));
        Shape {
            id,
            label,
            notes: self.risks.notes(node),
            brief: brief(&node.doc),
            doc: node.doc.clone(),
            kind,
            defer: node.defer,
            cluster: None,
            node: None,
            mark: None,
        }
    }

    /// Where the thread is with a node: by its path in the thread's own graph, else by its graph.
    fn mark(&self, graph: GraphId, path: &str, node: &str) -> Option<Standing> {
        let trace = self.trace?;
        let name = |id| self.flow.graphs.get(id).map_or("", |graph| &*graph.name);
        match self.panel.name == trace.graph {
            true => trace.at_path(&format!("{path}{node}")),
            false => trace.of_graph(name(graph), node),
        }
    }

    /// Graph of a level.
    pub fn graph(&self, level: usize) -> Option<&'a Graph> {
        self.levels.get(level).map(|level| level.graph)
    }

    /// Id of a level's start.
    pub fn start(&self, level: usize) -> String {
        self.levels
            .get(level)
            .map_or_else(String::new, |level| level.start.clone())
    }

    /// Id of the box that a way to a node reaches; none for a node that the graph doesn't have.
    pub fn entry(&self, level: usize, node: NodeId) -> Option<String> {
        match self.levels.get(level)?.nodes.get(node.0 as usize)? {
            Place::Box(id) => Some(id.clone()),
            Place::Open(inner) => Some(self.start(*inner)),
        }
    }

    /// Id of the box that a node is left from when it has finished, where it can.
    pub fn exit(&self, level: usize, node: NodeId) -> Option<String> {
        match self.levels.get(level)?.nodes.get(node.0 as usize)? {
            Place::Box(id) => Some(id.clone()),
            Place::Open(inner) => Some(
                self.known(*inner, Kind::End, "end")
                    .unwrap_or_else(|| self.start(*inner)),
            ),
        }
    }

    /// The port by which an opened node is left upward; the node itself where it is closed.
    pub fn port(&self, level: usize, node: NodeId, name: &str) -> Option<String> {
        match self.levels.get(level)?.nodes.get(node.0 as usize)? {
            Place::Box(id) => Some(id.clone()),
            Place::Open(inner) => self.known(*inner, Kind::Parent, &format!("parent.{name}")),
        }
    }

    /// The frame of an opened node, by index.
    pub fn frame(&self, level: usize, node: NodeId) -> Option<usize> {
        match self.levels.get(level)?.nodes.get(node.0 as usize)? {
            Place::Box(_) => None,
            Place::Open(inner) => self.levels.get(*inner)?.cluster,
        }
    }

    /// Id of a join.
    pub fn join(&self, level: usize, join: JoinId) -> Option<String> {
        self.levels.get(level)?.joins.get(join.0 as usize).cloned()
    }

    fn known(&self, level: usize, kind: Kind, text: &str) -> Option<String> {
        let extra = &self.levels.get(level)?.extra;
        let found = extra.iter().find(|(k, t, _)| *k == kind && t == text);
        found.map(|(_, _, id)| id.clone())
    }

    /// Id of the box that stands for something outside of the nodes; made when first asked for.
    pub fn outside(&mut self, at: usize, kind: Kind, text: &str) -> String {
        if let Some(id) = self.known(at, kind, text) {
            return id;
        }
        let word = match kind {
            Kind::End => "0end",
            Kind::Fail => "0fail",
            _ => "0parent",
        };
        let (prefix, cluster) = self
            .levels
            .get(at)
            .map_or(("", None), |level| (level.prefix.as_str(), level.cluster));
        let id = self.ids.take(&format!("{prefix}_{word}"));
        self.panel
            .boxes
            .push(shape(id.clone(), text, kind, cluster));
        if let Some(level) = self.levels.get_mut(at) {
            level.extra.push((kind, text.to_owned(), id.clone()));
        }
        id
    }

    /// Adds an arrow of a level, once.
    pub fn arrow(&mut self, arrow: Arrow, level: usize, hop: Hop) {
        let next = self.panel.arrows.len();
        let index = *self.drawn.entry(arrow.clone()).or_insert(next);
        if index == next {
            self.panel.arrows.push(arrow);
        }
        if let Some(level) = self.levels.get_mut(level) {
            level.hops.push((index, hop));
        }
    }
}

/// A box that is no node.
pub fn shape(id: String, text: &str, kind: Kind, cluster: Option<usize>) -> Shape {
    Shape {
        id,
        label: vec![text.to_owned()],
        notes: Vec::new(),
        brief: Vec::new(),
        doc: String::new(),
        kind,
        defer: false,
        cluster,
        node: None,
        mark: None,
    }
}

/// How a node looks, and the line under its name.
fn looks(flow: &Flow, node: &Node) -> (Kind, String) {
    let word = node.work.keyword();
    let model = |id| flow.models.get(id).map_or("", |model| model.name.as_str());
    let detail = |detail: &str| {
        let defer = if node.defer { "defer " } else { "" };
        // A model that has the name of the kind adds nothing.
        let detail = if detail == word { "" } else { detail };
        format!("{defer}{word} {detail}").trim_end().to_owned()
    };
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
