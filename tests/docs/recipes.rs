//! The recipes: each page shows the very files of `examples/recipes`, what it says the compiler catches is caught,
//! its Python is Python, and its scenarios pass.
//!
//! `<!-- include FILE -->` before a block: the block is that file. `<!-- mistakes FILE -->` before a table: where the text in
//! the first column of a row is replaced by the second, `graphc check` reports what the third says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use graphc::compile::compile;
use graphc::diag::Level;

use super::project;
use crate::install;

/// Names of the recipes, from their files.
fn recipes() -> Vec<String> {
    let entries = std::fs::read_dir(project("examples/recipes")).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter_map(|name| name.strip_suffix(".graph").map(str::to_owned))
        .collect();
    names.sort();
    assert!(!names.is_empty());
    names
}

fn page(name: &str) -> PathBuf {
    project(&format!("docs/recipes/{name}.md"))
}

/// What stands behind `<!-- VERB` and before ` -->` in a line.
fn marked<'a>(line: &'a str, verb: &str) -> Option<&'a str> {
    let inside = line.strip_prefix("<!-- ")?.strip_suffix(" -->")?;
    inside.strip_prefix(verb)?.strip_prefix(' ')
}

/// A page with each included file as it is now, and the files.
fn included(text: &str) -> (String, Vec<String>) {
    let (mut out, mut files) = (String::new(), Vec::new());
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        out.push_str(&format!("{line}\n"));
        let Some(file) = marked(line, "include") else {
            continue;
        };
        let fence = lines.next().unwrap();
        assert!(fence.starts_with("```"), "no block behind `{line}`");
        assert!(lines.any(|line| line == "```"), "no end of `{line}`");
        let now = std::fs::read_to_string(project(file)).unwrap();
        out.push_str(&format!("{fence}\n{now}```\n"));
        files.push(file.to_owned());
    }
    (out, files)
}

#[test]
fn recipes_show_their_files() {
    for name in recipes() {
        let written = std::fs::read_to_string(page(&name)).unwrap();
        let (now, files) = included(&written);
        if std::env::var_os("UPDATE").is_some() {
            std::fs::write(page(&name), &now).unwrap();
        } else {
            assert!(
                written == now,
                "{name}.md shows other files (UPDATE=1 writes it anew)"
            );
        }
        let shown = ["graph", "test.yaml"].map(|end| format!("examples/recipes/{name}.{end}"));
        assert_eq!(files, shown, "{name}.md");
    }
}

/// What a cell shows as code; nothing where it shows none.
fn code(cell: &str) -> &str {
    cell.split('`').nth(1).unwrap_or("")
}

/// Codes of the errors and warnings of a flow.
fn findings(text: String) -> Vec<&'static str> {
    let compiled = compile("main.graph", &BTreeMap::from([("main.graph".into(), text)]));
    let found = compiled.diagnostics.iter();
    found
        .filter(|found| found.level > Level::Info)
        .map(|found| found.code.slug)
        .collect()
}

#[test]
fn mistakes_in_recipes_are_found() {
    for name in recipes() {
        let page = std::fs::read_to_string(page(&name)).unwrap();
        let mut lines = page.lines();
        let file = lines.find_map(|line| marked(line, "mistakes")).unwrap();
        let flow = std::fs::read_to_string(project(file)).unwrap();
        assert_eq!(findings(flow.clone()), [""; 0], "{name} itself");
        let rows: Vec<&str> = lines.take_while(|line| line.starts_with('|')).collect();
        assert!(rows.len() > 2, "{name}.md has no rows");
        for row in &rows[2..] {
            let cells: Vec<&str> = row.split(" | ").collect();
            let (written, mistake, finding) = (code(cells[0]), code(cells[1]), code(cells[2]));
            assert!(flow.contains(written), "{name} has no `{written}`");
            let found = findings(flow.replacen(written, mistake, 1));
            assert!(found.contains(&finding), "{name}: {row}\nfound: {found:?}");
        }
    }
}

/// A command in the project's folder, which has to succeed.
fn succeeds(program: impl AsRef<Path>, arguments: &[&str]) {
    let output = Command::new(program.as_ref())
        .args(arguments)
        .current_dir(project(""))
        .output()
        .unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|said| String::from_utf8(said).unwrap());
    assert!(output.status.success(), "{arguments:?}\n{out}{err}");
}

#[test]
fn scenarios_of_recipes_pass_and_take_everything() {
    let arguments = ["test", "examples/recipes", "--coverage", "--min", "100"];
    succeeds(env!("CARGO_BIN_EXE_graphc"), &arguments);
}

#[test]
fn python_of_recipes_is_python() {
    if install::said("python3", &["--version"]).is_none() {
        install::apt("python3");
    }
    for name in recipes() {
        let page = std::fs::read_to_string(page(&name)).unwrap();
        let (_, block) = page.split_once("```python\n").unwrap();
        let (python, _) = block.split_once("\n```").unwrap();
        let compile = "import sys; compile(sys.argv[1], sys.argv[2], 'exec')";
        succeeds("python3", &["-c", compile, python, &name]);
    }
}
