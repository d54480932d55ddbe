//! What the compiler says of programs: every `tests/check/**/*.graph`, and what of `tests/matrix` has no scenarios, is compiled, and every finding
//! must be marked in it, at its place.
//!
//! A mark stands under the line that it speaks of:
//!
//! ```text
//!   start -> wrok
//! //         ^^^^ error[unknown-target] `Main` has no node `wrok`
//! ```
//!
//! The carets are the columns of the finding's primary place (the first line of it; columns 1 and 2
//! belong to the slashes), the text is a part of the message. A file without marks must be clean.
//! In a case with a line `//# helps` a mark goes on with the help: `; help: write ..`. Marks are taken out before the file is compiled. `//# file: types.graph` begins another file of
//! the case; what stands before is `main.graph`, where the compiler begins.
//! `UPDATE=1 cargo test --test compiler check::` writes the marks anew. Notes are left out, but those of a code that the
//! case marks somewhere, or asks for in a line `//# notes: CODE, CODE`, or `//# notes` for all.
//!
//! `//# right: CODE, ..` says which codes a case is the right twin of: none of them is found in it, and every code has one.
//!
//! The examples of the pages behind `graphc explain` are compiled in the same way.

#[path = "marked/golden.rs"]
mod golden;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use graphc::check::cascade::stage::is_missing;
use graphc::compile::{Compiled, compile};

use crate::marked::{MAIN, Section, files, sections};
use crate::{dice, mutants};
use graphc::diag::{Diagnostic, Level, codes, render};

fn is_mark(line: &str) -> bool {
    let Some(rest) = line.strip_prefix("//") else {
        return false;
    };
    let rest = rest.trim_start_matches(' ');
    let after = rest.trim_start_matches('^');
    let levels = ["error", "warning", "info"];
    after.len() < rest.len() && levels.iter().any(|l| after.starts_with(&format!(" {l}[")))
}

/// Whether a case is about the finding: errors and warnings always are.
fn wanted(text: &str, finding: &Diagnostic) -> bool {
    let said = text.lines().find_map(|line| line.strip_prefix("//# notes"));
    let codes = said.map(|said| said.trim_start_matches(':').trim());
    let named = |list: &str| list.split(',').any(|one| one.trim() == finding.code.slug);
    let marked = || text.contains(&format!("^ info[{}]", finding.code.slug));
    let asked = codes.is_some_and(|list| list.is_empty() || named(list));
    finding.level > Level::Info || asked || marked()
}

/// A finding as a mark: file, line from 0, carets, level and code, message.
struct Found {
    file: String,
    line: usize,
    carets: String,
    head: String,
    message: String,
}

fn found(compiled: &Compiled, diagnostic: &Diagnostic, helps: bool) -> Found {
    let span = diagnostic.span();
    let place = compiled.sources.location(span);
    let covered = compiled.sources.text(span).lines().next().unwrap_or("");
    let start = place.column as usize;
    let end = start + covered.trim_end().chars().count().max(1);
    let start = start.max(3);
    let carets = " ".repeat(start - 3) + &"^".repeat(end.saturating_sub(start).max(1));
    Found {
        file: compiled.sources.name(span.file).to_owned(),
        line: place.line as usize - 1,
        carets,
        head: format!("{}[{}]", diagnostic.level.word(), diagnostic.code.slug),
        message: match (&diagnostic.help, helps) {
            (Some(help), true) => {
                format!("{}; help: {help}", diagnostic.message).replace('\n', " ")
            }
            _ => diagnostic.message.replace('\n', " "),
        },
    }
}

/// Whether the marks of a case speak of the help too.
fn with_helps(text: &str) -> bool {
    text.lines().any(|line| line == "//# helps")
}

impl Found {
    fn mark(&self) -> String {
        format!("//{} {} {}", self.carets, self.head, self.message)
    }

    fn matches(&self, mark: &str) -> bool {
        let place = format!("//{} {}", self.carets, self.head);
        let text = mark.strip_prefix(&place);
        text.is_some_and(|text| self.message.contains(text.trim()))
    }
}

