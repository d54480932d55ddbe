//! `graphc man [COMMAND]`

use clap::CommandFactory;
use clap_mangen::Man;

use super::{Cli, Exit, Failure, output};
use crate::base::name;

const EXAMPLES: &str = "\
Examples:
  graphc man | man -l -
  graphc man check > ~/.local/share/man/man1/graphc-check.1";

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
    let synopsis = synopsis(&shown);
    let mut page = Vec::new();
    let made = Man::new(shown).render(&mut page);
    made.map_err(|error| Failure::unusable(error.to_string()))?;
    let page = String::from_utf8_lossy(&page);
    let lines = page.lines().scan(false, |below, line| {
        let replaced = std::mem::replace(below, line == ".SH SYNOPSIS");
        Some(if replaced { synopsis.as_str() } else { line })
    });
    let page: String = lines.map(|line| format!("{line}\n")).collect();
    output::print(&page)?;
    Ok(Exit::Done)
}

/// The line of a command's options and arguments, each with the name of its value.
fn synopsis(command: &clap::Command) -> String {
    let escaped = |text: &str| text.replace('\\', "\\\\").replace('-', "\\-");
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let mut line = format!("\\fB{}\\fR", escaped(name));
    let (places, options): (Vec<_>, Vec<_>) = command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set())
        .partition(|arg| arg.is_positional());
    for option in options {
        let long = option.get_long().map(|long| format!("--{long}"));
        let short = option.get_short().map(|short| format!("-{short}"));
        let written: Vec<String> = [short, long].into_iter().flatten().collect();
        let mut text = format!("\\fB{}\\fR", escaped(&written.join("|")));
        if option.get_action().takes_values() {
            let names = option.get_value_names().unwrap_or_default();
            for name in names {
                text.push_str(&format!(" \\fI{}\\fR", escaped(name)));
            }
        }
        let many = match option.get_action() {
            clap::ArgAction::Append | clap::ArgAction::Count => "...",
            _ => "",
        };
        line.push_str(&format!(" [{text}]{many}"));
    }
    for place in places {
        let names = place.get_value_names().unwrap_or_default();
        for name in names {
            let text = format!("\\fI{}\\fR", escaped(name));
            match place.is_required_set() {
                true => line.push_str(&format!(" {text}")),
                false => line.push_str(&format!(" [{text}]")),
            }
        }
    }
    if command.get_subcommands().any(|sub| !sub.is_hide_set()) {
        line.push_str(" \\fICOMMAND\\fR");
    }
    line
}

fn no_command(whole: &clap::Command, wanted: &str) -> Failure {
    let known = whole.get_subcommands().filter(|c| !c.is_hide_set());
    let failure = Failure::unusable(format!("there is no command `{wanted}`"));
    match name::closest(wanted, known.map(|command| command.get_name())) {
        Some(close) => failure.help(format!("did you mean `{close}`?")),
        None => failure.help("`graphc --help` lists them"),
    }
}
