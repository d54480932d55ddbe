//! What one call appends, as rows of text and numbers.
//!
//! Records become text on the caller's side, so that who writes only checks the rules and binds.

use super::row::{CheckpointRow, EffectRow, status_text};
use super::rules::Broken;
use crate::run::store::{EffectKey, Lease, Record, StoreError};

/// What one call appends, ready to be bound.
pub(super) struct Append {
    /// The thread.
    pub(super) thread_id: String,
    /// Token of the lease.
    pub(super) token: i64,
    /// In the order given.
    pub(super) rows: Vec<Row>,
    /// The last status, if there is one.
    pub(super) status: Option<String>,
    /// When the first record that has a time was made.
    pub(super) at: String,
}

/// A record that is a row of its own.
pub(super) enum Row {
    /// A checkpoint and its changes.
    Checkpoint(CheckpointRow),
    /// An effect.
    Effect(EffectRow),
    /// An effect that is as if it had not been made, but counted.
    Forget(EffectKey),
}

impl Append {
    /// Turns records into text.
    ///
    /// # Errors
    /// Where one of them can't be kept at all.
    pub(super) fn new(lease: &Lease, records: &[Record]) -> Result<Append, StoreError> {
        let mut append = Append {
            thread_id: lease.thread_id.clone(),
            // A token that no store gave fits no lease either.
            token: i64::try_from(lease.token).unwrap_or(-1),
            rows: Vec::with_capacity(records.len()),
            status: None,
            at: String::new(),
        };
        for record in records {
            append
                .push(record)
                .map_err(|broken| broken.refusal(&lease.thread_id))?;
        }
        Ok(append)
    }

    fn push(&mut self, record: &Record) -> Result<(), Broken> {
        let at = match record {
            Record::Checkpoint(checkpoint) => {
                self.rows
                    .push(Row::Checkpoint(CheckpointRow::new(checkpoint)?));
                &checkpoint.at
            }
            Record::Effect(effect) => {
                self.rows.push(Row::Effect(EffectRow::new(effect)?));
                return Ok(());
            }
            Record::Forget(key) => {
                self.rows.push(Row::Forget(key.clone()));
                return Ok(());
            }
            Record::Status(status) => {
                self.status = Some(status_text(status)?);
                &status.at
            }
        };
        if self.at.is_empty() {
            self.at.clone_from(at);
        }
        Ok(())
    }
}
