//! Makes a thread from another one's checkpoint: rows are copied inside one transaction, and read by nobody on the way.

use rusqlite::{Connection, TransactionBehavior, params};

use super::append::standing;
use super::error::Failure;
use super::read::{Reader, Unreadable, signed};
use crate::run::store::{Effects, Lease, Record, StoreError};
use crate::store::append::Append;
use crate::store::rules::Broken;

/// What is asked for, ready to be bound.
pub(super) struct Fork {
    from: String,
    at: u64,
    effects: Effects,
    to: Lease,
    /// What is appended behind what is copied.
    append: Append,
}

impl Fork {
    /// # Errors
    /// Where one of the records can't be kept at all.
    pub(super) fn new(
        (from, at): (&str, u64),
        effects: Effects,
        to: &Lease,
        records: &[Record],
    ) -> Result<Self, StoreError> {
        Ok(Self {
            from: from.to_string(),
            at,
            effects,
            to: to.clone(),
            append: Append::new(to, records)?,
        })
    }

    /// Makes the thread, or nothing.
    pub(super) fn make(
        &self,
        connection: &mut Connection,
        failure: &Failure,
    ) -> Result<(), StoreError> {
        let failed = |error| failure.of(error);
        let tx = connection
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(failed)?;
        let thread_id = &self.to.thread_id;
        let standing = standing(&tx, thread_id).map_err(failed)?;
        let thread_id = thread_id.clone();
        match standing {
            Some(standing) if standing.token == signed(self.to.token) => {
                if standing.thread.is_some() {
                    return Err(StoreError::Exists { thread_id });
                }
            }
            _ => return Err(StoreError::Fenced { thread_id }),
        }
        self.copy(&tx, failure).map_err(|why| match why {
            Unreadable::Sql(error) => failure.of(error),
            Unreadable::Other(error) => error,
        })?;
        self.append.write(&tx, failure)?;
        tx.commit().map_err(failed)
    }

    fn copy(&self, db: &Connection, failure: &Failure) -> Result<(), Unreadable> {
        let Some(from) = Reader::find(db, failure, &self.from)? else {
            return Err(Unreadable::Other(StoreError::NoThread {
                thread_id: self.from.clone(),
            }));
        };
        let (at, root) = from.checkpoint_at(self.at)?;
        let Some(new) = self.append.begin(db)? else {
            return Err(Unreadable::Other(
                Broken::NoStatus.refusal(&self.to.thread_id),
            ));
        };
        let old = from.thread;
        db.execute(
            "INSERT INTO checkpoints (thread, seq, frame, step, root_step, root_seq, source, \
               run_id, at, fields, schedule) \
             SELECT ?2, seq, frame, step, root_step, root_seq, source, run_id, at, fields, schedule \
             FROM checkpoints WHERE thread = ?1 AND seq <= ?3 ORDER BY seq",
            [old, new, at],
        )?;
        db.execute(
            "INSERT INTO writes (thread, frame, field, seq, part, kind, value) \
             SELECT ?2, frame, field, seq, part, kind, value \
             FROM writes WHERE thread = ?1 AND seq <= ?3 ORDER BY id",
            [old, new, at],
        )?;
        self.copy_effects(&from, new, (at, root))
    }

    /// Effects that go with the checkpoint, and how many.
    fn copy_effects(
        &self,
        from: &Reader,
        new: i64,
        (at, root): (i64, Option<i64>),
    ) -> Result<(), Unreadable> {
        let root_step = match root {
            Some(root) => from.step_of(root)?,
            None => 0,
        };
        let (all, until) = self.effects.later();
        from.db.execute(
            "INSERT INTO effects (thread, root_step, task, effect, kind, subject, outcome, behind) \
             SELECT ?2, root_step, task, effect, kind, subject, outcome, behind FROM effects \
             WHERE thread = ?1 AND (?5 OR root_step < ?3 OR behind < ?6 \
               OR (root_step = ?3 AND behind < ?4)) \
             ORDER BY id",
            params![from.thread, new, signed(root_step), at, all, signed(until)],
        )?;
        let mut insert = from
            .db
            .prepare("INSERT INTO effect_counts VALUES (?1, ?2, ?3, ?4)")?;
        for ((kind, subject), count) in from.counts(root_step, at, self.effects)? {
            insert.execute(params![new, kind, subject, signed(count)])?;
        }
        Ok(())
    }
}
