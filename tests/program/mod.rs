//! Random programs: texts that the grammar takes, whatever bytes they are made from.
//!
//! [`Program::new`] reads its choices from bytes; where they run out, each choice is the simplest one. So a
//! shorter row of bytes, or one with smaller numbers, gives a simpler program, and a property test (or a
//! fuzzer) that shrinks its bytes shrinks the program. The names in it mean nothing: it parses without a finding and is
//! not expected to check.
#![allow(dead_code)]

mod expr;
mod graph;
mod item;
mod layout;

/// A token of a program.
#[derive(Debug, Clone)]
pub struct Piece {
    pub text: String,
    /// No comment may stand before it: the grammar looks ahead over blanks alone here.
    pub glued: bool,
    /// A comma or a line end has to stand before it.
    pub separated: Separator,
    /// A declaration begins with it.
    pub declares: bool,
}

/// What has to stand before a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Separator {
    None,
    /// Nothing, or a comma.
    Free,
    /// A comma or a line end.
    Entry,
    /// A comma.
    Comma,
}

/// A program and what is left of the bytes that it was made from.
pub struct Program<'a> {
    bytes: &'a [u8],
    pub pieces: Vec<Piece>,
    depth: usize,
    separator: Separator,
    declares: bool,
}

impl<'a> Program<'a> {
    /// A program from the choices in `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        let mut program = Self {
            bytes,
            pieces: Vec::new(),
            depth: 0,
            separator: Separator::None,
            declares: false,
        };
        program.file();
        program
    }

    /// The program with blanks where they are needed, and a line for each declaration.
    pub fn plain(&self) -> String {
        layout::plain(&self.pieces)
    }

    /// The program with blanks, line ends and comments anywhere that they may stand, as `bytes` choose.
    pub fn scattered(&self, bytes: &[u8]) -> String {
        layout::scattered(&self.pieces, bytes)
    }

    /// A number below `limit`.
    fn below(&mut self, limit: usize) -> usize {
        below(&mut self.bytes, limit)
    }

    /// Rarely true; false where the bytes have run out.
    fn sometimes(&mut self) -> bool {
        self.below(3) == 2
    }

    fn pick<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        texts[self.below(texts.len())]
    }

    /// Whether the program may still grow at this depth.
    fn grows(&mut self) -> bool {
        self.depth < 5 && self.sometimes()
    }

    fn put(&mut self, text: &str) {
        self.pieces.push(Piece {
            text: text.to_owned(),
            glued: false,
            separated: std::mem::replace(&mut self.separator, Separator::None),
            declares: std::mem::take(&mut self.declares),
        });
    }

    fn puts(&mut self, texts: &[&str]) {
        for text in texts {
            self.put(text);
        }
    }

    fn put_glued(&mut self, text: &str) {
        self.put(text);
        if let Some(last) = self.pieces.last_mut() {
            last.glued = true;
        }
    }

    /// Entries between brackets, with commas or line ends as they must be.
    fn braces(&mut self, most: usize, separator: Separator, mut entry: impl FnMut(&mut Self)) {
        self.put("{");
        self.depth += 1;
        for i in 0..self.below(most + 1) {
            if i > 0 {
                self.separator = separator;
            }
            entry(self);
        }
        self.depth -= 1;
        if self.sometimes() && self.pieces.last().is_some_and(|p| p.text != "{") {
            self.put(",");
        }
        self.separator = Separator::None;
        self.put("}");
    }

    /// A list with commas, with `least` entries or more.
    fn list(&mut self, brackets: [&str; 2], least: usize, mut entry: impl FnMut(&mut Self)) {
        self.put(brackets[0]);
        self.depth += 1;
        let count = least + self.below(3);
        for i in 0..count {
            if i > 0 {
                self.put(",");
            }
            entry(self);
        }
        self.depth -= 1;
        if count > 0 && self.sometimes() {
            self.put(",");
        }
        self.put(brackets[1]);
    }

    /// A name of a node, field, parameter: also words that are keywords elsewhere.
    fn name(&mut self) {
        let name = self.pick(&[
            "a",
            "b",
            "topic",
            "docs",
            "x1",
            "state",
            "model",
            "output",
            "when_done",
            "set",
            "tools",
            "node",
            "a_rather_long_name_that_takes_room",
        ]);
        self.put(name);
    }

    fn upper(&mut self) {
        let name = self.pick(&["A", "Doc", "ChangeSet", "X2"]);
        self.put(name);
    }

    /// A number below `limit` as text.
    fn count(&mut self) {
        let count = self.below(20).to_string();
        self.put(&count);
    }
}

/// A number below `limit` from the next byte.
fn below(bytes: &mut &[u8], limit: usize) -> usize {
    let Some((first, rest)) = bytes.split_first() else {
        return 0;
    };
    *bytes = rest;
    *first as usize % limit.max(1)
}
