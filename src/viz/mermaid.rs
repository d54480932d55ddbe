//! A picture as a mermaid flowchart.
//!
//! Of a doc comment only the first sentence is there: mermaid has tooltips only on links.

use super::label::middle;
use super::picture::{Arrow, Kind, Legend, Panel, Picture, Piece, Shape, Way};
use super::risk::Sign;
use super::trace::Standing;

/// Colours of boxes: what models do, what tools do, what waits for people, what is a graph itself.
const CLASSES: [(&str, &str); 5] = [
    ("model", "fill:#e8f0fe,stroke:#4a6fa5,color:#1b2733"),
    ("tool", "fill:#e9f5ec,stroke:#4d8c5f,color:#1b2733"),
    ("person", "fill:#fff4d6,stroke:#b8860b,color:#1b2733"),
    ("nested", "fill:#f1eaf7,stroke:#7d5ba6,color:#1b2733"),
    ("wrong", "fill:#fdeaea,stroke:#b33a3a,color:#1b2733"),
];

/// Borders of boxes that a reviewer must see, over the colours of kinds.
const SIGNS: [(Sign, &str, &str); 2] = [
    (Sign::Approve, "approve", "stroke:#b8860b,stroke-width:3px"),
    (
        Sign::Destructive,
        "destructive",
        "stroke:#b3261e,stroke-width:3px",
    ),
];

/// Characters of a condition: mermaid wraps them.
const WIDEST: usize = 96;

/// Marks of a thread's way, over the colours of kinds.
const MARKS: [(&str, &str); 3] = [
    ("visited", "stroke:#1a7f37,stroke-width:3px"),
    ("now", "stroke:#d9480f,stroke-width:4px"),
    ("failed", "stroke:#b33a3a,stroke-width:4px"),
];

/// The text of a flowchart.
pub fn write(picture: &Picture, legend: &Legend) -> String {
    let mut out = String::from("flowchart TD\n");
    let framed = picture.panels.len() > 1;
    for panel in &picture.panels {
        if framed {
            let name = text(&panel.name);
            out.push_str(&format!("  subgraph {} [\"{name}\"]\n", panel.id));
        }
        boxes(panel, usize::from(framed), &mut out);
        if framed {
            out.push_str("  end\n");
        }
    }
    if !legend.is_empty() {
        let ways = legend.ways.iter().map(|way| explained(*way));
        let signs = legend.signs.iter().map(|sign| signed(*sign));
        let lines: Vec<String> = ways.chain(signs).collect();
        out.push_str(&format!("  legend_0key[\"{}\"]\n", lines.join("<br/>")));
    }
    let mut styles = String::new();
    let arrows = picture.panels.iter().flat_map(|panel| &panel.arrows);
    for (index, one) in arrows.enumerate() {
        out.push_str(&arrow(one));
        let style = match one.taken {
            true => Some("stroke:#1a7f37,stroke-width:3px"),
            false => style(one.kind),
        };
        if let Some(style) = style {
            styles.push_str(&format!("  linkStyle {index} {style}\n"));
        }
    }
    out.push_str(&styles);
    classes(picture, !legend.is_empty(), &mut out);
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
                let (open, close) = frame(shape.kind);
                out.push_str(&format!(
                    "{margin}{}{open}\"{}\"{close}\n",
                    shape.id,
                    label(shape)
                ));
            }
            Piece::Open(index) => {
                let Some(cluster) = panel.clusters.get(index) else {
                    continue;
                };
                let name = text(&cluster.title());
                out.push_str(&format!("{margin}subgraph {} [\"{name}\"]\n", cluster.id));
            }
            Piece::Close => out.push_str(&format!("{margin}end\n")),
        }
    }
}

fn label(shape: &Shape) -> String {
    let mut lines: Vec<String> = shape.lines().map(|line| text(&line)).collect();
    // A rhombus grows to both sides with each line.
    if shape.kind != Kind::Branch {
        let brief = shape.brief.iter();
        lines.extend(brief.map(|line| format!("<i>{}</i>", text(line))));
    }
    lines.join("<br/>")
}

/// A line of the legend: mermaid has no lines outside of a drawing, so signs stand for them.
fn explained(way: Way) -> String {
    let sign = match way {
        Way::Edge => "⟶",
        Way::Choice => "⇢",
        Way::Send => "⟹",
        Way::Jump => "⇢ violet",
        Way::Error => "—✕ red",
        Way::Limit => "—○ amber",
    };
    format!("{sign}: {}", text(way.meaning()))
}

/// A line of the legend for a mark.
fn signed(sign: Sign) -> String {
    let word = match sign {
        Sign::Destructive => "red border",
        Sign::Approve => "amber border",
        Sign::Taken => "green",
    };
    format!("{word}: {}", text(sign.meaning()))
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
        Kind::Away => ("(", ")"),
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
        label => format!("|\"{}\"|", text(&middle(label, WIDEST))),
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
        Kind::Start | Kind::End | Kind::Join | Kind::Update | Kind::Branch | Kind::Away => None,
    }
}

/// The classes that are used, each with its boxes.
fn classes(picture: &Picture, legend: bool, out: &mut String) {
    let all = || picture.panels.iter().flat_map(|panel| &panel.boxes);
    let mut put = |name: &str, look: &str, ids: Vec<&str>| {
        if !ids.is_empty() {
            out.push_str(&format!("  classDef {name} {look}\n"));
            out.push_str(&format!("  class {} {name}\n", ids.join(",")));
        }
    };
    for (name, look) in CLASSES {
        let of = all().filter(|shape: &&Shape| class(shape.kind) == Some(name));
        put(name, look, of.map(|shape| &*shape.id).collect());
    }
    let deferred = all().filter(|shape| shape.defer);
    put(
        "deferred",
        "stroke-dasharray:5 3",
        deferred.map(|shape| &*shape.id).collect(),
    );
    let clusters = picture.panels.iter().flat_map(|panel| &panel.clusters);
    put(
        "opened",
        "fill:#faf7fd,stroke:#7d5ba6,color:#1b2733",
        clusters.map(|cluster| &*cluster.id).collect(),
    );
    for (sign, name, look) in SIGNS {
        let of = all().filter(|shape| shape.notes.iter().any(|(own, _)| *own == sign));
        put(name, look, of.map(|shape| &*shape.id).collect());
    }
    for (name, look) in MARKS {
        let is = |mark: &Standing| match (mark.failed, mark.waits.is_some() || mark.now) {
            (true, _) => name == "failed",
            (false, true) => name == "now",
            (false, false) => name == "visited",
        };
        let of = all().filter(|shape| shape.mark.as_ref().is_some_and(is));
        put(name, look, of.map(|shape| &*shape.id).collect());
    }
    if legend {
        put(
            "legend",
            "fill:none,stroke:#999,stroke-dasharray:2 2,text-align:left",
            vec!["legend_0key"],
        );
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
