//! What the world saw: a file that tools, the model server and the one who kills write to, line by line.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

/// A line: the beginning or end of a call, or a kill.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Line {
    /// `begin`, `end`, `fail` or `kill`.
    pub what: String,
    /// The process of the tool, or the number of the model request: what pairs begin and end.
    pub who: String,
    pub tool: String,
    pub key: String,
    pub args: String,
}

impl Line {
    pub fn is(&self, what: &str) -> bool {
        self.what == what
    }

    /// Whether a call, by whomever, has ended with it.
    pub fn ends(&self, begun: &Line) -> bool {
        (self.is("end") || self.is("fail")) && self.who == begun.who && self.key == begun.key
    }
}

/// One write, so that lines of several processes don't mix.
pub fn write(path: &Path, line: &Line) {
    let Line {
        what,
        who,
        tool,
        key,
        args,
    } = line;
    let text = format!("{what}\t{who}\t{tool}\t{key}\t{args}\n");
    let file = OpenOptions::new().append(true).create(true).open(path);
    file.unwrap().write_all(text.as_bytes()).unwrap();
}

pub fn read(path: &Path) -> Vec<Line> {
    let text = std::fs::read_to_string(path).unwrap();
    let lines = text.split_inclusive('\n').filter(|l| l.ends_with('\n'));
    let lines = lines.map(|line| {
        let mut parts = line.trim_end().split('\t').map(str::to_owned);
        let mut part = || parts.next().unwrap_or_default();
        Line {
            what: part(),
            who: part(),
            tool: part(),
            key: part(),
            args: part(),
        }
    });
    lines.collect()
}
