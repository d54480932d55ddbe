//! Results that were kept: no call that gave one of them is made again.

use super::judge::{Line, complain};

/// Checks what the world saw of a thread against what the store has said of it.
///
/// # Panics
/// With the log, where a call was made again whose result was kept, or a calm run has not kept a result.
pub fn judge(log: &[Line], calm: &[Line]) {
    for begun in calm.iter().filter(|line| line.is("begin")) {
        let key = &begun.key;
        let kept = |log: &[Line]| log.iter().position(|l| l.is("kept") && l.key == *key);
        if kept(calm).is_none() {
            complain(calm, &format!("the result of `{key}` was never kept"));
        }
        // A process may die between the two: what is kept is not always said.
        let behind = kept(log).map_or(&[][..], |at| &log[at..]);
        if behind
            .iter()
            .any(|line| line.is("begin") && line.key == *key)
        {
            complain(
                log,
                &format!("`{key}` was called again, and its result was kept"),
            );
        }
    }
}
