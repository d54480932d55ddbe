//! Cutting an input down to what matters of it.

use std::path::Path;
use std::time::{Duration, Instant};

use super::watch::{Finding, replay};

/// How long one finding is cut.
const TIME: Duration = Duration::from_secs(60);

/// A shorter input that fails in the same way; the input itself where there is none.
pub fn shrink(folder: &Path, finding: &Finding) -> String {
    let begin = Instant::now();
    let patience = Duration::from_secs(8);
    let place = |why: &str| why.split(": ").next().unwrap_or("").to_owned();
    let fails = |text: &str| {
        let outcome = replay(folder, finding.entry, text, patience);
        outcome.is_err_and(|why| place(&why) == place(&finding.why))
    };
    let mut text = finding.text.clone();
    for unit in [Unit::Line, Unit::Word, Unit::Char] {
        let mut pieces = unit.pieces(&text);
        let mut size = pieces.len().div_ceil(2).max(1);
        while size > 0 && begin.elapsed() < TIME {
            let mut at = 0;
            while at < pieces.len() && begin.elapsed() < TIME {
                let mut fewer = pieces.clone();
                fewer.drain(at..(at + size).min(fewer.len()));
                match fails(&fewer.concat()) {
                    true => pieces = fewer,
                    false => at += size,
                }
            }
            size /= 2;
        }
        text = pieces.concat();
    }
    text
}

enum Unit {
    Line,
    Word,
    Char,
}

impl Unit {
    fn pieces(&self, text: &str) -> Vec<String> {
        match self {
            Unit::Line => text.split_inclusive('\n').map(str::to_owned).collect(),
            Unit::Word => super::mutate::words(text)
                .into_iter()
                .map(str::to_owned)
                .collect(),
            Unit::Char => text.chars().map(String::from).collect(),
        }
    }
}
