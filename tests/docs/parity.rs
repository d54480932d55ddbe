//! What docs/langgraph.md names is there.

use std::collections::BTreeSet;
use std::path::Path;

use super::matrix::quoted;
use super::{commands, project};

/// Names of all cases, which are files, and of all functions of tests.
fn cases(folder: &Path, into: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            cases(&path, into);
            continue;
        }
        if name.ends_with(".rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            let functions = text.split("fn ").skip(1);
            into.extend(functions.filter_map(|rest| Some(rest.split_once('(')?.0.to_owned())));
        } else {
            into.extend(name.split('.').next().map(str::to_owned));
        }
    }
}

/// Each row of a table has a case, or a dash where it says that something is not there; what is named as a diagnostic is one,
/// and a flag of the command is in its document.
#[test]
fn what_the_page_for_people_from_langgraph_names_is_there() {
    let page = std::fs::read_to_string(project("docs/langgraph.md")).unwrap();
    let commands = commands();
    let mut known = BTreeSet::new();
    cases(&project("tests"), &mut known);
    let mut wrong = Vec::new();
    let mut rows = 0;
    for line in page.lines().filter(|line| line.starts_with("| ")) {
        // A bar within backticks would be one of the table too.
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        let [there, here, shown] = cells.as_slice() else {
            wrong.push(format!("not three cells: {line}"));
            continue;
        };
        if *shown == "shown by" {
            continue;
        }
        rows += 1;
        for case in quoted(shown).filter(|case| !known.contains(*case)) {
            wrong.push(format!("{there}: there is no case `{case}`"));
        }
        if quoted(shown).next().is_none() && !here.starts_with("not there") {
            wrong.push(format!("{there}: nothing shows it"));
        }
        for word in quoted(here).flat_map(str::split_whitespace) {
            let flag = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '-');
            if flag.starts_with("--") && !commands.contains(flag) {
                wrong.push(format!("{there}: there is no `{flag}`"));
            }
        }
        let is_code = |word: &&str| {
            let letters = word.chars().all(|c| c.is_ascii_lowercase() || c == '-');
            letters && word.contains('-') && !word.starts_with('-')
        };
        for code in quoted(here).filter(is_code) {
            if graphc::diag::codes::find(code).is_none() {
                wrong.push(format!("{there}: `{code}` is no diagnostic"));
            }
        }
    }
    assert!(rows > 100, "{rows}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
