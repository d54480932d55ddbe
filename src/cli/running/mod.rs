//! The commands that run flows, and what others need that can only be had with what runs them: one file for each.
//!
//! A build without the feature `run` has `absent.rs` in place of this module.

mod bindings;
pub mod chat;
pub mod evaluate;
pub mod export;
pub mod logs;
pub mod mcp;
pub mod memory;
pub mod online;
pub mod pasted;
pub mod resume;
pub mod run;
pub mod services;
pub mod storage;
pub mod test;
pub mod threads;
pub mod watch;
pub mod way;

use clap::Subcommand;

// What the modules above know as `super::`.
use super::{
    Context, Exit, Failure, failure, files, flow, folder, json_arg, output, scenes, screen,
    settings, term,
};

/// The commands that run flows.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run a flow, to its end or to an interrupt
    Run(run::Args),
    /// Go on with a thread: after an interrupt, a crash or a failure
    Resume(resume::Args),
    /// Talk to a flow on the terminal, line by line
    Chat(chat::Args),
    /// Look into the threads of a project: where they stand, their state, their history
    Threads(threads::Args),
    /// Look into the long-term memory of a project
    Memory(memory::Args),
    /// Run the scenarios of flows, offline
    Test(test::Args),
    /// Run a flow, a graph or a node over a data set, and score what comes
    Evaluate(evaluate::Args),
    /// Write what models were asked and said as lines for fine-tuning
    Export(export::Args),
    /// Play one scenario in a process that may be killed; started by `graphc test`
    #[command(hide = true)]
    PlayScenario(test::child::Args),
}

/// Runs the command.
pub fn dispatch(command: Command, context: &Context) -> Result<Exit, Failure> {
    match command {
        Command::Run(args) => run::run(args, context),
        Command::Resume(args) => resume::run(args, context),
        Command::Chat(args) => chat::run(args, context),
        Command::Threads(args) => threads::run(args, context),
        Command::Memory(args) => memory::run(args, context),
        Command::Test(args) => test::run(args, context),
        Command::Evaluate(args) => evaluate::run(args, context),
        Command::Export(args) => export::run(args, context),
        Command::PlayScenario(args) => test::child::run(args, context),
    }
}
