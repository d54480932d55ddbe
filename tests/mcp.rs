//! Tools of real MCP servers: npm's `server-everything` and `server-filesystem`, and one in Python, over stdio and streamable HTTP.
//!
//! The talks are in tests/mcp, with the files of tests/mcp/flows (`example`: those of examples/mcp). The servers are installed once, below
//! `CARGO_TARGET_TMPDIR`.

use crate::talk::project;
use crate::{install, talk};

/// The servers, and what `examples/mcp/package.json` asks for.
const PACKAGES: [&str; 5] = [
    "@modelcontextprotocol/server-everything@2026.8.31",
    "@modelcontextprotocol/server-filesystem@2026.8.31",
    "@modelcontextprotocol/sdk@1.32.2",
    "tsx@4.23.15",
    "zod@4.6.7",
];

#[test]
fn talks_go_as_they_are_written() {
    let packages = install::npm(&PACKAGES);
    let python = install::python(&["mcp==2.3.0"]);
    let path = std::env::var("PATH").unwrap();
    let path = format!(
        "{}:{}:{path}",
        python.join("bin").display(),
        packages.join("node_modules/.bin").display()
    );
    let files = |name: &str| match name {
        "example" => project("examples/mcp"),
        _ => project("tests/mcp/flows"),
    };
    talk::play("tests/mcp", &files, (&path, &packages));
}

#[test]
fn the_example_is_tested_with_the_packages_that_it_asks_for() {
    let text = std::fs::read_to_string(project("examples/mcp/package.json")).unwrap();
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    for (name, version) in json["dependencies"].as_object().unwrap() {
        let asked = format!("{name}@{}", version.as_str().unwrap());
        assert!(PACKAGES.contains(&asked.as_str()), "{asked}");
    }
}
