//! What is drawn: boxes, frames and arrows, whatever the form.

use std::collections::BTreeSet;

use crate::ir::{Flow, GraphId, NodeId};

use super::risk::{Risks, Sign};
use super::sketch::Sketch;
use super::trace::{Standing, Trace};

/// Most boxes of a panel: no further subgraph is opened where its nodes would go beyond.
pub const MOST_OPEN: usize = 2_000;

/// Graphs, each with its boxes and arrows.
#[derive(Debug, Clone, PartialEq)]
pub struct Picture {
    /// In the order asked for.
    pub panels: Vec<Panel>,
    /// The thread whose way is marked.
    pub thread: Option<String>,
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
    /// Boxes: the start, the nodes as declared, those of opened subgraphs, then what arrows need besides.
    pub boxes: Vec<Shape>,
    /// Opened subgraphs, a frame before those inside it.
    pub clusters: Vec<Cluster>,
    /// Arrows, by the box that they leave.
    pub arrows: Vec<Arrow>,
    /// Subgraphs that were left closed although they were to be opened: a picture has its bounds.
    pub closed: usize,
}

/// A subgraph drawn in place of the node that runs it.
#[derive(Debug, Clone, PartialEq)]
pub struct Cluster {
    /// As a panel's id.
    pub id: String,
    /// Name of the node, and of the graph behind it.
    pub name: String,
    /// Doc comment of the node, else of the graph.
    pub doc: String,
    /// The frame around it, by index; `None` in the panel itself.
    pub parent: Option<usize>,
    /// The node.
    pub node: (GraphId, NodeId),
    /// Where a thread is with it.
    pub mark: Option<Standing>,
}

impl Cluster {
    /// Its name, and where a thread is with it.
    pub fn title(&self) -> String {
        let marks = self.mark.iter().flat_map(|mark| mark.words());
        let parts = std::iter::once(self.name.clone()).chain(marks);
        parts.collect::<Vec<_>>().join(" · ")
    }
}

/// A box.
#[derive(Debug, Clone, PartialEq)]
pub struct Shape {
    /// As a panel's id.
    pub id: String,
    /// What is written in it: its name, and below it kind, model, tools.
    pub label: Vec<String>,
    /// Lines below that a reviewer must see, each with what it stands for.
    pub notes: Vec<(Sign, String)>,
    /// First sentence of the doc comment, in lines.
    pub brief: Vec<String>,
    /// Doc comment.
    pub doc: String,
    /// What it stands for.
    pub kind: Kind,
    /// Whether it waits until nothing else is left.
    pub defer: bool,
    /// The frame that it is in, by index; `None` in the panel itself.
    pub cluster: Option<usize>,
    /// The node that it is; `None` for a start, an end and the like.
    pub node: Option<(GraphId, NodeId)>,
    /// Where a thread is with it.
    pub mark: Option<Standing>,
}

impl Shape {
    /// What is written in it, line by line, but for what its doc comment says.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        let notes = self.notes.iter().map(|(_, note)| note.clone());
        let marks = self.mark.iter().map(|mark| mark.words().join(" · "));
        let marks = marks.filter(|words| !words.is_empty());
        self.label.iter().cloned().chain(notes).chain(marks)
    }
}

/// What a box stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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
    /// Names a box that is too far away for a line.
    Away,
}

/// An arrow.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Arrow {
    /// Id of the box that it leaves.
    pub from: String,
    /// Id of the box that it reaches.
    pub to: String,
    /// When it is taken, in one line, however long; empty where always. Of arrows drawn as one, a line each.
    pub label: String,
    /// Why it is taken.
    pub kind: Way,
    /// The frame that it leaves from, by index, where it is not for one box inside to take.
    pub tail: Option<usize>,
    /// Whether the thread went this way.
    pub taken: bool,
}

/// Why an arrow is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
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
    /// A bound is reached (visits, or a wait), or the node is skipped.
    Limit,
}

impl Way {
    /// All of them, as a legend lists them.
    pub const ALL: [Way; 6] = [
        Way::Edge,
        Way::Choice,
        Way::Send,
        Way::Jump,
        Way::Error,
        Way::Limit,
    ];

