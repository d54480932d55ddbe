//! What helps after a run has failed: not always a resume alone.

use crate::ir::ErrorKind;
use crate::run::error::RunError;

use super::hint::Hint;

/// What to do where the input of a run was not taken.
pub fn not_begun(error: &RunError, hint: &Hint) -> String {
    let again = hint.run_again();
    match error.setting().filter(|by| by.starts_with("--")) {
        Some(setting) => format!(
            "the input was not taken; with a higher limit (`{setting}`) run it again: {again} {setting} N --input .."
        ),
        None => format!(
            "the input was not taken and the thread is as it was; run it again when the cause is gone: {again} --input .."
        ),
    }
}

/// What to do about the error, with commands to paste; `None` where a resume is all there is to it.
pub fn remedy(error: &RunError, hint: &Hint) -> Option<String> {
    let resume = hint.resume();
    if error.kind == ErrorKind::Unapproved {
        let node = error.node.as_deref().unwrap_or_default();
        return Some(format!(
            "the refusal is kept, a resume alone comes to it again; to be asked anew, and with that all other calls of the super-step made again: {}; to go on from it, give `{node}` an `on_error`, and then: {resume}",
            hint.threads("fork", &["--afresh"]),
        ));
    }
    if let Some(setting) = error.setting() {
        return Some(match setting.strip_prefix("--") {
            Some(_) => {
                let more = match error.kind {
                    ErrorKind::Timeout => "without that limit, or with a longer one",
                    _ => "with a higher limit",
                };
                let with = match error.kind {
                    ErrorKind::Timeout => resume,
                    _ => format!("{resume} {setting} N"),
                };
                format!("{more} (`{setting}`) it goes on: {with}")
            }
            None => format!("raise {setting}, then go on with: {resume}"),
        });
    }
    if error.kind == ErrorKind::Auth {
        return Some(format!(
            "give a key that is allowed there, in the environment or in `.env` beside graphc.yaml, then go on with: {resume}"
        ));
    }
    // One attempt: there is no policy that waits.
    if error.kind == ErrorKind::RateLimit && error.attempt <= 1 {
        return Some(format!(
            "wait, then go on with: {resume}; with `retry` in the node or its model a run waits and asks again by itself"
        ));
    }
    if error.kind == ErrorKind::InvalidRequest {
        return Some(format!(
            "the same request would be refused again: change in the flow or in the settings what it is made of, or the state ({}), then go on with: {resume}",
            hint.threads("state", &["--set", "FIELD=JSON"]),
        ));
    }
    None
}
