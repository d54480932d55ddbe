//! Drawings become skeletons: each `*.mmd` below tests/import has its skeleton beside it, and each in `wrong` its error.
//!
//! Those in `langgraph` are what LangGraph itself draws (`draw.py`), which is held against it. `UPDATE=1` writes all anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::python;
use graphc::base::{FileId, SourceMap};
use graphc::compile::compile;
use graphc::diag::{Diagnostics, render};
use graphc::import::{blocks, skeleton};

const PACKAGES: [&str; 2] = ["langgraph==1.2.22", "langchain-core==1.7.2"];

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/import")
        .join(name)
}

fn drawings(name: &str) -> Vec<PathBuf> {
    let files = std::fs::read_dir(folder(name)).unwrap();
    let files = files.map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|ending| ending == "mmd"))
        .collect();
    found.sort();
    assert!(found.len() > 1, "{name}");
    found
}

/// Writes the text, or says that it is not what is kept.
fn hold(path: &Path, text: &str, wrong: &mut Vec<String>) {
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(path, text).unwrap();
    }
    if std::fs::read_to_string(path).unwrap_or_default() != text {
        wrong.push(format!("{} is not:\n{text}", path.display()));
    }
}

#[test]
fn drawings_become_flows_that_check() {
    let mut wrong = Vec::new();
    for path in ["langgraph", "drawn"]
        .iter()
        .flat_map(|name| drawings(name))
    {
        let text = std::fs::read_to_string(&path).unwrap();
        let made = skeleton(&text, 0..text.len(), FileId(0), "Main").unwrap();
        let files = BTreeMap::from([("main.graph".to_owned(), made.text.clone())]);
        let compiled = compile("main.graph", &files);
        let found = render::human(
            &compiled.diagnostics,
            &compiled.sources,
            render::Style::PLAIN,
        );
        if compiled
            .diagnostics
            .iter()
            .any(|found| found.level > graphc::diag::Level::Info)
        {
            wrong.push(format!("{}:\n{found}", path.display()));
        }
        let mut shown = made.text;
        for gap in made.gaps {
            writeln!(shown, "// {}: {}", gap.about, gap.missing).unwrap();
        }
        hold(&path.with_extension("graph"), &shown, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_is_no_flowchart_has_an_error_at_its_place() {
    let mut wrong = Vec::new();
    for path in drawings("wrong") {
        let text = std::fs::read_to_string(&path).unwrap();
        let mut sources = SourceMap::new();
        let file = sources.add("drawing.mmd", &text);
        let mut found = Diagnostics::new();
        found.push(*skeleton(&text, 0..text.len(), file, "Main").unwrap_err());
        let shown = render::human(&found, &sources, render::Style::PLAIN);
        hold(&path.with_extension("txt"), &shown, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_drawings_are_those_of_langgraph() {
    let tmp = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let python = python::with_packages(&tmp.join("langgraph"), &PACKAGES);
    let out = tmp.join("drawings");
    std::fs::create_dir_all(&out).unwrap();
    let drawn = Command::new(python)
        .arg(folder("draw.py"))
        .arg(&out)
        .output()
        .unwrap();
    assert!(
        drawn.status.success(),
        "{}",
        String::from_utf8_lossy(&drawn.stderr)
    );
    let mut wrong = Vec::new();
    for path in drawings("langgraph") {
        let text = std::fs::read_to_string(out.join(path.file_name().unwrap())).unwrap();
        hold(&path, &text, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_page_may_have_several_drawings() {
    let page = "# Agents\n```mermaid\ngraph TD\n  a --> b\n```\ntext\n````md\n```mermaid\n````\n~~~ mermaid\ngraph LR\n  c\n~~~\n";
    let found = blocks(page);
    let texts: Vec<&str> = found
        .iter()
        .map(|block| page.get(block.start..block.end).unwrap())
        .collect();
    assert_eq!(texts, ["graph TD\n  a --> b\n", "graph LR\n  c\n"]);
    assert_eq!(
        found.iter().map(|block| block.line).collect::<Vec<_>>(),
        [3, 11]
    );
}
