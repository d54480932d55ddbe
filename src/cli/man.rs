//! `graphc man [COMMAND]`

use clap::CommandFactory;
use clap_mangen::Man;

use super::{Cli, Exit, Failure, output};
use crate::base::name;

const EXAMPLES: &str = "\
Examples:
  graphc man | man -l -
  graphc man run > ~/.local/share/man/man1/graphc-run.1";

/// Arguments of `graphc man`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// A command; the page of all of them where left out
    #[arg(value_name = "COMMAND")]
    pub command: Option<String>,
}

/// Prints the page in the form that `man` reads.
///
/// # Errors
/// Where there is no such command, or the output can't be written.
pub fn run(args: Args) -> Result<Exit, Failure> {
    let mut whole = Cli::command();
    whole.build();
    let shown = match &args.command {
        None => whole,
        Some(wanted) => {
            let mut known = whole.get_subcommands().filter(|c| !c.is_hide_set());
            match known.find(|command| command.get_name() == wanted) {
                Some(command) => command.clone(),
                None => return Err(no_command(&whole, wanted)),
            }
        }
    };
    let mut page = Vec::new();
    let made = Man::new(shown).render(&mut page);
    made.map_err(|error| Failure::unusable(error.to_string()))?;
    output::print(&String::from_utf8_lossy(&page))?;
    Ok(Exit::Done)
}

fn no_command(whole: &clap::Command, wanted: &str) -> Failure {
    let known = whole.get_subcommands().filter(|c| !c.is_hide_set());
    let failure = Failure::unusable(format!("there is no command `{wanted}`"));
    match name::closest(wanted, known.map(|command| command.get_name())) {
        Some(close) => failure.help(format!("did you mean `{close}`?")),
        None => failure.help("`graphc --help` lists them"),
    }
}
