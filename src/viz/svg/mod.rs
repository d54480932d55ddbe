//! A picture that stands for itself: SVG with its own style, and nothing from elsewhere.
//!
//! [`merge`] draws arrows as one, [`far`] cuts what is too long, [`layout`] puts everything in its place, [`way`]
//! lets arrows end at outlines, [`shape`] and [`mod@line`] draw it; [`measure`] knows how wide texts are, [`xml`] how they are written.

pub mod far;
pub mod layout;
pub mod line;
pub mod measure;
pub mod merge;
pub mod shape;
pub mod way;
pub mod xml;

use super::label::wrap;
use super::picture::{Legend, Panel, Picture};

use layout::{Placed, place};
use measure::{Face, width};
use xml::{escaped, px};

/// Most boxes of a panel.
pub const MOST: usize = 3_000;

/// Most that a layout has to do: what a person waits for.
pub const MOST_LOAD: far::Load = far::Load {
    places: 14_000,
    pairs: 30_000_000,
};

/// Most frames of opened subgraphs in a panel, and boxes of a panel that has such: no quick way to their
/// layers keeps frames together.
pub const MOST_FRAMES: usize = 60;
/// See [`MOST_FRAMES`].
pub const MOST_FRAMED: usize = 400;

/// The style of all pictures.
const STYLE: &str = include_str!("style.css");

/// Room around a picture, and between its panels.
const MARGIN: f64 = 24.0;

/// A graph has more boxes than can be laid out in a time that a person waits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a picture of graph `{graph}` would have {boxes} boxes, {arrows} arrows and {frames} opened subgraphs, too many to be laid out"
)]
pub struct TooLarge {
    /// The graph.
    pub graph: String,
    /// How many boxes it has; [`MOST`] can be laid out.
    pub boxes: usize,
    /// How many arrows it has, those between the same two boxes counted once.
    pub arrows: usize,
    /// How many opened subgraphs it has; [`MOST_FRAMES`] can be laid out.
    pub frames: usize,
}

/// A picture, and its size in pixels.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn {
    /// What stands between the tags of an `svg` element.
    pub inside: String,
    /// Width.
    pub w: f64,
    /// Height.
    pub h: f64,
}

/// The text of an SVG file.
///
/// # Errors
/// [`TooLarge`].
pub fn write(picture: &Picture, legend: &Legend) -> Result<String, TooLarge> {
    let drawn = draw(picture, legend)?;
    let (w, h) = (px(drawn.w), px(drawn.h));
    Ok(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" viewBox=\"0 0 {w} {h}\" \
         class=\"graph\" role=\"img\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n\
         <rect class=\"paper\" width=\"{w}\" height=\"{h}\"/>\n{}</svg>\n",
        escaped(&title(picture)),
        drawn.inside
    ))
}

/// The style alone, for a page.
pub fn style() -> &'static str {
    STYLE
}

/// What is drawn, in words.
pub fn title(picture: &Picture) -> String {
    let names: Vec<&str> = picture.panels.iter().map(|panel| &*panel.name).collect();
    match &picture.thread {
        Some(thread) => format!("{}: thread {thread}", names.join(", ")),
        None => names.join(", "),
    }
}

