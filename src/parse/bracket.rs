//! Which brackets are open, and which of them is likely the one that was forgotten.

/// A bracket that is open.
struct Open {
    bracket: u8,
    at: usize,
    /// Blanks before the first word of its line.
    indent: usize,
    line: usize,
}

/// The open brackets at a place of a text.
#[derive(Default)]
pub struct Brackets {
    open: Vec<Open>,
    line: usize,
    indent: usize,
    has_content: bool,
    /// The first brace whose closing one stood under something else.
    suspect: Option<(u8, usize, usize)>,
}

impl Brackets {
    /// A new line begins.
    pub fn new_line(&mut self) {
        self.line += 1;
        self.indent = 0;
        self.has_content = false;
    }

    /// A blank was read.
    pub fn blank(&mut self, byte: u8) {
        if !self.has_content && byte != b'\r' {
            self.indent += 1;
        }
    }

    /// Something else was read.
    pub fn content(&mut self) {
        self.has_content = true;
    }

    /// Whether the line has nothing before this place.
    pub fn first_column(&self) -> bool {
        self.indent == 0 && !self.has_content
    }

    /// Whether nothing is open.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Whether something is open.
    pub fn is_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// How many are open.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// An opening bracket.
    pub fn open(&mut self, bracket: u8, at: usize) {
        self.open.push(Open {
            bracket,
            at,
            indent: self.indent,
            line: self.line,
        });
    }

    /// A closing bracket: gives the innermost of those that it left open on its way to its own
    /// opening, or an error where it has none.
    pub fn close(&mut self, bracket: u8) -> Result<Option<(u8, usize)>, ()> {
        let wanted = match bracket {
            b'}' => b'{',
            b')' => b'(',
            _ => b'[',
        };
        let innermost = self.open.last().map(|o| (o.bracket, o.at));
        if innermost.is_none_or(|(b, _)| b != wanted) {
            // A brace closes what is in it; a parenthesis never reaches out of its braces.
            let own = self
                .open
                .iter()
                .rposition(|o| o.bracket == wanted || (wanted != b'{' && o.bracket == b'{'))
                .filter(|i| self.open.get(*i).is_some_and(|o| o.bracket == wanted))
                .ok_or(())?;
            self.open.truncate(own);
            return Ok(innermost);
        }
        if let Some(opening) = self.open.pop() {
            let misplaced = bracket == b'}'
                && !self.has_content
                && opening.line != self.line
                && opening.indent > self.indent;
            if misplaced && self.suspect.is_none() {
                self.suspect = Some((opening.bracket, opening.at, self.open.len()));
            }
            if self.open.is_empty() {
                self.suspect = None;
            }
        }
        Ok(None)
    }

    /// Nothing more will be closed: gives the bracket that was likely forgotten.
    pub fn give_up(&mut self) -> Option<(u8, usize)> {
        let innermost = self.open.last().map(|o| (o.bracket, o.at));
        self.open.clear();
        let suspect = self.suspect.take().map(|(bracket, at, _)| (bracket, at));
        innermost.map(|innermost| suspect.unwrap_or(innermost))
    }
}
