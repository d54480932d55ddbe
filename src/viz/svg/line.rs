//! Arrows, and the legend that explains them.

use super::super::picture::Way;
use super::layout::{Line, Point, SMALL};
use super::measure::{Face, width};
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
    for way in Way::ALL {
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
            word = word(way),
        ));
    }
    out
}

/// An arrow without its condition.
pub fn draw(way: Way, line: &Line) -> String {
    if line.points.len() < 2 {
        return String::new();
    }
    format!(
        "<g class=\"{0}\"><path class=\"arrow\" d=\"{1}\" marker-end=\"url(#head-{0})\"/></g>\n",
        word(way),
        path(&line.points)
    )
}

/// The condition of an arrow.
pub fn condition(way: Way, line: &Line) -> String {
    if line.label.is_empty() {
        return String::new();
    }
    let h = line.label.len() as f64 * SMALL + 2.0;
    let (x, y) = (line.at.x, line.at.y - h / 2.0);
    let mut out = format!("<g class=\"{}\">", word(way));
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

/// The legend: a line of its kind, and what it means. With its width and height.
pub fn legend(ways: &[Way], x: f64, y: f64) -> (String, f64, f64) {
    let mut out = String::from("<g class=\"legend\">\n");
    let mut widest: f64 = 0.0;
    for (index, way) in ways.iter().enumerate() {
        let middle = y + 9.0 + index as f64 * 18.0;
        let line = Line {
            points: vec![
                Point { x, y: middle },
                Point {
                    x: x + 52.0,
                    y: middle,
                },
            ],
            ..Line::default()
        };
        out.push_str(&draw(*way, &line));
        let said = way.meaning();
        out.push_str(&format!(
            "<text x=\"{}\" y=\"{}\">{}</text>\n",
            px(x + 62.0),
            px(middle + 4.0),
            escaped(said)
        ));
        widest = widest.max(62.0 + width(said, Face::Code(11.0)));
    }
    out.push_str("</g>\n");
    (out, widest, ways.len() as f64 * 18.0)
}
