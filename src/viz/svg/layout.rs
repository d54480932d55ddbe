//! Where everything of a panel is put: layers from top to bottom, by the `dagre` crate.

use std::collections::{BTreeMap, BTreeSet};

use dagre::graph::{Graph, GraphOptions};
use dagre::layout::types::Ranker;
use dagre::{EdgeLabel, LayoutOptions, NodeLabel, RankDir};

use super::super::label;
use super::super::picture::{Arrow, Kind, Panel, Shape};
use super::far;
use super::measure::{Face, width};
use super::way::{leave, touch};

/// Face of names.
pub const NAME: Face = Face::Code(13.0);
/// Face of the lines below.
pub const DETAIL: Face = Face::Code(11.0);
/// Face of doc comments.
pub const PROSE: Face = Face::Prose(11.5);
/// Face of conditions.
pub const CONDITION: Face = Face::Code(10.5);
/// Face of the name of a frame.
pub const TITLE: Face = Face::Code(12.0);

/// Height of a line in a box.
pub const LINE: f64 = 16.0;
/// Height of a line of a condition.
pub const SMALL: f64 = 13.0;
/// Room above the boxes of a frame, for its name.
const HEAD: f64 = 22.0;
/// Characters of a line of a condition, and how many lines.
const CONDITION_LINE: usize = 30;
const CONDITION_LINES: usize = 4;

/// Boxes, and arrows, from which on layers are found by the longest way from the start. The ranker that
/// keeps arrows short takes time by the square: half a minute for 1,000 boxes.
const SIMPLE: usize = 200;

/// A point, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Point {
    /// To the right.
    pub x: f64,
    /// Downward.
    pub y: f64,
}

/// A place that something takes.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Rect {
    /// Left edge.
    pub x: f64,
    /// Upper edge.
    pub y: f64,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

impl Rect {
    /// Whether a point is inside, not on the border.
    pub fn holds(&self, p: &Point) -> bool {
        p.x > self.x && p.x < self.x + self.w && p.y > self.y && p.y < self.y + self.h
    }
}

/// An arrow's way.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Line {
    /// From border to border, bends between.
    pub points: Vec<Point>,
    /// The condition, in lines.
    pub label: Vec<String>,
    /// Middle of the condition.
    pub at: Point,
}

/// A panel laid out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Placed {
    /// Width of all.
    pub w: f64,
    /// Height of all.
    pub h: f64,
    /// Places of boxes, as the panel lists them.
    pub boxes: Vec<Rect>,
    /// Places of frames.
    pub clusters: Vec<Rect>,
    /// Ways of arrows.
    pub lines: Vec<Line>,
}

/// The layers of a panel that is too large for the ranker that keeps arrows short.
struct Layers(Option<Vec<usize>>);

impl Layers {
    fn of(panel: &Panel) -> Self {
        let many = panel.boxes.len() > SIMPLE || panel.arrows.len() > 2 * SIMPLE;
        // With frames, their lower borders would all be at the bottom.
        let simple = many && panel.clusters.is_empty();
        let ends = far::ends(panel).filter(|_| simple);
        Self(ends.map(|ends| far::layers(panel.boxes.len(), &ends)))
    }

    /// Whether an arrow is told to the layout from its end to its beginning. The layout knows the longest
    /// way only from the sinks: it is given all arrows upward, and draws from the bottom to the top.
    fn turned(&self, from: usize, to: usize) -> bool {
        let Some(layers) = &self.0 else {
            return false;
        };
        layers.get(from) < layers.get(to)
    }
}

