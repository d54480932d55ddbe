//! The build without the feature `run`, as its users call it: `cargo test --no-default-features --test check_only`.
#![cfg(not(feature = "run"))]
#![allow(clippy::unwrap_used, clippy::indexing_slicing, missing_docs)]

mod terminal;

use clap::CommandFactory;
use regex::Regex;
use terminal::play;

/// What this build lacks, on a command line.
const LACKING: &str = r"(?m)graphc (.* )?(run|resume|chat|threads|memory|test|evaluate|export|mcp)( |$)|--(watch|online|thread|log)\b";

/// Those of tests/cli that ask for nothing that this build lacks. `man` suggests a command, and so differs.
#[test]
fn what_is_there_answers_as_in_the_full_build() {
    let lacking = Regex::new(LACKING).unwrap();
    play("tests/cli", |talk| {
        !lacking.is_match(talk) && !talk.contains("graphc man")
    });
}

#[test]
fn what_is_lacking_is_said() {
    play("tests/check_only", |_| true);
}

#[test]
fn no_help_names_what_is_lacking() {
    let lacking = Regex::new(LACKING).unwrap();
    let mut command = graphc::cli::Cli::command();
    command.build();
    let mut waiting = vec![command];
    while let Some(mut command) = waiting.pop() {
        let help = command.render_long_help().to_string();
        assert!(!lacking.is_match(&help), "{help}");
        let subcommands = command.get_subcommands();
        waiting.extend(
            subcommands
                .filter(|command| !command.is_hide_set())
                .cloned(),
        );
    }
}
