//! `// graphc: allow(code) reason`: findings that a flow's author has seen and wants to keep.
//!
//! At the end of a line it holds for that line. On a line of its own it holds for what is written
//! next: the line, and where that leaves a bracket open (a node, a tool, a graph), all to the bracket's
//! end. A finding is where its primary label begins. Only notes and warnings can be allowed: an error
//! means that the flow can't run. Of a code that has both, the warnings.

use std::ops::Range;

use crate::base::{FileId, SourceMap, Span, name};
use crate::diag::{Code, Diagnostic, Diagnostics, Level, codes};
use crate::resolve::Program;

use super::allow_words::{HINTS, parse};
use super::text::{Piece, line, pieces, statement};

/// One code that one comment allows.
struct Allow {
    code: &'static Code,
    /// Where the code is named.
    named: Span,
    /// What it holds for.
    covers: Span,
    /// The comment, with the line end before it or the line that it stands on alone, where it names
    /// no other code: what goes when it allows nothing.
    whole: Option<Span>,
    used: bool,
}

/// Takes allowed findings out of `diags`, and adds what is wrong with the comments. One that allows
/// nothing is reported where all was looked for: in a `sound` program, in its first file.
pub fn apply(program: &Program, sources: &SourceMap, sound: bool, diags: &mut Diagnostics) {
    let mut allows = Vec::new();
    let mut wrong = Diagnostics::new();
    for module in &program.modules {
        if let Some(file) = sources.file(module.file) {
            read(&file.text, module.file, &mut allows, &mut wrong);
        }
    }
    if !allows.is_empty() {
        diags.retain(|finding| !allowed(&mut allows, finding));
    }
    let first = program.modules.first().map(|module| module.file);
    let idle = allows
        .iter()
        .filter(|allow| sound && !allow.used && Some(allow.named.file) == first);
    for allow in idle {
        diags.push(unused(allow));
    }
    diags.append(wrong);
}

/// Whether a comment allows the finding; all that do are of use.
fn allowed(allows: &mut [Allow], finding: &Diagnostic) -> bool {
    let at = finding.span();
    let mut found = false;
    for allow in allows {
        let covers = allow.covers;
        let within = covers.file == at.file && (covers.start..covers.end).contains(&at.start);
        if within && allow.code == finding.code && finding.level != Level::Error {
            allow.used = true;
            found = true;
        }
    }
    found
}

fn unused(allow: &Allow) -> Diagnostic {
    let message = format!("there is no `{}` to allow here", allow.code.slug);
    let finding = Diagnostic::new(&codes::UNUSED_ALLOW, message, allow.named);
    match allow.whole {
        Some(whole) => finding.help("take the comment out").fix(whole, ""),
        None => finding.help("take the code out"),
    }
}

fn read(text: &str, file: FileId, allows: &mut Vec<Allow>, wrong: &mut Diagnostics) {
    // Nearly no file has such a comment, and finding that out is cheaper than reading its pieces.
    if !HINTS.iter().any(|hint| text.contains(hint)) {
        return;
    }
    let mut line_start = 0;
    let mut alone = true;
    let mut reach = ScopeFinder {
        left: text.len().saturating_mul(READ_AGAIN),
        last: None,
    };
    for (piece, range) in pieces(text, 0) {
        match piece {
            Piece::LineEnd => {
                line_start = range.end;
                alone = true;
            }
            Piece::Blank => {}
            Piece::Comment => {
                let comment = Comment {
                    text,
                    file,
                    line_start,
                    start: range.start,
                    end: range.end,
                    alone,
                };
                comment.read(&mut reach, allows, wrong);
            }
            _ => alone = false,
        }
    }
}

/// How often a text is read again, at most, to find what its comments hold for. Only one with many
/// comments and brackets that nothing closes comes near.
const READ_AGAIN: usize = 16;

/// What comments hold for, found with bounded work.
struct ScopeFinder {
    /// Bytes that may still be read; then a comment holds for a line.
    left: usize,
    /// The last answer, and where it was looked for from: comments above each other have one answer.
    last: Option<(usize, Option<Range<usize>>)>,
}

impl ScopeFinder {
    fn of(&mut self, text: &str, from: usize) -> Option<Range<usize>> {
        if let Some((asked, range)) = &self.last {
            let next = range.as_ref().map_or(text.len() + 1, |range| range.start);
            if (*asked..next).contains(&from) {
                return range.clone();
            }
        }
        let range = match self.left {
            0 => line(text, from),
            _ => statement(text, from),
        };
        let end = range.as_ref().map_or(text.len(), |range| range.end);
        self.left = self.left.saturating_sub(end.saturating_sub(from));
        self.last = Some((from, range.clone()));
        range
    }
}