/// What differs between marks and findings.
fn compare(sections: &[Section], all: &[Found]) -> String {
    let mut report = String::new();
    for section in sections {
        for (number, (line, marks)) in section.lines.iter().enumerate() {
            let here = all
                .iter()
                .filter(|f| f.file == section.name && f.line == number);
            let mut missing: Vec<&String> = marks.iter().collect();
            let mut extra = Vec::new();
            for finding in here {
                match missing.iter().position(|mark| finding.matches(mark)) {
                    Some(i) => drop(missing.remove(i)),
                    None => extra.push(finding.mark()),
                }
            }
            if missing.is_empty() && extra.is_empty() {
                continue;
            }
            writeln!(report, "  {}:{}: {line}", section.name, number + 1).unwrap();
            missing
                .iter()
                .for_each(|m| writeln!(report, "    not found  {m}").unwrap());
            extra
                .iter()
                .for_each(|m| writeln!(report, "    not marked {m}").unwrap());
        }
    }
    for finding in all {
        let known = sections
            .iter()
            .any(|section| section.name == finding.file && finding.line < section.lines.len());
        if !known {
            writeln!(
                report,
                "  {}: outside the case: {}",
                finding.file,
                finding.mark()
            )
            .unwrap();
        }
    }
    report
}

fn with_marks(sections: &[Section], all: &[Found]) -> String {
    let mut text = String::new();
    for section in sections {
        if let Some(head) = &section.head {
            text += &format!("{head}\n");
        }
        for (number, (line, _)) in section.lines.iter().enumerate() {
            text += &format!("{line}\n");
            for finding in all {
                if finding.file == section.name && finding.line == number {
                    text += &format!("{}\n", finding.mark());
                }
            }
        }
    }
    text
}

fn cases(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(cases(&path));
        } else if path.extension().is_some_and(|ext| ext == "graph") {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn findings_are_marked() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let update = std::env::var_os("UPDATE").is_some();
    let mut report = String::new();
    let matrix = cases(&folder.join("matrix")).into_iter();
    // Those with scenarios run: `tests/run.rs`.
    let matrix = matrix.filter(|path| !path.with_extension("test.yaml").exists());
    for path in cases(&folder.join("check")).into_iter().chain(matrix) {
        let text = std::fs::read_to_string(&path).unwrap();
        let sections = sections(&text, is_mark);
        let compiled = compile(MAIN, &files(&sections));
        let diagnostics = compiled
            .diagnostics
            .iter()
            .filter(|finding| wanted(&text, finding));
        let helps = with_helps(&text);
        let all: Vec<Found> = diagnostics.map(|d| found(&compiled, d, helps)).collect();
        for finding in compiled.diagnostics.iter() {
            let (slug, least) = (finding.code.slug, finding.code.least);
            if finding.level < least {
                let shown = path.display();
                writeln!(report, "{shown}: `{slug}` is milder than its code says").unwrap();
            }
        }
        let differences = compare(&sections, &all);
        if differences.is_empty() {
            continue;
        }
        if update {
            std::fs::write(&path, with_marks(&sections, &all)).unwrap();
        } else {
            let name = path.strip_prefix(&folder).unwrap().display();
            writeln!(report, "{name}\n{differences}").unwrap();
        }
    }
    assert!(
        report.is_empty(),
        "marks and findings differ (UPDATE=1 writes the marks anew):\n\n{report}"
    );
}

/// Every code is marked in some case, and is not in another that comes near to it. What is said of `graphc.yaml` and
/// scenarios is tried where those are read.
#[test]
fn every_code_has_a_wrong_and_a_right_case() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check");
    let mut right = std::collections::BTreeSet::new();
    let mut marked: BTreeMap<String, usize> = BTreeMap::new();
    let mut report = String::new();
    for path in cases(&folder) {
        let text = std::fs::read_to_string(&path).unwrap();
        let marks = text.lines().filter(|line| is_mark(line));
        let codes: Vec<&str> = marks
            .map(|mark| mark.split_once('[').unwrap().1.split_once(']').unwrap().0)
            .collect();
        for code in &codes {
            *marked.entry((*code).to_owned()).or_default() += 1;
        }
        let lists = text.lines().filter_map(|l| l.strip_prefix("//# right:"));
        for code in lists.flat_map(|list| list.split(',')).map(str::trim) {
            right.insert(code.to_owned());
            if codes.contains(&code) || codes::find(code).is_none() {
                writeln!(report, "{}: `{code}` is not right here", path.display()).unwrap();
            }
        }
    }
    let of_flows = codes::ALL.iter().filter(|code| {
        let language = example(code.page, "Wrong").map(|(language, _)| language);
        language == Some("graph")
    });
    for code in of_flows {
        let (wrong, right) = (marked.contains_key(code.slug), right.contains(code.slug));
        if !(wrong && right) {
            writeln!(report, "{}: wrong {wrong}, right {right}", code.slug).unwrap();
        }
    }
    let cases: usize = marked.values().sum();
    assert!(cases >= 250, "{cases} marked cases");
    assert!(report.is_empty(), "cases that are missing:\n{report}");
}

