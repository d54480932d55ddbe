//! The matrix of silent failures (`tests/matrix/README.md`) is held against its cases.

use std::collections::BTreeMap;

use super::project;

/// Names in backticks.
pub fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Texts of the files of a folder that end so, by name without that.
fn texts(folder: &str, ending: &str) -> BTreeMap<String, String> {
    let entries = std::fs::read_dir(project(folder)).unwrap();
    let named = entries.filter_map(|entry| {
        let path = entry.unwrap().path();
        let name = path.file_name()?.to_str()?.strip_suffix(ending)?;
        Some((name.to_owned(), std::fs::read_to_string(&path).unwrap()))
    });
    named.collect()
}

/// Each row of the matrix of silent failures (`tests/matrix`) has cases of its number, and what it says of the compiler and of
/// kinds of errors stands in them. No case is without a row.
#[test]
fn every_row_of_the_matrix_is_shown() {
    let graphs = texts("tests/matrix", ".graph");
    let scenarios = texts("tests/matrix", ".test.yaml");
    let programs = texts("tests/engine", ".rs").into_values();
    let programs = programs.collect::<String>();
    let matrix = std::fs::read_to_string(project("tests/matrix/README.md")).unwrap();
    let rows = matrix.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split(" | ").collect();
        let [number, _, here, cases] = cells.as_slice() else {
            return None;
        };
        let number: usize = number.trim_start_matches("| ").parse().ok()?;
        Some((number, *here, *cases))
    });
    let mut wrong = Vec::new();
    let mut known = Vec::new();
    let mut numbers = Vec::new();
    for (number, here, cases) in rows {
        numbers.push(number);
        let mut shown = String::new();
        let mut runs = false;
        for case in quoted(cases) {
            known.push(case.to_owned());
            if let Some(text) = graphs.get(case) {
                shown += text;
                shown += scenarios.get(case).map_or("", |text| {
                    runs = true;
                    text
                });
            } else if programs.contains(&format!("async fn {case}(")) {
                runs = true;
            } else {
                wrong.push(format!("row {number}: there is no case `{case}`"));
            }
            let named = [format!("{number:02}_"), format!("row_{number}_")];
            if !named.iter().any(|begin| case.starts_with(begin)) {
                wrong.push(format!("row {number}: `{case}` is not named after it"));
            }
        }
        if quoted(cases).next().is_none() {
            wrong.push(format!("row {number} has no case"));
        }
        let level = here.split_whitespace().next().unwrap();
        for word in quoted(here) {
            let is_there = match graphc::diag::codes::find(word) {
                Some(_) => shown.contains(&format!("^ {level}[{word}]")),
                None => !word.contains('_') || shown.contains(&format!("kind: {word}")),
            };
            if !is_there {
                wrong.push(format!("row {number}: no case shows `{word}`"));
            }
        }
        let compiles = ["error", "warning"].contains(&level);
        if (!compiles || here.contains("; from outside")) && !runs {
            wrong.push(format!("row {number}: no case of it runs"));
        }
    }
    assert_eq!(numbers, (1..=22).collect::<Vec<_>>());
    let functions = programs.split("async fn ").skip(1);
    let functions = functions.filter_map(|rest| rest.split('(').next());
    let functions = functions.filter(|name| name.starts_with("row_"));
    for case in functions.chain(graphs.keys().map(String::as_str)) {
        if !known.iter().any(|name| name == case) {
            wrong.push(format!("`{case}` is of no row"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
