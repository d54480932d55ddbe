//! What diagnostics look like in each form: a case is a text file under tests/render.
//!
//! A case has parts, each under a line `--- NAME`. Sources come first (`--- a.graph`, with the words
//! `crlf`, `no-end` (no line end at the end) and `raw` (`\u{..}` means that character) after the name),
//! then `--- diagnostics` as YAML, then one part for each form: `human`, `ascii`, `color` (escapes shown
//! as `\e`), `narrow`, `json`, `sarif`, `github`. `UPDATE=1` rewrites the forms.
//!
//! tests/render/codes holds one file for each code: the wrong example of its page, and what a person is shown for it.
//! `UPDATE=1` writes what is missing there and takes out what no code has.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

use graphc::base::{FileId, SourceMap, Span};
use graphc::compile::compile;
use graphc::diag::render::{self, Style};
use graphc::diag::{Code, Diagnostic, Diagnostics, Level, Page, codes};
use graphc::project::{config, scenario};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Finding {
    code: String,
    level: Option<String>,
    message: String,
    labels: Vec<Place>,
    help: Option<String>,
    #[serde(default)]
    fix: Vec<Place>,
}

/// A place is the first `at` in the file, or the bytes `from..to`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    file: Option<String>,
    at: Option<String>,
    from: Option<usize>,
    to: Option<usize>,
    #[serde(default)]
    text: String,
}

impl Place {
    fn span(&self, sources: &SourceMap) -> Span {
        let mut files = sources.files();
        let (id, file) = match &self.file {
            None => files.next().unwrap(),
            Some(name) => match files.find(|(_, file)| &*file.name == name.as_str()) {
                Some(found) => found,
                None => return Span::new(FileId(99), 0, 0),
            },
        };
        match &self.at {
            Some(at) => {
                let start = file
                    .text
                    .find(at)
                    .unwrap_or_else(|| panic!("{at:?} isn't there"));
                Span::new(id, start, start + at.len())
            }
            None => Span::new(id, self.from.unwrap(), self.to.unwrap()),
        }
    }
}

impl Finding {
    fn build(&self, sources: &SourceMap) -> Diagnostic {
        let code = codes::find(&self.code).expect("a known code");
        let first = &self.labels[0];
        let mut built = Diagnostic::new(code, &self.message, first.span(sources)).here(&first.text);
        for place in &self.labels[1..] {
            built = built.label(place.span(sources), &place.text);
        }
        for place in &self.fix {
            built = built.fix(place.span(sources), &place.text);
        }
        built = built.maybe_help(self.help.clone());
        built.level = match self.level.as_deref() {
            None => built.level,
            Some("error") => Level::Error,
            Some("warning") => Level::Warning,
            Some("info") => Level::Info,
            Some(other) => panic!("no level {other}"),
        };
        built
    }
}

fn parts(case: &str) -> Vec<(String, String)> {
    let mut parts: Vec<(String, String)> = Vec::new();
    for line in case.lines() {
        match (line.strip_prefix("--- "), parts.last_mut()) {
            (Some(name), _) => parts.push((name.to_owned(), String::new())),
            (None, Some((_, text))) => writeln!(text, "{line}").unwrap(),
            (None, None) => panic!("a case begins with `--- NAME`"),
        }
    }
    parts
}

fn add_source(sources: &mut SourceMap, head: &str, text: &str) {
    let mut words = head.split(' ');
    let name = words.next().unwrap();
    let mut text = text.to_owned();
    for word in words {
        match word {
            "crlf" => text = text.replace('\n', "\r\n"),
            "no-end" => text.truncate(text.trim_end().len()),
            "raw" => text = unescaped(&text),
            other => panic!("no such word: {other}"),
        }
    }
    sources.add(name, &text);
}

fn unescaped(text: &str) -> String {
    let mut pieces = text.split("\\u{");
    let mut out = pieces.next().unwrap().to_owned();
    for piece in pieces {
        let (code, rest) = piece.split_once('}').unwrap();
        out.push(char::from_u32(u32::from_str_radix(code, 16).unwrap()).unwrap());
        out.push_str(rest);
    }
    out
}

fn rendered(form: &str, found: &Diagnostics, sources: &SourceMap) -> String {
    let style = |change: fn(&mut Style)| {
        let mut style = Style::PLAIN;
        change(&mut style);
        render::human(found, sources, style)
    };
    match form {
        "human" => style(|_| {}),
        "ascii" => style(|s| s.unicode = false),
        "color" => style(|s| s.color = true).replace('\u{1b}', "\\e"),
        "narrow" => style(|s| s.width = 50),
        "json" => render::json(found, sources),
        "github" => render::github(found, sources),
        "sarif" => render::sarif(found, sources).replace(env!("CARGO_PKG_VERSION"), "[VERSION]"),
        other => panic!("no such form: {other}"),
    }
}

