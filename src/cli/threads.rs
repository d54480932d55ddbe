//! `graphc threads`

use clap::Subcommand;

const EXAMPLES: &str = "\
Examples:
  graphc threads                       all threads of the store
  graphc threads show t1
  graphc threads history t1
  graphc threads delete t1 --store sqlite:.graphc/threads.db";

/// Arguments of `graphc threads`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Where threads are kept, in place of the settings' store: `sqlite:PATH`
    #[arg(long, value_name = "URL", global = true)]
    pub store: Option<String>,
    /// What to do; `list` where left out.
    #[command(subcommand)]
    pub action: Option<Action>,
}

/// What is done with threads.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// List all threads: id, flow, status, steps, when last written
    List,
    /// Show a thread's state, open interrupts and next nodes
    Show {
        /// The thread
        #[arg(value_name = "ID")]
        thread: String,
        /// A checkpoint in place of the newest
        #[arg(long, value_name = "ID")]
        checkpoint: Option<String>,
    },
    /// List a thread's checkpoints, newest first
    History {
        /// The thread
        #[arg(value_name = "ID")]
        thread: String,
    },
    /// Delete threads with all that is kept of them
    Delete {
        /// The threads
        #[arg(value_name = "ID", required = true)]
        threads: Vec<String>,
    },
}
