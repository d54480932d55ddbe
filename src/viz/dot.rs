//! A picture for Graphviz.

use super::picture::{Arrow, Kind, Panel, Picture, Shape, Way};

/// The text of a digraph.
pub fn write(picture: &Picture) -> String {
    let framed = picture.panels.len() > 1;
    let name = picture.panels.first().map_or("flow", |panel| &*panel.name);
    let name = if framed { "flow" } else { name };
    let mut out = format!("digraph {} {{\n", quoted(name));
    out.push_str("  graph [rankdir=TB, fontname=\"Helvetica\"];\n");
    out.push_str("  node [shape=box, style=filled, fillcolor=white, fontname=\"Helvetica\"];\n");
    out.push_str("  edge [fontname=\"Helvetica\", fontsize=10];\n");
    for panel in &picture.panels {
        if framed {
            let id = quoted(&format!("cluster_{}", panel.id));
            out.push_str(&format!("  subgraph {id} {{\n"));
            out.push_str(&format!("    label={};\n", quoted(&panel.name)));
            tooltip(&panel.doc)
                .iter()
                .for_each(|tip| out.push_str(&format!("    {tip};\n")));
            boxes(panel, "    ", &mut out);
            out.push_str("  }\n");
        } else {
            tooltip(&panel.doc)
                .iter()
                .for_each(|tip| out.push_str(&format!("  {tip};\n")));
            boxes(panel, "  ", &mut out);
        }
    }
    for panel in &picture.panels {
        panel
            .arrows
            .iter()
            .for_each(|one| out.push_str(&arrow(one)));
    }
    out.push_str("}\n");
    out
}

fn boxes(panel: &Panel, margin: &str, out: &mut String) {
    for shape in &panel.boxes {
        let mut attributes = vec![format!("label={}", quoted(&label(shape)))];
        attributes.extend(look(shape.kind).iter().map(|&look| look.to_owned()));
        attributes.extend(tooltip(&shape.doc));
        let attributes = attributes.join(", ");
        out.push_str(&format!("{margin}{} [{attributes}];\n", quoted(&shape.id)));
    }
}

fn label(shape: &Shape) -> String {
    match shape.kind {
        Kind::Join => String::new(),
        _ => shape.label.join("\n"),
    }
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
        Kind::Subgraph => &["shape=box3d", "fillcolor=\"#f1eaf7\"", "color=\"#7d5ba6\""],
    }
}

fn arrow(arrow: &Arrow) -> String {
    let mut attributes: Vec<String> = Vec::new();
    if !arrow.label.is_empty() {
        attributes.push(format!("label={}", quoted(&arrow.label)));
    }
    let style: &[&str] = match arrow.kind {
        Way::Edge => &[],
        Way::Choice => &["style=dashed"],
        Way::Send => &["style=bold"],
        Way::Jump => &["style=dashed", "color=\"#7d5ba6\""],
        Way::Error => &["color=\"#b33a3a\"", "arrowhead=tee"],
        Way::Limit => &["color=\"#b8860b\"", "arrowhead=odot"],
    };
    attributes.extend(style.iter().map(|&style| style.to_owned()));
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
