//! What holds under `--durability exit`, where a run that was killed is as if it had not been started or resumed.

use std::collections::{BTreeMap, BTreeSet};

use super::judge::{Line, complain};

/// Checks what the world saw of a thread: the calls of a calm run, under their keys. One is made again only where it has failed, or
/// its process died since.
///
/// # Panics
/// With the log, where something else was done.
pub fn judge(log: &[Line], calm: &[Line]) {
    let calls = |log: &[Line]| -> BTreeSet<[String; 3]> {
        let begun = log.iter().filter(|line| line.is("begin"));
        let names = begun.map(|l| [&l.tool, &l.key, &l.args].map(String::clone));
        names.collect()
    };
    if calls(log) != calls(calm) {
        complain(log, "not the calls of a calm run");
    }
    let mut last: BTreeMap<&str, usize> = BTreeMap::new();
    for (at, line) in log.iter().enumerate().filter(|(_, l)| l.is("begin")) {
        let Some(before) = last.insert(&line.key, at) else {
            continue;
        };
        let between = &log[before..at];
        let failed = between.iter().any(|l| l.is("fail") && l.ends(&log[before]));
        if !failed && !between.iter().any(|l| l.is("kill")) {
            complain(log, &format!("`{}` was called again", line.key));
        }
        if line.tool == "charge" {
            complain(log, &format!("`{}` was called twice", line.key));
        }
    }
    for (key, at) in last {
        if !log[at..].iter().any(|line| line.ends(&log[at])) {
            complain(log, &format!("`{key}` never ended"));
        }
    }
}
