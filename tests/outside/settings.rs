//! Which settings are taken, and with which rights files are made.

use std::os::unix::fs::{MetadataExt, PermissionsExt};

use super::process::{folder, graphc, text};

const FLOW: &str = "tool t() -> string
graph A {
  state { out a: string = \"\" }
  start -> x
  node x: call t() -> end { set { a: result } }
}
";
const SETTINGS: &str = "tools: { t: { command: [echo, '\"outer\"'] } }\n";

#[test]
fn settings_above_the_repository_or_the_home_are_not_taken() {
    let top = folder("above", &[("graphc.yaml", SETTINGS)]);
    let inner = top.join("home/repository/flows");
    std::fs::create_dir_all(&inner).unwrap();
    std::fs::write(inner.join("a.graph"), FLOW).unwrap();
    let run = |home: &std::path::Path| {
        let mut command = graphc(&inner, &["run", "a.graph", "--store", "memory"]);
        command.env("HOME", home).output().unwrap()
    };
    assert!(run(&top).status.success());
    assert_eq!(run(&top.join("home")).status.code(), Some(2));
    std::fs::create_dir(top.join("home/repository/.git")).unwrap();
    assert_eq!(run(&top).status.code(), Some(2));
    std::fs::write(top.join("home/repository/graphc.yaml"), SETTINGS).unwrap();
    assert!(run(&top).status.success());
}

/// Only who is root can make a file another user's; who is not has no such file but those of others.
#[test]
fn settings_of_another_user_have_to_be_named() {
    let folder = folder("owner", &[("a.graph", FLOW), ("graphc.yaml", SETTINGS)]);
    let file = folder.join("graphc.yaml");
    if file.metadata().unwrap().uid() != 0 {
        return;
    }
    std::os::unix::fs::chown(&file, Some(12345), None).unwrap();
    let run = ["run", "a.graph", "--store", "memory"];
    let output = graphc(&folder, &run).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = text(&output.stderr);
    assert!(
        said.contains("another user's") && said.contains("--config"),
        "{said}"
    );
    let named = [&run[..], &["--config", "graphc.yaml"]].concat();
    assert!(graphc(&folder, &named).output().unwrap().status.success());
}

#[test]
fn stores_have_the_rights_of_their_owner_alone() {
    let folder = folder("rights", &[("a.graph", FLOW), ("graphc.yaml", SETTINGS)]);
    assert!(
        graphc(&folder, &["run", "a.graph"])
            .output()
            .unwrap()
            .status
            .success()
    );
    let home = folder.join(".graphc");
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&home), 0o700);
    for entry in std::fs::read_dir(&home).unwrap() {
        let path = entry.unwrap().path();
        let wanted = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&path), wanted, "{}", path.display());
    }
}
