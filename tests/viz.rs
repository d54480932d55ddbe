//! Drawings of flows: a case is a flow in tests/viz with its drawings beside it, `NAME.mmd`, `NAME.dot`,
//! `NAME.svg`, and `NAME.xray.*` with its subgraphs opened. `UPDATE=1` rewrites the drawings.

mod label;
mod svg;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use graphc::compile::compile;
use graphc::ir::{Flow, GraphId, Work};
use graphc::viz::picture::Picture;
use graphc::viz::svg::layout::{Rect, place};
use graphc::viz::{Drawing, Form, draw};

fn flow(name: &str, text: &str) -> Flow {
    let files = BTreeMap::from([(name.to_owned(), text.to_owned())]);
    let compiled = compile(name, &files);
    let found: Vec<&str> = compiled.diagnostics.iter().map(|d| &*d.message).collect();
    compiled.flow.unwrap_or_else(|| panic!("{name}: {found:?}"))
}

/// The forms of a case: extension, form, depth of opened subgraphs.
const FORMS: [(&str, Form, usize); 6] = [
    ("mmd", Form::Mermaid, 0),
    ("dot", Form::Dot, 0),
    ("svg", Form::Svg, 0),
    ("xray.mmd", Form::Mermaid, usize::MAX),
    ("xray.dot", Form::Dot, usize::MAX),
    ("xray.svg", Form::Svg, usize::MAX),
];

fn cases() -> Vec<(PathBuf, Flow)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/viz");
    let paths = std::fs::read_dir(folder)
        .unwrap()
        .map(|e| e.unwrap().path());
    let graphs = paths.filter(|path| path.extension().is_some_and(|ext| ext == "graph"));
    let mut graphs: Vec<PathBuf> = graphs.collect();
    graphs.sort();
    assert!(graphs.len() > 2);
    let read = |path: PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let flow = flow(&name, &std::fs::read_to_string(&path).unwrap());
        (path, flow)
    };
    graphs.into_iter().map(read).collect()
}

fn all(flow: &Flow) -> Vec<GraphId> {
    flow.graphs.entries().map(|(id, _)| id).collect()
}

fn drawn(flow: &Flow, form: Form, depth: usize) -> String {
    let drawing = Drawing {
        depth,
        ..Drawing::of(form)
    };
    draw(flow, &all(flow), &drawing).unwrap().text
}

