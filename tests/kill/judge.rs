//! What must hold of a thread whose processes were killed, compared with one that nobody disturbed.

use std::collections::BTreeSet;

use super::world::Line;

/// Checks what the world saw of a thread.
///
/// # Panics
/// With the log, where something was done that a calm run does not do, or done again without need.
pub fn judge(log: &[Line], calm: &[Line]) {
    let complain = |what: String| -> ! {
        let lines: Vec<String> = log
            .iter()
            .map(|l| format!("{} {} {} {}", l.what, l.name, l.key, l.args))
            .collect();
        panic!("{what}\n{}", lines.join("\n"))
    };
    // The same calls under the same keys: an effect never gets a second key.
    let (calls, expected) = (calls(log), calls(calm));
    if calls != expected {
        let odd: Vec<_> = calls.symmetric_difference(&expected).collect();
        complain(format!("not the calls of a calm run: {odd:?}"));
    }
    for (_, key, _) in &calls {
        let of_it = |line: &&Line| line.key == *key || line.what == "kill";
        let mut begun = false;
        for line in log.iter().filter(of_it) {
            match line.what.as_str() {
                "begin" if begun => complain(format!(
                    "`{key}` was called again, and nothing had ended it"
                )),
                "begin" => begun = true,
                "fail" | "kill" => begun = false,
                _ => {}
            }
        }
        // A process may die between the two: what is kept is not always said.
        let kept = |log: &[Line]| log.iter().position(|l| l.what == "kept" && l.key == *key);
        if kept(calm).is_none() {
            complain(format!("the result of `{key}` was never kept"));
        }
        let behind = kept(log).map_or(&[][..], |at| &log[at..]);
        if behind
            .iter()
            .any(|line| line.what == "begin" && line.key == *key)
        {
            complain(format!("`{key}` was called again, and its result was kept"));
        }
    }
}

/// Name, key and arguments of all calls.
fn calls(log: &[Line]) -> BTreeSet<(&str, &str, &str)> {
    let begun = log.iter().filter(|line| line.what == "begin");
    begun
        .map(|l| (l.name.as_str(), l.key.as_str(), l.args.as_str()))
        .collect()
}
