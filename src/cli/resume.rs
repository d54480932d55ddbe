//! `graphc resume FILE --thread ID`

use std::path::PathBuf;

use super::json_arg::JsonArg;
use super::run::RunOptions;

const EXAMPLES: &str = "\
Examples:
  graphc resume desk.graph --thread t1 --answer '{\"reply\": \"Fixed.\", \"by\": \"Kim\"}'
  graphc resume desk.graph --thread t1 --interrupt i-1 --answer @answer.json
  graphc resume desk.graph --thread t1           after a crash or a failure";

/// Arguments of `graphc resume`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// The flow: `*.graph`, or its IR
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The graph that the thread runs; may be left out where the file has one that no other calls
    #[arg(long, value_name = "NAME")]
    pub graph: Option<String>,
    /// The thread to go on with
    #[arg(long, value_name = "ID")]
    pub thread: String,
    /// Answer to the open interrupt; left out after a crash or a failure
    #[arg(long, value_name = "JSON|@FILE|-")]
    pub answer: Option<JsonArg>,
    /// The interrupt that is answered, where several are open
    #[arg(long, value_name = "ID", requires = "answer")]
    pub interrupt: Option<String>,
    /// How the run goes; shared with `graphc run`.
    #[command(flatten)]
    pub how: RunOptions,
}
