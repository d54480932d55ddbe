//! Boxes and frames.

use super::super::picture::{Cluster, Kind, Shape};
use super::super::risk::Sign;
use super::super::trace::Standing;
use super::layout::{DETAIL, LINE, Rect};
use super::measure::{Face, width};
use super::xml::{escaped, px};

/// Word for a kind, as the style names it.
pub fn word(kind: Kind) -> &'static str {
    match kind {
        Kind::Start => "start",
        Kind::End => "end",
        Kind::Fail => "fail",
        Kind::Parent => "parent",
        Kind::Join => "join",
        Kind::Llm => "llm",
        Kind::Agent => "agent",
        Kind::Tool => "tool",
        Kind::Update => "update",
        Kind::Branch => "branch",
        Kind::Interrupt => "interrupt",
        Kind::Subgraph => "subgraph",
        Kind::Away => "away",
    }
}

/// Word for a mark, as the style names it.
pub fn signed(sign: Sign) -> &'static str {
    match sign {
        Sign::Destructive => "destructive",
        Sign::Approve => "approve",
        Sign::Taken => "taken",
    }
}

/// A box at its place. `traced` fades what a thread has not seen.
pub fn draw(shape: &Shape, at: &Rect, traced: bool) -> String {
    let mut class = vec!["box", word(shape.kind)];
    if shape.node.is_some() {
        class.push("node");
    }
    if shape.defer {
        class.push("defer");
    }
    let mut signs: Vec<&str> = shape.notes.iter().map(|(sign, _)| signed(*sign)).collect();
    signs.dedup();
    class.extend(signs);
    class.extend(state(shape.mark.as_ref(), traced && shape.node.is_some()));
    let class = class.join(" ");
    let mut out = format!("<g id=\"{}\" class=\"{class}\">", escaped(&shape.id));
    out.push_str(&format!("<title>{}</title>", escaped(&tooltip(shape))));
    out.push_str(&outline(shape.kind, at));
    if shape.kind != Kind::Join {
        out.push_str(&lines(shape, at));
    }
    out.push_str(&badge(shape.mark.as_ref(), at));
    out.push_str("</g>\n");
    out
}

/// A frame at its place, with its name.
pub fn frame(cluster: &Cluster, at: &Rect, traced: bool) -> String {
    let mut class = vec!["cluster", "node"];
    class.extend(state(cluster.mark.as_ref(), traced));
    // A faded frame would fade nothing that is in it.
    class.retain(|class| *class != "unseen");
    let mut title = cluster.name.clone();
    if !cluster.doc.is_empty() {
        title = format!("{title}\n{}", cluster.doc);
    }
    format!(
        "<g id=\"{}\" class=\"{}\"><title>{}</title>{}<text class=\"framed\" x=\"{}\" y=\"{}\">{}</text>{}</g>\n",
        escaped(&cluster.id),
        class.join(" "),
        escaped(&title),
        rounded(at, 10.0, "frame shape"),
        px(at.x + 10.0),
        px(at.y + 16.0),
        escaped(&cluster.name),
        badge(cluster.mark.as_ref(), at),
    )
}

fn state(mark: Option<&Standing>, traced: bool) -> Option<&'static str> {
    match mark {
        Some(mark) if mark.failed => Some("failed"),
        Some(mark) if mark.waits.is_some() || mark.now => Some("now"),
        Some(_) => Some("visited"),
        None if traced => Some("unseen"),
        None => None,
    }
}

/// What a reader of the screen is told, and what stands beside the pointer.
fn tooltip(shape: &Shape) -> String {
    let notes = shape.notes.iter().map(|(_, note)| note);
    let said: Vec<&str> = shape
        .label
        .iter()
        .chain(notes)
        .map(|line| &**line)
        .collect();
    let mut parts = vec![said.join(", ")];
    if let Some(mark) = &shape.mark {
        parts.extend(Some(mark.words().join(", ")).filter(|words| !words.is_empty()));
        parts.extend(mark.waits.clone().filter(|ask| !ask.is_empty()));
    }
    if !shape.doc.is_empty() {
        parts.push(shape.doc.clone());
    }
    parts.join("\n")
}

