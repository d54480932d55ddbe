//! The text without what is reported.

use std::borrow::Cow;

use crate::base::foreign::expression::Index;
use crate::base::{FileId, Span};
use crate::diag::Diagnostics;

use super::{Scan, Scanned};

impl<'a> Scan<'a> {
    pub(super) fn finish(mut self, diags: &mut Diagnostics) -> Scanned<'a> {
        let end = self.text.trim_ascii_end().len();
        self.unclosed_before(end, "the text ends here");
        self.at = self.text.len();
        self.end_item();
        let foreign = self.foreign.findings(self.text, self.file);
        for found in self.found.into_iter().chain(foreign) {
            diags.push(found);
        }
        let mended = !(self.blanked.is_empty() && self.replaced.is_empty());
        self.blanked.extend(self.comments.places());
        let mut text = match mended || !self.blanked.is_empty() {
            false => Cow::Borrowed(self.text),
            true => Cow::Owned(mended_text(self.text, &self.blanked, &self.replaced)),
        };
        if mended && !is_balanced(&text, self.file) {
            // A bracket was put into a text in quotes: nothing is certain any more.
            let all = [(0, self.text.len())];
            text = Cow::Owned(mended_text(self.text, &all, &[]));
            self.spoilt.push(Span::new(self.file, 0, self.text.len()));
        }
        for places in [&mut self.reported, &mut self.surplus, &mut self.lost] {
            places.sort_unstable();
        }
        Scanned {
            text,
            index: Index::default(),
            lost: self.lost,
            comments: self.comments,
            damaged: self.spoilt,
            torn: self.reported,
            surplus: self.surplus,
        }
    }
}

/// Whether all brackets and quotes of a text are closed.
fn is_balanced(text: &str, file: FileId) -> bool {
    let mut scan = Scan::new(text, file);
    scan.run();
    scan.found.is_empty() && !scan.brackets.is_open()
}

/// The text with stretches blanked and replaced put in; line ends stay.
fn mended_text(text: &str, blanked: &[(usize, usize)], replaced: &[(usize, u8)]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for (at, byte) in replaced {
        if let Some(old) = bytes.get_mut(*at) {
            *old = *byte;
        }
    }
    for (start, end) in blanked {
        for byte in bytes.get_mut(*start..*end).unwrap_or_default() {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
    }
    // Whole characters were replaced by ASCII, so this is UTF-8 still.
    String::from_utf8(bytes).unwrap_or_default()
}
