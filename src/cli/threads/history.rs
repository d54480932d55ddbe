//! `graphc threads history`

use serde_json::json;

use crate::run::frame::is_log;
use crate::run::store::{CheckpointInfo, Source};

use super::super::{Context, Failure, output};
use super::table::table;
use super::{Format, Shelf, failed, next, seconds};

/// Prints checkpoints, newest first, at most `limit`, those before `before`.
pub async fn run(
    shelf: &Shelf,
    thread: &str,
    before: Option<u64>,
    limit: usize,
    context: &Context,
) -> Result<(), Failure> {
    let (store, _) = shelf.thread(thread).await?;
    // One more than is shown tells whether there are more.
    let found = store
        .history(thread, before, limit.saturating_add(1))
        .await
        .map_err(failed)?;
    let shown = found.get(..limit).unwrap_or(&found);
    match shelf.format {
        Format::Json => {
            for checkpoint in shown {
                output::print(&format!("{}\n", line(checkpoint)))?;
            }
        }
        Format::Human => {
            let rows: Vec<[String; 7]> = shown.iter().map(row).collect();
            let head = ["CHECKPOINT", "FRAME", "STEP", "BY", "WROTE", "NEXT", "AT"];
            output::print(&table(head, &rows))?;
            if let (true, Some(last)) = (found.len() > shown.len(), shown.last()) {
                context.say(&format!("more: add `--before {}`", last.seq));
            }
        }
    }
    Ok(())
}

fn by(source: Source) -> &'static str {
    match source {
        Source::Input => "input",
        Source::Step => "step",
        Source::Update => "update",
    }
}

/// Fields of the state, without the logs that a called graph keeps for its caller.
fn fields(checkpoint: &CheckpointInfo) -> Vec<&str> {
    let names = checkpoint.fields.iter().map(String::as_str);
    names.filter(|name| !is_log(name)).collect()
}

fn line(checkpoint: &CheckpointInfo) -> serde_json::Value {
    json!({
        "checkpoint_id": checkpoint.seq.to_string(),
        "frame": checkpoint.frame,
        "step": checkpoint.step,
        "source": checkpoint.source,
        "fields": fields(checkpoint),
        "next": next(&checkpoint.schedule),
        "run_id": checkpoint.run_id,
        "at": checkpoint.at,
    })
}

fn row(checkpoint: &CheckpointInfo) -> [String; 7] {
    [
        checkpoint.seq.to_string(),
        checkpoint.frame.clone(),
        checkpoint.step.to_string(),
        by(checkpoint.source).to_owned(),
        fields(checkpoint).join(", "),
        next(&checkpoint.schedule).join(", "),
        seconds(&checkpoint.at),
    ]
}