/// The case as it should be: what is written, with the forms rendered anew.
fn replay(case: &str) -> String {
    let mut sources = SourceMap::new();
    let mut found = Diagnostics::new();
    let mut described = false;
    let mut out = String::new();
    for (head, text) in parts(case) {
        let text = match (head.as_str(), described) {
            ("diagnostics", _) => {
                described = true;
                let findings: Vec<Finding> = serde_yaml::from_str(&text).unwrap();
                findings
                    .iter()
                    .for_each(|finding| found.push(finding.build(&sources)));
                text
            }
            (source, false) => {
                add_source(&mut sources, source, &text);
                text
            }
            (form, true) => rendered(form, &found, &sources),
        };
        let text: String = text
            .lines()
            .map(|l| format!("{}\n", l.trim_end()))
            .collect();
        write!(out, "--- {head}\n{text}").unwrap();
    }
    out
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/render")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

#[test]
fn every_case_looks_as_written() {
    let folder = folder();
    let mut paths = files(&folder);
    paths.retain(|path| path.is_file());
    let mut wrong = Vec::new();
    for path in &paths {
        let written = std::fs::read_to_string(path).unwrap();
        let replayed = replay(&written);
        if written == replayed {
            continue;
        }
        match std::env::var_os("UPDATE") {
            Some(_) => std::fs::write(path, replayed).unwrap(),
            None => wrong.push(format!("{}\n{replayed}", path.display())),
        }
    }
    assert!(!paths.is_empty());
    assert!(
        wrong.is_empty(),
        "these are rendered otherwise (UPDATE=1 accepts):\n{}",
        wrong.join("\n")
    );
}

/// Any span, also one that no compiler would make, gives a text.
#[test]
fn no_span_makes_a_renderer_fail() {
    let texts = [
        "",
        "\n",
        "a",
        "a\n",
        "é\r\nü\r\n\r\n",
        "\ta\t\tb\n日本\n",
        "\n\n\n",
    ];
    for text in texts {
        let mut sources = SourceMap::new();
        let file = sources.add("a.graph", text);
        let other = sources.add("b.graph", "graph B {}\n");
        for start in 0..=text.len() + 2 {
            for end in 0..=text.len() + 2 {
                let span = Span::new(file, start, end);
                let mut found = Diagnostics::new();
                found.push(
                    Diagnostic::new(&codes::SYNTAX_ERROR, "wrong", span)
                        .here("here")
                        .label(Span::new(other, 0, 5), "there")
                        .label(Span::new(file, end, start), "and\nthere")
                        .fix(span, "x"),
                );
                for form in [
                    "human", "ascii", "color", "narrow", "json", "sarif", "github",
                ] {
                    let shown = rendered(form, &found, &sources);
                    assert!(shown.contains("wrong"), "{form} {text:?} {start}..{end}");
                    assert!(!shown.contains("Failed to read"), "{text:?} {start}..{end}");
                }
            }
        }
    }
}

/// The files of a page's example: what stands before the first `//# file:` line is the one that the compiler begins at.
fn sources_of(example: &str) -> BTreeMap<String, String> {
    let mut files = BTreeMap::from([(MAIN.to_owned(), String::new())]);
    let mut current = MAIN;
    for line in example.lines() {
        match line.strip_prefix("//# file:") {
            Some(name) => current = name.trim(),
            None => writeln!(files.entry(current.to_owned()).or_default(), "{line}").unwrap(),
        }
    }
    files
}

const MAIN: &str = "main.graph";

/// What is found in a page's wrong example, by whoever reads such files.
fn found_in(code: &Code, example: &str) -> (Diagnostics, SourceMap) {
    let mut sources = SourceMap::new();
    if code.page.contains("```graph") {
        let compiled = compile(MAIN, &sources_of(example));
        return (compiled.diagnostics, compiled.sources);
    }
    let scenarios = example.starts_with("scenarios:");
    let name = if scenarios {
        "main.test.yaml"
    } else {
        "graphc.yaml"
    };
    let file = sources.add(name, example);
    let found = match scenarios {
        true => scenario::load(&sources, file).map(|_| Diagnostics::new()),
        false => config::load(&sources, file, None, &|_| None).map(|config| config.doubts),
    };
    (found.unwrap_or_else(|found| found), sources)
}

fn snapshot(code: &Code) -> String {
    let page = Page::parse(code.page).unwrap();
    let (mut found, sources) = found_in(code, page.wrong);
    assert!(
        found.iter().any(|finding| finding.code == code),
        "{}",
        code.slug
    );
    found.retain(|finding| finding.level > Level::Info || finding.code == code);
    let shown = rendered("human", &found, &sources);
    let shown: String = shown
        .lines()
        .map(|l| format!("{}\n", l.trim_end()))
        .collect();
    format!("{}--- human\n{shown}", page.wrong)
}

/// A code without its snapshot fails here, and so does a snapshot without a code.
#[test]
fn every_code_is_seen() {
    let folder = folder().join("codes");
    let update = std::env::var_os("UPDATE").is_some();
    let mut left: BTreeSet<PathBuf> = files(&folder).into_iter().collect();
    let mut wrong = Vec::new();
    // What settings say is held against a flow: tests/cli/check.txt shows it.
    let of_both = |code: &&&Code| code.slug != "effect-not-said";
    for code in codes::ALL.iter().filter(of_both) {
        let path = folder.join(format!("{}.txt", code.slug));
        let shown = snapshot(code);
        left.remove(&path);
        if std::fs::read_to_string(&path).is_ok_and(|written| written == shown) {
            continue;
        }
        match update {
            true => std::fs::write(&path, shown).unwrap(),
            false => wrong.push(format!("{}\n{shown}", path.display())),
        }
    }
    for path in left {
        match update {
            true => std::fs::remove_file(&path).unwrap(),
            false => wrong.push(format!("no code has {}", path.display())),
        }
    }
    assert!(
        wrong.is_empty(),
        "messages changed, or are new (UPDATE=1 accepts):\n{}",
        wrong.join("\n")
    );
}
