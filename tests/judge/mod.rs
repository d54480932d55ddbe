//! What must hold of a thread whose processes were killed, compared with one that nobody disturbed.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

/// What the world notes of a thread: the beginning or end of a call, or that a process was killed.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// `begin`, `end`, `fail` or `kill`; others are nothing to the judge.
    pub what: String,
    /// Pairs begin and end: the process of the tool, the number of the request.
    pub who: String,
    /// The process that made the call, or was killed.
    pub caller: String,
    /// The tool, or `model`.
    pub tool: String,
    /// The call's key.
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

/// Fails with the log.
pub fn complain(log: &[Line], what: &str) -> ! {
    let lines: Vec<String> = log
        .iter()
        .map(|l| format!("{} {} {} {} {}", l.what, l.who, l.tool, l.key, l.args))
        .collect();
    panic!("{what}\n{}", lines.join("\n"))
}

/// Checks what the world saw of a thread.
///
/// # Panics
/// With the log, where something was done that a calm run does not do, or done again without need.
pub fn judge(log: &[Line], calm: &[Line]) {
    let complain = |what: String| -> ! { complain(log, &what) };
    // The same calls under the same keys: an effect never gets a second key.
    for (thread, lives) in lives(log) {
        if lives.len() > 1 {
            complain(format!("thread `{thread}` has several lives: {lives:?}"));
        }
    }
    let (calls, expected) = (calls(log), calls(calm));
    if calls != expected {
        let odd = |one: &BTreeMap<_, usize>, other: &BTreeMap<_, usize>| -> Vec<String> {
            let odd = one
                .iter()
                .filter(|(call, keys)| other.get(*call) != Some(*keys));
            odd.map(|(call, keys)| format!("{call:?} under {keys} keys"))
                .collect()
        };
        let odd = [odd(&calls, &expected), odd(&expected, &calls)];
        complain(format!("not the calls of a calm run: {odd:?}"));
    }
    for (key, begun) in begun(log) {
        if let [.., last] = begun.as_slice()
            && end(log, *last).is_none()
        {
            complain(format!("`{key}` never ended"));
        }
        for pair in begun.windows(2) {
            let [first, again] = pair else { continue };
            if let Err(why) = may_repeat(log, *first, *again) {
                complain(format!("`{key}` was called again: {why}"));
            }
        }
    }
    // Repeats are bounded by what can be under way when a process dies.
    let kills = log.iter().filter(|line| line.is("kill")).count();
    let most = |lines: &[Line]| lines.iter().filter(|line| line.is("begin")).count();
    if most(log) > most(calm) + kills * 3 {
        complain("more calls than kills explain".to_owned());
    }
}

/// Tool, key and arguments of all calls, with the number of keys that they were made under. A key is `THREAD~LIFE/TASK#EFFECT`; the life
/// is each thread's own and left out. A server has a hash of it, which is left out as a whole.
fn calls(log: &[Line]) -> BTreeMap<(&str, String, &str), usize> {
    let mut keys: BTreeMap<_, BTreeSet<&str>> = BTreeMap::new();
    for line in log.iter().filter(|line| line.is("begin")) {
        let call = apart(&line.key).map_or_else(String::new, |(thread, _, effect)| {
            format!("{thread}/{effect}")
        });
        let call = (line.tool.as_str(), call, line.args.as_str());
        keys.entry(call).or_default().insert(&line.key);
    }
    keys.into_iter()
        .map(|(call, keys)| (call, keys.len()))
        .collect()
}

/// The lives that keys name, by thread.
fn lives(log: &[Line]) -> BTreeMap<&str, BTreeSet<Option<&str>>> {
    let mut all: BTreeMap<&str, BTreeSet<Option<&str>>> = BTreeMap::new();
    for line in log.iter().filter(|line| line.is("begin")) {
        if let Some((thread, life, _)) = apart(&line.key) {
            all.entry(thread).or_default().insert(life);
        }
    }
    all
}

/// Thread, life and the rest of a key; none of a hash.
fn apart(key: &str) -> Option<(&str, Option<&str>, &str)> {
    let (thread, effect) = key.split_once('/')?;
    Some(match thread.split_once('~') {
        Some((thread, life)) => (thread, Some(life), effect),
        None => (thread, None, effect),
    })
}

/// Where each key's calls begin.
fn begun(log: &[Line]) -> BTreeMap<&str, Vec<usize>> {
    let mut all: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, line) in log.iter().enumerate().filter(|(_, l)| l.is("begin")) {
        all.entry(&line.key).or_default().push(at);
    }
    all
}

fn end(log: &[Line], begun: usize) -> Option<usize> {
    let after = log.iter().enumerate().skip(begun);
    after
        .filter(|(_, line)| line.ends(&log[begun]))
        .map(|(at, _)| at)
        .next()
}

/// Whether a call may be made again: it has failed, or its process died before anybody could have
/// relied on its result. That it was relied on shows in a call that comes after it.
fn may_repeat(log: &[Line], first: usize, again: usize) -> Result<(), String> {
    let end = end(log, first).filter(|end| *end < again);
    let kill = (first..again).find(|at| log[*at].is("kill"));
    match (end, kill) {
        (Some(end), _) if log[end].is("fail") => Ok(()),
        (_, None) => Err("nothing was killed".to_owned()),
        (None, Some(_)) => Ok(()),
        (Some(end), Some(kill)) if end > kill => Ok(()),
        (Some(end), Some(kill)) => {
            let mut between = log[end..kill].iter().filter(|line| line.is("begin"));
            match between.find(|line| follows(&log[first].key, &line.key)) {
                Some(line) => Err(format!("`{}` had followed it already", line.key)),
                None => Ok(()),
            }
        }
    }
}

/// Whether the second call can only come after the first has ended: keys are `THREAD~LIFE/TASK#EFFECT`, a task
/// `STEP:NODE`, and what a task does it does in order.
fn follows(first: &str, second: &str) -> bool {
    let place = |key: &str| {
        let task = key.split('/').nth(1)?.split('#').next()?;
        let step: u64 = task.split(':').next()?.parse().ok()?;
        Some((step, task.to_owned()))
    };
    match (place(first), place(second)) {
        (Some(first), Some(second)) => second.0 > first.0 || first.1 == second.1,
        // Of a hash nobody knows.
        _ => false,
    }
}
