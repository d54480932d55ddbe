//! What a person writes: lines of stdin.

use std::io::{BufRead, Read};

/// The longest line that is read.
const LONGEST: u64 = 4 << 20;

/// What came.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// Something to say.
    Said(String),
    /// A line that can't be said, and why.
    Refused(String),
    /// The input has ended.
    End,
}

/// The next line that isn't empty.
pub fn next(input: &mut dyn BufRead) -> Line {
    loop {
        let mut bytes = Vec::new();
        match input.take(LONGEST).read_until(b'\n', &mut bytes) {
            Ok(0) => return Line::End,
            Ok(_) => {}
            Err(error) => return Line::Refused(format!("stdin can't be read: {error}")),
        }
        let whole = bytes.ends_with(b"\n") || (bytes.len() as u64) < LONGEST;
        if !whole {
            skip(input);
            return Line::Refused(format!("a line has at most {} MiB", LONGEST >> 20));
        }
        match String::from_utf8(bytes) {
            Ok(line) if line.trim().is_empty() => {}
            Ok(line) => return Line::Said(line.trim().to_owned()),
            Err(_) => return Line::Refused("the line is not UTF-8".to_owned()),
        }
    }
}

/// Passes over the rest of a line.
fn skip(input: &mut dyn BufRead) {
    loop {
        let mut rest = Vec::new();
        match input.take(LONGEST).read_until(b'\n', &mut rest) {
            Ok(read) if read > 0 && !rest.ends_with(b"\n") => {}
            _ => return,
        }
    }
}
