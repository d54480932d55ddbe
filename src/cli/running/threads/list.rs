//! `graphc threads list`

use serde_json::json;

use super::super::{Context, Failure, output};
use super::table::table;
use super::{Format, Shelf, failed, put_fork, put_status, seconds, word};

/// Prints all threads, the latest used first.
pub async fn run(shelf: &Shelf, context: &Context) -> Result<(), Failure> {
    let mut threads = Vec::new();
    if let Some(store) = &shelf.store {
        for thread in store.threads().await.map_err(failed)? {
            let word = word(store, &thread).await?;
            threads.push((thread, word));
        }
    }
    match shelf.format {
        Format::Json => {
            for (thread, word) in threads {
                let mut line = json!({
                    "thread_id": thread.thread_id,
                    "graph": thread.status.graph,
                    "checkpoint_id": thread.checkpoint.to_string(),
                    "run_id": thread.status.run_id,
                    "created_at": thread.created_at,
                    "updated_at": thread.status.at,
                });
                put_status(&mut line, &thread, word);
                if let Some(entries) = line.as_object_mut() {
                    put_fork(entries, &thread);
                }
                output::print(&format!("{line}\n"))?;
            }
            Ok(())
        }
        Format::Human if threads.is_empty() => {
            context.say(&format!("no threads in `{}`", shelf.shown));
            Ok(())
        }
        Format::Human => {
            let rows: Vec<[String; 5]> = threads
                .iter()
                .map(|(thread, word)| {
                    let status = &thread.status;
                    [
                        thread.thread_id.clone(),
                        status.graph.clone(),
                        (*word).to_owned(),
                        thread.checkpoint.to_string(),
                        seconds(&status.at),
                    ]
                })
                .collect();
            let head = ["THREAD", "GRAPH", "STATUS", "CHECKPOINT", "UPDATED"];
            output::print(&table(head, &rows))
        }
    }
}
