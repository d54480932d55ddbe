//! A picture for Graphviz.

use super::label::condition;
use super::picture::{Arrow, Kind, Legend, Panel, Picture, Piece, Shape, Way};
use super::risk::Sign;
use super::trace::Standing;

/// Characters of a line of a condition, and how many lines.
const CONDITION: (usize, usize) = (44, 3);

/// The text of a digraph.
pub fn write(picture: &Picture, legend: &Legend) -> String {
    let framed = picture.panels.len() > 1;
    let name = picture.panels.first().map_or("flow", |panel| &*panel.name);
    let name = if framed { "flow" } else { name };
    let mut out = format!("digraph {} {{\n", quoted(name));
    out.push_str("  graph [rankdir=TB, compound=true, fontname=\"Helvetica\"];\n");
    out.push_str("  node [shape=box, style=filled, fillcolor=white, fontname=\"Helvetica\"];\n");
    out.push_str("  edge [fontname=\"Helvetica\", fontsize=10];\n");
    for panel in &picture.panels {
        if framed {
            let id = quoted(&format!("cluster_{}", panel.id));
            out.push_str(&format!("  subgraph {id} {{\n"));
            out.push_str(&format!("    label={};\n", quoted(&panel.name)));
        }
        let margin = if framed { "    " } else { "  " };
        tooltip(&panel.doc)
            .iter()
            .for_each(|tip| out.push_str(&format!("{margin}{tip};\n")));
        boxes(panel, usize::from(framed), &mut out);
        if framed {
            out.push_str("  }\n");
        }
    }
    if !legend.is_empty() {
        let ways = legend.ways.iter().map(|way| explained(*way));
        let signs = legend.signs.iter().map(|sign| signed(*sign));
        let lines: Vec<String> = ways.chain(signs).collect();
        // `\\l` ends a line and sets it to the left.
        let text = quoted(&lines.join("\n")).replace("\\n", "\\l");
        let text = format!("{}\\l\"", text.trim_end_matches('"'));
        out.push_str(&format!(
            "  \"legend_0key\" [label={text}, shape=note, fontsize=10, fillcolor=\"#fafafa\", color=\"#999999\"];\n"
        ));
    }
    for panel in &picture.panels {
        for one in &panel.arrows {
            let tail = one.tail.and_then(|index| panel.clusters.get(index));
            out.push_str(&arrow(one, tail.map(|cluster| &*cluster.id)));
        }
    }
    out.push_str("}\n");
    out
}

fn boxes(panel: &Panel, framed: usize, out: &mut String) {
    for (depth, piece) in panel.nested() {
        let margin = "  ".repeat(depth + framed + 1);
        match piece {
            Piece::Box(index) => {
                let Some(shape) = panel.boxes.get(index) else {
                    continue;
                };
                let mut attributes = vec![format!("label={}", quoted(&label(shape)))];
                attributes.extend(look(shape.kind).iter().map(|&look| look.to_owned()));
                if shape.defer {
                    attributes.push("style=\"filled,dashed\"".to_owned());
                }
                attributes.extend(border(shape));
                attributes.extend(shape.mark.as_ref().map(mark));
                attributes.extend(tooltip(&shape.doc));
                let attributes = attributes.join(", ");
                out.push_str(&format!("{margin}{} [{attributes}];\n", quoted(&shape.id)));
            }
            Piece::Open(index) => {
                let Some(cluster) = panel.clusters.get(index) else {
                    continue;
                };
                let id = quoted(&format!("cluster_{}", cluster.id));
                let name = quoted(&cluster.title());
                out.push_str(&format!(
                    "{margin}subgraph {id} {{\n{margin}  label={name}; color=\"#7d5ba6\"; style=rounded;\n"
                ));
                tooltip(&cluster.doc)
                    .iter()
                    .for_each(|tip| out.push_str(&format!("{margin}  {tip};\n")));
            }
            Piece::Close => out.push_str(&format!("{margin}}}\n")),
        }
    }
}

fn label(shape: &Shape) -> String {
    // A rhombus grows to both sides with each line.
    let brief = shape.brief.iter().filter(|_| shape.kind != Kind::Branch);
    let lines: Vec<String> = shape.lines().chain(brief.cloned()).collect();
    match shape.kind {
        Kind::Join => String::new(),
        _ => lines.join("\n"),
    }
}

