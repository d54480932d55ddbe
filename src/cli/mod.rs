//! The `graphc` command: one file per subcommand, and the frame that they share.
//!
//! What is here: arguments, files, terminals, exit statuses. What is not: anything that another
//! program would want to call; that is in the modules below this one.
//!
//! - [`main`] runs the command line on a thread of its own and gives the process's exit status;
//! - a command is an `Args` struct and a function `run(Args, &Context) -> Result<Exit, Failure>`;
//! - [`running`] has the commands of the feature `run`, and what the others need of it; a build without it has the same names in
//!   `absent.rs`, which say that it lacks them;
//! - results go to stdout through [`output::print`], words for people to stderr through
//!   [`Context::say`].

pub mod audit;
pub mod build;
pub mod check;
pub mod completions;
pub mod context;
pub mod diff;
pub mod eval;
pub mod exit;
pub mod explain;
pub mod failure;
pub mod files;
pub mod flow;
pub mod fmt;
pub mod folder;
pub mod git;
pub mod import;
pub mod init;
pub mod json_arg;
pub mod library;
pub mod man;
pub mod output;
#[cfg(feature = "run")]
pub mod running;
#[cfg(not(feature = "run"))]
#[path = "absent.rs"]
pub mod running;
pub mod scenes;
pub mod screen;
mod settings;
pub mod term;
pub mod viz;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

pub use context::{Context, GlobalOptions};
pub use exit::Exit;
pub use failure::Failure;

/// Stack of the thread that works: deep nesting in a file must end in a message, not in a crash.
pub(crate) const STACK_BYTES: usize = 64 << 20;

const EXAMPLES: &str = "\
Examples:
  graphc init desk                     a new project that runs offline
  graphc check                         all that is wrong in the flows of this folder
  graphc run desk.graph --scenario answered
  graphc explain syntax-error          why a diagnostic is reported, and what is right
  graphc completions bash > /etc/bash_completion.d/graphc

Exit status:
  0  done                              3  interrupted, waiting for an answer
  1  the flow has errors               4  the flow failed
  2  wrong usage, could not start      130  cancelled";

/// Whether this build runs flows.
pub(crate) const RUNS: bool = cfg!(feature = "run");

/// What a line names that is of no use in a build that runs none.
const OF_RUNS: [&str; 6] = [
    "graphc run",
    "graphc test",
    "--watch",
    "--online",
    "--thread",
    "mcp",
];

/// A text without the lines that name what this build lacks.
fn present(text: &str) -> String {
    let lacks = |line: &str| !RUNS && OF_RUNS.iter().any(|word| line.contains(word));
    let lines = text.split_inclusive('\n').filter(|line| !lacks(line));
    lines.collect()
}

/// Agent flows as text: a compiler that proves a flow before it runs, and a durable runtime that
/// runs it
#[derive(Debug, Parser)]
#[command(name = "graphc", version, about, long_about = None, after_help = present(EXAMPLES))]
#[command(
    arg_required_else_help = true,
    propagate_version = false,
    max_term_width = 100
)]
pub struct Cli {
    /// Options that every command takes.
    #[command(flatten)]
    pub global: GlobalOptions,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start a new project: one flow, its test, settings, a CI file
    Init(init::Args),
    /// Report everything that is wrong or doubtful in flows
    Check(check::Args),
    /// Lay flows out in the one way that they all have
    Fmt(fmt::Args),
    /// Say what a flow can do and cost at worst, before it runs
    Audit(audit::Args),
    /// Say what changes from one version of a flow to another: for callers, for threads, for people
    Diff(diff::Args),
    /// Compile a flow to its IR, as JSON or YAML
    Build(build::Args),
    /// Draw a flow: for mermaid or Graphviz, as SVG or a page
    Viz(viz::Args),
    /// What runs flows.
    #[command(flatten)]
    Running(Box<running::Command>),
    /// Show what the standard library has: its modules, and what each of them exports
    Std(library::Args),
    /// Show the page of a diagnostic: why, a wrong and a right example
    Explain(explain::Args),
    /// Make the skeleton of a flow from a drawing: what LangGraph's `draw_mermaid()` gives
    Import(import::Args),
    /// Evaluate an expression and print its value as JSON
    Eval(eval::Args),
    /// Print the completion script of a shell
    Completions(completions::Args),
    /// Print the manual page of a command, or of all
    Man(man::Args),
}

/// Runs the command line and gives the exit status of the process.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let args: Vec<OsString> = args.into_iter().collect();
    failure::report_panics();
    let worker = std::thread::Builder::new()
        .name("graphc".to_owned())
        .stack_size(STACK_BYTES)
        .spawn(move || run(args));
    let exit = match worker.map(std::thread::JoinHandle::join) {
        Ok(Ok(exit)) => exit,
        // The panic hook has said what there is to say.
        Ok(Err(_)) => Exit::Unusable,
        Err(error) => {
            term::say(&format!("error: could not start a thread: {error}"));
            Exit::Unusable
        }
    };
    exit.into()
}

/// Parses the arguments and runs the command; what went wrong has been said on stderr.
fn run(args: Vec<OsString>) -> Exit {
    let args = viz::depths(args);
    let parsed = Cli::command()
        .color(term::ColorChoice::written_in(&args).for_help())
        .try_get_matches_from(args)
        .and_then(|matches| Cli::from_arg_matches(&matches));
    let cli = match parsed {
        Ok(cli) => cli,
        Err(error) => {
            // A closed stdout or stderr leaves nobody to tell.
            let _ = error.print();
            return match error.use_stderr() {
                true => Exit::Unusable,
                false => Exit::Done,
            };
        }
    };
    let outcome = Context::new(cli.global).and_then(|context| dispatch(cli.command, &context));
    outcome.unwrap_or_else(|failure| {
        failure.say();
        failure.exit
    })
}

fn dispatch(command: Command, context: &Context) -> Result<Exit, Failure> {
    match command {
        Command::Init(args) => init::run(args, context),
        Command::Check(args) => check::run(args, context),
        Command::Audit(args) => audit::run(args, context),
        Command::Diff(args) => diff::run(args, context),
        Command::Fmt(args) => fmt::run(args, context),
        Command::Build(args) => build::run(args, context),
        Command::Viz(args) => viz::run(args, context),
        Command::Running(command) => running::dispatch(*command, context),
        Command::Std(args) => library::run(args, context),
        Command::Import(args) => import::run(args, context),
        Command::Explain(args) => explain::run(args, context),
        Command::Eval(args) => eval::run(args, context),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
    }
}
