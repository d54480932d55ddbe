//! `graphc threads`
//!
//! [`list`], [`show`], [`history`] and [`export`] read, [`state`] reads and edits, [`fork`] makes a thread of another one's past,
//! [`compact`] and [`delete`] remove. [`edit`] has what the edits of both have in common; [`table`] sets lines in columns.

pub mod compact;
pub mod delete;
pub mod edit;
pub mod export;
mod flow;
pub mod fork;
pub mod history;
pub mod list;
pub mod show;
pub mod state;
pub mod table;

use std::sync::Arc;

use clap::{Subcommand, ValueEnum};
use serde_json::{Value as Json, json};

use crate::base::name;
use crate::run::store::{RunState, Store, StoreError, ThreadInfo};

use super::pasted::Pasted;
use super::run::process::runtime;
use super::storage::{LookArgs, Place};
use super::{Context, Exit, Failure};

const EXAMPLES: &str = "\
Examples:
  graphc threads                       all threads of the project
  graphc threads show t1
  graphc threads history t1 --limit 5 --format json
  graphc threads state t1 --at 7                        the state then, and what was about to run
  graphc threads state t1 --set 'topic=\"tea\"' --as plan  write it as node `plan` would, and go on behind it
  graphc threads fork t1 --at 7 --as t2                 a new thread from there; `graphc resume` goes on with it
  graphc threads compact --all --keep 10
  graphc threads export t1 -o t1.jsonl
  graphc threads delete t1 --store sqlite:.graphc/threads.db";

const STATE_EXAMPLES: &str = "\
Examples:
  graphc threads state t1                               the newest state, as JSON
  graphc threads state t1 --at 7                        that of an older checkpoint
  graphc threads state t1 --frame content/section       that of a called graph under way
  graphc threads state t1 --set 'topic=\"tea\"'          write a field as the node that ran last would
  graphc threads state t1 --set 'log:=[]' --as plan     replace it past its reducer, and go on behind node `plan`";

const FORK_EXAMPLES: &str = "\
Examples:
  graphc threads fork t1 --at 7                         a thread with a new id
  graphc threads fork t1 --at 7 --as t2 --afresh        models and tools behind there are called again
  graphc threads fork t1 --at 7 --set 'topic=\"tea\"' --as-node plan";

const COMPACT_EXAMPLES: &str = "\
Examples:
  graphc threads compact t1                             only what is needed to go on stays
  graphc threads compact --all --keep 10                the last ten super-steps of each thread stay";

const EXPORT_EXAMPLES: &str = "\
Examples:
  graphc threads export t1 -o t1.jsonl
  graphc threads export t1 | jq 'select(.type == \"effect\")'";

/// Arguments of `graphc threads`.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub struct Args {
    /// Where.
    #[command(flatten)]
    pub look: LookArgs,
    /// What to do; `list` where left out.
    #[command(subcommand)]
    pub action: Option<Action>,
}

/// Form of what is printed, all of it on stdout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Format {
    /// Tables and values, for a person
    #[default]
    Human,
    /// One JSON object per line
    Json,
}

/// What is done with threads.
#[derive(Debug, Subcommand)]
pub enum Action {
    /// List all threads: id, graph, status, checkpoint, when last written
    List,
    /// Show a thread: where it stands, open interrupts with the command that answers, its state
    Show {
        /// The thread
        #[arg(value_name = "ID")]
        thread: String,
        /// A checkpoint in place of the newest
        #[arg(long, value_name = "SEQ", alias = "checkpoint")]
        at: Option<u64>,
    },
    /// List a thread's checkpoints, newest first
    History {
        /// The thread
        #[arg(value_name = "ID")]
        thread: String,
        /// The most checkpoints to list
        #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
        limit: u32,
        /// Only those before this checkpoint
        #[arg(long, value_name = "SEQ")]
        before: Option<u64>,
    },
    /// Print a thread's state as JSON and what runs next, at any checkpoint; edit it with `--set`
    #[command(after_help = STATE_EXAMPLES)]
    State(state::Args),
    /// Make a new thread that goes on from a checkpoint of this one, which stays as it is
    #[command(after_help = FORK_EXAMPLES)]
    Fork(fork::Args),
    /// Let go of old checkpoints and results, and of the space that they take
    #[command(after_help = COMPACT_EXAMPLES)]
    Compact(compact::Args),
    /// Print all that is kept of a thread, one JSON object per line
    #[command(after_help = EXPORT_EXAMPLES)]
    Export(export::Args),
    /// Delete threads with all that is kept of them; refused while a run holds one
    Delete {
        /// The threads
        #[arg(value_name = "ID", required = true)]
        threads: Vec<String>,
    },
}

