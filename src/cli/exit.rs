//! Exit statuses.

use std::process::ExitCode;

/// How the process ends. Scripts rely on the numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// 0: done.
    Done,
    /// 1: the flow has errors, a scenario failed, an expression can't be evaluated.
    Errors,
    /// 2: wrong usage, or it could not start.
    Unusable,
    /// 3: the run is interrupted and waits for an answer.
    Interrupted,
    /// 4: the flow failed.
    Failed,
    /// 5: the run came to its end, and its output could not be written.
    Unwritten,
    /// 130: cancelled by Ctrl-C; the thread can be resumed.
    Cancelled,
}

impl Exit {
    /// The number that the process gives.
    pub fn status(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Errors => 1,
            Exit::Unusable => 2,
            Exit::Interrupted => 3,
            Exit::Failed => 4,
            Exit::Unwritten => 5,
            Exit::Cancelled => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit.status())
    }
}
