//! `graphc check [PATH..]`

use std::path::PathBuf;

use clap::ValueEnum;

const EXAMPLES: &str = "\
Examples:
  graphc check                         every flow in this folder
  graphc check desk.graph --deny warning
  graphc check --fix                   mend what is certain
  graphc check --format sarif > graphc.sarif
  cat desk.graph | graphc check -";

/// Arguments of `graphc check`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Files, folders to search for `*.graph`, or `-` for stdin; this folder where none is named
    #[arg(value_name = "PATH")]
    pub paths: Vec<PathBuf>,
    /// Form of the diagnostics; `human` goes to stderr, the others to stdout
    #[arg(long, value_enum, default_value_t, value_name = "FORM")]
    pub format: Format,
    /// Level from which a diagnostic makes the exit status 1
    #[arg(long, value_enum, default_value_t, value_name = "LEVEL")]
    pub deny: Deny,
    /// Apply the fixes that are certain, in place
    #[arg(long, conflicts_with = "watch")]
    pub fix: bool,
    /// Check again whenever a file changes
    #[arg(long)]
    pub watch: bool,
}

/// Form of the diagnostics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// Snippets with labels, for a person
    #[default]
    Human,
    /// One JSON object per line
    Json,
    /// One SARIF 2.1.0 log
    Sarif,
    /// GitHub workflow commands
    Github,
}

/// Level from which a diagnostic is a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Deny {
    /// Warnings and errors
    Warning,
    /// Errors only
    #[default]
    Error,
}
