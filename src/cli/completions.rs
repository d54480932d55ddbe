//! `graphc completions SHELL`

use clap::{Args as _, Command, CommandFactory};
use clap_complete::Shell;

use super::{Cli, Exit, Failure, GlobalOptions, output};

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

/// The command without what is for itself alone: scripts would offer it.
fn shown() -> Command {
    let whole = Cli::command();
    let commands = whole.get_subcommands();
    let commands: Vec<Command> = commands.filter(|one| !one.is_hide_set()).cloned().collect();
    GlobalOptions::augment_args(Command::new("graphc"))
        .version(env!("CARGO_PKG_VERSION"))
        .subcommands(commands)
}

/// Prints the script.
pub fn run(args: Args) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut shown(), "graphc", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Done)
}
