//! The flows of the documents: fenced blocks of their texts.

use std::path::Path;

/// The Markdown files of a folder of the project, paths relative to the project, in order.
pub fn pages(folder: &str) -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let entries = std::fs::read_dir(root.join(folder)).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let pages = names.filter(|name| name.ends_with(".md"));
    let mut pages: Vec<String> = pages.map(|name| format!("{folder}/{name}")).collect();
    pages.sort();
    pages
}

/// The documents whose flows are compiled. Recipes and the pages of diagnostics have tests of their own.
pub fn documents() -> Vec<String> {
    let mut documents = vec!["README.md".to_owned()];
    for folder in ["docs", "docs/language", "docs/runtime", "docs/cli"] {
        documents.extend(pages(folder));
    }
    documents
}

/// A flow of a document: where it begins, its text, and what may be reported of it.
pub struct Block {
    pub line: usize,
    pub text: String,
    pub kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Whole,
    Fragment,
    Wrong,
}

/// The blocks of a document, a path relative to the project's folder.
pub fn blocks(document: &str) -> Vec<Block> {
    let text =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(document)).unwrap();
    let mut blocks = Vec::new();
    let mut around = None::<String>;
    let mut lines = text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        if line == "<!-- around" {
            let inside = lines.by_ref().map(|(_, line)| line);
            let file: Vec<&str> = inside.take_while(|line| *line != "-->").collect();
            around = Some(file.join("\n"));
            continue;
        }
        let Some(kind) = line.strip_prefix("```graph") else {
            continue;
        };
        let inside = lines.by_ref().map(|(_, line)| line);
        let inside: Vec<&str> = inside.take_while(|line| *line != "```").collect();
        let inside = inside.join("\n") + "\n";
        let place = format!("{document}:{}", at + 1);
        let (kind, text) = match (kind, around.take()) {
            ("", None) => (Kind::Whole, inside),
            (",wrong", None) => (Kind::Wrong, inside),
            (",fragment", Some(around)) => {
                assert!(
                    around.lines().any(|line| line.trim() == "@@"),
                    "{place}: no `@@`"
                );
                (Kind::Fragment, around.replace("@@", &inside))
            }
            (kind, _) => panic!("{place}: `graph{kind}` with or without what is around it"),
        };
        blocks.push(Block {
            line: at + 1,
            text,
            kind,
        });
    }
    blocks
}
