//! The TextMate grammar of `editors/`: the real tokenizer of VS Code, with its real engine of expressions, reads all flows.
//!
//! `tests/editors/scopes.txt` says what words of flows are shown as. The tokenizer's packages are installed into a folder below
//! `CARGO_TARGET_TMPDIR`, once. Where npm is missing it is installed with Node.js (`apt-get install -y npm`).

use crate::install;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Files beside this test, which the tokenizer needs.
const FILES: [&str; 3] = ["package.json", "package-lock.json", "tokenize.mjs"];

/// A piece of a line, and what it is shown as.
#[derive(serde::Deserialize)]
struct Token(String, usize, usize, String, Vec<String>);

fn project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A folder with the tokenizer and its packages.
fn tokenizer() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("editors");
    std::fs::create_dir_all(&folder).unwrap();
    let mut is_new = !folder.join("node_modules/vscode-textmate").exists();
    for name in FILES {
        let wanted = std::fs::read(project("tests/editors").join(name)).unwrap();
        let place = folder.join(name);
        is_new |= name == "package-lock.json" && std::fs::read(&place).ok() != Some(wanted.clone());
        std::fs::write(place, wanted).unwrap();
    }
    if is_new {
        let mut npm = Command::new("npm");
        npm.args(["ci", "--no-audit", "--no-fund"])
            .current_dir(&folder);
        let output = npm.output().or_else(|_| {
            install::apt("npm");
            npm.output()
        });
        let output = output.expect("npm comes with Node.js");
        let words = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "npm ci: {words}");
    }
    folder
}

fn tokens(files: &[PathBuf]) -> Vec<Token> {
    let mut node = Command::new("node");
    node.arg("tokenize.mjs")
        .arg(project("editors/graphc.tmLanguage.json"));
    let output = node.args(files).current_dir(tokenizer()).output().unwrap();
    let words = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words}");
    let text = String::from_utf8(output.stdout).unwrap();
    let lines = text.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// All flows of a folder.
fn flows(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            flows(&path, into);
        } else if path.extension().is_some_and(|end| end == "graph") {
            into.push(path);
        }
    }
}

/// The flow that `scopes.txt` writes, and what is expected of its lines: a number from 1, a text, a scope.
fn expected() -> (String, Vec<(usize, String, String)>) {
    let text = std::fs::read_to_string(project("tests/editors/scopes.txt")).unwrap();
    let mut flow = Vec::new();
    let mut wanted = Vec::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        match line.strip_prefix("^ ") {
            Some(line) => {
                let (word, scope) = line.rsplit_once(' ').unwrap();
                wanted.push((flow.len(), word.to_owned(), scope.to_owned()));
            }
            None => flow.push(line),
        }
    }
    (flow.join("\n"), wanted)
}

/// Keywords of the language's own grammar.
fn keywords() -> BTreeSet<String> {
    let folder = std::fs::read_dir(project("grammar")).unwrap();
    let texts = folder.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
    let texts = texts.collect::<String>();
    let rules = texts.lines().filter_map(|line| line.strip_prefix("kw_"));
    let words = rules.filter_map(|rule| rule.split([' ', '=']).next());
    words.map(str::to_owned).collect()
}

#[test]
fn flows_have_colours() {
    let (flow, wanted) = expected();
    let sample = tokenizer().join("scopes.graph");
    std::fs::write(&sample, flow).unwrap();
    let mut files = vec![sample.clone()];
    for folder in ["graphs", "stdlib", "examples"] {
        flows(&project(folder), &mut files);
    }
    let tokens = tokens(&files);
    let mut wrong = Vec::new();
    for Token(file, line, column, text, scopes) in &tokens {
        if scopes.is_empty() {
            wrong.push(format!(
                "{file}:{line}:{column}: `{text}` is shown as nothing"
            ));
        }
    }
    let mut at = 0;
    for (line, word, scope) in &wanted {
        let begun = tokens[at..].iter().position(|token| token.1 >= *line);
        let first = at + begun.unwrap_or(0);
        let found = (first..tokens.len())
            .take_while(|i| tokens[*i].1 == *line && Path::new(&tokens[*i].0) == sample)
            .find(|i| is_part(word, &tokens[*i], scope));
        match found {
            Some(i) if tokens[i].3.trim() == word => at = i + 1,
            Some(i) => at = i,
            None => wrong.push(format!("scopes.txt: `{word}` is no {scope}")),
        }
    }
    let mut missing = keywords();
    for Token(.., text, scopes) in &tokens {
        let is_keyword = |scope: &String| {
            ["keyword.", "storage.", "constant.language."]
                .iter()
                .any(|start| scope.starts_with(start))
        };
        if scopes.iter().any(is_keyword) {
            text.split_whitespace().for_each(|word| {
                missing.remove(word);
            });
        }
    }
    wrong.extend(
        missing
            .iter()
            .map(|word| format!("keyword `{word}` is nowhere shown as one")),
    );
    assert!(tokens.len() > 10_000, "{}", tokens.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whether a token is of a text and is shown so. Of a string or a comment, a token may be only a part of the text, or the text of it.
fn is_part(word: &str, token: &Token, scope: &str) -> bool {
    let text = token.3.trim();
    let is_text = scope.starts_with("string.") || scope.starts_with("comment.");
    let is_said = text == word || is_text && (word.starts_with(text) || text.contains(word));
    is_said && token.4.iter().any(|shown| shown.starts_with(scope))
}
