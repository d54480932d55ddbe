//! `graphc threads compact`

use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::run::store::{Compacted, Keep, Store, StoreError};

use super::super::{Context, Failure, output};
use super::table::table;
use super::{Format, Shelf, failed};

/// Arguments of `graphc threads compact`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The threads
    #[arg(
        value_name = "ID",
        required_unless_present = "all",
        conflicts_with = "all"
    )]
    pub threads: Vec<String>,
    /// All threads, but those that a run holds
    #[arg(long)]
    pub all: bool,
    /// How many super-steps of the run's own graph stay, with all that belongs to them
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..))]
    pub keep: u64,
}

/// Lets go of old history, and says what is gone.
pub async fn run(shelf: &Shelf, args: &Args, context: &Context) -> Result<(), Failure> {
    for thread in &args.threads {
        shelf.thread(thread).await?;
    }
    let Some(store) = &shelf.store else {
        context.say(&format!("no threads in `{}`", shelf.shown));
        return Ok(());
    };
    let threads = match args.all {
        false => args.threads.clone(),
        true => {
            let all = store.threads().await.map_err(failed)?;
            all.into_iter().map(|info| info.thread_id).collect()
        }
    };
    let mut done = Vec::new();
    for thread in threads {
        match one(store, &thread, args.keep).await {
            Ok(compacted) => done.push((thread, compacted)),
            Err(error @ StoreError::Busy { .. }) if args.all => {
                context.say(&format!("left as it is: {error}"));
            }
            Err(error) => return Err(failed(error)),
        }
    }
    let freed = match store.reclaim().await {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            context.say(&format!("note: {error}"));
            None
        }
    };
    print(shelf, &done, freed, context)
}

async fn one(store: &Arc<dyn Store>, thread: &str, keep: u64) -> Result<Compacted, StoreError> {
    let lease = store.acquire(thread).await?;
    let done = store.compact(&lease, Keep::Newest(keep)).await;
    let released = store.release(lease).await;
    let done = done?;
    released.map(|()| done)
}

fn print(
    shelf: &Shelf,
    done: &[(String, Compacted)],
    freed: Option<u64>,
    context: &Context,
) -> Result<(), Failure> {
    match shelf.format {
        Format::Json => {
            for (thread, gone) in done {
                let line = json!({ "thread_id": thread, "gone": gone });
                output::print(&format!("{line}\n"))?;
            }
            let line: Json = json!({ "freed_bytes": freed.unwrap_or_default() });
            output::print(&format!("{line}\n"))
        }
        Format::Human => {
            let rows: Vec<[String; 4]> = done
                .iter()
                .map(|(thread, gone)| {
                    let numbers = [gone.checkpoints, gone.effects, gone.changes];
                    let [checkpoints, effects, changes] = numbers.map(|n| n.to_string());
                    [thread.clone(), checkpoints, effects, changes]
                })
                .collect();
            let head = ["THREAD", "CHECKPOINTS GONE", "EFFECTS GONE", "CHANGES GONE"];
            output::print(&table(head, &rows))?;
            if let Some(bytes) = freed {
                context.say(&format!("the store is {bytes} bytes smaller"));
            }
            Ok(())
        }
    }
}
