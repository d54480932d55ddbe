//! What a build without the feature `run` does not have.

use std::ffi::OsString;

use super::Failure;

/// Arguments of a command that isn't there: any.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What was written behind it
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    pub rest: Vec<OsString>,
}

/// That a command isn't there.
pub fn command() -> Failure {
    failure("this build of graphc checks flows, and has no command that runs them")
}

/// That a part of a command isn't there, such as an option.
pub fn part(what: &str) -> Failure {
    failure(&format!(
        "this build of graphc checks flows, and has no {what}"
    ))
}

fn failure(message: &str) -> Failure {
    Failure::unusable(message)
        .help("install all of it: `cargo install --path .` where its sources are")
}
