//! [`running`](super::running) of a build without the feature `run`: the same names, which say that it lacks what they stand for.

use std::ffi::OsString;
use std::path::Path;

use super::{Context, Exit, Failure};

/// The commands that run flows.
#[derive(Debug, clap::Subcommand)]
pub enum Command {
    /// What this build does not have
    #[command(
        name = "run",
        aliases = ["resume", "chat", "threads", "memory", "test", "evaluate", "export"],
    )]
    Absent(Args),
}

/// Arguments of a command that isn't there: any.
#[derive(Debug, clap::Args)]
#[command(hide = true, disable_help_flag = true)]
pub struct Args {
    /// What was written behind it
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub rest: Vec<OsString>,
}

/// Says that the command isn't there.
pub fn dispatch(_: Command, _: &Context) -> Result<Exit, Failure> {
    Err(lacking("command that runs them"))
}

fn lacking(what: &str) -> Failure {
    Failure::unusable(format!(
        "this build of graphc checks flows, and has no {what}"
    ))
    .help("install all of it: `cargo install --path .` where its sources are")
}

/// `graphc check --watch`
pub mod watch {
    use super::*;
    use crate::cli::check;

    /// Says that it isn't there.
    pub fn watch(_: &check::Args, _: &Context) -> Result<Exit, Failure> {
        Err(lacking("`--watch`"))
    }
}

/// `graphc check --online`
pub mod online {
    use super::*;
    use crate::ir::Flow;
    use crate::project::config::Config;
    use crate::project::lacking::Declared;
    use crate::project::tried::Row;

    /// What the flows need: there is none.
    pub enum Needs {}

    impl Needs {
        /// Adds what a flow needs.
        pub fn add(&mut self, _: &Flow, _: &Config, _: &Path, _: &Declared<'_>) {
            match *self {}
        }
    }

    /// Says that it isn't there.
    pub fn needs() -> Result<Needs, Failure> {
        Err(lacking("`--online`"))
    }

    /// A row for each thing that the flows need.
    pub fn rows(needs: Needs, _: &Context) -> Result<Vec<Row>, Failure> {
        match needs {}
    }

    /// What is wrong with an address of PostgreSQL: without the store nothing is known of it.
    pub fn wrong_address(_: &str, _: &Path) -> Option<String> {
        None
    }
}

/// `graphc import mcp`
pub mod mcp {
    use super::*;

    pub use super::Args;

    /// Says that it isn't there.
    pub fn run(_: &Args, _: &Context) -> Result<Exit, Failure> {
        Err(lacking("`import mcp`"))
    }
}

/// `graphc viz --thread`
pub mod way {
    use super::*;
    use crate::ir::Flow;
    use crate::project::Project;
    use crate::viz::trace::Trace;

    /// Says that it isn't there.
    pub fn read(
        thread: &str,
        _: Option<String>,
        _: &Flow,
        _: &Project,
        _: &Context,
    ) -> Result<Trace, Failure> {
        Err(lacking(&format!(
            "store that could have the thread `{thread}`"
        )))
    }
}

/// Logs: what only checks has none.
pub mod logs {
    use super::Failure;
    use crate::base::secret::Secrets;

    /// No options.
    #[derive(Debug, Clone, Default, clap::Args)]
    pub struct LogOptions {}

    impl LogOptions {
        /// Has nothing to begin.
        pub fn start(&self) -> Result<(), Failure> {
            Ok(())
        }
    }

    /// Has nothing to hide.
    pub fn hide(_: &Secrets) {}
}
