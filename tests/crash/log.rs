//! What the world saw: a file that tools, the model server and the one who starts and kills processes
//! write to, line by line.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

/// A line: the beginning or end of a call, or that a process was killed.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Line {
    /// `begin`, `end`, `fail` or `kill`.
    pub what: String,
    /// The process of the tool, or the number of the model request: what pairs begin and end.
    pub who: String,
    /// The `graphc` process that made the call, or was killed.
    pub caller: String,
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
        caller,
        tool,
        key,
        args,
    } = line;
    let text = format!("{what}\t{who}\t{caller}\t{tool}\t{key}\t{args}\n");
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
            caller: part(),
            tool: part(),
            key: part(),
            args: part(),
        }
    });
    in_order(lines.collect())
}

/// A call that a process made before it was killed, but that was heard of only afterwards, belongs
/// before the kill.
fn in_order(lines: Vec<Line>) -> Vec<Line> {
    let mut ordered: Vec<Line> = Vec::new();
    for line in lines {
        let killed = ordered
            .iter()
            .position(|known| known.is("kill") && known.caller == line.caller);
        match killed.filter(|_| line.is("begin")) {
            Some(at) => ordered.insert(at, line),
            None => ordered.push(line),
        }
    }
    ordered
}