/// A comment and where it stands.
struct Comment<'t> {
    text: &'t str,
    file: FileId,
    line_start: usize,
    start: usize,
    end: usize,
    /// Whether nothing stands before it on its line.
    alone: bool,
}

impl Comment<'_> {
    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.file, start, end)
    }

    fn read(&self, reach: &mut ScopeFinder, allows: &mut Vec<Allow>, wrong: &mut Diagnostics) {
        let body = self.text.get(self.start..self.end).unwrap_or("");
        let Some(told) = parse(body) else { return };
        let mut report = |message: String, span: Span, help: Option<String>| {
            wrong.push(Diagnostic::new(&codes::BAD_ALLOW, message, span).maybe_help(help));
        };
        let whole = self.span(self.start, self.end);
        let list = match told.codes.clone() {
            Some(range) => body.get(range).unwrap_or(""),
            None => "",
        };
        let mut misread = false;
        if let Some(message) = told.wrong {
            let codes = match list.trim() {
                "" => "code",
                codes => codes,
            };
            let help = format!("write `// graphc: allow({codes}) reason`");
            report(message, whole, Some(help));
            misread = true;
        } else if list.trim().is_empty() {
            let help = "write `// graphc: allow(code) reason`".to_owned();
            return report("`allow()` names no code".to_owned(), whole, Some(help));
        } else if !told.reasoned {
            let message = format!("`allow({})` gives no reason", list.trim());
            let help = format!("write `// graphc: allow({}) REASON`", list.trim());
            report(message, whole, Some(help));
            misread = true;
        }
        let Some(range) = told.codes else { return };
        let single = !list.contains(',');
        let mut at = self.start + range.start;
        for entry in list.split(',') {
            let slug = entry.trim();
            let start = at + entry.len() - entry.trim_start().len();
            let named = self.span(start, start + slug.len());
            at += entry.len() + 1;
            let known = known(slug);
            // What is meant is not reported besides: the comment is the one mistake.
            let meant = match &known {
                Ok(code) => Some(*code),
                Err(_) => meant(slug),
            };
            allows.extend(meant.map(|code| Allow {
                code,
                named,
                covers: self.covers(reach),
                whole: single.then(|| self.removed()),
                used: known.is_err() || misread,
            }));
            if let (Err((message, help)), false) = (known, misread) {
                report(message, named, Some(help));
            }
        }
    }

    /// What the comment holds for.
    fn covers(&self, reach: &mut ScopeFinder) -> Span {
        if !self.alone {
            return self.span(self.line_start, self.end);
        }
        let range = reach.of(self.text, self.end).unwrap_or(self.end..self.end);
        self.span(range.start, range.end)
    }

    /// What is taken out with it: its line, or what stands behind the last word of the line.
    fn removed(&self) -> Span {
        if self.alone {
            let rest = self.text.get(self.end..).unwrap_or("");
            let line_end = rest.find('\n').map_or(rest.len(), |at| at + 1);
            return self.span(self.line_start, self.end + line_end);
        }
        let before = self.text.get(..self.start).unwrap_or("");
        self.span(before.trim_end().len(), self.end)
    }
}

/// What can be allowed.
fn lints() -> impl Iterator<Item = &'static Code> {
    let all = codes::ALL.iter().copied();
    all.filter(|code| code.least != Level::Error)
}

/// The code that was meant by one that there isn't.
fn meant(slug: &str) -> Option<&'static Code> {
    let unknown = codes::find(slug).is_none();
    let near = name::closest(slug, lints().map(|code| code.slug));
    near.filter(|_| unknown).and_then(codes::find)
}

/// The code of that slug, where it can be allowed; else what to say, and a help.
fn known(slug: &str) -> Result<&'static Code, (String, String)> {
    match codes::find(slug) {
        None => {
            let help = match meant(slug) {
                Some(near) => format!("did you mean `{}`?", near.slug),
                None => "`graphc explain --list` shows all codes".to_owned(),
            };
            Err((format!("no diagnostic has the code `{slug}`"), help))
        }
        Some(code) if code.least == Level::Error => {
            let message = format!("`{slug}` is an error, which can't be allowed");
            Err((message, "mend it, and take the comment out".to_owned()))
        }
        Some(code) => Ok(code),
    }
}