fn lines(shape: &Shape, at: &Rect) -> String {
    let count = shape.label.len() + shape.notes.len() + shape.brief.len();
    let top = at.y + (at.h - count as f64 * LINE) / 2.0 + 11.5;
    let names = std::iter::once("name").chain(std::iter::repeat("detail"));
    let all = shape.label.iter().zip(names);
    let notes = shape.notes.iter();
    let all = all.chain(notes.map(|(sign, line)| {
        let class = match sign {
            Sign::Destructive => "note destroys",
            Sign::Approve | Sign::Taken => "note asks",
        };
        (line, class)
    }));
    let all = all.chain(shape.brief.iter().map(|line| (line, "brief")));
    let x = px(at.x + at.w / 2.0);
    let drawn = all.enumerate().map(|(index, (line, class))| {
        let y = px(top + index as f64 * LINE);
        format!(
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\">{}</text>",
            escaped(line)
        )
    });
    drawn.collect()
}

fn outline(kind: Kind, at: &Rect) -> String {
    let (x, y, w, h) = (at.x, at.y, at.w, at.h);
    let inset = |by: f64| Rect {
        x: x + by,
        y: y + by,
        w: w - 2.0 * by,
        h: h - 2.0 * by,
    };
    match kind {
        Kind::Start | Kind::Away => rounded(at, h / 2.0, "shape"),
        Kind::End => format!(
            "{}{}",
            rounded(at, h / 2.0, "shape"),
            rounded(&inset(3.0), h / 2.0 - 3.0, "inner")
        ),
        Kind::Llm => rounded(at, 10.0, "shape"),
        Kind::Agent => format!(
            "{}{}",
            rounded(at, 10.0, "shape"),
            rounded(&inset(3.5), 7.0, "inner")
        ),
        Kind::Update | Kind::Join => rounded(at, 1.5, "shape"),
        Kind::Tool => format!("{}{}", rounded(at, 1.5, "shape"), bars(at, &[x + 6.0])),
        Kind::Subgraph => format!(
            "{}{}",
            rounded(at, 1.5, "shape"),
            bars(at, &[x + 6.0, x + w - 6.0])
        ),
        Kind::Branch | Kind::Interrupt | Kind::Fail | Kind::Parent => {
            polygon(&corners(kind, at).unwrap_or_default())
        }
    }
}

/// A rectangle with rounded corners.
pub fn rounded(at: &Rect, radius: f64, class: &str) -> String {
    format!(
        "<rect class=\"{class}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>",
        px(at.x),
        px(at.y),
        px(at.w.max(0.0)),
        px(at.h.max(0.0)),
        px(radius)
    )
}

fn bars(at: &Rect, xs: &[f64]) -> String {
    let (top, bottom) = (px(at.y), px(at.y + at.h));
    let bar = |x: &f64| format!("<path class=\"inner\" d=\"M{0} {top}V{bottom}\"/>", px(*x));
    xs.iter().map(bar).collect()
}

fn polygon(points: &[(f64, f64)]) -> String {
    let points: Vec<String> = points
        .iter()
        .map(|(x, y)| format!("{},{}", px(*x), px(*y)))
        .collect();
    format!("<polygon class=\"shape\" points=\"{}\"/>", points.join(" "))
}

/// What a thread did, in the upper right corner.
fn badge(mark: Option<&Standing>, at: &Rect) -> String {
    let words = mark.map(Standing::words).unwrap_or_default().join(" ");
    if words.is_empty() {
        return String::new();
    }
    let w = width(&words, Face::Code(10.5)).max(width("0", DETAIL)) + 10.0;
    let x = at.x + at.w - w + 6.0;
    let y = at.y - 8.0;
    let badge = Rect { x, y, w, h: 16.0 };
    format!(
        "{}<text class=\"badged\" x=\"{}\" y=\"{}\">{}</text>",
        rounded(&badge, 8.0, "badge"),
        px(x + w / 2.0),
        px(y + 12.0),
        escaped(&words)
    )
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