/// How a box looks that a reviewer must see.
fn border(shape: &Shape) -> Option<String> {
    let has = |sign: Sign| shape.notes.iter().any(|(own, _)| *own == sign);
    match (has(Sign::Destructive), has(Sign::Approve)) {
        (true, _) => Some("penwidth=3, color=\"#b3261e\""),
        (false, true) => Some("penwidth=3, color=\"#b8860b\""),
        (false, false) => None,
    }
    .map(str::to_owned)
}

/// How a box looks that a thread has to do with.
fn mark(standing: &Standing) -> String {
    let color = match (standing.failed, standing.waits.is_some() || standing.now) {
        (true, _) => "#b33a3a",
        (false, true) => "#d9480f",
        (false, false) => "#1a7f37",
    };
    format!("penwidth=3, color=\"{color}\"")
}

/// A line of the legend: signs stand for lines.
fn explained(way: Way) -> String {
    let sign = match way {
        Way::Edge => "solid",
        Way::Choice => "dashed",
        Way::Send => "bold",
        Way::Jump => "dotted, violet",
        Way::Error => "red, bar at the end",
        Way::Limit => "amber, circle at the end",
    };
    format!("{sign}: {}", way.meaning())
}

/// A line of the legend for a mark.
fn signed(sign: Sign) -> String {
    let word = match sign {
        Sign::Destructive => "red border",
        Sign::Approve => "amber border",
        Sign::Taken => "green",
    };
    format!("{word}: {}", sign.meaning())
}

fn look(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::Start => &["shape=oval"],
        Kind::End => &["shape=doublecircle"],
        Kind::Fail => &[
            "shape=octagon",
            "fillcolor=\"#fdeaea\"",
            "color=\"#b33a3a\"",
        ],
        Kind::Parent => &["shape=cds", "fillcolor=\"#f1eaf7\"", "color=\"#7d5ba6\""],
        Kind::Join => &[
            "shape=box",
            "fillcolor=black",
            "height=0.08",
            "width=1",
            "fixedsize=true",
        ],
        Kind::Llm => &[
            "style=\"rounded,filled\"",
            "fillcolor=\"#e8f0fe\"",
            "color=\"#4a6fa5\"",
        ],
        Kind::Agent => &[
            "style=\"rounded,filled\"",
            "peripheries=2",
            "fillcolor=\"#e8f0fe\"",
            "color=\"#4a6fa5\"",
        ],
        Kind::Tool => &[
            "shape=component",
            "fillcolor=\"#e9f5ec\"",
            "color=\"#4d8c5f\"",
        ],
        Kind::Update => &[],
        Kind::Branch => &["shape=diamond"],
        Kind::Interrupt => &[
            "shape=invtrapezium",
            "fillcolor=\"#fff4d6\"",
            "color=\"#b8860b\"",
        ],
        Kind::Away => &["shape=plaintext"],
        Kind::Subgraph => &["shape=box3d", "fillcolor=\"#f1eaf7\"", "color=\"#7d5ba6\""],
    }
}

fn arrow(arrow: &Arrow, tail: Option<&str>) -> String {
    let mut attributes: Vec<String> = Vec::new();
    if !arrow.label.is_empty() {
        let lines = condition(&arrow.label, CONDITION.0, CONDITION.1).join("\n");
        attributes.push(format!("label={}", quoted(&lines)));
        if lines.contains('…') {
            let whole = quoted(&arrow.label);
            attributes.push(format!("tooltip={whole}, labeltooltip={whole}"));
        }
    }
    let style: &[&str] = match arrow.kind {
        Way::Edge => &[],
        Way::Choice => &["style=dashed"],
        Way::Send => &["style=bold"],
        Way::Jump => &["style=dotted", "penwidth=2", "color=\"#7d5ba6\""],
        Way::Error => &["color=\"#b33a3a\"", "arrowhead=tee"],
        Way::Limit => &["color=\"#b8860b\"", "arrowhead=odot"],
    };
    attributes.extend(style.iter().map(|&style| style.to_owned()));
    if arrow.taken {
        attributes.push("color=\"#1a7f37\", penwidth=3".to_owned());
    }
    attributes.extend(tail.map(|id| format!("ltail={}", quoted(&format!("cluster_{id}")))));
    let (from, to) = (quoted(&arrow.from), quoted(&arrow.to));
    match attributes.is_empty() {
        true => format!("  {from} -> {to};\n"),
        false => format!("  {from} -> {to} [{}];\n", attributes.join(", ")),
    }
}

fn tooltip(doc: &str) -> Option<String> {
    (!doc.is_empty()).then(|| format!("tooltip={}", quoted(doc)))
}

/// A text between quotes; a backslash would begin one of Graphviz's own escapes.
fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