#[test]
fn every_flow_is_drawn_as_kept() {
    let mut wrong = Vec::new();
    for (path, flow) in cases() {
        let nested = flow
            .graphs
            .iter()
            .flat_map(|graph| graph.nodes.iter())
            .any(|node| matches!(node.work, Work::Subgraph { .. }));
        for (extension, form, depth) in FORMS {
            // Nothing to open: it would be the same drawing.
            if depth > 0 && !nested {
                continue;
            }
            let drawn = drawn(&flow, form, depth);
            let kept = path.with_extension(extension);
            if std::fs::read_to_string(&kept).is_ok_and(|kept| kept == drawn) {
                continue;
            }
            match std::env::var_os("UPDATE") {
                Some(_) => std::fs::write(kept, drawn).unwrap(),
                None => wrong.push(format!("{}\n{drawn}", kept.display())),
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "these are drawn otherwise (UPDATE=1 accepts):\n{}",
        wrong.join("\n")
    );
}

/// Boxes of a picture lie beside each other, frames around theirs, every name is used once and every
/// head of an arrow is there: read by a parser of XML that is none of ours.
#[test]
fn pictures_are_well_formed() {
    for (path, flow) in cases() {
        for depth in [0, usize::MAX] {
            let text = drawn(&flow, Form::Svg, depth);
            let document = roxmltree::Document::parse(&text)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            let mut ids = BTreeSet::new();
            for node in document.descendants() {
                if let Some(id) = node.attribute("id") {
                    assert!(ids.insert(id.to_owned()), "{}: {id} twice", path.display());
                }
                for attribute in node.attributes() {
                    assert!(!attribute.value().contains("NaN"), "{}", path.display());
                    assert!(!attribute.value().contains("inf"), "{}", path.display());
                }
            }
            for node in document.descendants() {
                if let Some(head) = node.attribute("marker-end") {
                    let id = head
                        .strip_prefix("url(#")
                        .unwrap()
                        .strip_suffix(')')
                        .unwrap();
                    assert!(ids.contains(id), "{head}");
                }
            }
        }
    }
}

#[test]
fn boxes_lie_beside_each_other() {
    for (path, flow) in cases() {
        let picture = Picture::of(&flow, &all(&flow), usize::MAX, None);
        for panel in &picture.panels {
            let placed = place(panel);
            let overlap = |a: &Rect, b: &Rect| {
                a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h
            };
            for (i, a) in placed.boxes.iter().enumerate() {
                for b in &placed.boxes[i + 1..] {
                    assert!(!overlap(a, b), "{}: {a:?} {b:?}", path.display());
                }
                let inside = panel.boxes[i].cluster.map(|index| &placed.clusters[index]);
                if let Some(frame) = inside {
                    assert!(a.x >= frame.x && a.x + a.w <= frame.x + frame.w);
                    assert!(a.y >= frame.y && a.y + a.h <= frame.y + frame.h);
                }
            }
        }
    }
}

/// A page asks for nothing: no address, no file, and a policy that would refuse them.
#[test]
fn a_page_stands_for_itself() {
    for (path, flow) in cases() {
        let page = drawn(&flow, Form::Html, usize::MAX);
        let policy = "default-src 'none'";
        assert!(page.contains(policy), "{}", path.display());
        for word in [
            "http:", "https:", "src=", "href=", "@import", "fetch(", "<link", "<iframe",
        ] {
            assert!(!page.contains(word), "{}: {word}", path.display());
        }
        for (at, _) in page.match_indices("url(") {
            assert!(page[at..].starts_with("url(#head-"), "{}", path.display());
        }
        // Each node that can be chosen has its text.
        let picture = Picture::of(&flow, &all(&flow), usize::MAX, None);
        let boxes = picture.panels.iter().flat_map(|panel| &panel.boxes);
        let clusters = picture.panels.iter().flat_map(|panel| &panel.clusters);
        let nodes = boxes
            .filter(|shape| shape.node.is_some())
            .map(|shape| &shape.id);
        for id in nodes.chain(clusters.map(|cluster| &cluster.id)) {
            assert!(
                page.contains(&format!("<section id=\"about-{id}\" hidden>")),
                "{id}"
            );
        }
    }
}

/// A graph that runs itself, which no compiled flow has but an IR may, is opened once.
#[test]
fn what_runs_itself_stays_closed() {
    let text = "graph A {\n  state { in out n: int = 0 }\n  start -> b\n  node b: subgraph B -> end\n}\n\
                graph B {\n  state { in out n: int = 0 }\n  start -> c\n  node c: update -> end { set { n: 1 } }\n}\n";
    let mut flow = flow("a.graph", text);
    let a = flow.graph("A").unwrap();
    let b = flow.graph("B").unwrap();
    let call = flow
        .graphs
        .get(a)
        .unwrap()
        .nodes
        .iter()
        .next()
        .unwrap()
        .clone();
    let mut inner = flow.graphs.get(b).unwrap().clone();
    let again = Work::Subgraph {
        graph: a,
        with: Vec::new(),
        into: Vec::new(),
        persist: Default::default(),
    };
    let id = inner.nodes.ids().next().unwrap();
    *inner.nodes.get_mut(id).unwrap() = graphc::ir::Node {
        work: again,
        ..call
    };
    *flow.graphs.get_mut(b).unwrap() = inner;
    for (_, form, depth) in FORMS {
        assert!(!drawn(&flow, form, depth).is_empty());
    }
    let picture = Picture::of(&flow, &[a], usize::MAX, None);
    assert_eq!(picture.panels[0].clusters.len(), 1);
}

/// Many nodes with arrows over all of them: far ones are cut, and what is beyond all bounds is refused.
#[test]
fn large_graphs_are_drawn_or_refused() {
    let chain = |nodes: usize| {
        let mut text = String::from("graph Long {\n  state { in out n: int = 0 }\n  start -> n0\n");
        for i in 0..nodes {
            let next = match i + 1 {
                next if next == nodes => "end".to_owned(),
                next => format!("n{next}"),
            };
            text.push_str(&format!(
                "  node n{i}: update {{ set {{ n: state.n + 1 }} goto {{ when state.n > {i} -> end  else -> {next} }} }}\n"
            ));
        }
        text.push_str("}\n");
        flow("long.graph", &text)
    };
    let text = drawn(&chain(90), Form::Svg, 0);
    assert!(text.contains("→ end"));
    let large = chain(3_100);
    let refused = draw(&large, &all(&large), &Drawing::of(Form::Svg)).unwrap_err();
    assert_eq!(refused.graph, "Long");
    assert!(draw(&large, &all(&large), &Drawing::of(Form::Dot)).is_ok());
}

/// All boxes of one layer lead to all of the next: no arrow is long enough to be cut.
#[test]
fn what_takes_too_long_is_refused() {
    let arms = |to: &str| {
        let arms = (0..120).map(|i| format!("when state.n == {i} -> {to}{i} "));
        format!("goto {{ {} else -> end }}", arms.collect::<String>())
    };
    let mut text = String::from("graph Wide {\n  state { in out n: int = 0 }\n  start -> top\n");
    text.push_str(&format!("  node top: branch {{ {} }}\n", arms("a")));
    for i in 0..120 {
        text.push_str(&format!("  node a{i}: branch {{ {} }}\n", arms("c")));
        text.push_str(&format!(
            "  node c{i}: update -> end {{ set {{ n: {i} }} }}\n"
        ));
    }
    text.push_str("}\n");
    let wide = flow("wide.graph", &text);
    let refused = draw(&wide, &all(&wide), &Drawing::of(Form::Svg)).unwrap_err();
    assert!(refused.arrows > 14_000 && refused.boxes < 300);
    assert!(draw(&wide, &all(&wide), &Drawing::of(Form::Mermaid)).is_ok());
}

/// Ids are safe words and no two boxes share one, whatever nodes are called.
#[test]
fn ids_are_distinct() {
    let text = "graph A {\n  state { out n: int = 0 }\n  start -> b_c\n  node b_c: update -> end { set { n: 1 } }\n}\n\
                graph A_b {\n  state { out n: int = 0 }\n  start -> c\n  node c: update -> end { set { n: 1 } }\n}\n";
    let flow = flow("a.graph", text);
    let picture = Picture::of(&flow, &all(&flow), usize::MAX, None);
    let boxes = picture.panels.iter().flat_map(|panel| &panel.boxes);
    let mut ids: Vec<&str> = boxes.map(|shape| &*shape.id).collect();
    ids.extend(picture.panels.iter().map(|panel| &*panel.id));
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
}
