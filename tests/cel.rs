//! The CEL conformance cases of `tests/cel`, and this project's own in the same form in `tests/cel/own`.

use std::collections::BTreeMap;
use std::fs;

use crate::evaluate;
use graphc::value::Value;
use serde_json::Value as Json;

#[test]
fn conformance() {
    let mut known = known();
    let (mut total, mut wrong) = (0, Vec::new());
    let folders = ["tests/cel", "tests/cel/own"].map(|folder| fs::read_dir(folder).unwrap());
    let mut files: Vec<_> = folders
        .into_iter()
        .flatten()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    files.sort();
    for path in files {
        let cases: Vec<Json> = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let stem = path.file_stem().unwrap().to_str().unwrap();
        for case in cases {
            total += 1;
            let text = |key: &str| case[key].as_str().unwrap().to_owned();
            let name = format!("{stem}/{}/{}", text("section"), text("name"));
            let reason = known.remove(&name);
            match (run(&case), reason) {
                (Ok(()), None) | (Err(_), Some(_)) => {}
                (Ok(()), Some(_)) => wrong.push(format!("{name}: passes, but is in known.txt")),
                (Err(why), None) => wrong.push(format!("{name}: {} {why}", text("expr"))),
            }
        }
    }
    wrong.extend(known.keys().map(|name| format!("{name}: no such case")));
    assert!(total > 700, "only {total} cases were found");
    assert!(wrong.is_empty(), "of {total} cases:\n{}", wrong.join("\n"));
}

/// Reasons by name of the case.
fn known() -> BTreeMap<String, String> {
    let text = fs::read_to_string("tests/cel/known.txt").unwrap_or_default();
    text.lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .map(|line| {
            let (name, reason) = line.split_once(": ").expect("`name: reason`");
            (name.to_owned(), reason.to_owned())
        })
        .collect()
}

fn run(case: &Json) -> Result<(), String> {
    let bindings: Vec<(String, Value)> = case["bindings"]
        .as_object()
        .unwrap()
        .iter()
        .map(|(name, json)| (name.clone(), Value::from_json(json)))
        .collect();
    let result = evaluate::evaluate(case["expr"].as_str().unwrap(), &bindings);
    match (result, case.get("value")) {
        (Err(_), None) => Ok(()),
        (Ok(value), Some(expected)) if same(&value, &Value::from_json(expected)) => Ok(()),
        (result, expected) => Err(format!("gives {result:?} instead of {expected:?}")),
    }
}

/// Equal in value and kind: `1` is not `1.0`. A uint is an int in JSON.
fn same(value: &Value, expected: &Value) -> bool {
    match (value, expected) {
        (Value::Uint(a), Value::Int(b)) => i128::from(*a) == i128::from(*b),
        (Value::List(a), Value::List(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| same(a, b))
        }
        (Value::Map(a), Value::Map(b)) => {
            a.len() == b.len()
                && a.iter()
                    .zip(b.iter())
                    .all(|(a, b)| a.0 == b.0 && same(a.1, b.1))
        }
        (a, b) => a.kind() == b.kind() && a == b,
    }
}
