//! Each file of tests is a module of one of Cargo.toml's test targets: one that belongs to none would never run. And so would a test
//! in the library.

use std::collections::BTreeMap;
use std::path::Path;

fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// The test targets: the name of each, and the text of its root.
fn targets() -> BTreeMap<String, String> {
    let manifest = read("Cargo.toml");
    let tables = manifest.split("[[test]]\n").skip(1);
    let roots = tables.map(|table| {
        let table = table.split("\n\n").next().unwrap();
        let value = |key: &str| {
            let value = table.lines().find_map(|line| line.strip_prefix(key));
            value.map(|value| value.trim_matches([' ', '=', '"']))
        };
        let name = value("name").unwrap();
        let path = value("path").map_or_else(|| format!("tests/{name}.rs"), str::to_owned);
        (name.to_owned(), read(&path))
    });
    roots.collect()
}

#[test]
fn every_file_is_in_a_target() {
    let targets = targets();
    assert!(targets.len() > 1, "{:?}", targets.keys());
    let mut wrong = Vec::new();
    for entry in std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let is_file = path.extension().is_some_and(|ending| ending == "rs");
        if targets.contains_key(name) || !(is_file || path.join("mod.rs").exists()) {
            continue;
        }
        let line = format!("mod {name};");
        let has = |text: &&String| text.lines().any(|other| other == line);
        let count = targets.values().filter(has).count();
        // What several targets share is a folder.
        if count == 0 || is_file && count > 1 {
            wrong.push(format!("{name} is in {count} targets"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A library with tests is compiled once more for them, which takes minutes.
#[test]
fn the_library_has_no_tests() {
    let mut waiting = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    let mut wrong = Vec::new();
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = std::fs::read_to_string(&path).unwrap();
                if ["cfg(test)", "#[test]", "::test]"]
                    .iter()
                    .any(|word| text.contains(word))
                {
                    wrong.push(path.display().to_string());
                }
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "Cargo.toml has `test = false` for the library: a test of what it does belongs to a program of `tests`, as data where \
         its neighbours are data\n{}",
        wrong.join("\n")
    );
}