/// The text with the edits made that are in this file.
fn edited(text: &str, file: &str, compiled: &Compiled, finding: &Diagnostic) -> String {
    let mut edits: Vec<_> = finding.fix.iter().collect();
    edits.retain(|edit| compiled.sources.name(edit.span.file) == file);
    edits.sort_by_key(|edit| edit.span.start);
    let mut text = text.to_owned();
    for edit in edits.iter().rev() {
        let range = edit.span.start as usize..edit.span.end as usize;
        text.replace_range(range, &edit.text);
    }
    text
}

fn count(compiled: &Compiled, of: impl Fn(&Diagnostic) -> bool) -> usize {
    compiled.diagnostics.iter().filter(|d| of(d)).count()
}

/// Each fix, made alone, takes its finding away and tears nothing.
#[test]
fn fixes_mend() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check");
    let mut report = String::new();
    let mut made = 0;
    for path in cases(&folder) {
        let text = std::fs::read_to_string(&path).unwrap();
        let files = files(&sections(&text, is_mark));
        let compiled = compile(MAIN, &files);
        for finding in compiled.diagnostics.iter().filter(|d| !d.fix.is_empty()) {
            let mended: BTreeMap<String, String> = files
                .iter()
                .map(|(name, text)| (name.clone(), edited(text, name, &compiled, finding)))
                .collect();
            let after = compile(MAIN, &mended);
            let same = |d: &Diagnostic| d.code == finding.code && d.message == finding.message;
            let torn = |d: &Diagnostic| {
                let codes = [&codes::SYNTAX_ERROR, &codes::UNCLOSED, &codes::BAD_LITERAL];
                codes.contains(&d.code)
            };
            let gone = count(&after, same) < count(&compiled, same);
            if !gone || count(&after, torn) > count(&compiled, torn) {
                let name = path.strip_prefix(&folder).unwrap().display();
                writeln!(report, "{name}: {}: {}", finding.code.slug, finding.message).unwrap();
            }
            made += 1;
        }
    }
    assert!(made > 30, "{made} fixes");
    assert!(report.is_empty(), "fixes that don't mend:\n\n{report}");
}

/// The texts with all fixes made that don't touch each other, as `--fix` makes them; `None` where there is none.
fn mended(
    files: &BTreeMap<String, String>,
    compiled: &Compiled,
) -> Option<BTreeMap<String, String>> {
    let mut taken: Vec<graphc::base::Span> = Vec::new();
    let mut edits = Vec::new();
    for finding in compiled.diagnostics.iter() {
        let apart = finding.fix.iter().all(|edit| {
            let meets = |other: &graphc::base::Span| {
                let at = edit.span;
                other.file == at.file && other.start <= at.end && at.start <= other.end
            };
            !taken.iter().any(meets)
        });
        if apart {
            taken.extend(finding.fix.iter().map(|edit| edit.span));
            edits.extend(&finding.fix);
        }
    }
    edits.sort_by_key(|edit| edit.span.start);
    let mut all = files.clone();
    for (name, text) in &mut all {
        let own = edits.iter().rev();
        for edit in own.filter(|edit| compiled.sources.name(edit.span.file) == name) {
            text.replace_range(edit.span.start as usize..edit.span.end as usize, &edit.text);
        }
    }
    (!edits.is_empty()).then_some(all)
}

/// What is torn by all fixes made, round by round: more errors than before.
fn torn_by_fixes(files: &BTreeMap<String, String>) -> Option<String> {
    // By line: one error may hide another beside it. What is missing is said only when nothing else is wrong.
    let errors = |compiled: &Compiled| -> BTreeMap<(String, u32), String> {
        let errors = compiled.diagnostics.iter();
        let errors = errors.filter(|d| d.level == Level::Error && !is_missing(d));
        errors
            .map(|d| {
                let place = compiled.sources.location(d.span());
                let file = compiled.sources.name(d.span().file).to_owned();
                (
                    (file, place.line),
                    format!("{}: {}", d.code.slug, d.message),
                )
            })
            .collect()
    };
    let first = compile(MAIN, files);
    let before = errors(&first);
    let mut now = mended(files, &first)?;
    let mut compiled = compile(MAIN, &now);
    for _ in 0..4 {
        let Some(next) = mended(&now, &compiled) else {
            break;
        };
        now = next;
        compiled = compile(MAIN, &now);
    }
    let after = errors(&compiled);
    let mut told = String::new();
    if after.len() > before.len() {
        writeln!(told, "before: {before:#?}\nafter: {after:#?}").unwrap();
        for (old, new) in files[MAIN].lines().zip(now[MAIN].lines()) {
            if old != new {
                writeln!(told, "- {old}\n+ {new}").unwrap();
            }
        }
    }
    (!told.is_empty()).then_some(told)
}

