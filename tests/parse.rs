//! The parser, by text files: every `tests/parse/*.graph` is read and dumped, with its errors, into a
//! snapshot beside it. A new case is a new file.

use std::path::Path;

use graphc::base::{FileId, SourceMap, Span};
use graphc::diag::Diagnostics;
use graphc::parse;
use proptest::prelude::*;

/// The tree on fewer lines, with spans as `line:column..line:column`.
fn dump(text: &str) -> String {
    let mut sources = SourceMap::new();
    let id = sources.add("case.graph", text);
    let mut diags = Diagnostics::new();
    let file = parse::parse(text, id, &mut diags);
    let mut out = String::new();
    for diagnostic in diags.iter() {
        let place = sources.location(diagnostic.span());
        out += &format!(
            "{}:{} {}[{}] {}\n",
            place.line,
            place.column,
            diagnostic.level.word(),
            diagnostic.code.slug,
            diagnostic.message
        );
        out += &format!("    {:?}\n", sources.text(diagnostic.span()));
        for label in diagnostic.labels.iter().skip(1) {
            let place = sources.location(label.span);
            out += &format!("    {}:{} {}\n", place.line, place.column, label.message);
        }
        if let Some(help) = &diagnostic.help {
            out += &format!("    help: {help}\n");
        }
        for edit in &diagnostic.fix {
            let place = sources.location(edit.span);
            out += &format!(
                "    fix: {}:{} {:?} -> {:?}\n",
                place.line,
                place.column,
                sources.text(edit.span),
                edit.text
            );
        }
    }
    if !out.is_empty() {
        out.push('\n');
    }
    out += &shortened(&format!("{file:#?}"), text);
    out
}

/// Debug output with spans as the text they cover, names as one word, closing brackets drawn together,
/// and without what is empty.
fn shortened(debug: &str, text: &str) -> String {
    let mut out = String::new();
    let mut lines = debug
        .lines()
        .map(|line| line.strip_suffix(',').unwrap_or(line));
    while let Some(line) = lines.next() {
        let bare = line.trim_start();
        let empty = ["None", "[]", "\"\"", "false"].iter().any(|value| {
            bare.strip_suffix(value)
                .is_some_and(|key| key.ends_with(": "))
        });
        if empty || bare.chars().all(|c| ")}]".contains(c)) {
            continue;
        }
        let indent = "  ".repeat((line.len() - bare.len()) / 4);
        if let Some(key) = bare.strip_suffix("Spanned {") {
            let node = lines
                .next()
                .unwrap()
                .trim_start()
                .strip_prefix("node: ")
                .unwrap();
            let span = lines
                .next()
                .unwrap()
                .trim_start()
                .strip_prefix("span: ")
                .unwrap();
            out += &format!("{indent}{key}{node} {}\n", spans(span, text));
        } else {
            out += &format!("{indent}{}\n", spans(bare, text));
        }
    }
    out
}

/// `span: 0@3..8` as `span: 0@3..8 "state"`.
fn spans(line: &str, text: &str) -> String {
    let Some(at) = line.find("0@") else {
        return line.to_owned();
    };
    let numbers = &line[at + 2..];
    let numbers: Vec<usize> = numbers
        .split(|c: char| !c.is_ascii_digit())
        .filter(|n| !n.is_empty())
        .take(2)
        .map(|n| n.parse().unwrap())
        .collect();
    let covered = &text[numbers[0]..numbers[1]];
    let covered: Vec<&str> = covered.split_whitespace().collect();
    let covered = covered.join(" ");
    let chars: Vec<char> = covered.chars().collect();
    let shown = match chars.len() {
        0..=40 => covered,
        n => chars[..20]
            .iter()
            .chain(&[' ', '…', ' '])
            .chain(&chars[n - 17..])
            .collect(),
    };
    format!("{}`{shown}`", &line[..at])
}

#[test]
fn cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parse");
    let mut paths: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "graph"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty());
    for path in paths {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        insta::with_settings!({ snapshot_path => &folder, prepend_module_to_snapshot => false, omit_expression => true }, {
            insta::assert_snapshot!(name, dump(&text));
        });
    }
}

