//! Where an expression fails at run time: every `tests/places/*.graph` is a flow whose run fails, and a mark stands under
//! the part that did.
//!
//! ```text
//!   node a: update -> end { set { n: 1 + 10 / state.list[0] } }
//! //                                     ^^^^^^^^^^^^^^^^^^ expression in `a`: division by zero: `10 / 0`
//! ```
//!
//! The carets are the columns of the place (columns 1 and 2 belong to the slashes; of a place of several lines those of
//! the first), the text is the error's kind, the path of its node and its message. `//# input: {..}` and the like say how the
//! flow is run: a key of a scenario (`input`, `context`, `models`, `tools`, `answers`), and its value in one line of YAML.
//! `//# file: types.graph` begins another file. `UPDATE=1 cargo test --test compiler places::` writes the marks anew.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use graphc::base::SourceMap;
use graphc::compile::compile;
use graphc::diag::render::{Style, human};
use graphc::project::bindings::Bindings;
use graphc::project::scenario;
use graphc::run::plan::plan;
use graphc::scenario::Observed;
use graphc::scenario::crash::Launcher;
use graphc::scenario::group::{self, Bench, open_store, stage};
use graphc::scenario::play::How;

use crate::marked::{MAIN, Section, files, sections};
use serde_json::Value as Json;

fn is_mark(line: &str) -> bool {
    let rest = line
        .strip_prefix("//")
        .map(|rest| rest.trim_start_matches(' '));
    rest.is_some_and(|rest| rest.starts_with('^'))
}

/// The scenario that the `//# key: value` lines make.
fn scenario_text(text: &str) -> String {
    let mut out = "scenarios:\n  - name: run\n".to_owned();
    for line in text.lines().filter_map(|line| line.strip_prefix("//# ")) {
        if !line.starts_with("file:") {
            writeln!(out, "    {line}").unwrap();
        }
    }
    out + "    expect: { status: failed }\n"
}

/// The error of the run, as its result has it.
async fn failure(name: &str, text: &str, files: &BTreeMap<String, String>) -> Result<Json, String> {
    let compiled = compile(MAIN, files);
    let findings = human(&compiled.diagnostics, &compiled.sources, Style::PLAIN);
    let flow = compiled.flow.ok_or(findings)?;
    let mut sources = SourceMap::new();
    let id = sources.add("run.test.yaml", &scenario_text(text));
    let suite =
        scenario::load(&sources, id).map_err(|found| human(&found, &sources, Style::PLAIN))?;
    let bench = Bench {
        record: false,
        suite: Arc::new(suite),
        file: folder().join(name),
        plan: Arc::new(plan(Arc::new(flow)).map_err(|error| error.message)?),
        bindings: Bindings::none(),
        launcher: Launcher {
            program: env!("CARGO_BIN_EXE_graphc").into(),
            args: vec!["play-scenario".into()],
            env: Vec::new(),
        },
    };
    let stage = stage(
        &bench.suite.scenarios[0],
        &bench.plan,
        &bench.bindings,
        &open_store(None),
    )
    .map_err(|finding| finding.message)?;
    let (told, _) = group::alone(&bench, 0, &stage, How::default()).await?;
    let observed = Observed::of(&bench.plan.flow, stage.graph, &told);
    let ended = observed.ended.ok_or("the run did not begin")?;
    ended
        .error
        .ok_or_else(|| format!("the run ended well: {:?}", ended.output))
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/places")
}

/// File and line of a mark, and the mark.
fn mark(error: &Json, files: &BTreeMap<String, String>) -> Option<(String, usize, String)> {
    let text = |key: &str| error.get(key).and_then(Json::as_str);
    let number = |text: &str| text.parse::<usize>().unwrap();
    let (rest, column) = text("place")?.rsplit_once(':')?;
    let (file, line) = rest.rsplit_once(':')?;
    let (last, end) = text("place_end")?.split_once(':')?;
    let (line, column) = (number(line), number(column));
    let whole = files.get(file)?.lines().nth(line - 1)?.chars().count() + 1;
    let end = if number(last) == line {
        number(end)
    } else {
        whole
    };
    let start = column.max(3);
    let carets = " ".repeat(start - 3) + &"^".repeat(end.saturating_sub(start).max(1));
    let path = text("path").map_or(String::new(), |path| format!(" in `{path}`"));
    let (kind, message) = (text("kind")?, text("message")?.replace('\n', " "));
    Some((
        file.to_owned(),
        line,
        format!("//{carets} {kind}{path}: {message}"),
    ))
}

/// The case with the marks that it should have.
fn marked(sections: &[Section], found: &(String, usize, String)) -> String {
    let mut out = String::new();
    for section in sections {
        if let Some(head) = &section.head {
            writeln!(out, "{head}").unwrap();
        }
        for (index, (line, _)) in section.lines.iter().enumerate() {
            writeln!(out, "{line}").unwrap();
            if section.name == found.0 && index + 1 == found.1 {
                writeln!(out, "{}", found.2).unwrap();
            }
        }
    }
    out
}

#[test]
fn failures_name_their_places() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .thread_stack_size(16 << 20)
        .enable_all()
        .build()
        .unwrap();
    let mut names: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains(&std::env::var("CASE").unwrap_or_default()))
        .collect();
    names.sort();
    let mut wrong = Vec::new();
    for name in &names {
        let path = folder().join(name);
        let text = std::fs::read_to_string(&path).unwrap();
        let sections = sections(&text, is_mark);
        let files = files(&sections);
        let error = match runtime.block_on(failure(name, &text, &files)) {
            Ok(error) => error,
            Err(why) => {
                wrong.push(format!("{name}: {why}"));
                continue;
            }
        };
        let Some(found) = mark(&error, &files) else {
            wrong.push(format!("{name}: no place in {error}"));
            continue;
        };
        let should = marked(&sections, &found);
        if should == text {
            continue;
        }
        match std::env::var_os("UPDATE") {
            Some(_) => std::fs::write(&path, should).unwrap(),
            None => wrong.push(format!("{name}: {}:{}\n{}", found.0, found.1, found.2)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}
