//! What the world saw: a file that tools, the model server and the one who starts and kills processes
//! write to, line by line.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

pub use super::judge::Line;

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
