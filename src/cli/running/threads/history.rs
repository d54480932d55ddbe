//! `graphc threads history`

use serde_json::json;

use crate::run::frame::is_log;
use crate::run::persisted::name::own_field;
use crate::run::schedule::{self, next_tasks};
use crate::run::store::{CheckpointInfo, ForkedFrom, Source, ThreadInfo};

use super::super::{Context, Failure, output};
use super::table::table;
use super::{Format, Shelf, failed, seconds};

/// Prints checkpoints, newest first, at most `limit`, those before `before`.
pub async fn run(
    shelf: &Shelf,
    thread: &str,
    before: Option<u64>,
    limit: usize,
    context: &Context,
) -> Result<(), Failure> {
    let (store, info) = shelf.thread(thread).await?;
    // One more than is shown tells whether there are more.
    let found = store
        .history(thread, before, limit.saturating_add(1))
        .await
        .map_err(failed)?;
    let shown = found.get(..limit).unwrap_or(&found);
    let kin = Kin::of(&info, &store.threads().await.map_err(failed)?);
    match shelf.format {
        Format::Json => {
            for checkpoint in shown {
                output::print(&format!("{}\n", line(checkpoint, &kin)))?;
            }
        }
        Format::Human => {
            let rows = shown.iter().map(|checkpoint| row(checkpoint, &kin));
            let head = [
                "CHECKPOINT",
                "FRAME",
                "STEP",
                "BY",
                "WROTE",
                "NEXT",
                "FORKS",
                "AT",
            ];
            let rows: Vec<[String; 8]> = rows.collect();
            output::print(&match kin.forks.is_empty() {
                false => table(head, &rows),
                true => {
                    let less = |[a, b, c, d, e, f, _, g]: [String; 8]| [a, b, c, d, e, f, g];
                    let rows: Vec<[String; 7]> = rows.into_iter().map(less).collect();
                    table(
                        less(head.map(str::to_owned)).each_ref().map(String::as_str),
                        &rows,
                    )
                }
            })?;
            if let Some(from) = &info.status.forked_from {
                context.say(&format!(
                    "forked from {} at checkpoint {}: those up to there are of that thread",
                    from.thread_id, from.checkpoint
                ));
            }
            if let (true, Some(last)) = (found.len() > shown.len(), shown.last()) {
                context.say(&format!("more: add `--before {}`", last.seq));
            }
        }
    }
    Ok(())
}

/// Where the thread comes from, and what came of it.
struct Kin<'t> {
    from: Option<&'t ForkedFrom>,
    /// Checkpoint and thread of each fork.
    forks: Vec<(u64, String)>,
}

impl<'t> Kin<'t> {
    fn of(info: &'t ThreadInfo, all: &[ThreadInfo]) -> Self {
        let forks = all.iter().filter_map(|other| {
            let from = other.status.forked_from.as_ref()?;
            let own = from.thread_id == info.thread_id;
            own.then(|| (from.checkpoint, other.thread_id.clone()))
        });
        Self {
            from: info.status.forked_from.as_deref(),
            forks: forks.collect(),
        }
    }

    /// Threads that were forked at a checkpoint.
    fn forks(&self, seq: u64) -> Vec<&str> {
        let at = self.forks.iter().filter(|(at, _)| *at == seq);
        at.map(|(_, thread)| thread.as_str()).collect()
    }

    /// The thread that has made a checkpoint, where it is another one.
    fn maker(&self, seq: u64) -> Option<&str> {
        let from = self.from.filter(|from| seq <= from.checkpoint);
        from.map(|from| from.thread_id.as_str())
    }
}

fn by(checkpoint: &CheckpointInfo, kin: &Kin<'_>) -> String {
    let source = match checkpoint.source {
        Source::Input => "input".to_owned(),
        Source::Step => "step".to_owned(),
        Source::Update => match schedule::edited_as(&checkpoint.schedule) {
            Some(node) => format!("update as {node}"),
            None => "update".to_owned(),
        },
    };
    match kin.maker(checkpoint.seq) {
        Some(thread) => format!("{source} of {thread}"),
        None => source,
    }
}

/// Fields of the state, without the logs that a called graph keeps for its caller.
fn fields(checkpoint: &CheckpointInfo) -> Vec<&str> {
    let names = checkpoint.fields.iter();
    let names = names.filter_map(|name| own_field(name));
    let mut fields: Vec<&str> = Vec::new();
    for name in names.filter(|name| !is_log(name)) {
        // One that is cleared has two names.
        if fields.last() != Some(&name) {
            fields.push(name);
        }
    }
    fields
}

fn line(checkpoint: &CheckpointInfo, kin: &Kin<'_>) -> serde_json::Value {
    let mut line = json!({
        "checkpoint_id": checkpoint.seq.to_string(),
        "frame": checkpoint.frame,
        "step": checkpoint.step,
        "source": checkpoint.source,
        "fields": fields(checkpoint),
        "next": next_tasks(&checkpoint.schedule),
        "run_id": checkpoint.run_id,
        "at": checkpoint.at,
    });
    let forks = kin.forks(checkpoint.seq);
    if let Some(entries) = line.as_object_mut() {
        if let Some(thread) = kin.maker(checkpoint.seq) {
            entries.insert("of_thread".to_owned(), json!(thread));
        }
        if let Some(node) = schedule::edited_as(&checkpoint.schedule) {
            entries.insert("as".to_owned(), json!(node));
        }
        if !forks.is_empty() {
            entries.insert("forks".to_owned(), json!(forks));
        }
    }
    line
}

fn row(checkpoint: &CheckpointInfo, kin: &Kin<'_>) -> [String; 8] {
    [
        checkpoint.seq.to_string(),
        checkpoint.frame.clone(),
        checkpoint.step.to_string(),
        by(checkpoint, kin),
        fields(checkpoint).join(", "),
        next_tasks(&checkpoint.schedule).join(", "),
        kin.forks(checkpoint.seq).join(", "),
        seconds(&checkpoint.at),
    ]
}
