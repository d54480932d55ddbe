//! The order of the modules: each sees itself and those before it, and only the outer ones see the
//! machine. One package can't enforce that, so this test reads the sources.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The modules from the inside out.
const ORDER: [&str; 24] = [
    "base", "value", "diag", "ast", "parse", "fmt", "expr", "ir", "resolve", "check", "lint",
    "lower", "compile", "audit", "viz", "import", "project", "run", "store", "backend", "scenario",
    "evaluate", "embed", "cli",
];

/// What the runtime sees of the compiler: the contract, what expressions need, and the files of a project.
const RUNTIME: [&str; 3] = ["run", "store", "backend"];
const SEEN_BY_RUNTIME: [&str; 6] = ["base", "value", "diag", "expr", "ir", "project"];

/// The fronts, which nothing stands on.
const FRONTS: [&str; 1] = ["cli"];

/// What touches the machine: modules of `std` and `tokio`, and macros; and who may.
const MACHINE: [&str; 3] = ["env", "fs", "process"];
/// The clock and chance, which a run gets through one trait.
const CHANCE: [&str; 5] = [
    "Timestamp::now",
    "SystemTime::now",
    "Instant::now",
    "new_v4",
    "RandomState",
];
const AMBIENT: &str = "run/ambient.rs";
const PRINTERS: [&str; 5] = ["println!", "print!", "eprintln!", "eprint!", "dbg!"];
const AT_THE_MACHINE: [&str; 8] = [
    "cli", "embed", "project", "evaluate", "scenario", "backend", "store", "main",
];

struct File {
    /// Path below src, with `/`.
    path: String,
    /// The module at the top that it belongs to; `lib` and `main` are themselves.
    layer: String,
    /// The code without comments and texts.
    code: String,
}

fn sources() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut waiting = vec![root.clone()];
    let mut files = Vec::new();
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let below = path.strip_prefix(&root).unwrap().to_str().unwrap();
                let below = below.replace(std::path::MAIN_SEPARATOR, "/");
                let layer = below.split(['/', '.']).next().unwrap().to_owned();
                let code = code(&std::fs::read_to_string(&path).unwrap());
                files.push(File {
                    path: below,
                    layer,
                    code,
                });
            }
        }
    }
    files
}

/// The text without comments and without what stands in quotes.
fn code(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let end = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |at| at + 2)
        } else if let Some(hashes) = raw_text(rest) {
            let close = format!("\"{}", "#".repeat(hashes));
            let open = hashes + 2;
            rest[open..]
                .find(&close)
                .map_or(rest.len(), |at| open + at + close.len())
        } else if c == '"' {
            quoted(rest)
        } else if rest.starts_with("'\"'") || rest.starts_with("b'\"'") {
            rest.find("\"'").unwrap() + 2
        } else {
            out.push(c);
            c.len_utf8()
        };
        rest = &rest[end..];
    }
    out
}

/// How many `#` a raw text at the beginning has.
fn raw_text(rest: &str) -> Option<usize> {
    let after = rest.strip_prefix('r')?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    after[hashes..].starts_with('"').then_some(hashes)
}

/// Length of the text in quotes at the beginning.
fn quoted(rest: &str) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

/// The layers that a file names by `crate::` (also `crate::{..}`) or by `super::` up to the top.
fn named(file: &File) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (at, _) in file.code.match_indices("crate::") {
        names.extend(heads(&file.code[at + "crate::".len()..]));
    }
    // How many `super::` lead from this file's module to the top.
    let stem = file.path.trim_end_matches(".rs").trim_end_matches("/mod");
    let up = "super::".repeat(stem.split('/').count());
    for (at, _) in file.code.match_indices(&up) {
        names.extend(heads(&file.code[at + up.len()..]));
    }
    names
}

/// The first words of what is named at the beginning: of one path, or of each in braces.
fn heads(rest: &str) -> Vec<String> {
    let word = |text: &str| -> String {
        text.trim_start()
            .chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect()
    };
    let Some(inner) = rest.strip_prefix('{') else {
        return vec![word(rest)];
    };
    let mut depth = 0;
    let mut heads = vec![word(inner)];
    for (at, c) in inner.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => heads.push(word(&inner[at + 1..])),
            _ => {}
        }
    }
    heads.retain(|head| !head.is_empty());
    heads
}

