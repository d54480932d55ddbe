//! The `graphc` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    graphc::cli::main(std::env::args_os())
}