    /// What a legend says.
    pub fn meaning(self) -> &'static str {
        match self {
            Way::Edge => "always",
            Way::Choice => "on a condition",
            Way::Send => "each: one task an element",
            Way::Jump => "jump of a tool or out of a subgraph",
            Way::Error => "on an error",
            Way::Limit => "skipped, or a limit: visits, time",
        }
    }
}

impl Picture {
    /// The picture of graphs of a flow, subgraphs opened to a depth, with the way of a thread.
    pub fn of(flow: &Flow, graphs: &[GraphId], depth: usize, trace: Option<&Trace>) -> Self {
        let mut ids = Ids::default();
        let risks = Risks::of(flow);
        let panels = graphs
            .iter()
            .filter_map(|id| Sketch::draw(flow, *id, depth, &mut ids, trace, &risks));
        Self {
            panels: panels.collect(),
            thread: trace.map(|trace| trace.thread.clone()),
        }
    }

    /// The kinds of arrows and the marks in it; none where all arrows are plain ones, which need no legend.
    pub fn legend(&self) -> Legend {
        let arrows = || self.panels.iter().flat_map(|panel| &panel.arrows);
        let used: BTreeSet<Way> = arrows().map(|arrow| arrow.kind).collect();
        let notes = self.panels.iter().flat_map(|panel| &panel.boxes);
        let notes = notes.flat_map(|shape| shape.notes.iter().map(|(sign, _)| *sign));
        let mut signs: BTreeSet<Sign> = notes.collect();
        if arrows().any(|arrow| arrow.taken) {
            signs.insert(Sign::Taken);
        }
        let plain = used.iter().all(|way| *way == Way::Edge);
        let ways = Way::ALL
            .into_iter()
            .filter(|way| !plain && used.contains(way));
        Legend {
            ways: ways.collect(),
            signs: Sign::ALL
                .into_iter()
                .filter(|sign| signs.contains(sign))
                .collect(),
        }
    }

    /// Subgraphs that were left closed although they were to be opened.
    pub fn closed(&self) -> usize {
        self.panels.iter().map(|panel| panel.closed).sum()
    }
}

/// What a drawing explains.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Legend {
    /// Kinds of arrows.
    pub ways: Vec<Way>,
    /// Marks of boxes and of ways taken.
    pub signs: Vec<Sign>,
}

impl Legend {
    /// Whether there is nothing to explain.
    pub fn is_empty(&self) -> bool {
        self.ways.is_empty() && self.signs.is_empty()
    }
}

/// A piece of a panel, as forms that nest frames write it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece {
    /// A box, by index.
    Box(usize),
    /// A frame begins, by index.
    Open(usize),
    /// The latest frame ends.
    Close,
}

impl Panel {
    /// Boxes and frames in the order of nested text, each with its depth.
    pub fn nested(&self) -> Vec<(usize, Piece)> {
        let mut inside: Vec<Vec<Piece>> = vec![Vec::new(); self.clusters.len() + 1];
        let slot = |cluster: Option<usize>| cluster.map_or(0, |index| index + 1);
        let mut put = |cluster: Option<usize>, piece: Piece| {
            if let Some(pieces) = inside.get_mut(slot(cluster)) {
                pieces.push(piece);
            }
        };
        for (index, shape) in self.boxes.iter().enumerate() {
            put(shape.cluster, Piece::Box(index));
        }
        for (index, cluster) in self.clusters.iter().enumerate() {
            put(cluster.parent, Piece::Open(index));
        }
        let mut nested = Vec::new();
        let pieces = |slot: usize| inside.get(slot).map_or(&[][..], |pieces| pieces).iter();
        let mut under_way = vec![pieces(0)];
        while let Some(rest) = under_way.last_mut() {
            let piece = rest.next().copied();
            let depth = under_way.len() - 1;
            match piece {
                Some(Piece::Open(index)) => {
                    nested.push((depth, Piece::Open(index)));
                    under_way.push(pieces(index + 1));
                }
                Some(piece) => nested.push((depth, piece)),
                None => {
                    under_way.pop();
                    if depth > 0 {
                        nested.push((depth - 1, Piece::Close));
                    }
                }
            }
        }
        nested
    }
}

/// Ids given out so far.
#[derive(Debug, Default)]
pub struct Ids(BTreeSet<String>);

impl Ids {
    /// An id that reads like the name and that nothing else has.
    pub fn take(&mut self, name: &str) -> String {
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
