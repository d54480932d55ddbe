//! Drawings of flows: a case is a flow in tests/viz with its drawings beside it, `NAME.mmd` and
//! `NAME.dot`. `UPDATE=1` rewrites the drawings.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::collections::BTreeMap;
use std::path::Path;

use graphc::compile::compile;
use graphc::ir::{Flow, GraphId};
use graphc::viz::{Form, draw};

fn flow(name: &str, text: &str) -> Flow {
    let files = BTreeMap::from([(name.to_owned(), text.to_owned())]);
    let compiled = compile(name, &files);
    let found: Vec<&str> = compiled.diagnostics.iter().map(|d| &*d.message).collect();
    compiled.flow.unwrap_or_else(|| panic!("{name}: {found:?}"))
}

#[test]
fn every_flow_is_drawn_as_kept() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/viz");
    let mut wrong = Vec::new();
    let mut cases = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path
            .extension()
            .is_none_or(|extension| extension != "graph")
        {
            continue;
        }
        cases += 1;
        let name = path.file_name().unwrap().to_str().unwrap();
        let flow = flow(name, &std::fs::read_to_string(&path).unwrap());
        let graphs: Vec<GraphId> = flow.graphs.entries().map(|(id, _)| id).collect();
        for (form, extension) in [(Form::Mermaid, "mmd"), (Form::Dot, "dot")] {
            let drawn = draw(&flow, &graphs, form);
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
    assert!(cases > 0);
    assert!(
        wrong.is_empty(),
        "these are drawn otherwise (UPDATE=1 accepts):\n{}",
        wrong.join("\n")
    );
}

/// Ids are safe words and no two boxes share one, whatever nodes are called.
#[test]
fn ids_are_distinct() {
    let text = "graph A {\n  state { out n: int = 0 }\n  start -> b_c\n  node b_c: update -> end { set { n: 1 } }\n}\n\
                graph A_b {\n  state { out n: int = 0 }\n  start -> c\n  node c: update -> end { set { n: 1 } }\n}\n";
    let flow = flow("a.graph", text);
    let graphs: Vec<GraphId> = flow.graphs.entries().map(|(id, _)| id).collect();
    let picture = graphc::viz::picture::Picture::of(&flow, &graphs);
    let boxes = picture.panels.iter().flat_map(|panel| &panel.boxes);
    let mut ids: Vec<&str> = boxes.map(|shape| &*shape.id).collect();
    ids.extend(picture.panels.iter().map(|panel| &*panel.id));
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all);
}
