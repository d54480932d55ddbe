//! docs/dependencies.md names every crate of Cargo.toml, and no other.

use std::collections::BTreeSet;

fn project(path: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(path).unwrap()
}

/// Crates of Cargo.toml, by the name that the registry knows them by.
fn crates() -> BTreeSet<String> {
    let manifest = project("Cargo.toml");
    let mut crates = BTreeSet::new();
    let mut inside = false;
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.ends_with("dependencies]");
        } else if let Some((name, value)) = line.split_once(" = ").filter(|_| inside) {
            let renamed = value.split_once("package = \"").map(|(_, rest)| rest);
            let name = renamed.map_or(name, |rest| rest.split('"').next().unwrap());
            crates.insert(name.to_owned());
        }
    }
    crates
}

/// Crates that the first column of the page's tables names.
fn described() -> BTreeSet<String> {
    let page = project("docs/dependencies.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| `"));
    let cells = rows.map(|row| row.split(" |").next().unwrap());
    cells
        .flat_map(|cell| cell.split(", "))
        .map(|name| name.replace('`', ""))
        .collect()
}

#[test]
fn every_crate_has_a_line() {
    let (crates, described) = (crates(), described());
    assert!(crates.len() > 20, "{crates:?}");
    let silent: Vec<_> = crates.difference(&described).collect();
    let gone: Vec<_> = described.difference(&crates).collect();
    assert!(silent.is_empty(), "docs/dependencies.md lacks {silent:?}");
    assert!(
        gone.is_empty(),
        "docs/dependencies.md still has {gone:?}, which Cargo.toml has not"
    );
}

/// Without the feature `run` a build has no runtime, no database and no TLS.
#[test]
fn a_build_that_checks_is_small() {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let tree = |more: &[&str]| {
        let args = [
            "tree",
            "--offline",
            "--locked",
            "--edges",
            "normal",
            "--prefix",
            "none",
        ];
        let out = std::process::Command::new(&cargo)
            .args(args)
            .args(more)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        assert!(
            out.status.success(),
            "{}",
            String::from_utf8_lossy(&out.stderr)
        );
        let names = String::from_utf8(out.stdout).unwrap();
        let names = names.lines().filter_map(|line| line.split(' ').next());
        names.map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let (all, small) = (tree(&[]), tree(&["--no-default-features"]));
    for name in [
        "tokio",
        "rusqlite",
        "rustls",
        "ring",
        "reqwest",
        "hyper",
        "tokio-postgres",
    ] {
        assert!(all.contains(name) && !small.contains(name), "{name}");
    }
}
