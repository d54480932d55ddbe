//! A picture as a mermaid flowchart.
//!
//! Doc comments are left out: mermaid has tooltips only on links.

use super::picture::{Arrow, Kind, Panel, Picture, Shape, Way};

/// Colours of boxes: what models do, what tools do, what waits for people, what is a graph itself.
const CLASSES: [(&str, &str); 5] = [
    ("model", "fill:#e8f0fe,stroke:#4a6fa5,color:#1b2733"),
    ("tool", "fill:#e9f5ec,stroke:#4d8c5f,color:#1b2733"),
    ("person", "fill:#fff4d6,stroke:#b8860b,color:#1b2733"),
    ("nested", "fill:#f1eaf7,stroke:#7d5ba6,color:#1b2733"),
    ("wrong", "fill:#fdeaea,stroke:#b33a3a,color:#1b2733"),
];

/// The text of a flowchart.
pub fn write(picture: &Picture) -> String {
    let mut out = String::from("flowchart TD\n");
    let framed = picture.panels.len() > 1;
    for panel in &picture.panels {
        let margin = if framed { "    " } else { "  " };
        if framed {
            let name = text(&panel.name);
            out.push_str(&format!("  subgraph {} [\"{name}\"]\n", panel.id));
        }
        boxes(panel, margin, &mut out);
        if framed {
            out.push_str("  end\n");
        }
    }
    let mut styles = String::new();
    let arrows = picture.panels.iter().flat_map(|panel| &panel.arrows);
    for (index, one) in arrows.enumerate() {
        out.push_str(&arrow(one));
        if let Some(style) = style(one.kind) {
            styles.push_str(&format!("  linkStyle {index} {style}\n"));
        }
    }
    out.push_str(&styles);
    classes(picture, &mut out);
    out
}

fn boxes(panel: &Panel, margin: &str, out: &mut String) {
    for shape in &panel.boxes {
        let (open, close) = frame(shape.kind);
        let lines: Vec<String> = shape.label.iter().map(|line| text(line)).collect();
        let label = lines.join("<br/>");
        out.push_str(&format!("{margin}{}{open}\"{label}\"{close}\n", shape.id));
    }
}

/// What stands around the label: the form of the box.
fn frame(kind: Kind) -> (&'static str, &'static str) {
    match kind {
        Kind::Start => ("([", "])"),
        Kind::End => ("(((", ")))"),
        Kind::Fail => ("{{", "}}"),
        Kind::Parent => (">", "]"),
        Kind::Join => ("((", "))"),
        Kind::Llm => ("(", ")"),
        Kind::Agent => ("([", "])"),
        Kind::Tool => ("[/", "/]"),
        Kind::Update => ("[", "]"),
        Kind::Branch => ("{", "}"),
        Kind::Interrupt => ("[\\", "/]"),
        Kind::Subgraph => ("[[", "]]"),
    }
}

fn arrow(arrow: &Arrow) -> String {
    let line = match arrow.kind {
        Way::Edge => "-->",
        Way::Choice | Way::Jump => "-.->",
        Way::Send => "==>",
        Way::Error => "--x",
        Way::Limit => "--o",
    };
    let label = match &*arrow.label {
        "" => String::new(),
        label => format!("|\"{}\"|", text(label)),
    };
    format!("  {} {line}{label} {}\n", arrow.from, arrow.to)
}

fn style(way: Way) -> Option<&'static str> {
    match way {
        Way::Error => Some("stroke:#b33a3a"),
        Way::Limit => Some("stroke:#b8860b"),
        Way::Jump => Some("stroke:#7d5ba6"),
        Way::Edge | Way::Choice | Way::Send => None,
    }
}

fn class(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Llm | Kind::Agent => Some("model"),
        Kind::Tool => Some("tool"),
        Kind::Interrupt => Some("person"),
        Kind::Subgraph | Kind::Parent => Some("nested"),
        Kind::Fail => Some("wrong"),
        Kind::Start | Kind::End | Kind::Join | Kind::Update | Kind::Branch => None,
    }
}

/// The classes that are used, each with its boxes.
fn classes(picture: &Picture, out: &mut String) {
    for (name, look) in CLASSES {
        let all = picture.panels.iter().flat_map(|panel| &panel.boxes);
        let of = all.filter(|shape: &&Shape| class(shape.kind) == Some(name));
        let ids: Vec<&str> = of.map(|shape| &*shape.id).collect();
        if !ids.is_empty() {
            out.push_str(&format!("  classDef {name} {look}\n"));
            out.push_str(&format!("  class {} {name}\n", ids.join(",")));
        }
    }
}

/// A text between quotes: what mermaid, Markdown or HTML would read as more than text is written by
/// its code.
fn text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '"' | '#' | '<' | '>' | '&' | '`' | '*' | '\\' | '{' | '}' | '|' | ';' => {
                out.push_str(&format!("#{};", u32::from(c)));
            }
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
