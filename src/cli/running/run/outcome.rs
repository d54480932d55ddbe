//! What a run came to, as a person is told it on stderr.

use crate::base::name;
use crate::run::engine::RunResult;
use crate::run::store::RunState;

use super::super::{Failure, flow};
use super::remedy::{not_begun, remedy};
use super::session::Session;
use super::snippet;

/// Where no store outlives the process.
pub const IN_MEMORY: &str = "the thread was kept in memory only: nothing can go on with it";

impl Session<'_> {
    /// Says on stderr why it failed, or how to go on.
    pub(in crate::cli) fn say(&self, result: &RunResult) {
        for warning in &result.warnings {
            self.context.say(&format!("warning: {warning}"));
        }
        match (result.state, &result.error) {
            (RunState::Interrupted | RunState::Cancelled, _) if !self.keeps => {
                self.context.say(IN_MEMORY);
            }
            (RunState::Interrupted, _) => {
                let flow = &self.engine.plan.flow;
                self.context.say(&self.hint.interrupted(result, flow));
            }
            (RunState::Failed, Some(error)) => {
                let node = error.path.as_ref().map(|path| format!(" in `{path}`"));
                let place = error.place.as_ref();
                let place =
                    place.map(|at| format!(" ({})", flow::file_name(&self.file, &at.to_string())));
                let around: String = [node, place].into_iter().flatten().collect();
                let kind = error.kind.word();
                let style = self.context.terminal.style;
                let place = error.place.as_ref();
                let lines = place.and_then(|place| snippet::of(place, &self.file, style));
                let failure = Failure::unusable(format!("{kind}{around}: {}", error.message));
                let failure = failure.lines(lines);
                match self.keeps {
                    true if !result.begun => failure.help(not_begun(error, &self.hint)),
                    true => failure.help(remedy(error, &self.hint).unwrap_or_else(|| {
                        format!("when its cause is gone, go on with: {}", self.hint.resume())
                    })),
                    false => failure,
                }
                .say();
            }
            (RunState::Cancelled, _) => {
                let command = self.hint.resume();
                self.context
                    .say(&format!("cancelled; go on with: {command}"));
            }
            (RunState::Done, _) => {
                for half in &result.half_joins {
                    let missing = name::list(half.missing.iter().map(String::as_str));
                    let half = half.shown();
                    self.context
                        .say(&format!("note: {half} was left waiting for {missing}"));
                }
            }
            _ => {}
        }
    }
}
