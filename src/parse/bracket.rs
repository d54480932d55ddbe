//! Which brackets are open, and which of them is likely the one that was forgotten.

/// How many brackets are looked at to tell what a wrong one was meant to be.
pub const MAX_LOOK: usize = 64;

/// What a closing bracket that isn't the expected one was meant to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Meant {
    /// What it is: what is open inside was forgotten, or it closes nothing.
    Itself,
    /// Another one, that of the innermost bracket.
    Instead(u8),
    /// Nothing: it is one too many.
    Nothing,
}

/// The bracket that one closes.
pub fn opening(bracket: u8) -> u8 {
    match bracket {
        b'}' => b'{',
        b')' => b'(',
        _ => b'[',
    }
}

/// The bracket that closes one.
pub fn closing(bracket: u8) -> u8 {
    match bracket {
        b'(' => b')',
        b'[' => b']',
        b'<' => b'>',
        _ => b'}',
    }
}

/// The closing brackets on the rest of a line whose opening ones stand before it.
pub fn closers(rest: &str) -> Vec<u8> {
    let line = rest.lines().next().unwrap_or("");
    let mut quote: Option<u8> = None;
    let mut open = 0_usize;
    let mut closers = Vec::new();
    for byte in line.bytes() {
        match (quote, byte) {
            (Some(closing), _) if closing == byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'{' | b'(' | b'[') => open += 1,
            (None, b'}' | b')' | b']') if open > 0 => open -= 1,
            (None, b'}' | b')' | b']') => closers.push(byte),
            _ => {}
        }
        if closers.len() == MAX_LOOK {
            break;
        }
    }
    closers
}

/// Closes a bracket on a row of open ones, each with its line; gives the number of mistakes
/// that this is, one that reaches into another line than `line` counted among them.
fn pop(stack: &mut Vec<(u8, usize)>, bracket: u8, line: Option<usize>) -> usize {
    match reach(stack, bracket) {
        Some(own) => {
            let skipped = stack.len() - own - 1;
            let opened = stack.get(own).map(|(_, line)| *line);
            let far = line.is_some() && line != opened;
            stack.truncate(own);
            skipped + usize::from(far)
        }
        None => 2,
    }
}

