//! What one statement takes: of many rows, some at a time.
//!
//! The protocol has an end at a gigabyte, and the server takes a statement as a whole into memory. What one append adds is
//! therefore sent in several statements where it is much, in the one transaction that the append is.

use super::rows::Rows;
use crate::run::store::StoreError;
use crate::store::append::{Append, Row};
use crate::store::row::{CheckpointRow, EffectRow};

/// About this many bytes of rows go into the statements of one round trip.
pub(super) const CHUNK: usize = 16 << 20;

/// No value may have more bytes: a little less than the server takes.
const MOST: usize = 1_000_000_000;

/// What a row takes beside its texts, about.
const ROW: usize = 64;

fn of_checkpoint(row: &CheckpointRow) -> usize {
    ROW + row.schedule.len() + row.fields.len() + row.frame.len()
}

fn of_effect(row: &EffectRow) -> usize {
    ROW + row.outcome.len() + row.task.len() + row.subject.len()
}

/// How many bytes the rows of an append hold, about.
pub(super) fn size(append: &Append) -> usize {
    let rows = append.rows.iter().map(|row| match row {
        Row::Checkpoint(row) => {
            let writes = row
                .writes
                .iter()
                .map(|(_, change)| ROW + change.value.len());
            of_checkpoint(row) + writes.sum::<usize>()
        }
        Row::Effect(row) => of_effect(row),
        Row::Forget(_) => ROW,
    });
    rows.sum()
}

/// Refuses an append with a value that no server takes, in words: sent, it would break the connection.
///
/// # Errors
/// [`StoreError::Unavailable`]
pub(super) fn check(append: &Append) -> Result<(), StoreError> {
    let refuse = |what: &str, bytes: usize| match bytes > MOST {
        true => Err(StoreError::Unavailable {
            message: format!(
                "PostgreSQL keeps no value of {bytes} bytes: {what}; nothing was written"
            ),
        }),
        false => Ok(()),
    };
    for row in &append.rows {
        match row {
            Row::Checkpoint(row) => {
                refuse("what is left to do", row.schedule.len())?;
                for (field, change) in &row.writes {
                    refuse(&format!("field `{field}`"), change.value.len())?;
                }
            }
            Row::Effect(row) => refuse(
                &format!("the result of `{}`", row.subject),
                row.outcome.len(),
            )?,
            Row::Forget(_) => {}
        }
    }
    Ok(())
}

impl<'a> Rows<'a> {
    /// Rows for statements that go ahead of the last ones, where there are too many for one round trip. What others
    /// stand on comes first; the counts come last.
    pub(super) fn take_chunk(&mut self) -> Option<Rows<'a>> {
        let mut left = CHUNK;
        let checkpoints = first(&mut left, &self.checkpoints, |row| of_checkpoint(row.3));
        let writes = first(&mut left, &self.writes, |row| ROW + row.value.len());
        // None goes ahead of an effect that is forgotten in its place, which all are in the first.
        let effects = first(&mut left, &self.effects, |row| of_effect(row.3));
        let all = checkpoints == self.checkpoints.len()
            && writes == self.writes.len()
            && effects == self.effects.len();
        (!all).then(|| Rows {
            threads: std::mem::take(&mut self.threads),
            fields: std::mem::take(&mut self.fields),
            checkpoints: self.checkpoints.drain(..checkpoints).collect(),
            writes: self.writes.drain(..writes).collect(),
            effects: self.effects.drain(..effects).collect(),
            forgotten: std::mem::take(&mut self.forgotten),
            counts: Default::default(),
        })
    }
}

/// How many rows there is room for, from the first on; at least one where there is any room.
fn first<R>(left: &mut usize, rows: &[R], size: impl Fn(&R) -> usize) -> usize {
    let mut taken = 0;
    for row in rows {
        if *left == 0 {
            break;
        }
        *left = left.saturating_sub(size(row));
        taken += 1;
    }
    taken
}
