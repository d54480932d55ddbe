//! The documents: every flow in them compiles, and what is made from the code is up to date.
//!
//! A block fenced as ` ```graph ` is a whole file and compiles without a finding. One fenced as
//! ` ```graph,fragment ` is a part of one: the comment before it, `<!-- around` .. `-->`, is the file
//! around it, with a line `@@` where the part stands; the whole compiles without an error. One fenced as
//! ` ```graph,wrong ` has errors.

mod lines;
mod matrix;
mod parity;
mod ports;
mod recipes;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use graphc::compile::compile;
use graphc::diag::{Level, render};
use graphc::expr::function::{BuiltinKind, FunctionSpec, forms, functions as table, jinja};

use crate::marked::blocks::{Kind, blocks, documents, pages};

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The reference of the commands, as one text.
fn commands() -> String {
    let pages = pages("docs/cli").into_iter();
    pages
        .map(|page| std::fs::read_to_string(project(&page)).unwrap())
        .collect()
}

#[test]
fn every_flow_in_the_documents_compiles() {
    let mut wrong = Vec::new();
    let mut seen = 0;
    for document in documents() {
        for block in blocks(&document) {
            seen += 1;
            let files = BTreeMap::from([("main.graph".to_owned(), block.text)]);
            let mut compiled = compile("main.graph", &files);
            // Notes are for a flow that is used: these show one thing each.
            let found = &mut compiled.diagnostics;
            found.retain(|finding| finding.level > Level::Info);
            let fine = match block.kind {
                // What is only noted may well be left out of an example.
                Kind::Whole => found.iter().all(|found| found.level == Level::Info),
                Kind::Fragment => !found.has_errors(),
                Kind::Wrong => found.has_errors(),
            };
            if !fine {
                let shown = render::human(
                    &compiled.diagnostics,
                    &compiled.sources,
                    render::Style::PLAIN,
                );
                wrong.push(format!("{document}:{}\n{shown}", block.line));
            }
        }
    }
    assert!(seen > 5, "{seen}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The reference of functions, from the table that the checker and the evaluator read.
fn functions() -> String {
    let mut out = String::from(
        "# Functions\n\n\
         What expressions may call, made from the table that the compiler checks calls against and the runtime\n\
         evaluates. A capital letter in a signature is any type; `T?` may be null; `optional<T>` is what `a.?b`\n\
         gives. `T => U` is an expression in which a name stands for a `T`. A method's receiver is its first\n\
         parameter. Every example is true, and run as a test. Operators are in [language/expressions.md](language/expressions.md).\n",
    );
    let is_macro: Wanted = |spec| matches!(spec.kind, BuiltinKind::Macro(_));
    let is_effect: Wanted = |spec| matches!(spec.kind, BuiltinKind::Effect(_));
    let is_question: Wanted = |spec| matches!(spec.kind, BuiltinKind::Field);
    for (wanted, title, about) in [
        (
            is_macro,
            "Macros",
            "They bind names, or look at their argument without its value.",
        ),
        (
            is_effect,
            "Effects",
            "Their answers are journaled. They stand where a node or a tool does its work: `let`, `set`, arguments, payloads.",
        ),
        (
            is_question,
            "Questions about fields",
            "Of fields that are [`based_on`](language/staleness.md) others. In the examples `draft` is based on `topic`, which was written after it.",
        ),
    ] {
        write!(out, "\n## {title}\n\n{about}\n\n{HEAD}").unwrap();
        forms()
            .iter()
            .filter(|spec| wanted(spec))
            .for_each(|form| out.push_str(&row(form)));
    }
    let modules: std::collections::BTreeSet<&str> = table().iter().map(|f| f.module).collect();
    for module in modules {
        let title = match module {
            "" => "Built in".to_owned(),
            module => format!("From `{module}`"),
        };
        write!(out, "\n## {title}\n\n{HEAD}").unwrap();
        for function in table().iter().filter(|f| f.module == module) {
            out.push_str(&row(function));
        }
    }
    out += "\n## Filters of templates\n\nOf [templates](language/templates.md) alone.\n\n| filter | meaning |\n|---|---|\n";
    for filter in jinja::filters() {
        let named = filter.named.iter().filter(|name| **name != "*");
        let args: Vec<&str> = named.map(|name| name.trim_start_matches('_')).collect();
        let args = match args.is_empty() {
            true => String::new(),
            false => format!("({})", args.join(", ")),
        };
        writeln!(
            out,
            "| `x \\| {}{args}` | {} |",
            filter.bare_name(),
            filter.doc.replace('|', "\\|")
        )
        .unwrap();
    }
    out
}

type Wanted = fn(&FunctionSpec) -> bool;

const HEAD: &str = "| call | types | meaning | example |\n|---|---|---|---|\n";

fn row(function: &FunctionSpec) -> String {
    let code = |text: &str| format!("`{}`", text.replace('|', "\\|"));
    let types: Vec<String> = function
        .signatures
        .iter()
        .map(|s| code(&s.to_string()))
        .collect();
    format!(
        "| {} | {} | {} | {} |\n",
        code(&function.written()),
        types.join("<br>"),
        function.doc.replace('|', "\\|"),
        code(function.example)
    )
}

#[test]
fn the_functions_are_those_of_the_table() {
    let path = project("docs/functions.md");
    let made = functions();
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == made,
        "docs/functions.md is not what the table gives; UPDATE=1 writes it anew"
    );
}

/// A page of the reference is short enough to be read: under 300 lines of at most 120 characters, with a table's rows as they are.
#[test]
fn pages_of_the_reference_are_short() {
    let mut wrong = Vec::new();
    for page in ["docs/language", "docs/runtime", "docs/cli"]
        .into_iter()
        .flat_map(pages)
    {
        let text = std::fs::read_to_string(project(&page)).unwrap();
        let lines = text.lines().count();
        if lines >= 300 {
            wrong.push(format!("{page} has {lines} lines"));
        }
        for (at, line) in text.lines().enumerate() {
            if line.chars().count() > 120 && !line.starts_with('|') {
                wrong.push(format!("{page}:{} is too long", at + 1));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What `[text](path#part)` in a document points to is there.
#[test]
fn links_lead_somewhere() {
    let mut all = documents();
    all.extend(
        ["docs/recipes", "docs/diagnostics"]
            .into_iter()
            .flat_map(pages),
    );
    all.push("CHANGELOG.md".to_owned());
    let mut wrong = Vec::new();
    for document in all.iter().map(|page| project(page)) {
        let text = std::fs::read_to_string(&document).unwrap();
        for link in text.split("](").skip(1) {
            let link = link.split(')').next().unwrap();
            if link.starts_with("http") || link.contains(char::is_whitespace) {
                continue;
            }
            let (path, part) = link.split_once('#').unwrap_or((link, ""));
            let target = match path {
                "" => document.clone(),
                path => document.parent().unwrap().join(path),
            };
            let there = match part {
                "" => target.exists(),
                part => std::fs::read_to_string(&target).is_ok_and(|text| has_part(&text, part)),
            };
            if !there {
                wrong.push(format!("{}: {link}", document.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn has_part(text: &str, part: &str) -> bool {
    if text.contains(&format!("<a id=\"{part}\"></a>")) {
        return true;
    }
    let headings = text.lines().filter(|line| line.starts_with('#'));
    headings
        .map(|heading| heading.trim_start_matches('#').trim().to_lowercase())
        .any(|heading| {
            let kept = heading
                .chars()
                .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
            kept.map(|c| if c == ' ' { '-' } else { c })
                .collect::<String>()
                == part
        })
}
