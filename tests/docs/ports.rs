//! `tests/ports.yaml`: each group of what the peer's tests show is there, and all that is named in it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::Deserialize;

use super::project;

/// Groups of the peer's tests.
const GROUPS: u32 = 78;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Port {
    of: String,
    #[serde(default)]
    by: Vec<String>,
    none: Option<String>,
}

fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(project(path)).ok()
}

/// What is wrong with an entry of `by`.
fn missing(by: &str) -> Option<String> {
    if let Some((file, test)) = by.split_once("::") {
        return missing_test(file, test);
    }
    if let Some(rest) = by.strip_prefix("cli/") {
        let (talk, words) = rest.split_once(": ").unwrap_or((rest, ""));
        let Some(text) = read(&format!("tests/cli/{talk}.txt")) else {
            return Some(format!("there is no tests/cli/{talk}.txt"));
        };
        let mut comments = text.lines().filter(|line| line.starts_with("# "));
        let said = comments.any(|line| line.contains(words));
        return (!said || words.is_empty()).then(|| format!("{by}: no comment says that"));
    }
    let forms: &[&str] = match by.split('/').next() {
        Some("run") => &["graph", "test.yaml"],
        Some("versions" | "check" | "viz") => &["graph"],
        _ => return Some(format!("{by}: what is that?")),
    };
    let lacks = |form: &&&str| !project(&format!("tests/{by}.{form}")).exists();
    let lacking = forms.iter().find(lacks)?;
    Some(format!("there is no tests/{by}.{lacking}"))
}

fn missing_test(file: &str, test: &str) -> Option<String> {
    let Some(text) = read(&format!("tests/{file}.rs")) else {
        return Some(format!("there is no tests/{file}.rs"));
    };
    // The suite of the stores lists its cases by name.
    let listed = |line: &str| file == "store/mod" && line.trim() == test;
    let lines: Vec<&str> = text.lines().collect();
    let declared = format!("fn {test}(");
    let is_test = |at: usize| {
        let above = lines[..at].iter().rev().take(3);
        above.clone().any(|line| {
            line.trim().starts_with("#[test") || line.trim().starts_with("#[tokio::test")
        })
    };
    let there = (0..lines.len())
        .any(|at| listed(lines[at]) || (lines[at].contains(&declared) && is_test(at)));
    (!there).then(|| format!("{file}.rs has no test `{test}`"))
}

#[test]
fn every_port_is_there() {
    let text = read("tests/ports.yaml").unwrap();
    let groups: BTreeMap<u32, Vec<Port>> = serde_yaml::from_str(&text).unwrap();
    let numbers: Vec<u32> = groups.keys().copied().collect();
    assert_eq!(numbers, (1..=GROUPS).collect::<Vec<_>>());
    let mut wrong = Vec::new();
    let mut shown: BTreeSet<&str> = BTreeSet::new();
    for (number, ports) in &groups {
        if ports.is_empty() {
            wrong.push(format!("{number}: nothing"));
        }
        for port in ports {
            if port.by.is_empty() == port.none.is_none() {
                wrong.push(format!("{number}: {}: either `by` or `none`", port.of));
            }
            shown.extend(port.by.iter().map(String::as_str));
        }
    }
    wrong.extend(shown.iter().filter_map(|by| missing(by)));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(shown.len() > 150, "{}", shown.len());
}

/// A scenario in tests/run says in its first line what it shows.
#[test]
fn every_case_says_what_it_shows() {
    let mut silent = Vec::new();
    for entry in std::fs::read_dir(project("tests/run")).unwrap() {
        let path = entry.unwrap().path();
        let is_graph = path.extension().is_some_and(|end| end == "graph");
        if is_graph && !begins_with_words(&path) {
            silent.push(path.display().to_string());
        }
    }
    assert!(silent.is_empty(), "{}", silent.join("\n"));
}

fn begins_with_words(path: &Path) -> bool {
    let text = std::fs::read_to_string(path).unwrap();
    text.starts_with("//! ")
}
