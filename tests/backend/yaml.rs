//! Texts as YAML.

use graphc::base::SourceMap;
use graphc::diag::codes;
use graphc::project::yaml::Document;
use serde_json::json;

fn said(text: &str) -> String {
    let mut sources = SourceMap::new();
    let file = sources.add("a.yaml", text);
    let found = Document::parse(&sources, file, &codes::INVALID_CONFIG).unwrap_err();
    let finding = found.iter().next().unwrap();
    let at = sources.location(finding.span());
    format!("{}:{} {}", at.line, at.column, finding.message)
}

#[test]
fn the_place_to_change_is_named() {
    assert_eq!(
        said("x: 1\na: [1, 2\nb: 3\n"),
        "2:4 this `[` is never closed"
    );
    assert_eq!(said("x: 1\na: {b: 1\n"), "2:4 this `{` is never closed");
    assert_eq!(
        said("x: 1\na: \"x\nb: 3\n"),
        "2:4 this text is never closed"
    );
    assert_eq!(
        said("a: \"x\nb: 3\nc: { d: \"*\" }\n"),
        "1:4 this text is never closed"
    );
    assert_eq!(said("a:\n\tb: 1\n"), "2:1 a tab can't indent YAML");
    assert_eq!(said("a: b: c\n"), "1:5 a `key: value` can't stand here");
    assert_eq!(
        said("a:\n  - x\n b: 2\n"),
        "3:2 this line is indented unlike those before it"
    );
    assert_eq!(
        said("a: 'it's'\n"),
        "1:8 nothing can follow here: the text before it has ended"
    );
    assert_eq!(said("a: @x\n"), "1:4 `@` can't begin a text");
    assert_eq!(said("a: *x\n"), "1:4 no anchor of that name stands above");
}

#[test]
fn a_byte_order_mark_is_no_part_of_the_text() {
    let mut sources = SourceMap::new();
    let file = sources.add("a.yaml", "\u{feff}store: memory\n");
    let read = Document::parse(&sources, file, &codes::INVALID_CONFIG).unwrap();
    assert_eq!(read.root, json!({ "store": "memory" }));
}
