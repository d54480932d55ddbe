//! The terminal where several show something at the same time: words of a model that come piece by piece, a count that is drawn over
//! itself, and whole lines on stderr, which begin on a line of their own.
//!
//! What can't be written leaves nobody to tell.

use std::io::{self, Write, stderr};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The line that the cursor is on.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Line {
    /// Empty.
    Empty,
    /// Has words, and more may come.
    Words,
    /// Empty, since a line came in the middle of words: these have no line to end.
    Broken,
    /// Has a count.
    Count,
}

static LINE: Mutex<Line> = Mutex::new(Line::Empty);

// No update of it has a middle.
fn locked() -> MutexGuard<'static, Line> {
    LINE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows words piece by piece; their last piece ends the line.
pub struct Words<W>(pub W);

impl<W: Write> Write for Words<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut line = locked();
        if *line == Line::Broken && bytes == b"\n" {
            *line = Line::Empty;
            return Ok(1);
        }
        let written = self.0.write(bytes)?;
        *line = match bytes.get(..written) {
            Some([.., b'\n']) => Line::Empty,
            Some([]) | None => *line,
            Some(_) => Line::Words,
        };
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Draws a count on stderr over the one before; an empty text takes it away.
pub fn count(text: &str) {
    let mut line = locked();
    let _ = write!(stderr(), "\r\x1b[K{text}");
    *line = match text {
        "" => Line::Empty,
        _ => Line::Count,
    };
}

/// Writes a line to stderr. Colours in it become what the terminal knows.
pub fn line(text: &str) {
    let mut line = locked();
    let mut stderr = anstream::AutoStream::new(stderr(), anstream::ColorChoice::Always);
    let _ = match *line {
        Line::Words if stderr.is_terminal() => stderr.write_all(b"\n"),
        // The next count draws it again.
        Line::Count => stderr.write_all(b"\r\x1b[K"),
        _ => Ok(()),
    };
    *line = match *line {
        Line::Words | Line::Broken => Line::Broken,
        Line::Empty | Line::Count => Line::Empty,
    };
    let _ = writeln!(stderr, "{text}");
}
