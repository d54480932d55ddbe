//! Scenarios that don't fit their flow: each case is a YAML file in tests/fit, held against `desk.graph`
//! there or another flow that the file names, and against the settings in `NAME.settings` beside it where there are such. It ends in
//! a comment with what is reported about it. `UPDATE=1` writes those comments anew.

use std::collections::BTreeMap;
use std::path::Path;

use graphc::base::SourceMap;
use graphc::compile::compile;
use graphc::diag::Diagnostics;
use graphc::ir::Flow;
use graphc::project::config::{self, Config};
use graphc::project::fit::fit;
use graphc::project::scenario::load;

const MARK: &str = "#---\n";

fn flow(folder: &Path, name: &str) -> Flow {
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    let compiled = compile(name, &BTreeMap::from([(name.to_owned(), text)]));
    let found: Vec<&str> = compiled.diagnostics.iter().map(|d| &*d.message).collect();
    compiled.flow.unwrap_or_else(|| panic!("{found:?}"))
}

/// The settings of a case; `None` where they don't matter to it.
fn settings(case: &Path) -> Option<Config> {
    let text = std::fs::read_to_string(case.with_extension("settings")).ok()?;
    let mut sources = SourceMap::new();
    let file = sources.add("graphc.yaml", &text);
    Some(config::load(&sources, file, None, &|_| None).unwrap())
}

fn shown(found: &Diagnostics, sources: &SourceMap) -> String {
    let mut out = String::new();
    for finding in found.iter() {
        let at = sources.location(finding.span());
        let text = sources.text(finding.span());
        let (line, column) = (at.line, at.column);
        out += &format!("# {line}:{column} `{text}`: {}\n", finding.message);
        if let Some(help) = &finding.help {
            out += &format!("#   help: {help}\n");
        }
    }
    out
}

#[test]
fn what_does_not_fit_is_said_before_anything_runs() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fit");
    let update = std::env::var_os("UPDATE").is_some();
    let (mut wrong, mut cases) = (Vec::new(), 0);
    let mut paths: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "yaml"))
        .collect();
    paths.sort();
    for path in paths {
        cases += 1;
        let text = std::fs::read_to_string(&path).unwrap();
        let (yaml, expected) = text.split_once(MARK).unwrap_or((&text, ""));
        let mut sources = SourceMap::new();
        let name = path.file_name().unwrap().to_str().unwrap();
        let file = sources.add(name, yaml);
        let found = match load(&sources, file) {
            Ok(suite) => {
                let of = suite.flow.as_deref().unwrap_or("desk.graph");
                fit(&suite, &flow(&folder, of), settings(&path).as_ref())
            }
            Err(found) => panic!("{name} can't be read: {}", shown(&found, &sources)),
        };
        let found = shown(&found, &sources);
        if update {
            std::fs::write(&path, format!("{yaml}{MARK}{found}")).unwrap();
        } else if found != expected {
            wrong.push(format!("{name}: expected\n{expected}found\n{found}"));
        }
    }
    assert!(cases > 5);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