/// Which of the open brackets, each with its line, a closing one closes. A brace closes what is in it; a parenthesis reaches out
/// of a brace only where that is opened on its own line.
fn reach(stack: &[(u8, usize)], bracket: u8) -> Option<usize> {
    let wanted = opening(bracket);
    let mut brace: Option<usize> = None;
    for (at, (open, line)) in stack.iter().enumerate().rev() {
        if *open == wanted {
            let within = wanted == b'{' || brace.is_none_or(|brace| brace == *line);
            return within.then_some(at);
        }
        if *open == b'{' {
            brace = brace.or(Some(*line));
            if brace != Some(*line) {
                return None;
            }
        }
    }
    None
}

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
    /// Whether the line begins with a closing bracket.
    closes_first: bool,
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
    pub fn content(&mut self, byte: u8) {
        if !self.has_content {
            self.closes_first = matches!(byte, b'}' | b')' | b']');
        }
        self.has_content = true;
    }

    /// Blanks before the first word of the line, and whether nothing of it was read so far.
    pub fn indent(&self) -> (usize, bool) {
        (self.indent, !self.has_content)
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

    /// A closing bracket: gives those that it left open on its way to its own opening, the outermost
    /// first, or an error where it has none.
    pub fn close(&mut self, bracket: u8) -> Result<Vec<(u8, usize)>, ()> {
        let wanted = opening(bracket);
        if self.open.last().is_none_or(|open| open.bracket != wanted) {
            let (near, stack) = self.near();
            let own = near + reach(&stack, bracket).ok_or(())?;
            let skipped = self.open.drain(own..).skip(1);
            return Ok(skipped.map(|open| (open.bracket, open.at)).collect());
        }
        if let Some(opening) = self.open.pop() {
            let misplaced =
                !self.has_content && opening.line != self.line && opening.indent > self.indent;
            if misplaced && self.suspect.is_none() {
                self.suspect = Some((opening.bracket, opening.at, self.open.len()));
            }
            if self.open.is_empty() {
                self.suspect = None;
            }
        }
        Ok(Vec::new())
    }

    /// What a closing bracket was likely meant to be where another one is open, `then` being the closing brackets behind
    /// it on its line that are opened before it.
    pub fn meant(&self, bracket: u8, then: &[u8]) -> Meant {
        let (_, stack) = self.near();
        let Some((innermost, _)) = stack.last().copied() else {
            return Meant::Itself;
        };
        if innermost == opening(bracket) {
            return Meant::Itself;
        }
        let mut itself = stack.clone();
        // A line that begins by closing something goes on with what is around it.
        let line = (self.has_content && !self.closes_first).then_some(self.line);
        let first = pop(&mut itself, bracket, line);
        let mut instead = stack.clone();
        instead.pop();
        let ways = [
            (Meant::Itself, first, itself),
            (
                Meant::Instead(closing(innermost)),
                1 + self.apart(),
                instead,
            ),
            (Meant::Nothing, 1, stack),
        ];
        let cost = |(meant, cost, mut stack): (Meant, usize, Vec<(u8, usize)>)| {
            let behind: usize = then.iter().map(|next| pop(&mut stack, *next, line)).sum();
            let left = stack.last().is_some_and(|(_, line)| *line == self.line);
            (cost + behind + usize::from(left), meant)
        };
        let best = ways.into_iter().map(cost).min_by_key(|(cost, _)| *cost);
        best.map_or(Meant::Itself, |(_, meant)| meant)
    }

    /// 1 where what is open innermost is opened on another line, which this one doesn't stand under.
    fn apart(&self) -> usize {
        let under = |open: &Open| !self.has_content && open.indent == self.indent;
        let innermost = self.open.last();
        usize::from(innermost.is_some_and(|open| open.line != self.line && !under(open)))
    }

    /// The innermost brackets that are open, each with its line, and how many there are around them.
    fn near(&self) -> (usize, Vec<(u8, usize)>) {
        let around = self.open.len().saturating_sub(MAX_LOOK);
        let near = self.open.get(around..).unwrap_or_default();
        let near = near.iter().map(|open| (open.bracket, open.line));
        (around, near.collect())
    }

    /// Whether a closing bracket closes what is open innermost, or nothing is open at all.
    pub fn expects(&self, bracket: u8) -> bool {
        let innermost = self.open.last();
        innermost.is_none_or(|open| open.bracket == opening(bracket))
    }

    /// What is open innermost.
    pub fn innermost(&self) -> Option<usize> {
        self.open.last().map(|open| open.at)
    }

    /// What is open innermost where a closing bracket that isn't its own one stands on its line, or under the beginning of that.
    pub fn opened_for(&self) -> Option<usize> {
        let innermost = self.open.last()?;
        let under = !self.has_content && innermost.indent == self.indent;
        (innermost.line == self.line || under).then_some(innermost.at)
    }

    /// What is open innermost was meant to be another bracket.
    pub fn reopen(&mut self, bracket: u8) {
        if let Some(innermost) = self.open.last_mut() {
            innermost.bracket = bracket;
        }
    }

    /// The bracket at or behind `from` that was likely forgotten, by what stands under it.
    pub fn suspect_from(&self, from: usize) -> Option<(u8, usize)> {
        let (bracket, at, _) = self.suspect?;
        (bracket != b'{' && at >= from).then_some((bracket, at))
    }

    /// Nothing more will be closed: gives the bracket that was likely forgotten.
    pub fn give_up(&mut self) -> Option<(u8, usize)> {
        let innermost = self.open.last().map(|o| (o.bracket, o.at));
        self.open.clear();
        let suspect = self.suspect.take().map(|(bracket, at, _)| (bracket, at));
        innermost.map(|innermost| suspect.unwrap_or(innermost))
    }
}
