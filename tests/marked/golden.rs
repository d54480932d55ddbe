//! The golden dump: every diagnostic of every flow of the project, a line each.
//!
//! A change of the compiler that changes a verdict or a message shows up as a diff of `tests/golden/*.txt`, so that its commit
//! can say why. `UPDATE=1 cargo test --test compiler golden` writes them anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use graphc::compile::compile;
use graphc::diag::codes;

use super::{cases, example, is_mark};
use crate::marked::{MAIN, blocks, files, sections};

/// `PLACE: LEVEL[CODE] MESSAGE` for each diagnostic of a flow of several files. `name` is the flow's, in front of each place.
fn dump(out: &mut String, name: &str, main: &str, texts: &BTreeMap<String, String>) {
    let compiled = compile(main, texts);
    for found in compiled.diagnostics.iter() {
        let at = compiled.sources.location(found.span());
        let file = match compiled.sources.name(found.span().file) {
            file if file == main => String::new(),
            file => format!(" {file}"),
        };
        let (line, column, level) = (at.line, at.column, found.level.word());
        let (slug, message) = (found.code.slug, found.message.replace('\n', "\\n"));
        writeln!(
            out,
            "{name}{file}:{line}:{column}: {level}[{slug}] {message}"
        )
        .unwrap();
    }
}

/// The cases of `tests/FOLDER`.
fn of_cases(root: &Path, folder: &str) -> String {
    let mut out = String::new();
    for path in cases(&root.join("tests").join(folder)) {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.strip_prefix(root.join("tests")).unwrap();
        let texts = files(&sections(&text, is_mark));
        dump(&mut out, &name.display().to_string(), MAIN, &texts);
    }
    out
}

/// The flows of a folder of the project, each with all files beside it.
fn of_flows(root: &Path, folder: &str) -> String {
    let mut texts = BTreeMap::new();
    let mut read = |folder: &Path| {
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if let Ok(text) = std::fs::read_to_string(&path) {
                    let name = path.strip_prefix(root).unwrap().display().to_string();
                    texts.insert(name, text);
                }
            }
        }
    };
    read(&root.join(folder));
    let mut out = String::new();
    for name in texts.keys().filter(|name| name.ends_with(".graph")) {
        dump(&mut out, name, name, &texts);
    }
    out
}

/// The blocks of the documents, and the examples of the pages behind `graphc explain`.
fn of_documents() -> String {
    let mut out = String::new();
    let mut one = |name: &str, texts| dump(&mut out, name, MAIN, &texts);
    for document in blocks::documents() {
        for (number, block) in blocks::blocks(&document).into_iter().enumerate() {
            let texts = BTreeMap::from([(MAIN.to_owned(), block.text)]);
            one(&format!("{document}#{}", number + 1), texts);
        }
    }
    for code in codes::ALL {
        for heading in ["Wrong", "Right"] {
            if let Some(("graph", text)) = example(code.page, heading) {
                let name = format!("explain {} ({})", code.slug, heading.to_lowercase());
                one(&name, files(&sections(text, is_mark)));
            }
        }
    }
    out
}

#[test]
fn golden() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = root.join("tests/golden");
    let mut report = String::new();
    for (name, now) in [
        ("check", of_cases(root, "check")),
        ("matrix", of_cases(root, "matrix")),
        ("docs", of_documents()),
        ("graphs", of_flows(root, "graphs")),
        ("examples", of_flows(root, "examples")),
    ] {
        let path = folder.join(name).with_extension("txt");
        if std::env::var_os("UPDATE").is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, now).unwrap();
            continue;
        }
        let golden = std::fs::read_to_string(&path).unwrap();
        if golden != now {
            let diff = similar::TextDiff::from_lines(&golden, &now);
            let shown = diff.unified_diff().context_radius(0).to_string();
            writeln!(report, "tests/golden/{name}.txt\n{shown}").unwrap();
        }
    }
    assert!(
        report.is_empty(),
        "diagnostics differ from the golden dump (UPDATE=1 writes it anew; the commit says why):\n\n{report}"
    );
}
