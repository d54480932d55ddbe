//! The formatter: what it gives has the meaning of what it got, stays as it is when it is formatted again,
//! and holds every comment. Shown for every flow of the repository and for random programs; how it looks is in
//! `tests/fmt/*.graph`, each with its result in a snapshot beside it.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use graphc::ast::graph::Member;
use graphc::ast::item::{File, Item};
use graphc::base::{FileId, SourceMap};
use graphc::diag::{Diagnostics, codes::Level, render};
use graphc::{fmt, parse};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::program::Program;

fn parsed(text: &str) -> (File, Diagnostics) {
    let mut found = Diagnostics::new();
    let file = parse::parse(text, FileId(0), &mut found);
    (file, found)
}

fn has_errors(found: &Diagnostics) -> bool {
    found.iter().any(|d| d.level == Level::Error)
}

fn formatted(text: &str) -> Option<String> {
    fmt::format(text, FileId(0), &mut Diagnostics::new())
}

/// Places in the debug output of a tree.
static PLACES: LazyLock<regex::Regex> =
    LazyLock::new(|| regex::Regex::new(r"\d+@\d+\.\.\d+|anchors: \[[^]]*\]").unwrap());

/// The tree without places, and with the properties of a node by kind: their order among kinds means nothing.
fn meaning(text: &str) -> String {
    let (mut file, found) = parsed(text);
    if has_errors(&found) {
        let mut sources = SourceMap::new();
        sources.add("case.graph", text);
        let shown = render::human(&found, &sources, render::Style::PLAIN);
        panic!("{shown}\n{text}");
    }
    for item in &mut file.items {
        let Item::Graph(graph) = item else { continue };
        for member in &mut graph.members {
            if let Member::Node(node) = member {
                let kind = |debug: String| debug.split(['(', ' ']).next().unwrap().to_owned();
                node.properties
                    .sort_by_cached_key(|p| kind(format!("{:?}", p.kind)));
            }
        }
    }
    PLACES.replace_all(&format!("{file:?}"), "").into_owned()
}

/// The words of all comments, in no order.
fn comments(text: &str) -> Vec<String> {
    let tree = parse::tree::tree(text).unwrap();
    let words = tree.comments.iter().map(|comment| {
        let words = comment.text.trim_start_matches('/').trim();
        words.strip_prefix('!').unwrap_or(words).trim().to_owned()
    });
    let mut words: Vec<String> = words.collect();
    words.sort();
    words
}

