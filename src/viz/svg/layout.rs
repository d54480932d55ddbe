//! Where everything of a panel is put: layers from top to bottom, by the `dagre` crate.

use std::collections::{BTreeMap, BTreeSet};

use dagre::graph::{Graph, GraphOptions};
use dagre::{EdgeLabel, LayoutOptions, NodeLabel, RankDir};

use super::super::label::wrap;
use super::super::picture::{Arrow, Kind, Panel, Shape};
use super::measure::{Face, width};

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
const CONDITION_LINE: usize = 26;
const CONDITION_LINES: usize = 3;

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
    fn holds(&self, p: &Point) -> bool {
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

/// Lays a panel out.
pub fn place(panel: &Panel) -> Placed {
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
    let mut names: BTreeMap<&str, String> = BTreeMap::new();
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
        names.insert(&shape.id, name);
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
            graph.set_edge(from.clone(), to.clone(), Some(label), Some(&name));
        }
    }
    let options = LayoutOptions {
        rankdir: RankDir::TB,
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
    read(panel, &graph, &names)
}

/// Width and height of a box.
fn size(shape: &Shape) -> (f64, f64) {
    if shape.kind == Kind::Join {
        return (64.0, 7.0);
    }
    let faces = std::iter::once(NAME).chain(std::iter::repeat(DETAIL));
    let lines = shape.label.iter().zip(faces);
    let widths = lines.map(|(line, face)| width(line, face));
    let widths = widths.chain(shape.brief.iter().map(|line| width(line, PROSE)));
    let widest = widths.fold(0.0, f64::max);
    let count = shape.label.len() + shape.brief.len();
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
    let widest = lines.iter().map(|line| width(line, CONDITION));
    let (width, height) = match lines.len() {
        0 => (0.0, 0.0),
        count => (widest.fold(0.0, f64::max) + 8.0, count as f64 * SMALL + 4.0),
    };
    EdgeLabel {
        width,
        height,
        labelpos: dagre::layout::types::LabelPos::Center,
        ..EdgeLabel::default()
    }
}

fn condition(arrow: &Arrow) -> Vec<String> {
    wrap(&arrow.label, CONDITION_LINE, CONDITION_LINES)
}

fn read(
    panel: &Panel,
    graph: &Graph<NodeLabel, EdgeLabel>,
    names: &BTreeMap<&str, String>,
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
    let index_of: BTreeMap<&str, usize> = panel
        .boxes
        .iter()
        .enumerate()
        .map(|(at, shape)| (&*shape.id, at))
        .collect();
    for (index, arrow) in panel.arrows.iter().enumerate() {
        let ends = names.get(&*arrow.from).zip(names.get(&*arrow.to));
        let laid = ends.and_then(|(from, to)| graph.edge(from, to, Some(&format!("a{index}"))));
        let Some(laid) = laid else {
            placed.lines.push(Line::default());
            continue;
        };
        let points = laid.points.iter().map(|point| Point {
            x: point.x,
            y: point.y,
        });
        let mut points: Vec<Point> = points.collect();
        let end = |id: &str| {
            let at = index_of.get(id).copied()?;
            Some((panel.boxes.get(at)?.kind, *placed.boxes.get(at)?))
        };
        if let Some((kind, rect)) = end(&arrow.from) {
            touch(&mut points, kind, &rect);
        }
        if let Some((kind, rect)) = end(&arrow.to) {
            points.reverse();
            touch(&mut points, kind, &rect);
            points.reverse();
        }
        let mut at = Point {
            x: laid.x.unwrap_or_default(),
            y: laid.y.unwrap_or_default(),
        };
        if let Some(frame) = arrow.tail.and_then(|tail| placed.clusters.get(tail)) {
            points = outside(points, frame);
            // A condition goes with what is left of its arrow.
            if let (true, Some(first)) = (frame.holds(&at), points.first()) {
                at = Point {
                    x: first.x,
                    y: first.y + SMALL,
                };
            }
        }
        placed.lines.push(Line {
            points,
            label: condition(arrow),
            at,
        });
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

/// The part of a way from where it leaves a frame for the last time.
fn outside(points: Vec<Point>, frame: &Rect) -> Vec<Point> {
    let within = |p: &Point| frame.holds(p);
    let Some(last) = points.iter().rposition(within) else {
        return points;
    };
    let (Some(inner), Some(outer)) = (points.get(last), points.get(last + 1)) else {
        return points;
    };
    let border = crossing(*inner, *outer, within);
    let rest = points.get(last + 1..).unwrap_or_default();
    std::iter::once(border)
        .chain(rest.iter().copied())
        .collect()
}

/// The point of a piece at which it leaves what `a` is within.
fn crossing(mut a: Point, mut b: Point, within: impl Fn(&Point) -> bool) -> Point {
    // Halved until the crossing is known to a fraction of a pixel.
    for _ in 0..24 {
        let middle = Point {
            x: (a.x + b.x) / 2.0,
            y: (a.y + b.y) / 2.0,
        };
        match within(&middle) {
            true => a = middle,
            false => b = middle,
        }
    }
    b
}

/// Lets a way begin at the outline of its box, where that is no rectangle.
fn touch(points: &mut [Point], kind: Kind, rect: &Rect) {
    let Some(outline) = corners(kind, rect) else {
        return;
    };
    let middle = Point {
        x: rect.x + rect.w / 2.0,
        y: rect.y + rect.h / 2.0,
    };
    let within = |p: &Point| {
        let next = outline.iter().skip(1).chain(outline.first());
        outline.iter().zip(next).all(|(a, b)| {
            // Corners go clockwise on a screen: inside is to the right of each edge.
            (b.0 - a.0) * (p.y - a.1) - (b.1 - a.1) * (p.x - a.0) >= 0.0
        })
    };
    let second = points.get(1).copied();
    if let (Some(first), Some(second)) = (points.first_mut(), second)
        && !within(&second)
    {
        *first = crossing(middle, second, within);
    }
}

/// Corners of a box that is no rectangle, clockwise.
pub fn corners(kind: Kind, at: &Rect) -> Option<Vec<(f64, f64)>> {
    let (x, y, w, h) = (at.x, at.y, at.w, at.h);
    Some(match kind {
        Kind::Branch => vec![
            (x + 14.0, y),
            (x + w - 14.0, y),
            (x + w, y + h / 2.0),
            (x + w - 14.0, y + h),
            (x + 14.0, y + h),
            (x, y + h / 2.0),
        ],
        Kind::Interrupt => vec![(x, y), (x + w, y), (x + w - 14.0, y + h), (x + 14.0, y + h)],
        Kind::Fail => vec![
            (x + 10.0, y),
            (x + w - 10.0, y),
            (x + w, y + h * 0.3),
            (x + w, y + h * 0.7),
            (x + w - 10.0, y + h),
            (x + 10.0, y + h),
            (x, y + h * 0.7),
            (x, y + h * 0.3),
        ],
        Kind::Parent => vec![
            (x, y),
            (x + w - 14.0, y),
            (x + w, y + h / 2.0),
            (x + w - 14.0, y + h),
            (x, y + h),
        ],
        _ => return None,
    })
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
        let widest = line.label.iter().map(|text| width(text, CONDITION));
        let w = widest.fold(0.0, f64::max);
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
