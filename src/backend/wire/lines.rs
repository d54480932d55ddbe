//! Bytes that come in chunks, split into lines in linear time: no byte is looked at twice.

/// Most bytes of one line.
pub const LINE: usize = 8 << 20;

/// A line is longer than [`LINE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LineTooLong;

/// A line ends with `\n`, `\r\n` or `\r`. A byte-order mark before the first one is skipped.
#[derive(Debug, Default)]
pub struct Lines {
    bytes: Vec<u8>,
    /// Where the line begins that is read now.
    start: usize,
    /// Up to where there is no end of it.
    seen: usize,
    /// Whether the last line ended with a `\r` at the end of a chunk: a `\n` that follows belongs to it.
    after_return: bool,
    /// Whether a line has been given.
    begun: bool,
}

impl Lines {
    /// Takes in a chunk.
    pub fn push(&mut self, chunk: &[u8]) {
        // Nothing is moved while a long line grows: its start is 0 from the second chunk on.
        self.bytes.drain(..self.start);
        self.seen -= self.start;
        self.start = 0;
        self.bytes.extend_from_slice(chunk);
    }

    /// The next line that has ended, without its end.
    ///
    /// # Errors
    /// Where one is too long, ended or not.
    pub fn next_line(&mut self) -> Result<Option<&[u8]>, LineTooLong> {
        if self.after_return && self.seen < self.bytes.len() {
            self.after_return = false;
            if self.bytes.get(self.seen) == Some(&b'\n') {
                self.start += 1;
                self.seen += 1;
            }
        }
        let unseen = self.bytes.get(self.seen..).unwrap_or_default();
        let end = unseen.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
        let Some(end) = end.map(|end| self.seen + end) else {
            self.seen = self.bytes.len();
            return match self.seen - self.start > LINE {
                true => Err(LineTooLong),
                false => Ok(None),
            };
        };
        if end - self.start > LINE {
            return Err(LineTooLong);
        }
        let line = self.start..end;
        self.after_return = self.bytes.get(end) == Some(&b'\r');
        self.start = end + 1;
        self.seen = self.start;
        Ok(Some(self.line(line)))
    }

    /// What stands behind the last end of a line, once no more comes.
    pub fn rest(&mut self) -> &[u8] {
        let rest = self.start..self.bytes.len();
        self.start = self.bytes.len();
        self.seen = self.start;
        self.line(rest)
    }

    fn line(&mut self, line: std::ops::Range<usize>) -> &[u8] {
        let line = self.bytes.get(line).unwrap_or_default();
        match std::mem::replace(&mut self.begun, true) {
            true => line,
            false => line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line),
        }
    }
}