/// All fixes made together leave no more errors than there were: in each case, and in right flows with one slip.
#[test]
fn fixes_tear_nothing() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut report = String::new();
    for path in cases(&project.join("tests/check")) {
        let text = std::fs::read_to_string(&path).unwrap();
        if let Some(told) = torn_by_fixes(&files(&sections(&text, is_mark))) {
            writeln!(report, "{}\n{told}", path.display()).unwrap();
        }
    }
    // `MUTANTS=500` tries that many slips in each flow.
    let asked = std::env::var("MUTANTS").ok().and_then(|n| n.parse().ok());
    let slips: usize = asked.unwrap_or(5);
    let mut flows = cases(&project.join("graphs"));
    flows.extend(cases(&project.join("tests/run")));
    for path in flows {
        let text = std::fs::read_to_string(&path).unwrap();
        let length = text.len() as u64;
        for slip in 0..slips {
            let mut dice = dice::Dice(length * 1000 + slip as u64);
            dice.below(2);
            let with_slip = mutants::slip(&text, &mut dice);
            let files = BTreeMap::from([(MAIN.to_owned(), with_slip.clone())]);
            if let Some(told) = torn_by_fixes(&files) {
                let changed = text.lines().zip(with_slip.lines()).find(|(a, b)| a != b);
                writeln!(report, "{} {slip}: {changed:?}\n{told}", path.display()).unwrap();
            }
        }
    }
    assert!(report.is_empty(), "fixes that tear:\n\n{report}");
}

/// The log of each case is what the standard's own schema says.
#[test]
fn findings_are_sarif() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let schema =
        std::fs::read_to_string(project.join("tests/sarif/sarif-2.1.0.schema.json")).unwrap();
    // The published pattern of a language ends in a bracket that nothing opens; strict engines refuse it.
    let schema = schema.replace("[a-zA-Z]{2}]?$", "[a-zA-Z]{2}$");
    let validator = jsonschema::validator_for(&serde_json::from_str(&schema).unwrap()).unwrap();
    let broken = serde_json::json!({ "version": "2.1.0", "runs": [{}] });
    assert!(!validator.is_valid(&broken), "a run without a tool");
    for path in cases(&project.join("tests/check")) {
        let text = std::fs::read_to_string(&path).unwrap();
        let compiled = compile(MAIN, &files(&sections(&text, is_mark)));
        let log = render::sarif(&compiled.diagnostics, &compiled.sources);
        let log = serde_json::from_str(&log).unwrap();
        let wrong: Vec<String> = validator.iter_errors(&log).map(|e| e.to_string()).collect();
        assert!(wrong.is_empty(), "{}: {wrong:#?}", path.display());
    }
}

/// Language and text of the fenced block below a heading of a page.
fn example<'a>(page: &'a str, heading: &str) -> Option<(&'a str, &'a str)> {
    let (_, rest) = page.split_once(&format!("\n## {heading}\n"))?;
    let (_, rest) = rest.split_once("```")?;
    let (language, rest) = rest.split_once('\n')?;
    let (code, _) = rest.split_once("```")?;
    Some((language, code))
}

#[test]
fn examples_of_pages_hold() {
    let mut report = String::new();
    for code in codes::ALL {
        let examples = (example(code.page, "Wrong"), example(code.page, "Right"));
        let (Some((language, wrong)), Some((_, right))) = examples else {
            let slug = code.slug;
            writeln!(report, "{slug}: a page has `## Wrong` and `## Right`").unwrap();
            continue;
        };
        // Pages about `graphc.yaml` and scenarios are tried where those are read.
        if language != "graph" {
            continue;
        }
        let wrong = compile(MAIN, &files(&sections(wrong, is_mark)));
        let findings = || wrong.diagnostics.iter();
        if !findings().any(|d| d.code == *code) {
            writeln!(report, "{}: the wrong example does not show it", code.slug).unwrap();
        }
        for other in findings().filter(|d| d.code != *code && d.level == Level::Error) {
            let slug = other.code.slug;
            writeln!(
                report,
                "{}: wrong: also {slug}: {}",
                code.slug, other.message
            )
            .unwrap();
        }
        let right = compile(MAIN, &files(&sections(right, is_mark)));
        let notes = |d: &&Diagnostic| d.level > Level::Info || d.code == *code;
        for finding in right.diagnostics.iter().filter(notes) {
            let slug = finding.code.slug;
            writeln!(report, "{}: right: {slug}: {}", code.slug, finding.message).unwrap();
        }
    }
    assert!(report.is_empty(), "examples of pages:\n{report}");
}
