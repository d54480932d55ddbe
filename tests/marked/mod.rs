//! Cases as texts: files, and marks under the lines that they are about.

pub mod blocks;

use std::collections::BTreeMap;

/// The first file of a case.
pub const MAIN: &str = "main.graph";

/// One file of a case: its lines without marks, and the marks under each.
pub struct Section {
    /// The `//# file:` line, where there is one.
    pub head: Option<String>,
    pub name: String,
    pub lines: Vec<(String, Vec<String>)>,
}

/// The files of a case. `is_mark` tells the lines that are marks.
pub fn sections(text: &str, is_mark: impl Fn(&str) -> bool) -> Vec<Section> {
    let new = |head: Option<&str>, name: &str| Section {
        head: head.map(str::to_owned),
        name: name.trim().to_owned(),
        lines: Vec::new(),
    };
    let mut sections = vec![new(None, MAIN)];
    for line in text.lines() {
        let current = sections.last_mut().unwrap();
        if let Some(name) = line.strip_prefix("//# file:") {
            sections.push(new(Some(line), name));
        } else if is_mark(line) {
            match current.lines.last_mut() {
                Some((_, marks)) => marks.push(line.to_owned()),
                None => panic!("a mark without a line above it: {line}"),
            }
        } else {
            current.lines.push((line.to_owned(), Vec::new()));
        }
    }
    sections
}

/// Their texts without the marks, by name.
pub fn files(sections: &[Section]) -> BTreeMap<String, String> {
    let text = |section: &Section| {
        let lines = section.lines.iter();
        lines.fold(String::new(), |text, (line, _)| text + line + "\n")
    };
    let named = sections.iter().map(|s| (s.name.clone(), text(s)));
    named.collect()
}
