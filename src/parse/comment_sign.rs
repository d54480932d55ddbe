//! Comments as other languages begin them: `# ..` and `/* .. */`.
//!
//! The scan takes them out of the text as it does with comments, and they are reported once each sign of a file: whoever writes
//! one writes all of them so.

use crate::base::{FileId, Span};
use crate::diag::{Diagnostic, codes};

/// The comments of a text that begin with another sign than `//`.
#[derive(Default)]
pub struct Foreign {
    /// Those behind `#`: from there to the ends of their lines.
    lines: Vec<(usize, usize)>,
    /// Those between `/*` and `*/`, both included.
    blocks: Vec<(usize, usize)>,
    /// Whether `*/` was looked for in vain: nor is it behind any later place then.
    unclosed: bool,
}

impl Foreign {
    /// The end of the comment that begins at `at`, where one does.
    pub fn take(&mut self, text: &str, at: usize) -> Option<usize> {
        let rest = text.get(at..)?;
        let line = at + rest.find('\n').unwrap_or(rest.len());
        if rest.starts_with('#') {
            self.lines.push((at, line));
            return Some(line);
        }
        let inside = rest.strip_prefix("/*")?;
        let closed = (!self.unclosed).then(|| inside.find("*/")).flatten();
        self.unclosed |= closed.is_none();
        let end = closed.map_or(line, |end| at + 2 + end + 2);
        self.blocks.push((at, end));
        Some(end)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.blocks.is_empty()
    }

    /// What is said of them.
    pub fn findings(&self, text: &str, file: FileId) -> Vec<Diagnostic> {
        let lines = || self.lines.iter().copied();
        let blocks = || self.blocks.iter().copied();
        let hashes = lines().map(|at| hash_edits(text, at));
        let stars = blocks().map(|at| block_edits(text, at));
        let mut found = Vec::new();
        found.extend(report("#", lines(), hashes, file));
        found.extend(report("/*", blocks(), stars, file));
        found
    }
}

/// An edit within a text: from, to, what comes there.
type Change = (usize, usize, &'static str);

fn report(
    sign: &str,
    places: impl Iterator<Item = (usize, usize)>,
    edits: impl Iterator<Item = Option<Vec<Change>>>,
    file: FileId,
) -> Option<Diagnostic> {
    let places: Vec<(usize, usize)> = places.collect();
    let (first, _) = places.first().copied()?;
    let help = match places.len() - 1 {
        0 => "a comment begins with `//` and ends with its line".to_owned(),
        1 => "a comment begins with `//` and ends with its line: here and in one more place"
            .to_owned(),
        more => format!(
            "a comment begins with `//` and ends with its line: here and in {more} more places"
        ),
    };
    let found = Diagnostic::new(
        &codes::SYNTAX_ERROR,
        format!("`{sign}` begins no comment"),
        Span::new(file, first, first + sign.len()),
    )
    .help(help);
    // One that can't be mended so leaves all as they are: half of a mend is none.
    let Some(edits) = edits.collect::<Option<Vec<_>>>() else {
        return Some(found);
    };
    let edits = edits.into_iter().flatten();
    Some(edits.fold(found, |found, (from, to, text)| {
        found.fix(Span::new(file, from, to), text)
    }))
}

/// `# x`, `## x`
fn hash_edits(text: &str, (start, end): (usize, usize)) -> Option<Vec<Change>> {
    let body = text.get(start..end)?;
    let signs = body.len() - body.trim_start_matches('#').len();
    Some(vec![(start, start + signs, "//")])
}

/// Each line of `/* .. */` as a comment of its own; `/**` begins a doc comment. None where code stands behind it.
fn block_edits(text: &str, (start, end): (usize, usize)) -> Option<Vec<Change>> {
    let body = text.get(start..end)?.strip_suffix("*/")?;
    let behind = text.get(end..)?;
    let blanks = behind.len() - behind.trim_start_matches([' ', '\t', '\r']).len();
    let closes_line = behind.get(blanks..)?.starts_with('\n') || blanks == behind.len();
    if !closes_line {
        return None;
    }
    let is_doc = body.starts_with("/**") && !body.starts_with("/***");
    let signs = if is_doc { "///" } else { "//" };
    let mut edits = Vec::new();
    let mut at = start;
    for (index, line) in body.split('\n').enumerate() {
        let own = at;
        at += line.len() + 1;
        let code = line.trim_start_matches([' ', '\t']);
        let begin = own + (line.len() - code.len());
        if index == 0 {
            let stars = 1 + code.get(1..)?.len() - code.get(1..)?.trim_start_matches('*').len();
            edits.push((own, own + stars, signs));
        } else if code.starts_with('*') {
            edits.push((begin, begin + 1, signs));
        } else if !code.trim_ascii().is_empty() {
            edits.push((begin, begin, if is_doc { "/// " } else { "// " }));
        }
    }
    let written = body.trim_end_matches([' ', '\t']);
    edits.push((start + written.len(), end, ""));
    // `/* x *`: the star of the last line is that of its end.
    let last = edits.len().checked_sub(2)?;
    let overlap = edits
        .get(last)
        .is_some_and(|(_, to, _)| *to > start + written.len());
    (!overlap).then_some(edits)
}

/// Whether `//` stands between two values, `string(7 // 2)`, `state.n // 2 > 3`: what is behind it is one value that closes a
/// bracket of its line, or a number behind a value that is read where the expression goes on. `line` is what stands before it.
pub fn divides(line: &str, rest: &str) -> bool {
    let path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
    let behind = rest.trim_start_matches(['/', ' ']);
    let goes_on = behind.trim_start_matches(path);
    let value = behind.get(..behind.len() - goes_on.len()).unwrap_or("");
    let goes_on = goes_on.trim_start_matches([' ', '\r']);
    let closes = |open: char, close: char| {
        line.matches(open).count() > line.matches(close).count() && goes_on.starts_with(close)
    };
    // A word before a brace may well be a note.
    let braces = value.contains(|c: char| c == '.' || c.is_ascii_digit()) && closes('{', '}');
    let read = line.get(line.trim_end_matches(path).len()..).unwrap_or("");
    let is_read = line.ends_with([')', ']'])
        || read.contains('.') && read.starts_with(|c: char| c.is_ascii_alphabetic());
    // Behind all else a number may be a note: `@min(1) // 3`.
    let signs = ["> ", "< ", "== ", ">= ", "<= ", "-> ", "? "];
    let is_number = value.chars().all(|c| c.is_ascii_digit())
        && signs.iter().any(|sign| goes_on.starts_with(sign));
    line.ends_with(|c: char| path(c) && c != '.' || matches!(c, ')' | ']'))
        && !value.is_empty()
        && (braces || closes('(', ')') || closes('[', ']') || is_number && is_read)
}