/// A block has the line ends of its file.
#[test]
fn blocks_of_other_line_ends_lose_their_indentation() {
    let text = "graph Main {\r\n  start -> a\r\n  node a: llm {\r\n    prompt \"\"\"\r\n  a\r\n  b\r\n\"\"\"\r\n  }\r\n}\r\n";
    let dump = dump(text);
    assert!(dump.contains(r#""a\r\nb\r\n""#), "{dump}");
}

/// Files whose name begins with `bad_` have errors, all others none.
#[test]
fn only_bad_cases_have_errors() {
    for (name, text) in texts() {
        let mut diags = Diagnostics::new();
        parse::parse(&text, FileId(0), &mut diags);
        assert_eq!(
            diags.has_errors(),
            name.starts_with("bad_"),
            "{name}: {diags:#?}"
        );
    }
}

/// The pages of the parser's own codes: the wrong example has that one error, the right one none.
#[test]
fn examples_of_pages_are_what_they_say() {
    for slug in [
        "syntax-error",
        "unclosed",
        "bad-literal",
        "unknown-keyword",
        "limit-exceeded",
    ] {
        let page = graphc::diag::codes::find(slug).unwrap().page;
        let mut blocks = page
            .split("```")
            .skip(1)
            .step_by(2)
            .map(|b| b.strip_prefix("graph\n").unwrap());
        let codes = |text: &str| {
            let mut diags = Diagnostics::new();
            parse::parse(text, FileId(0), &mut diags);
            diags.iter().map(|d| d.code.slug).collect::<Vec<_>>()
        };
        assert_eq!(codes(blocks.next().unwrap()), [slug]);
        assert!(codes(blocks.next().unwrap()).is_empty());
    }
}

fn texts() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/parse");
    let mut texts: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "graph"))
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            (name, std::fs::read_to_string(path).unwrap())
        })
        .collect();
    texts.sort();
    texts
}

/// Reads a text as a file and as an expression; every place reported lies inside it.
fn read(text: &str) -> Diagnostics {
    let mut diags = Diagnostics::new();
    let file = parse::parse(text, FileId(0), &mut diags);
    let inside = |span: Span| {
        span.start <= span.end && text.get(span.start as usize..span.end as usize).is_some()
    };
    for diagnostic in diags.iter() {
        for label in &diagnostic.labels {
            assert!(inside(label.span), "{diagnostic:?} in {text:?}");
        }
    }
    for span in format!("{file:?}").split("0@").skip(1) {
        let mut numbers = span
            .split(|c: char| !c.is_ascii_digit())
            .filter(|n| !n.is_empty());
        let mut next = || numbers.next().unwrap().parse().unwrap();
        let span = Span::new(FileId(0), next(), next());
        assert!(inside(span), "{span:?} in {text:?}");
    }
    let mut expression_diags = Diagnostics::new();
    let expr = parse::expression(text, FileId(0), &mut expression_diags);
    assert_eq!(expr.is_none(), expression_diags.has_errors());
    for diagnostic in expression_diags.iter() {
        for label in &diagnostic.labels {
            assert!(inside(label.span), "{diagnostic:?} in {text:?}");
        }
    }
    diags
}

#[test]
fn conformance_expressions_parse() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cel");
    let paths = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    for path in paths.filter(|path| path.extension().is_some_and(|e| e == "json")) {
        let text = std::fs::read_to_string(path).unwrap();
        for case in serde_json::from_str::<Vec<serde_json::Value>>(&text).unwrap() {
            let expr = case["expr"].as_str().unwrap();
            let mut diags = Diagnostics::new();
            parse::expression(expr, FileId(0), &mut diags);
            assert!(diags.is_empty(), "{expr}: {diags:#?}");
        }
    }
}

