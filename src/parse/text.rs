//! Quoted texts: strings of expressions, plain strings and templates.
//!
//! A string is decoded piece by piece, and each piece knows where it stands in the file, so that an
//! error inside a template points into the file.

use crate::ast::node::TemplateText;
use crate::base::Span;
use crate::diag::{Diagnostic, Diagnostics, codes};

/// The parts of a string literal.
pub struct Quoted<'a> {
    /// Backslashes mean nothing.
    pub raw: bool,
    /// A sequence of bytes.
    pub bytes: bool,
    /// Between three quotes.
    pub triple: bool,
    /// What stands between the quotes.
    pub content: &'a str,
    /// Where that begins, in bytes from the literal's start.
    pub offset: usize,
}

impl<'a> Quoted<'a> {
    /// Takes a literal that the grammar accepted apart.
    pub fn new(literal: &'a str) -> Self {
        let quoted = literal.trim_start_matches(|c: char| c.is_ascii_alphabetic());
        let prefix = literal.len() - quoted.len();
        let letters = literal.get(..prefix).unwrap_or("");
        let triple = quoted.starts_with("\"\"\"") || quoted.starts_with("'''");
        let width = if triple { 3 } else { 1 };
        Self {
            raw: letters.contains(['r', 'R']),
            bytes: letters.contains(['b', 'B']),
            triple,
            content: quoted
                .get(width..quoted.len().saturating_sub(width))
                .unwrap_or(""),
            offset: prefix + width,
        }
    }
}

/// Receives a decoded literal and where its parts come from.
#[derive(Default)]
struct Decoded {
    out: Vec<u8>,
    anchors: Vec<(u32, u32)>,
}

impl Decoded {
    fn anchor(&mut self, file_offset: usize) {
        let (text, file) = (self.out.len() as u32, file_offset as u32);
        // Empty pieces leave nothing to map.
        if let Some(last) = self.anchors.last_mut()
            && last.0 == text
        {
            *last = (text, file);
            return;
        }
        if self
            .anchors
            .last()
            .is_none_or(|(t, f)| u64::from(*f) + u64::from(text - *t) != u64::from(file))
        {
            self.anchors.push((text, file));
        }
    }
}

/// Decodes escapes and reports bad ones, each at its place.
pub struct Decoder<'d> {
    /// Where bad escapes go.
    pub diags: &'d mut Diagnostics,
    /// The literal's place.
    pub span: Span,
}

