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
    let mut taken: Vec<&Edit> = Vec::new();
    let mut mended = Mended::default();
    for finding in found.diagnostics.iter().filter(|d| !d.fix.is_empty()) {
        if writable(found, finding) && free(&taken, finding) {
            taken.extend(&finding.fix);
            mended.edits += 1;
        }
    }
    let mut by_file: BTreeMap<FileId, Vec<&Edit>> = BTreeMap::new();
    for edit in taken {
        by_file.entry(edit.span.file).or_default().push(edit);
    }
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

fn free(taken: &[&Edit], finding: &Diagnostic) -> bool {
    let mut pairs = finding
        .fix
        .iter()
        .flat_map(|edit| taken.iter().map(move |other| (edit.span, other.span)));
    !pairs.any(|(a, b)| overlap(a, b))
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
