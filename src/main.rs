//! The `graphc` command.

use std::process::ExitCode;

/// A compiler makes and drops many small values: a fifth of its time with the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    graphc::cli::main(std::env::args_os())
}