/// Looks into the store of the project around the current folder.
pub fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    let (place, config) = args.look.place(context)?;
    let shelf = Shelf::open(&place, args.look.store, args.look.format, context)?;
    let work = async {
        match args.action.unwrap_or(Action::List) {
            Action::List => list::run(&shelf, context).await,
            Action::Show { thread, at } => show::run(&shelf, &thread, at, context).await,
            Action::History {
                thread,
                limit,
                before,
            } => history::run(&shelf, &thread, before, limit as usize, context).await,
            Action::State(args) => state::run(&shelf, args, context).await,
            Action::Fork(args) => fork::run(&shelf, args, context).await,
            Action::Compact(args) => compact::run(&shelf, &args, context).await,
            Action::Export(args) => export::run(&shelf, &args, &config.secrets(), context).await,
            Action::Delete { threads } => delete::run(&shelf, &threads, context).await,
        }
    };
    runtime()?.block_on(work)?;
    Ok(Exit::Done)
}

/// A store that is looked into.
pub struct Shelf {
    /// The store; `None` where nothing has been kept yet.
    store: Option<Arc<dyn Store>>,
    /// Where it is, for messages.
    shown: String,
    /// The store as named on the command line.
    named: Option<String>,
    /// What stands around commands that are shown.
    pasted: Pasted,
    format: Format,
}

impl Shelf {
    /// The shelf of a store, where it is there.
    pub fn open(
        place: &Place,
        named: Option<String>,
        format: Format,
        context: &Context,
    ) -> Result<Self, Failure> {
        Ok(Self {
            store: match place.is_there() {
                true => Some(place.open(false)?),
                false => None,
            },
            shown: place.to_string(),
            pasted: Pasted::new(named.as_deref(), context),
            named,
            format,
        })
    }

    /// A thread, with the store that has it.
    pub async fn thread(&self, id: &str) -> Result<(&Arc<dyn Store>, ThreadInfo), Failure> {
        let Some(store) = &self.store else {
            return Err(self.unknown(id, &[]));
        };
        match store.thread(id).await.map_err(failed)? {
            Some(info) => Ok((store, info)),
            None => {
                let all = store.threads().await.map_err(failed)?;
                Err(self.unknown(id, &all))
            }
        }
    }

    /// Why a thread's past can't be had, with the way out.
    pub fn past(&self, error: StoreError, thread: &str) -> Failure {
        let failure = Failure::unusable(error.to_string());
        match error {
            StoreError::NoCheckpoint { .. } => {
                let history = self.pasted.command(&["threads", "history", thread]);
                failure.help(format!("`{history}` lists them"))
            }
            StoreError::Exists { .. } => {
                failure.help("name another with `--as`, or delete that one")
            }
            _ => failure,
        }
    }

    fn unknown(&self, id: &str, all: &[ThreadInfo]) -> Failure {
        let ids = all.iter().map(|info| info.thread_id.as_str());
        let help = match name::closest(id, ids) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("`{}` lists all", self.pasted.command(&["threads"])),
        };
        Failure::unusable(format!("there is no thread `{id}` in `{}`", self.shown)).help(help)
    }
}

/// A store that can't be read.
pub fn failed(error: StoreError) -> Failure {
    Failure::unusable(error.to_string())
}

/// What is shown of a thread that a process runs: no other can go on with it.
const RUNNING: &str = "running";

/// What is shown of a thread whose process has died on the way.
const CUT_OFF: &str = "cut off";

/// The word for where a thread stands. One that is running by its last record, and that no process holds, was cut off.
async fn word(store: &Arc<dyn Store>, info: &ThreadInfo) -> Result<&'static str, Failure> {
    Ok(match info.status.state {
        RunState::Running => match store.is_held(&info.thread_id).await.map_err(failed)? {
            true => RUNNING,
            false => CUT_OFF,
        },
        state => state.word(),
    })
}

/// Adds to a line of JSON where a thread stands by its last record, and of one that is running whether a process holds it.
fn put_status(line: &mut Json, info: &ThreadInfo, word: &str) {
    let Some(entries) = line.as_object_mut() else {
        return;
    };
    entries.insert("status".to_owned(), json!(info.status.state));
    if info.status.state == RunState::Running {
        entries.insert("held".to_owned(), json!(word != CUT_OFF));
    }
}

/// Adds to a line of JSON what a thread was forked from.
fn put_fork(entries: &mut serde_json::Map<String, Json>, info: &ThreadInfo) {
    if let Some(from) = &info.status.forked_from {
        let from = json!({
            "thread_id": from.thread_id,
            "checkpoint_id": from.checkpoint.to_string(),
        });
        entries.insert("forked_from".to_owned(), from);
    }
}

/// A point in time without fractions of a second.
pub fn seconds(at: &str) -> String {
    match at.split_once('.') {
        Some((start, _)) => format!("{start}Z"),
        None => at.to_owned(),
    }
}