/// Lays a panel out.
pub fn place(panel: &Panel) -> Placed {
    let layers = Layers::of(panel);
    let mut graph: Graph<NodeLabel, EdgeLabel> = Graph::with_options(GraphOptions {
        directed: true,
        multigraph: true,
        compound: true,
    });
    let cluster = |index: usize| format!("c{index}");
    for (index, inside) in panel.clusters.iter().enumerate() {
        graph.set_node(cluster(index), Some(NodeLabel::default()));
        if let Some(parent) = inside.parent {
            graph.set_parent(&cluster(index), Some(&cluster(parent)));
        }
    }
    let mut names: BTreeMap<&str, (usize, String)> = BTreeMap::new();
    for (index, shape) in panel.boxes.iter().enumerate() {
        let (width, height) = size(shape);
        let name = format!("b{index}");
        let label = NodeLabel {
            width,
            height,
            ..NodeLabel::default()
        };
        graph.set_node(name.clone(), Some(label));
        if let Some(inside) = shape.cluster {
            graph.set_parent(&name, Some(&cluster(inside)));
        }
        names.insert(&shape.id, (index, name));
    }
    let nodes: BTreeSet<&str> = panel
        .boxes
        .iter()
        .filter(|shape| shape.node.is_some())
        .map(|shape| &*shape.id)
        .collect();
    for (index, arrow) in panel.arrows.iter().enumerate() {
        if let (Some(from), Some(to)) = (names.get(&*arrow.from), names.get(&*arrow.to)) {
            let name = format!("a{index}");
            let mut label = edge(arrow);
            // What a node leads to stands near it; what only ends is no reason to stand low.
            label.weight = if nodes.contains(&*arrow.to) { 3 } else { 1 };
            let ends = match layers.turned(from.0, to.0) {
                true => (to, from),
                false => (from, to),
            };
            let (tail, head) = (ends.0.1.clone(), ends.1.1.clone());
            graph.set_edge(tail, head, Some(label), Some(&name));
        }
    }
    let options = LayoutOptions {
        rankdir: match layers.0 {
            Some(_) => RankDir::BT,
            None => RankDir::TB,
        },
        ranker: match layers.0 {
            Some(_) => Ranker::LongestPath,
            None => Ranker::NetworkSimplex,
        },
        nodesep: 36.0,
        edgesep: 22.0,
        ranksep: if panel.clusters.is_empty() {
            44.0
        } else {
            60.0
        },
        ..LayoutOptions::default()
    };
    dagre::layout(&mut graph, Some(options));
    read(panel, &graph, &names, &layers)
}

/// Width and height of a box.
fn size(shape: &Shape) -> (f64, f64) {
    if shape.kind == Kind::Join {
        return (64.0, 7.0);
    }
    let faces = std::iter::once(NAME).chain(std::iter::repeat(DETAIL));
    let lines = shape.label.iter().zip(faces);
    let widths = lines.map(|(line, face)| width(line, face));
    let widths = widths.chain(shape.notes.iter().map(|(_, line)| width(line, DETAIL)));
    let widths = widths.chain(shape.brief.iter().map(|line| width(line, PROSE)));
    let widest = widths.fold(0.0, f64::max);
    let count = shape.label.len() + shape.notes.len() + shape.brief.len();
    let (across, along) = match shape.kind {
        Kind::Start | Kind::End | Kind::Away => (28.0, 10.0),
        Kind::Interrupt | Kind::Branch | Kind::Fail | Kind::Parent => (44.0, 14.0),
        _ => (30.0, 14.0),
    };
    let least = if shape.node.is_some() { 96.0 } else { 0.0 };
    ((widest + across).max(least), count as f64 * LINE + along)
}

fn edge(arrow: &Arrow) -> EdgeLabel {
    let lines = condition(arrow);
    let (width, height) = match lines.len() {
        0 => (0.0, 0.0),
        count => (widest(&lines) + 8.0, count as f64 * SMALL + 4.0),
    };
    EdgeLabel {
        width,
        height,
        labelpos: dagre::layout::types::LabelPos::Center,
        ..EdgeLabel::default()
    }
}

fn widest(lines: &[String]) -> f64 {
    let widths = lines.iter().map(|line| width(line, CONDITION));
    widths.fold(0.0, f64::max)
}

fn condition(arrow: &Arrow) -> Vec<String> {
    label::condition(&arrow.label, CONDITION_LINE, CONDITION_LINES)
}

