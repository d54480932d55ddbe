//! `graphc threads export`: all records of a thread, in their order.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value as Json, json};

use crate::backend::secret::Secrets;
use crate::run::store::{Change, Checkpoint, FieldWrite, ListedEffect, Store, ThreadInfo};
use crate::value::Value;

use super::super::{Context, Failure, output};
use super::{Shelf, failed};

/// Version of the form.
const FORMAT: u32 = 1;

/// Records that are read at a time.
const PAGE: usize = 1000;

/// Arguments of `graphc threads export`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The thread
    #[arg(value_name = "ID")]
    pub thread: String,
    /// The file to write, in place of stdout
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Prints a thread's records.
pub async fn run(
    shelf: &Shelf,
    args: &Args,
    secrets: &Secrets,
    context: &Context,
) -> Result<(), Failure> {
    let (store, info) = shelf.thread(&args.thread).await?;
    let mut lines = Lines {
        secrets,
        // A file is there as a whole or not at all.
        text: String::new(),
        holds: args
            .output
            .as_ref()
            .is_some_and(|file| file.as_os_str() != "-"),
    };
    let oldest = oldest(store, &args.thread).await?;
    lines.put(head(&info))?;
    let mut effects = Effects {
        store,
        thread: &args.thread,
        page: VecDeque::new(),
        after: None,
        ended: false,
    };
    let mut after = None;
    'all: loop {
        let page = store.checkpoints(&args.thread, after, PAGE).await;
        let page = page.map_err(failed)?;
        let Some(last) = page.last() else { break };
        after = Some(last.seq);
        for checkpoint in &page {
            while let Some(effect) = effects.before(checkpoint).await? {
                lines.put(effect_line(&effect))?;
            }
            // What was appended since the first line was made is another thread's state.
            if checkpoint.seq > info.checkpoint {
                break 'all;
            }
            lines.put(checkpoint_line(checkpoint))?;
        }
    }
    while let Some(effect) = effects.next().await? {
        if effect.behind.is_some_and(|behind| behind > info.checkpoint) {
            break;
        }
        lines.put(effect_line(&effect))?;
    }
    unchanged(store, &args.thread, oldest).await?;
    match lines.holds {
        true => output::put(&lines.text, args.output.as_deref(), context),
        false => Ok(()),
    }
}

/// The oldest checkpoint: it is another one, or says otherwise what it has written, once the thread has been compacted.
async fn oldest(store: &Arc<dyn Store>, thread: &str) -> Result<Option<Checkpoint>, Failure> {
    let first = store.checkpoints(thread, None, 1).await.map_err(failed)?;
    Ok(first.into_iter().next())
}

/// Refuses what was read page by page where it may have a hole.
async fn unchanged(
    store: &Arc<dyn Store>,
    thread: &str,
    before: Option<Checkpoint>,
) -> Result<(), Failure> {
    let now = oldest(store, thread).await?;
    if before.is_none() || before == now {
        return Ok(());
    }
    let what = match now {
        Some(_) => "compacted",
        None => "deleted",
    };
    let message =
        format!("thread `{thread}` was {what} while it was exported: records are missing");
    Err(Failure::unusable(message).help("export it again"))
}

/// Where lines go.
struct Lines<'s> {
    secrets: &'s Secrets,
    text: String,
    holds: bool,
}

impl Lines<'_> {
    fn put(&mut self, line: Json) -> Result<(), Failure> {
        let line = format!("{}\n", self.secrets.scrub_result(line));
        match self.holds {
            true => {
                self.text.push_str(&line);
                Ok(())
            }
            false => output::print(&line),
        }
    }
}

/// Effects in their order, page by page.
struct Effects<'t> {
    store: &'t Arc<dyn Store>,
    thread: &'t str,
    page: VecDeque<ListedEffect>,
    after: Option<u64>,
    ended: bool,
}

impl Effects<'_> {
    async fn fill(&mut self) -> Result<(), Failure> {
        if self.page.is_empty() && !self.ended {
            let page = self.store.effects(self.thread, self.after, PAGE).await;
            self.page = page.map_err(failed)?.into();
            self.ended = self.page.is_empty();
            self.after = self.page.back().map(|last| last.position);
        }
        Ok(())
    }

    async fn next(&mut self) -> Result<Option<ListedEffect>, Failure> {
        self.fill().await?;
        Ok(self.page.pop_front())
    }

    /// The next effect, where it was appended before a checkpoint.
    async fn before(&mut self, checkpoint: &Checkpoint) -> Result<Option<ListedEffect>, Failure> {
        self.fill().await?;
        let earlier = |listed: &ListedEffect| match listed.behind {
            Some(behind) => behind < checkpoint.seq,
            // Of an earlier version: at the end of its super-step.
            None => listed.effect.root_step < checkpoint.root_step,
        };
        match self.page.front().is_some_and(earlier) {
            true => self.next().await,
            false => Ok(None),
        }
    }
}

fn head(info: &ThreadInfo) -> Json {
    json!({
        "type": "thread",
        "format": FORMAT,
        "thread_id": info.thread_id,
        "checkpoint_id": info.checkpoint.to_string(),
        "created_at": info.created_at,
        "status": info.status,
    })
}

fn checkpoint_line(checkpoint: &Checkpoint) -> Json {
    json!({
        "type": "checkpoint",
        "checkpoint_id": checkpoint.seq.to_string(),
        "frame": checkpoint.frame,
        "step": checkpoint.step,
        "root_step": checkpoint.root_step,
        "run_id": checkpoint.run_id,
        "source": checkpoint.source,
        "writes": checkpoint.writes.iter().map(write).collect::<Vec<_>>(),
        "schedule": checkpoint.schedule,
        "at": checkpoint.at,
    })
}

fn write(write: &FieldWrite) -> Json {
    let stored = |items: &[Value]| items.iter().map(Value::to_stored).collect::<Vec<_>>();
    let (op, value) = match &write.change {
        Change::Put(value) => ("put", value.to_stored()),
        Change::Append(items) => ("append", json!(stored(items))),
        Change::Merge(entries) => {
            let entries = entries.iter();
            let pairs = entries.map(|(key, value)| json!([key, value.to_stored()]));
            ("merge", pairs.collect())
        }
        Change::Clear => return json!({ "field": write.field, "op": "clear" }),
    };
    json!({ "field": write.field, "op": op, "value": value })
}

fn effect_line(listed: &ListedEffect) -> Json {
    let effect = &listed.effect;
    json!({
        "type": "effect",
        "task": effect.task,
        "id": effect.id,
        "root_step": effect.root_step,
        "kind": effect.kind,
        "subject": effect.subject,
        "outcome": effect.outcome,
    })
}