impl Decoder<'_> {
    /// The text of a string literal.
    pub fn string(&mut self, quoted: &Quoted) -> String {
        let mut decoded = Decoded::default();
        self.piece(quoted, quoted.content, quoted.offset, &mut decoded);
        String::from_utf8_lossy(&decoded.out).into_owned()
    }

    /// The bytes of a bytes literal.
    pub fn bytes(&mut self, quoted: &Quoted) -> Vec<u8> {
        let mut decoded = Decoded::default();
        self.piece(quoted, quoted.content, quoted.offset, &mut decoded);
        decoded.out
    }

    /// The text of a template: for `"""`, the first line end and the common indentation are dropped.
    pub fn template(&mut self, quoted: &Quoted) -> TemplateText {
        let mut decoded = Decoded::default();
        if quoted.triple {
            self.block(quoted, &mut decoded);
        } else {
            self.piece(quoted, quoted.content, quoted.offset, &mut decoded);
        }
        let text = String::from_utf8_lossy(&decoded.out).into_owned();
        TemplateText::new(text, self.span, decoded.anchors)
    }

    fn block(&mut self, quoted: &Quoted, decoded: &mut Decoded) {
        let indent = common_indent(quoted.content);
        let mut offset = quoted.offset;
        let mut first = true;
        for line in quoted.content.split_inclusive('\n') {
            let blank = line.trim_ascii().is_empty();
            let skipped = match (first, blank) {
                (true, true) if line.ends_with('\n') => line.len(),
                (true, _) => 0,
                // A line of blanks only, the one before the closing quotes included, is an empty line.
                (false, true) => line.trim_end_matches(['\r', '\n']).len(),
                (false, false) => indent,
            };
            let rest = line.get(skipped..).unwrap_or("");
            self.piece(quoted, rest, offset + skipped, decoded);
            offset += line.len();
            first = false;
        }
    }

    /// Decodes a piece of the content that begins `offset` bytes into the literal.
    fn piece(&mut self, quoted: &Quoted, piece: &str, offset: usize, decoded: &mut Decoded) {
        let base = self.span.start as usize + offset;
        let mut at = 0;
        while let Some(rest) = piece.get(at..).filter(|rest| !rest.is_empty()) {
            let plain = match quoted.raw {
                true => rest.len(),
                false => rest.find('\\').unwrap_or(rest.len()),
            };
            decoded.anchor(base + at);
            decoded
                .out
                .extend_from_slice(rest.get(..plain).unwrap_or("").as_bytes());
            at += plain;
            if let Some(escape) = rest.get(plain..).filter(|e| !e.is_empty()) {
                decoded.anchor(base + at);
                at += self.escape(escape, base + at, quoted, &mut decoded.out);
            }
        }
    }

    /// Decodes the escape that `text` begins with; gives its length.
    fn escape(&mut self, text: &str, at: usize, quoted: &Quoted, out: &mut Vec<u8>) -> usize {
        let Some(letter) = text.chars().nth(1) else {
            return text.len().max(1);
        };
        let simple = match letter {
            'a' => 0x07,
            'b' => 0x08,
            'f' => 0x0c,
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            'v' => 0x0b,
            '\\' | '?' | '"' | '\'' | '`' => letter as u8,
            _ => return self.coded_escape(text, letter, at, quoted, out),
        };
        out.push(simple);
        2
    }

    /// `\x41`, `\u00e9`, `\U0001F600`, `\101`.
    fn coded_escape(
        &mut self,
        text: &str,
        letter: char,
        at: usize,
        quoted: &Quoted,
        out: &mut Vec<u8>,
    ) -> usize {
        let (skip, digits, radix) = match letter {
            'x' | 'X' => (2, 2, 16),
            'u' if !quoted.bytes => (2, 4, 16),
            'U' if !quoted.bytes => (2, 8, 16),
            '0'..='3' => (1, 3, 8),
            _ => {
                let length = 1 + letter.len_utf8();
                let place = if quoted.bytes { " of bytes" } else { "" };
                self.bad(at, length, format!("`\\{letter}` is no escape{place}"))
                    .help("write `\\\\` for a backslash, or put `r` before the string");
                return length;
            }
        };
        let code = text
            .get(skip..skip + digits)
            .filter(|code| code.chars().all(|c| c.is_digit(radix)))
            .and_then(|code| u32::from_str_radix(code, radix).ok());
        let Some(code) = code else {
            let what = if radix == 8 { "octal" } else { "hexadecimal" };
            let missing = format!("`\\{letter}` needs {digits} {what} digits");
            let length = skip.max(1 + letter.len_utf8());
            let message = match radix {
                8 => format!("an escape of this form needs {digits} {what} digits"),
                _ => missing,
            };
            self.bad(at, length, message);
            return length;
        };
        let is_byte = quoted.bytes && matches!(letter, 'x' | 'X' | '0'..='3');
        match char::from_u32(code) {
            _ if is_byte => out.push(code as u8),
            Some(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
            None => {
                self.bad(at, skip + digits, "this code is no character".to_owned());
            }
        }
        skip + digits
    }

    fn bad(&mut self, at: usize, length: usize, message: String) -> Reported<'_> {
        let span = Span::new(self.span.file, at, at + length);
        Reported {
            diags: self.diags,
            found: Some(Diagnostic::new(&codes::BAD_LITERAL, message, span)),
        }
    }
}

/// A finding that is pushed when it is complete.
struct Reported<'d> {
    diags: &'d mut Diagnostics,
    found: Option<Diagnostic>,
}

impl Reported<'_> {
    fn help(mut self, help: &str) {
        self.found = self.found.take().map(|found| found.help(help));
    }
}

impl Drop for Reported<'_> {
    fn drop(&mut self) {
        if let Some(found) = self.found.take() {
            self.diags.push(found);
        }
    }
}

/// Blanks that all lines but the first and the empty ones begin with.
fn common_indent(content: &str) -> usize {
    let mut lines = content
        .split('\n')
        .skip(1)
        .filter(|line| !line.trim_ascii().is_empty());
    let Some(first) = lines.next() else { return 0 };
    let is_blank = |b: &u8| matches!(b, b' ' | b'\t');
    let indent = first.bytes().take_while(is_blank).count();
    let first = first.as_bytes().get(..indent).unwrap_or_default();
    lines.fold(indent, |least, line| {
        let same = line.bytes().zip(first).take_while(|(a, b)| a == *b).count();
        least.min(same)
    })
}
