//! The ways of arrows as a layout found them, drawn from outline to outline.

use super::super::picture::Kind;
use super::layout::{Line, Point, Rect, SMALL};
use super::shape::corners;

/// Lets an arrow that leaves a frame begin at its border, its condition beside what is left of it.
pub fn leave(line: &mut Line, frame: &Rect, wide: f64) {
    let points = std::mem::take(&mut line.points);
    line.points = outside(points, frame);
    let (Some(first), Some(last)) = (line.points.first(), line.points.last()) else {
        return;
    };
    if line.label.is_empty() || !near(frame, &line.at, line.label.len()) {
        return;
    }
    let middle = Point {
        x: (first.x + last.x) / 2.0,
        y: (first.y + last.y) / 2.0,
    };
    let high = (line.label.len() as f64 + 1.0) * SMALL;
    // A condition on a short piece would hide it.
    let aside = match (last.y - first.y).abs() < 2.0 * high {
        true => wide / 2.0 + 8.0,
        false => 0.0,
    };
    line.at = Point {
        x: middle.x + aside,
        y: middle.y.max(frame.y + frame.h + high / 2.0),
    };
}

/// Whether a condition at a point touches a frame.
fn near(frame: &Rect, at: &Point, lines: usize) -> bool {
    let half = (lines as f64 + 1.0) * SMALL / 2.0;
    let above = Point {
        x: at.x,
        y: at.y - half,
    };
    let below = Point {
        x: at.x,
        y: at.y + half,
    };
    [above, *at, below].iter().any(|point| frame.holds(point))
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
pub fn touch(points: &mut [Point], kind: Kind, rect: &Rect) {
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