#[test]
fn hostile_texts_are_refused_without_a_crash() {
    let wrapped = |expr: &str| {
        format!("graph A {{\n  exit when {expr}\n  start -> end\n}}\ngraph B {{ start -> end }}\n")
    };
    let texts = [
        "[".repeat(10_000),
        "{".repeat(10_000),
        "]".repeat(10_000),
        format!("{}1{}", "[".repeat(10_000), "]".repeat(10_000)),
        format!("{}1", "!".repeat(20_000)),
        format!("{}1", "-".repeat(20_000)),
        format!("{}d", "a ? b : ".repeat(20_000)),
        format!("{}a", "a + ".repeat(20_000)),
        format!("a{}", ".b".repeat(20_000)),
        format!("a{}", "[0]".repeat(20_000)),
        "\"".repeat(10_001),
        "a\n".repeat(5_000),
        "\\".repeat(10_000),
    ];
    for text in texts {
        assert!(read(&text).has_errors());
        assert!(read(&wrapped(&text)).has_errors());
    }
    for (open, close) in [
        ("[", "]"),
        ("(", ")"),
        ("f(", ")"),
        ("{1: ", "}"),
        ("A{a: ", "}"),
        ("a[", "]"),
    ] {
        // Two brackets are of the graph's own.
        for (depth, fits) in [(99, true), (100, false)] {
            let deep = wrapped(&format!("{}1{}", open.repeat(depth), close.repeat(depth)));
            assert_eq!(!read(&deep).has_errors(), fits, "{open} {depth}");
        }
    }
    for depth in [90, 10_000] {
        let deep = format!("type A = {}int{}", "list<".repeat(depth), ">".repeat(depth));
        assert_eq!(read(&deep).has_errors(), depth > 100);
    }
}

#[test]
fn flat_chains_have_no_bound() {
    for (first, rest) in [
        ("a", " && a"),
        ("a", " || b"),
        ("[1", ", 1"),
        ("f(1", ", 1"),
    ] {
        let close = match first.chars().next() {
            Some('[') => "]",
            Some('f') => ")",
            _ => "",
        };
        let text = format!("{first}{}{close}", rest.repeat(20_000));
        let mut diags = Diagnostics::new();
        assert!(parse::expression(&text, FileId(0), &mut diags).is_some());
    }
}

/// A large file takes time in proportion: reading ten times as much is not a hundred times as slow.
#[test]
fn time_grows_with_length() {
    let node = "  /// Counts.\n  node n: update -> end {\n    let x = state.a.b(c, d => 1)\n    set { n: state.n + 1 }\n  }\n";
    let bad = "  node n: update -> end { set n: 1 ]\n";
    for line in [
        node.replace("d => 1", "d"),
        node.to_owned(),
        bad.to_owned(),
        "// c\n".to_owned(),
        "\n".to_owned(),
        "a ".to_owned(),
    ] {
        let time = |lines: usize| {
            let text = format!("graph A {{\n{}}}\n", line.repeat(lines));
            let started = std::time::Instant::now();
            read(&text);
            started.elapsed().as_secs_f64()
        };
        let (small, large) = (time(100), time(1500));
        assert!(
            large < small * 100.0 + 0.5,
            "{line:?}: {small} s, then {large} s"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn any_text_is_read_without_a_crash(text in "\\PC{0,200}") {
        read(&text);
    }

    #[test]
    fn any_words_are_read_without_a_crash(words in prop::collection::vec(prop::sample::select(WORDS), 0..60)) {
        read(&words.join(" "));
        read(&words.concat());
    }

    #[test]
    fn mutated_files_are_read_without_a_crash(
        file in any::<prop::sample::Index>(),
        cuts in prop::collection::vec((any::<prop::sample::Index>(), 0usize..12, prop::sample::select(WORDS)), 1..5),
    ) {
        let texts = texts();
        let mut chars: Vec<char> = texts[file.index(texts.len())].1.chars().collect();
        for (at, length, word) in cuts {
            let at = at.index(chars.len());
            let end = (at + length).min(chars.len());
            chars.splice(at..end, word.chars());
        }
        read(&chars.into_iter().collect::<String>());
    }
}

const WORDS: &[&str] = &[
    "graph", "A", "{", "}", "(", ")", "[", "]", "node", "n", ":", "llm", "->", "end", "set", "x",
    ":=", "=", "==", "+", "-", "?", "\"", "\"\"\"", "'", "a", "//", "///", "\n", ",", "@", "state",
    "in", "out", "type", "string", "list<", ">", "|", "when", "else", "1", "10s", "1.5", "each",
    "goto", ".", "r\"", "\\", "é", "import", "from", "emit", "X", "`", "tool", "model", "\"a\"",
    "Doc {", "&&", "!", "start", "prompt", "on_error", "fail",
];
