//! Arrows, and the legend that explains them.

use super::super::picture::{Arrow, Legend, Way};
use super::super::risk::Sign;
use super::layout::{CONDITION, Line, Point, Rect, SMALL};
use super::measure::{Face, width};
use super::shape::{rounded, signed};
use super::xml::{escaped, px};

/// How far from a bend its corner is rounded.
const BEND: f64 = 22.0;

/// Word for a kind of arrow, as the style names it.
pub fn word(way: Way) -> &'static str {
    match way {
        Way::Edge => "edge",
        Way::Choice => "choice",
        Way::Send => "send",
        Way::Jump => "jump",
        Way::Error => "error",
        Way::Limit => "limit",
    }
}

/// The heads of arrows, to be named by them.
pub fn heads() -> String {
    let mut out = String::new();
    let taken = std::iter::once(("taken", Way::Edge));
    let all = Way::ALL
        .into_iter()
        .map(|way| (word(way), way))
        .chain(taken);
    for (word, way) in all {
        let form = match way {
            Way::Error => "<path class=\"head\" d=\"M0 1L8 9M8 1L0 9\"/>",
            Way::Limit => "<circle class=\"head\" cx=\"4.5\" cy=\"5\" r=\"4\"/>",
            _ => "<path class=\"head\" d=\"M0 0L10 5L0 10z\"/>",
        };
        // Where the form touches the box.
        let (touches, size) = match way {
            Way::Error => (7, 9),
            Way::Limit => (8, 8),
            _ => (9, 8),
        };
        out.push_str(&format!(
            "<g class=\"{word}\"><marker id=\"head-{word}\" viewBox=\"-1 -1 12 12\" refX=\"{touches}\" refY=\"5\" \
             markerWidth=\"{size}\" markerHeight=\"{size}\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">{form}</marker></g>\n",
        ));
    }
    out
}

/// An arrow without its condition. `traced` fades what a thread has not taken.
pub fn draw(arrow: &Arrow, line: &Line, traced: bool) -> String {
    let (class, head) = looks(arrow, traced);
    stroke(&class, head, &title(arrow), &line.points)
}

fn looks(arrow: &Arrow, traced: bool) -> (String, &'static str) {
    let kind = word(arrow.kind);
    match (arrow.taken, traced) {
        (true, _) => (format!("{kind} taken"), "taken"),
        (false, true) => (format!("{kind} unseen"), kind),
        (false, false) => (kind.to_owned(), kind),
    }
}

/// The whole condition, beside the pointer.
fn title(arrow: &Arrow) -> String {
    match &*arrow.label {
        "" => String::new(),
        label => format!("<title>{}</title>", escaped(label)),
    }
}

fn stroke(class: &str, head: &str, title: &str, points: &[Point]) -> String {
    if points.len() < 2 {
        return String::new();
    }
    format!(
        "<g class=\"{class}\">{title}<path class=\"arrow\" d=\"{}\" marker-end=\"url(#head-{head})\"/></g>\n",
        path(points)
    )
}

/// The condition of an arrow.
pub fn condition(arrow: &Arrow, line: &Line, traced: bool) -> String {
    if line.label.is_empty() {
        return String::new();
    }
    let h = line.label.len() as f64 * SMALL + 2.0;
    let (x, y) = (line.at.x, line.at.y - h / 2.0);
    let (class, _) = looks(arrow, traced);
    let mut out = format!("<g class=\"{class}\">{}", title(arrow));
    // A line under a condition would strike it out.
    let widths = line.label.iter().map(|text| width(text, CONDITION));
    let w = widths.fold(0.0, f64::max) + 4.0;
    let behind = Rect {
        x: x - w / 2.0,
        y,
        w,
        h,
    };
    out.push_str(&rounded(&behind, 3.0, "behind"));
    for (index, text) in line.label.iter().enumerate() {
        out.push_str(&format!(
            "<text class=\"condition\" x=\"{}\" y=\"{}\">{}</text>",
            px(x),
            px(y + 11.0 + index as f64 * SMALL),
            escaped(text)
        ));
    }
    out.push_str("</g>\n");
    out
}

/// Straight pieces, their corners rounded.
fn path(points: &[Point]) -> String {
    let mut out = String::new();
    let Some(first) = points.first() else {
        return out;
    };
    out.push_str(&format!("M{} {}", px(first.x), px(first.y)));
    for triple in points.windows(3) {
        let [before, bend, after] = triple else {
            continue;
        };
        let (a, b) = (toward(bend, before), toward(bend, after));
        out.push_str(&format!(
            "L{} {}Q{} {} {} {}",
            px(a.x),
            px(a.y),
            px(bend.x),
            px(bend.y),
            px(b.x),
            px(b.y)
        ));
    }
    if let Some(last) = points.last() {
        out.push_str(&format!("L{} {}", px(last.x), px(last.y)));
    }
    out
}

/// A point from a bend toward a neighbour, at most half of the way.
fn toward(bend: &Point, other: &Point) -> Point {
    let (dx, dy) = (other.x - bend.x, other.y - bend.y);
    let length = dx.hypot(dy);
    let part = match length > 0.0 {
        true => (BEND / length).min(0.5),
        false => 0.0,
    };
    Point {
        x: bend.x + dx * part,
        y: bend.y + dy * part,
    }
}

/// The legend: a line or a border of its kind, and what it means. With its width and height.
pub fn legend(legend: &Legend, x: f64, y: f64) -> (String, f64, f64) {
    let mut out = String::from("<g class=\"legend\">\n");
    let line = |class: &str, middle: f64| {
        let end = |x: f64| Point { x, y: middle };
        stroke(class, class, "", &[end(x), end(x + 52.0)])
    };
    let swatch = |class: &str, middle: f64| {
        let at = Rect {
            x: x + 6.0,
            y: middle - 5.0,
            w: 40.0,
            h: 10.0,
        };
        format!("<g class=\"{class}\">{}</g>\n", rounded(&at, 1.5, "shape"))
    };
    let middle = |row: usize| y + 9.0 + row as f64 * 18.0;
    let mut rows: Vec<(String, &str)> = Vec::new();
    for way in &legend.ways {
        rows.push((line(word(*way), middle(rows.len())), way.meaning()));
    }
    for sign in &legend.signs {
        let drawn = match sign {
            Sign::Taken => line(signed(*sign), middle(rows.len())),
            Sign::Destructive | Sign::Approve => swatch(signed(*sign), middle(rows.len())),
        };
        rows.push((drawn, sign.meaning()));
    }
    let mut widest: f64 = 0.0;
    for (row, (drawn, said)) in rows.iter().enumerate() {
        out.push_str(drawn);
        out.push_str(&format!(
            "<text x=\"{}\" y=\"{}\">{}</text>\n",
            px(x + 62.0),
            px(middle(row) + 4.0),
            escaped(said)
        ));
        widest = widest.max(62.0 + width(said, Face::Code(11.0)));
    }
    out.push_str("</g>\n");
    (out, widest, rows.len() as f64 * 18.0)
}
