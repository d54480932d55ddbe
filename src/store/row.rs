//! Records as rows of text and numbers.

use serde_json::Value as Json;

use super::change::{self, StoredChange};
use super::rules::Broken;
use crate::run::store::{Checkpoint, EffectRecord, Source, ThreadStatus};
use crate::value::is_deeper;

/// Objects and lists may lie in each other this deep: what the JSON reader takes.
const MAX_JSON_DEPTH: usize = 127;

/// A row of `checkpoints`, and those of `writes` that belong to it.
pub(super) struct CheckpointRow {
    pub(super) seq: i64,
    pub(super) frame: String,
    pub(super) step: i64,
    pub(super) root_step: i64,
    pub(super) source: &'static str,
    pub(super) run_id: String,
    pub(super) at: String,
    pub(super) fields: String,
    pub(super) schedule: String,
    pub(super) writes: Vec<(String, StoredChange)>,
}

/// A row of `effects`.
pub(super) struct EffectRow {
    pub(super) root_step: i64,
    pub(super) task: String,
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) subject: String,
    pub(super) outcome: String,
}

impl CheckpointRow {
    /// A checkpoint as text.
    pub(super) fn new(checkpoint: &Checkpoint) -> Result<CheckpointRow, Broken> {
        let mut writes = Vec::with_capacity(checkpoint.writes.len());
        let mut fields = Vec::with_capacity(checkpoint.writes.len());
        for write in &checkpoint.writes {
            let json = change::to_json(&write.change);
            let stored = StoredChange {
                kind: change::kind(&write.change),
                value: json_text(&json, &format!("the value of field `{}`", write.field))?,
            };
            writes.push((write.field.clone(), stored));
            fields.push(Json::String(write.field.clone()));
        }
        Ok(CheckpointRow {
            seq: number(checkpoint.seq)?,
            frame: checkpoint.frame.clone(),
            step: number(checkpoint.step)?,
            root_step: number(checkpoint.root_step)?,
            source: match checkpoint.source {
                Source::Input => "input",
                Source::Step => "step",
                Source::Update => "update",
            },
            run_id: checkpoint.run_id.clone(),
            at: checkpoint.at.clone(),
            fields: Json::Array(fields).to_string(),
            schedule: json_text(&checkpoint.schedule, "the schedule")?,
            writes,
        })
    }
}

impl EffectRow {
    /// An effect as text.
    pub(super) fn new(effect: &EffectRecord) -> Result<EffectRow, Broken> {
        Ok(EffectRow {
            root_step: number(effect.root_step)?,
            task: effect.task.clone(),
            id: effect.id.clone(),
            kind: effect.kind.clone(),
            subject: effect.subject.clone(),
            outcome: json_text(&effect.outcome, "the outcome of an effect")?,
        })
    }
}

/// The status as text.
pub(super) fn status_text(status: &ThreadStatus) -> Result<String, Broken> {
    let what = "the status";
    let json = serde_json::to_value(status).map_err(|_| Broken::Depth(what.to_string()))?;
    json_text(&json, what)
}

fn number(number: u64) -> Result<i64, Broken> {
    i64::try_from(number).map_err(|_| Broken::Number(number))
}

/// JSON as text that can be read again.
pub(super) fn json_text(json: &Json, what: &str) -> Result<String, Broken> {
    match is_deeper(json, MAX_JSON_DEPTH) {
        true => Err(Broken::Depth(what.to_string())),
        false => Ok(json.to_string()),
    }
}
