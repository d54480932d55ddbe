//! The texts beside the picture: one section a node, hidden until it is asked for.

use crate::ir::{Flow, GraphId, NodeId};

use super::super::picture::{Picture, Shape};
use super::super::svg::xml::escaped;
use super::super::trace::Standing;
use super::facts::{Body, Fact, facts};

/// The sections of all nodes, opened ones included.
pub fn all(flow: &Flow, picture: &Picture) -> String {
    let mut out = String::new();
    for panel in &picture.panels {
        for cluster in &panel.clusters {
            out.push_str(&section(
                flow,
                &cluster.id,
                cluster.node,
                cluster.mark.as_ref(),
            ));
        }
        let nodes = panel.boxes.iter().filter_map(|shape: &Shape| {
            let node = shape.node?;
            Some(section(flow, &shape.id, node, shape.mark.as_ref()))
        });
        nodes.for_each(|text| out.push_str(&text));
    }
    out
}

fn section(flow: &Flow, id: &str, at: (GraphId, NodeId), mark: Option<&Standing>) -> String {
    let Some(graph) = flow.graphs.get(at.0) else {
        return String::new();
    };
    let Some(node) = graph.nodes.get(at.1) else {
        return String::new();
    };
    let mut out = format!(
        "<section id=\"about-{}\" hidden>\n<h2>{}</h2>\n<p class=\"kind\">{} of graph {}</p>\n",
        escaped(id),
        escaped(&node.name),
        node.work.keyword(),
        escaped(&graph.name)
    );
    if !node.doc.is_empty() {
        out.push_str(&format!("<p>{}</p>\n", escaped(&node.doc)));
    }
    if let Some(mark) = mark.filter(|mark| !mark.words().is_empty()) {
        out.push_str(&format!(
            "<h3>thread</h3>\n<p>{}</p>\n",
            escaped(&mark.words().join(", "))
        ));
        if let Some(ask) = mark.waits.as_ref().filter(|ask| !ask.is_empty()) {
            out.push_str(&format!("<pre>{}</pre>\n", escaped(ask)));
        }
    }
    for fact in facts(flow, graph, node) {
        out.push_str(&shown(&fact));
    }
    out.push_str("</section>\n");
    out
}

fn shown(fact: &Fact) -> String {
    let mut out = format!("<h3>{}</h3>\n", escaped(fact.name));
    match &fact.body {
        Body::Code(text) => out.push_str(&format!("<pre>{}</pre>\n", escaped(text))),
        Body::List(items) => {
            out.push_str("<ul>\n");
            for (code, word) in items {
                let code = match &**code {
                    "" => String::new(),
                    code => format!("<code>{}</code> ", escaped(code)),
                };
                out.push_str(&format!("<li>{code}{}</li>\n", escaped(word)));
            }
            out.push_str("</ul>\n");
        }
    }
    out
}