/// Why a file of `layer` may not name `other`.
fn refused(layer: &str, other: &str) -> Option<String> {
    let place = |name: &str| ORDER.iter().position(|known| *known == name);
    let (Some(own), Some(its)) = (place(layer), place(other)) else {
        return Some(format!("`{layer}` or `{other}` has no place in the order"));
    };
    if layer == other {
        return None;
    }
    if its > own {
        return Some(format!("`{other}` stands on `{layer}`, not below it"));
    }
    if FRONTS.contains(&other) {
        return Some(format!("nothing imports `{other}`"));
    }
    let hidden =
        RUNTIME.contains(&layer) && !RUNTIME.contains(&other) && !SEEN_BY_RUNTIME.contains(&other);
    hidden.then(|| format!("the runtime sees no `{other}`"))
}

#[test]
fn imports_point_down() {
    let mut wrong = Vec::new();
    for file in sources() {
        // The facade and the command's entry see everything.
        if ["lib", "main"].contains(&file.layer.as_str()) {
            continue;
        }
        for mut other in named(&file) {
            // The macro is exported at the top of the package but lives in base.
            if other == "typed_id" {
                other = "base".to_owned();
            }
            wrong.extend(
                refused(&file.layer, &other).map(|why| format!("src/{}: {why}", file.path)),
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_the_outer_modules_touch_the_machine() {
    let mut wrong = Vec::new();
    for file in &sources() {
        if AT_THE_MACHINE.contains(&file.layer.as_str()) {
            continue;
        }
        let printers = PRINTERS.into_iter().filter(|printer| {
            let mut places = file.code.match_indices(printer);
            places.any(|(at, _)| {
                !file.code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_')
            })
        });
        let modules = ["std::", "tokio::"].into_iter().flat_map(|package| {
            let places = file.code.match_indices(package);
            places.flat_map(move |(at, _)| heads(&file.code[at + package.len()..]))
        });
        let touched = modules
            .filter(|module| MACHINE.contains(&module.as_str()))
            .chain(printers.map(str::to_owned));
        wrong.extend(touched.map(|what| format!("src/{}: `{what}`", file.path)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn clock_and_chance_come_by_one_trait() {
    let mut wrong = Vec::new();
    for file in &sources() {
        if AT_THE_MACHINE.contains(&file.layer.as_str()) || file.path == AMBIENT {
            continue;
        }
        let used = CHANCE.into_iter().filter(|what| file.code.contains(what));
        wrong.extend(used.map(|what| format!("src/{}: `{what}`", file.path)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_parse_knows_pest() {
    for file in sources() {
        let knows = file.code.contains("pest::") || file.code.contains("pest_derive");
        assert!(!knows || file.layer == "parse", "src/{}", file.path);
    }
}

#[test]
fn only_main_stands_beside_the_modules() {
    for file in sources() {
        let known = ORDER.contains(&file.layer.as_str());
        assert!(
            known || ["lib", "main"].contains(&file.layer.as_str()),
            "src/{} has no place in the order",
            file.path
        );
    }
}

#[test]
fn the_reader_sees_code_only() {
    let text = "use crate::{a::B, c::{D, e}, f}; // crate::no\nlet x = \"crate::no \\\" crate::no\";\n\
                /* crate::no */ let y = r#\"crate::no \"\"#; match c { '\"' => super::super::g::h() }\n";
    let file = File {
        path: "m/n.rs".to_owned(),
        layer: "m".to_owned(),
        code: code(text),
    };
    let names: Vec<String> = named(&file).into_iter().collect();
    assert_eq!(names, ["a", "c", "f", "g"]);
    assert!(refused("run", "check").is_some() && refused("run", "ir").is_none());
    assert!(refused("ast", "parse").is_some() && refused("parse", "ast").is_none());
    assert!(refused("server", "lsp").is_some() && refused("cli", "cli").is_none());
}