/// What holds of the formatter for any text; says what doesn't.
fn judge(text: &str) -> Result<(), String> {
    let once = formatted(text).ok_or("refused")?;
    let show = |what: &str| format!("{what}\n--- text\n{text}\n--- formatted\n{once}");
    if has_errors(&parsed(&once).1) {
        return Err(show("no flow any more"));
    }
    if meaning(text) != meaning(&once) {
        return Err(show("another meaning"));
    }
    if comments(text) != comments(&once) {
        return Err(show("comments are gone"));
    }
    if !fmt::same_tokens(text, &once) {
        return Err(show("tokens are gone"));
    }
    let twice = formatted(&once).ok_or_else(|| show("refused"))?;
    if once != twice {
        return Err(show(&format!("formatted again it is\n{twice}")));
    }
    let blank = |line: &str| !line.is_empty() && line.trim().is_empty();
    let strings = text.contains("\"\"\"") || text.contains("'''");
    if !strings && once.lines().any(|l| blank(l) || l.ends_with([' ', '\t'])) {
        return Err(show("blanks at the end of a line"));
    }
    Ok(())
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.to_str().unwrap().ends_with(ending) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every text of the repository that is a flow without syntax errors.
fn flows() -> Vec<(String, String)> {
    let mut flows = Vec::new();
    for folder in ["graphs", "stdlib", "tests", "src"] {
        for path in files(&root().join(folder), ".graph") {
            let name = path.display().to_string();
            flows.push((name, std::fs::read_to_string(path).unwrap()));
        }
    }
    for path in files(&root().join("docs"), ".md") {
        let text = std::fs::read_to_string(&path).unwrap();
        let fences = text.split("```graph").skip(1);
        for (i, fence) in fences.enumerate() {
            let code = fence.split_once('\n').map_or("", |(_, code)| code);
            let code = code.split("```").next().unwrap();
            flows.push((format!("{} {i}", path.display()), code.to_owned()));
        }
    }
    flows.retain(|(_, text)| !has_errors(&parsed(text).1));
    flows
}

#[test]
fn flows_of_the_repository_keep_their_meaning() {
    let flows = flows();
    assert!(flows.len() > 100, "{}", flows.len());
    let wrong: Vec<String> = flows
        .iter()
        .filter_map(|(name, text)| judge(text).err().map(|why| format!("{name}: {why}")))
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// What other people read first is in the layout that the formatter gives.
#[test]
fn shipped_flows_are_formatted() {
    let mut wrong = Vec::new();
    for folder in ["graphs", "stdlib", "src/cli/init"] {
        for path in files(&root().join(folder), ".graph") {
            let text = std::fs::read_to_string(&path).unwrap();
            if formatted(&text).as_deref() != Some(&text) {
                wrong.push(path);
            }
        }
    }
    assert!(wrong.is_empty(), "not formatted: {wrong:?}");
}

#[test]
fn texts_with_errors_are_refused() {
    for text in [
        "graph {",
        "type A { a string }",
        "\"",
        "graph A { node x llm }",
    ] {
        let mut found = Diagnostics::new();
        assert!(fmt::format(text, FileId(0), &mut found).is_none(), "{text}");
        assert!(has_errors(&found), "{text}");
    }
}

#[test]
fn little_texts() {
    for (text, expected) in [
        ("", ""),
        ("\n\n", ""),
        ("\u{feff}", ""),
        ("// c", "// c\n"),
        ("\n\n//! a\n\n\n\n// b\n\n", "//! a\n\n// b\n"),
        ("enum A{a}", "enum A { a }\n"),
        ("enum A{a}\r\nenum B{b}", "enum A { a }\r\nenum B { b }\r\n"),
        ("enum A{}// c", "enum A {} // c\n"),
        ("enum A{// c\n}", "enum A { // c\n}\n"),
        (
            "enum A{\n\n// c\n\n// d\n\n}",
            "enum A {\n  // c\n\n  // d\n}\n",
        ),
        (
            "/// d\n\n/// e\nenum A{a/// x\n,b}",
            "/// d\n\n/// e\nenum A {\n  a // x\n  b\n}\n",
        ),
    ] {
        assert_eq!(formatted(text).unwrap(), expected, "{text:?}");
    }
}

#[test]
fn layouts() {
    for path in files(&root().join("tests/fmt"), ".graph") {
        let text = std::fs::read_to_string(&path).unwrap();
        judge(&text).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        insta::with_settings!({
            snapshot_path => root().join("tests/fmt"),
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!(name, formatted(&text).unwrap());
        });
    }
}

/// A text of many lines of one form, or of one form in itself, takes time in proportion to its size.
#[test]
fn expressions_in_one_line() {
    for (written, expected) in [
        ("a+b", "a + b"),
        ("xs\n  .map(x,\n    x.n+1,\n  )", "xs.map(x, x.n + 1)"),
        ("f( -1 , [ 2,3, ] )", "f(-1, [2, 3])"),
        ("a - -b", "a - -b"),
        ("a?b:{k:v}", "a ? b : {k: v}"),
        ("Item {id:\"a  b\"}", "Item { id: \"a  b\" }"),
        ("x in [1]", "x in [1]"),
        ("!a&&b .? c // why\n || d[0]", "!a && b.?c || d[0]"),
        ("{k:x.?a,?l:xs[? n]}", "{k: x.?a, ?l: xs[?n]}"),
        ("c?x.?a:b", "c ? x.?a : b"),
        ("r'a\\' + \"\"\"b \" c\"\"\"", "r'a\\' + \"\"\"b \" c\"\"\""),
    ] {
        let once = fmt::one_line(written).unwrap();
        assert_eq!(once, expected);
        assert_eq!(fmt::one_line(&once).unwrap(), once);
    }
}

#[test]
fn long_texts_take_no_time() {
    let wide = format!(
        "graph A {{ state {{ out n: int = 0 }} start -> a {} }}",
        "node a: update -> end { set { n: [1, 2, 3].map(x, x + 1).filter(x, x > 1).sum() } }\n"
            .repeat(2_000)
    );
    let deep = format!(
        "tool t() {{ return {}1{} }}",
        "[".repeat(90),
        "]".repeat(90)
    );
    let chain = format!("tool t() {{ return a{} }}", " + a.b(c).d(e)".repeat(390));
    for text in [wide, deep, chain] {
        let begin = std::time::Instant::now();
        assert!(formatted(&text).is_some());
        assert!(begin.elapsed().as_secs() < 20, "{:?}", begin.elapsed());
    }
}

fn bytes(most: usize) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..most)
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(20_260_311),
        max_shrink_iters: 1_000,
        ..ProptestConfig::with_cases(400)
    })]

    /// The generator's own promise.
    #[test]
    fn random_programs_parse(choices in bytes(400), layout in bytes(400)) {
        let program = Program::new(&choices);
        for text in [program.plain(), program.scattered(&layout)] {
            let (_, found) = parsed(&text);
            prop_assert!(found.is_empty(), "{:?}\n{}", found.iter().next().map(|d| &d.message), text);
        }
    }

    #[test]
    fn random_programs_keep_their_meaning(choices in bytes(400), layout in bytes(600)) {
        let program = Program::new(&choices);
        if let Err(why) = judge(&program.scattered(&layout)) {
            prop_assert!(false, "{}", why);
        }
    }

    /// Blanks alone make no difference.
    #[test]
    fn random_programs_have_one_layout(choices in bytes(300)) {
        if let Err(why) = judge(&Program::new(&choices).plain()) {
            prop_assert!(false, "{}", why);
        }
    }
}

/// Whether a list in brackets is short is found without writing those in it twice for each level around them.
#[test]
fn lists_in_lists_take_no_time() {
    let (open, close) = ("list<".repeat(95), ">".repeat(95));
    let text = format!("type Deep {{ a: {open}int{close} }}\n");
    let once = formatted(&text).unwrap();
    assert_eq!(formatted(&once).unwrap(), once);
}
