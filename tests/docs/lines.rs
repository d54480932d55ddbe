//! docs/from-langgraph.md: what stands on the right of its tables stands in the flows below them.

use super::matrix::quoted;
use super::{commands, project};

/// A text with one blank wherever it has some.
fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Texts of the blocks of a section.
fn code(section: &str) -> String {
    let parts = section.split("\n```").skip(1).step_by(2);
    let bodies = parts.filter_map(|part| Some(part.split_once('\n')?.1));
    plain(&bodies.collect::<Vec<_>>().join("\n"))
}

/// Flags of a command that its documents don't have.
fn unknown_flags<'a>(command: &'a str, documents: &str) -> Vec<&'a str> {
    let words = command.split_whitespace();
    let flags = words.filter(|word| word.starts_with("--") || *word == "-i");
    flags.filter(|flag| !documents.contains(*flag)).collect()
}

/// Each line of a flow is in a block of its section, which is compiled; each flag of a command is one. In a cell that also has words,
/// a single name may speak of anything.
#[test]
fn each_line_beside_one_of_python_is_in_a_flow() {
    let page = std::fs::read_to_string(project("docs/from-langgraph.md")).unwrap();
    let commands = commands();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for section in page.split("\n## ").skip(1) {
        let code = code(section);
        let rows = section.lines().filter(|line| line.starts_with("| "));
        for row in rows.filter(|row| !row.contains("| here |")) {
            let row = row.replace("\\|", "\u{0}");
            let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
            let [there, here] = cells.as_slice() else {
                wrong.push(format!("not two cells: {row}"));
                continue;
            };
            seen += 1;
            let here = here.replace('\u{0}', "|");
            let has_words = !here.starts_with('`');
            for line in quoted(&here) {
                if line.starts_with("graphc ") {
                    let flags = unknown_flags(line, &commands);
                    wrong.extend(flags.iter().map(|flag| format!("no `{flag}`: {line}")));
                } else if (line.contains(' ') || !has_words) && !code.contains(&plain(line)) {
                    wrong.push(format!("{there}: `{line}` is in no block of its section"));
                }
            }
        }
    }
    assert!(seen > 100, "{seen}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
