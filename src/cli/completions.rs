//! `graphc completions SHELL`

use clap::CommandFactory;
use clap_complete::Shell;

use super::{Cli, Exit, Failure, output};

const EXAMPLES: &str = "\
Examples:
  graphc completions bash > ~/.local/share/bash-completion/completions/graphc
  graphc completions zsh > ~/.zfunc/_graphc
  graphc completions fish > ~/.config/fish/completions/graphc.fish";

/// Arguments of `graphc completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The shell
    #[arg(value_name = "SHELL")]
    pub shell: Shell,
}

/// Prints the script.
pub fn run(args: Args) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "graphc", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
