//! The programs below `examples/`: each runs, and prints what its first lines say.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The programs: the name of each, and its text.
fn programs() -> Vec<(String, String)> {
    let files = std::fs::read_dir(root().join("examples")).unwrap();
    let files = files.map(|entry| entry.unwrap().path());
    let rust = files.filter(|path| path.extension().is_some_and(|ending| ending == "rs"));
    let mut all: Vec<(String, String)> = rust
        .map(|path: PathBuf| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(&path).unwrap())
        })
        .collect();
    all.sort();
    all
}

/// What stands behind `$ cargo run --example NAME` in a program's first lines.
fn promised(name: &str, text: &str) -> String {
    let command = format!("//! $ cargo run --example {name}\n");
    let (_, behind) = text
        .split_once(&command)
        .unwrap_or_else(|| panic!("{name}: its first lines don't say how it is run"));
    let lines = behind.lines().take_while(|line| *line != "//! ```");
    let lines = lines.map(|line| line.strip_prefix("//! ").unwrap_or(line).to_owned() + "\n");
    lines.collect()
}

#[test]
fn each_program_prints_what_it_promises() {
    let programs = programs();
    assert!(programs.len() >= 4, "{}", programs.len());
    for (name, text) in &programs {
        let ran = Command::new(env!("CARGO"))
            .current_dir(root())
            .args(["run", "--locked", "--quiet", "--example", name])
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&ran.stderr);
        assert!(ran.status.success(), "{name}: {errors}");
        let printed = String::from_utf8(ran.stdout).unwrap();
        assert_eq!(printed, promised(name, text), "{name}: {errors}");
    }
}
