//! Rows turned into columns: a statement adds all rows of a table by one list for each of its columns.

use std::borrow::Cow;

use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::batch::Rows;
use super::name::kept;

type Param<'a> = &'a (dyn ToSql + Sync);
type Text<'a> = Vec<Cow<'a, str>>;

/// Of all tables, in the order of their statements.
pub(super) struct Columns<'a> {
    threads: (Vec<i64>, Vec<Uuid>, Text<'a>, Vec<&'a str>, Vec<&'a str>),
    fields: (Vec<i64>, Vec<i64>, Vec<Uuid>, Vec<Uuid>, Vec<&'a str>),
    checkpoints: Checkpoints<'a>,
    writes: (Vec<i64>, Vec<i64>, Vec<i32>, Vec<i16>, Vec<&'a str>),
    effects: Effects<'a>,
    forgotten: (Vec<i64>, Vec<i64>, Vec<Uuid>),
    counts: (Vec<i64>, Vec<Uuid>, Vec<&'a str>, Vec<&'a str>, Vec<i64>),
}

#[derive(Default)]
struct Checkpoints<'a> {
    thread: Vec<i64>,
    seq: Vec<i64>,
    step: Vec<i64>,
    root_step: Vec<i64>,
    root_seq: Vec<Option<i64>>,
    frame_key: Vec<Option<Uuid>>,
    frame: Text<'a>,
    source: Vec<&'a str>,
    run_id: Text<'a>,
    at: Text<'a>,
    fields: Vec<&'a str>,
    schedule: Vec<&'a str>,
}

#[derive(Default)]
struct Effects<'a> {
    thread: Vec<i64>,
    root_step: Vec<i64>,
    behind: Vec<i64>,
    key: Vec<Uuid>,
    task: Text<'a>,
    effect: Text<'a>,
    kind: Text<'a>,
    subject: Text<'a>,
    outcome: Vec<&'a str>,
}

impl<'a> Columns<'a> {
    pub(super) fn of(rows: &'a Rows<'a>) -> Self {
        let threads = rows.threads.iter();
        let counts = rows.counts.iter();
        Self {
            threads: (
                threads.clone().map(|(id, _)| *id).collect(),
                threads.clone().map(|(_, row)| row.key).collect(),
                threads
                    .clone()
                    .map(|(_, row)| row.thread_id.clone())
                    .collect(),
                threads.clone().map(|(_, row)| row.at).collect(),
                threads.map(|(_, row)| row.status).collect(),
            ),
            fields: (
                rows.fields.iter().map(|row| row.0).collect(),
                rows.fields.iter().map(|row| row.1).collect(),
                rows.fields.iter().map(|row| row.2).collect(),
                rows.fields.iter().map(|row| row.3).collect(),
                rows.fields.iter().map(|row| row.4.as_ref()).collect(),
            ),
            checkpoints: checkpoints(rows),
            writes: (
                rows.writes.iter().map(|row| row.0).collect(),
                rows.writes.iter().map(|row| row.1).collect(),
                rows.writes.iter().map(|row| row.2).collect(),
                rows.writes.iter().map(|row| row.3).collect(),
                rows.writes.iter().map(|row| row.4).collect(),
            ),
            effects: effects(rows),
            forgotten: (
                rows.forgotten.iter().map(|row| row.0).collect(),
                rows.forgotten.iter().map(|row| row.1).collect(),
                rows.forgotten.iter().map(|row| row.2).collect(),
            ),
            counts: (
                counts.clone().map(|((thread, _), _)| *thread).collect(),
                counts.clone().map(|((_, key), _)| *key).collect(),
                counts.clone().map(|(_, count)| count.0.as_ref()).collect(),
                counts.clone().map(|(_, count)| count.1.as_ref()).collect(),
                counts.map(|(_, count)| count.2).collect(),
            ),
        }
    }

    pub(super) fn threads(&self) -> [Param<'_>; 5] {
        let all = &self.threads;
        [&all.0, &all.1, &all.2, &all.3, &all.4]
    }

    pub(super) fn fields(&self) -> [Param<'_>; 5] {
        let all = &self.fields;
        [&all.0, &all.1, &all.2, &all.3, &all.4]
    }

    pub(super) fn checkpoints(&self) -> [Param<'_>; 12] {
        let all = &self.checkpoints;
        [
            &all.thread,
            &all.seq,
            &all.step,
            &all.root_step,
            &all.root_seq,
            &all.frame_key,
            &all.frame,
            &all.source,
            &all.run_id,
            &all.at,
            &all.fields,
            &all.schedule,
        ]
    }

    pub(super) fn writes(&self) -> [Param<'_>; 5] {
        let all = &self.writes;
        [&all.0, &all.1, &all.2, &all.3, &all.4]
    }

    pub(super) fn effects(&self) -> [Param<'_>; 9] {
        let all = &self.effects;
        [
            &all.thread,
            &all.root_step,
            &all.behind,
            &all.key,
            &all.task,
            &all.effect,
            &all.kind,
            &all.subject,
            &all.outcome,
        ]
    }

    pub(super) fn forgotten(&self) -> [Param<'_>; 3] {
        let all = &self.forgotten;
        [&all.0, &all.1, &all.2]
    }

    pub(super) fn counts(&self) -> [Param<'_>; 5] {
        let all = &self.counts;
        [&all.0, &all.1, &all.2, &all.3, &all.4]
    }
}

fn checkpoints<'a>(rows: &'a Rows<'a>) -> Checkpoints<'a> {
    let mut all = Checkpoints::default();
    for (thread, root_seq, frame_key, row) in &rows.checkpoints {
        all.thread.push(*thread);
        all.seq.push(row.seq);
        all.step.push(row.step);
        all.root_step.push(row.root_step);
        all.root_seq.push(*root_seq);
        all.frame_key.push(*frame_key);
        all.frame.push(kept(&row.frame));
        all.source.push(row.source);
        all.run_id.push(kept(&row.run_id));
        all.at.push(kept(&row.at));
        all.fields.push(&row.fields);
        all.schedule.push(&row.schedule);
    }
    all
}

fn effects<'a>(rows: &'a Rows<'a>) -> Effects<'a> {
    let mut all = Effects::default();
    for (thread, behind, key, row) in &rows.effects {
        all.thread.push(*thread);
        all.root_step.push(row.root_step);
        all.behind.push(*behind);
        all.key.push(*key);
        all.task.push(kept(&row.task));
        all.effect.push(kept(&row.id));
        all.kind.push(kept(&row.kind));
        all.subject.push(kept(&row.subject));
        all.outcome.push(&row.outcome);
    }
    all
}
