//! What every command is given: the global options, and the terminal.

use std::path::PathBuf;

use super::failure::Failure;
use super::running::logs::LogOptions;
use super::term::{self, ColorChoice, Terminal};

/// Options that every command takes.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "Global options")]
pub struct GlobalOptions {
    /// Work in this folder, as if started there
    #[arg(short = 'C', value_name = "DIR", global = true)]
    pub directory: Option<PathBuf>,
    /// Settings to use in place of the nearest `graphc.yaml`
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    /// Profile of the settings to use in place of the default one
    #[arg(long, value_name = "NAME", global = true)]
    pub profile: Option<String>,
    /// Say only what is wrong
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Say more: `check` shows notes, which are for programs otherwise
    #[arg(short, long, global = true, overrides_with = "verbose")]
    pub verbose: bool,
    /// When to write colours
    #[arg(long, value_name = "WHEN", value_enum, default_value_t, global = true)]
    pub color: ColorChoice,
    /// Which logs are shown, and how.
    #[command(flatten)]
    pub logs: LogOptions,
}

/// What a command is given besides its own arguments.
#[derive(Debug, Clone)]
pub struct Context {
    /// Folder of `-C`, which has been entered, where one was named.
    pub directory: Option<PathBuf>,
    /// Settings file, where one was named.
    pub config: Option<PathBuf>,
    /// Profile of the settings, where one was named.
    pub profile: Option<String>,
    /// Whether only what is wrong is said.
    pub quiet: bool,
    /// Whether more is said.
    pub verbose: bool,
    /// The streams, and how text looks on them.
    pub terminal: Terminal,
}

impl Context {
    /// Enters the folder of `-C`, begins to log and looks at the terminal.
    pub fn new(options: GlobalOptions) -> Result<Self, Failure> {
        options.logs.start()?;
        if let Some(folder) = &options.directory {
            std::env::set_current_dir(folder).map_err(|error| {
                Failure::unusable(format!("can't work in `{}`: {error}", folder.display()))
            })?;
        }
        Ok(Self {
            directory: options.directory,
            config: options.config,
            profile: options.profile,
            quiet: options.quiet,
            verbose: options.verbose,
            terminal: Terminal::detect(options.color),
        })
    }

    /// Says something that is good to know but not wrong; nothing under `--quiet`.
    pub fn say(&self, text: &str) {
        if !self.quiet {
            term::say(text);
        }
    }
}