fn read(
    panel: &Panel,
    graph: &Graph<NodeLabel, EdgeLabel>,
    names: &BTreeMap<&str, (usize, String)>,
    layers: &Layers,
) -> Placed {
    let rect = |name: &str| -> Rect {
        let Some(node) = graph.node(name) else {
            return Rect::default();
        };
        let (x, y) = (node.x.unwrap_or_default(), node.y.unwrap_or_default());
        Rect {
            x: x - node.width / 2.0,
            y: y - node.height / 2.0,
            w: node.width,
            h: node.height,
        }
    };
    let mut placed = Placed {
        boxes: (0..panel.boxes.len())
            .map(|index| rect(&format!("b{index}")))
            .collect(),
        ..Placed::default()
    };
    placed.clusters = (0..panel.clusters.len())
        .map(|index| rect(&format!("c{index}")))
        .collect();
    frames(panel, &mut placed);
    for (index, arrow) in panel.arrows.iter().enumerate() {
        let ends = names.get(&*arrow.from).zip(names.get(&*arrow.to));
        let turned = ends.is_some_and(|(from, to)| layers.turned(from.0, to.0));
        let laid = ends.and_then(|(from, to)| {
            let (tail, head) = if turned { (to, from) } else { (from, to) };
            graph.edge(&tail.1, &head.1, Some(&format!("a{index}")))
        });
        let (Some(laid), Some((from, to))) = (laid, ends) else {
            placed.lines.push(Line::default());
            continue;
        };
        let points = laid.points.iter().map(|point| Point {
            x: point.x,
            y: point.y,
        });
        let mut points: Vec<Point> = points.collect();
        if turned {
            points.reverse();
        }
        let end = |at: usize| Some((panel.boxes.get(at)?.kind, *placed.boxes.get(at)?));
        if let Some((kind, rect)) = end(from.0) {
            touch(&mut points, kind, &rect);
        }
        if let Some((kind, rect)) = end(to.0) {
            points.reverse();
            touch(&mut points, kind, &rect);
            points.reverse();
        }
        let mut line = Line {
            points,
            label: condition(arrow),
            at: Point {
                x: laid.x.unwrap_or_default(),
                y: laid.y.unwrap_or_default(),
            },
        };
        if let Some(frame) = arrow.tail.and_then(|tail| placed.clusters.get(tail)) {
            let wide = widest(&line.label);
            leave(&mut line, frame, wide);
        }
        placed.lines.push(line);
    }
    shift(&mut placed);
    placed
}

/// Frames get room for their names, and stand around all that is in them; inner ones first.
fn frames(panel: &Panel, placed: &mut Placed) {
    for index in (0..panel.clusters.len()).rev() {
        let Some(cluster) = panel.clusters.get(index) else {
            continue;
        };
        let inside = panel
            .boxes
            .iter()
            .zip(&placed.boxes)
            .filter(|(shape, _)| shape.cluster == Some(index))
            .map(|(_, rect)| *rect);
        let nested = panel
            .clusters
            .iter()
            .zip(&placed.clusters)
            .filter(|(inner, _)| inner.parent == Some(index))
            .map(|(_, rect)| *rect);
        let own = placed.clusters.get(index).copied().unwrap_or_default();
        let all = inside.chain(nested).fold(own, union);
        let name = width(&cluster.name, TITLE) + 70.0;
        if let Some(rect) = placed.clusters.get_mut(index) {
            let wider = (name - all.w).max(0.0);
            *rect = Rect {
                x: all.x - wider / 2.0 - 6.0,
                y: all.y - HEAD + 12.0,
                w: all.w + wider + 12.0,
                h: all.h + HEAD - 6.0,
            };
        }
    }
}

fn union(a: Rect, b: Rect) -> Rect {
    let (x, y) = (a.x.min(b.x), a.y.min(b.y));
    Rect {
        x,
        y,
        w: (a.x + a.w).max(b.x + b.w) - x,
        h: (a.y + a.h).max(b.y + b.h) - y,
    }
}

/// Moves everything so that nothing is left of or above the origin, and measures all.
fn shift(placed: &mut Placed) {
    let rects = placed.boxes.iter().chain(&placed.clusters);
    let mut all: Vec<Rect> = rects.copied().collect();
    for line in &placed.lines {
        all.extend(line.points.iter().map(|point| Rect {
            x: point.x,
            y: point.y,
            w: 0.0,
            h: 0.0,
        }));
        let w = widest(&line.label);
        let h = line.label.len() as f64 * SMALL;
        if !line.label.is_empty() {
            all.push(Rect {
                x: line.at.x - w / 2.0,
                y: line.at.y - h / 2.0,
                w,
                h,
            });
        }
    }
    let whole = all.iter().copied().reduce(union).unwrap_or_default();
    for rect in placed.boxes.iter_mut().chain(&mut placed.clusters) {
        rect.x -= whole.x;
        rect.y -= whole.y;
    }
    for line in &mut placed.lines {
        let points = line.points.iter_mut().chain(std::iter::once(&mut line.at));
        points.for_each(|point| {
            point.x -= whole.x;
            point.y -= whole.y;
        });
    }
    placed.w = whole.w;
    placed.h = whole.h;
}