/// Draws all panels, in rows, and the legend below.
///
/// # Errors
/// [`TooLarge`].
pub fn draw(picture: &Picture, legend: &Legend) -> Result<Drawn, TooLarge> {
    let mut laid = Vec::new();
    for panel in &picture.panels {
        let panel = merge::parallel(panel);
        let too_large = TooLarge {
            graph: panel.name.clone(),
            boxes: panel.boxes.len(),
            arrows: panel.arrows.len(),
            frames: panel.clusters.len(),
        };
        let frames = panel.clusters.len();
        let most = if frames > 0 { MOST_FRAMED } else { MOST };
        if panel.boxes.len() > most || frames > MOST_FRAMES {
            return Err(too_large);
        }
        let panel = far::cut(&panel);
        let load = far::load(&panel);
        if load.places > MOST_LOAD.places || load.pairs > MOST_LOAD.pairs {
            return Err(too_large);
        }
        let placed = place(&panel);
        laid.push((panel, placed));
    }
    let mut out = format!("<defs>\n{}</defs>\n", line::heads());
    let (mut x, mut y, mut row, mut widest) = (MARGIN, MARGIN, 0.0_f64, 0.0_f64);
    let limit = across(&laid);
    for (panel, placed) in &laid {
        let (w, h) = extent(panel, placed);
        if x > MARGIN && x + w > limit {
            x = MARGIN;
            y += row + MARGIN;
            row = 0.0;
        }
        let traced = picture.thread.is_some();
        out.push_str(&drawn(panel, placed, (x, y), (w, h), traced));
        x += w + MARGIN;
        row = row.max(h);
        widest = widest.max(x);
    }
    y += row + MARGIN;
    if !legend.is_empty() {
        let (drawn, w, h) = line::legend(legend, MARGIN, y);
        out.push_str(&drawn);
        y += h + MARGIN;
        widest = widest.max(w + 2.0 * MARGIN);
    }
    Ok(Drawn {
        inside: out,
        w: widest,
        h: y,
    })
}

/// Head of a panel, with its name and what it is.
const HEAD: f64 = 46.0;
/// Room inside of a panel's border.
const PAD: f64 = 18.0;

fn extent(panel: &Panel, placed: &Placed) -> (f64, f64) {
    let name = width(&panel.name, Face::Code(15.0));
    let about = about(panel).map_or(0.0, |about| width(&about, Face::Prose(12.0)));
    let w = placed.w.max(name).max(about) + 2.0 * PAD;
    (w, placed.h + HEAD + PAD)
}

fn about(panel: &Panel) -> Option<String> {
    let paragraph = panel.doc.split("\n\n").next().unwrap_or_default();
    wrap(paragraph, 90, 1).into_iter().next()
}

/// How wide a row of panels may get: so that the whole is about as wide as it is high.
fn across(laid: &[(Panel, Placed)]) -> f64 {
    let extents = laid.iter().map(|(panel, placed)| extent(panel, placed));
    let (widest, area) = extents.fold((0.0_f64, 0.0), |(widest, area), (w, h)| {
        (widest.max(w), area + (w + MARGIN) * (h + MARGIN))
    });
    (area.sqrt() * 1.3).max(widest) + 2.0 * MARGIN
}

fn drawn(panel: &Panel, placed: &Placed, at: (f64, f64), size: (f64, f64), traced: bool) -> String {
    let mut out = format!(
        "<g transform=\"translate({} {})\">\n<rect class=\"panel\" width=\"{}\" height=\"{}\" rx=\"6\"/>\n\
         <text class=\"title\" x=\"{PAD}\" y=\"22\">{}</text>\n",
        px(at.0),
        px(at.1),
        px(size.0),
        px(size.1),
        escaped(&panel.name)
    );
    if let Some(about) = about(panel) {
        out.push_str(&format!(
            "<text class=\"about\" x=\"{PAD}\" y=\"38\">{}</text>\n",
            escaped(&about)
        ));
    }
    let left = (size.0 - placed.w) / 2.0;
    out.push_str(&format!(
        "<g transform=\"translate({} {HEAD})\">\n",
        px(left)
    ));
    for (cluster, rect) in panel.clusters.iter().zip(&placed.clusters) {
        out.push_str(&shape::frame(cluster, rect, traced));
    }
    let arrows = || panel.arrows.iter().zip(&placed.lines);
    arrows().for_each(|(arrow, line)| out.push_str(&line::draw(arrow, line, traced)));
    for (shape, rect) in panel.boxes.iter().zip(&placed.boxes) {
        out.push_str(&shape::draw(shape, rect, traced));
    }
    // Above all else: a line under a condition would strike it out.
    arrows().for_each(|(arrow, line)| out.push_str(&line::condition(arrow, line, traced)));
    out.push_str("</g>\n</g>\n");
    out
}
