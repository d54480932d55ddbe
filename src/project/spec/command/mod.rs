//! `command` in `graphc.yaml`: a program; [`absent`] looks whether it is on this machine.

pub mod absent;

use std::fmt;
use std::time::Duration;

use crate::base::Span;
use crate::base::secret::{Secret, Secrets};

/// Variables that every program is given where they are set: what it needs to find other programs,
/// its own files and the language of its messages.
pub const DEFAULT_ENV: [&str; 12] = [
    "PATH",
    "HOME",
    "USER",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TZ",
    "TMPDIR",
    "TEMP",
    "TMP",
    "SYSTEMROOT",
    "USERPROFILE",
];

/// Most bytes of a result, unless the binding says otherwise.
pub const DEFAULT_LIMIT: usize = 16 << 20;

/// How a program is called: `command` in `graphc.yaml`.
#[derive(Clone, PartialEq)]
pub struct CommandSpec {
    /// Program and arguments; at least the program.
    pub argv: Vec<String>,
    /// Where each of them is written; empty where that isn't known.
    pub at: Vec<Span>,
    /// All variables that it sees, besides those of the call.
    pub env: Vec<(String, Secret)>,
    /// Secrets of the run that it sees as variables of their names.
    pub run_secrets: Vec<String>,
    /// What of the environment must not be told.
    pub secrets: Secrets,
    /// Longest time of one call.
    pub timeout: Option<Duration>,
    /// Most calls at a time.
    pub max_concurrency: Option<usize>,
    /// Most bytes of its stdout.
    pub limit: usize,
}

impl fmt::Debug for CommandSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.env.iter().map(|(name, _)| name.as_str()).collect();
        let Self {
            argv,
            timeout,
            limit,
            ..
        } = self;
        let text = format!("{argv:?} {names:?} {timeout:?} {limit}");
        f.write_str(&self.secrets.scrub(&text))
    }
}
