//! Mending what is certain, in place.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::Path;

use crate::base::{FileId, Span};
use crate::diag::{Diagnostic, Edit};

use super::super::{Failure, files};
use super::gather::Findings;

/// What was mended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mended {
    /// Findings whose edits were made.
    pub edits: usize,
    /// Names of the files that were written.
    pub files: BTreeSet<String>,
}

impl Mended {
    /// Adds what another round has mended.
    pub fn add(&mut self, other: Mended) {
        self.edits += other.edits;
        self.files.extend(other.files);
    }
}

impl fmt::Display for Mended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (edits, files) = (self.edits, self.files.len());
        let s = |count: usize| if count == 1 { "" } else { "s" };
        write!(
            f,
            "fixed {edits} problem{} in {files} file{}",
            s(edits),
            s(files)
        )
    }
}

/// Applies the fixes. The edits of one finding are made all or none; where two findings want to
/// change the same text, the first has its way and the other is left for the next check.
pub fn apply(found: &Findings) -> Result<Mended, Failure> {
    let mut taken = Taken::default();
    let mut mended = Mended::default();
    for finding in found.diagnostics.iter().filter(|d| !d.fix.is_empty()) {
        if writable(found, finding) && taken.leaves_room(finding) {
            taken.add(finding);
            mended.edits += 1;
        }
    }
    let by_file = taken.by_file;
    for (file, edits) in by_file {
        if let Some(source) = found.sources.file(file) {
            let text = edited(&source.text, edits);
            files::replace(Path::new(&*source.name), &text)?;
            mended.files.insert(source.name.to_string());
        }
    }
    Ok(mended)
}

/// Whether all edits are in files of the project, not in stdin or the standard library.
fn writable(found: &Findings, finding: &Diagnostic) -> bool {
    finding.fix.iter().all(|edit| {
        let name = found.sources.name(edit.span.file);
        !name.starts_with("std/") && Path::new(name).is_file()
    })
}

/// The edits that are made.
#[derive(Default)]
struct Taken<'a> {
    by_file: BTreeMap<FileId, Vec<&'a Edit>>,
    /// Where they are, those of one finding apart from each other or not: by file and start, the furthest end.
    ends: BTreeMap<(FileId, u32), u32>,
    /// The length of the longest.
    longest: u32,
}

impl<'a> Taken<'a> {
    /// Whether no edit of the finding overlaps one that is made.
    fn leaves_room(&self, finding: &Diagnostic) -> bool {
        !finding.fix.iter().any(|edit| {
            let span = edit.span;
            let first = (span.file, span.start.saturating_sub(self.longest));
            let mut near = self.ends.range(first..=(span.file, span.end));
            near.any(|((file, start), end)| {
                let (file, start, end) = (*file, *start, *end);
                overlap(span, Span { file, start, end })
            })
        })
    }

    fn add(&mut self, finding: &'a Diagnostic) {
        for edit in &finding.fix {
            let span = edit.span;
            let end = self.ends.entry((span.file, span.start)).or_default();
            *end = span.end.max(*end);
            self.longest = self.longest.max(span.end - span.start.min(span.end));
            self.by_file.entry(span.file).or_default().push(edit);
        }
    }
}

/// Two insertions at one place overlap too: their order would be a guess.
fn overlap(a: Span, b: Span) -> bool {
    a.file == b.file && a.start <= b.end && b.start <= a.end
}

fn edited(text: &str, mut edits: Vec<&Edit>) -> String {
    edits.sort_by_key(|edit| edit.span.start);
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for edit in edits {
        out.push_str(text.get(at..edit.span.start as usize).unwrap_or(""));
        out.push_str(&edit.text);
        at = edit.span.end as usize;
    }
    out.push_str(text.get(at..).unwrap_or(""));
    out
}
