//! Rows turned into columns: a statement adds all rows of a table by one list for each of its columns.

use std::borrow::Cow;

use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::name::kept;
use super::rows::Rows;

/// Columns of a table, in the order of its statement.
pub(super) type Columns<'a> = Vec<Box<dyn ToSql + Sync + Send + 'a>>;

/// A column made of what each row has in it.
fn column<'a, R, T>(rows: &'a [R], value: impl Fn(&'a R) -> T) -> Box<dyn ToSql + Sync + Send + 'a>
where
    T: ToSql + Sync + Send + 'a,
{
    Box::new(rows.iter().map(value).collect::<Vec<T>>())
}

impl<'a> Rows<'a> {
    pub(super) fn thread_columns(&'a self) -> Columns<'a> {
        let rows = || self.threads.iter();
        vec![
            Box::new(rows().map(|(id, _)| *id).collect::<Vec<i64>>()),
            Box::new(rows().map(|(_, row)| row.key).collect::<Vec<Uuid>>()),
            Box::new(
                rows()
                    .map(|(_, row)| row.thread_id.as_ref())
                    .collect::<Vec<&str>>(),
            ),
            Box::new(
                rows()
                    .map(|(_, row)| kept(row.at))
                    .collect::<Vec<Cow<str>>>(),
            ),
            Box::new(rows().map(|(_, row)| row.status).collect::<Vec<&str>>()),
        ]
    }

    pub(super) fn field_columns(&'a self) -> Columns<'a> {
        let rows = &self.fields;
        vec![
            column(rows, |row| row.id),
            column(rows, |row| row.thread),
            column(rows, |row| row.frame),
            column(rows, |row| row.key),
            column(rows, |row| row.name.as_ref()),
        ]
    }

    pub(super) fn checkpoint_columns(&'a self) -> Columns<'a> {
        let rows = &self.checkpoints;
        vec![
            column(rows, |(thread, ..)| *thread),
            column(rows, |(.., row)| row.seq),
            column(rows, |(.., row)| row.step),
            column(rows, |(.., row)| row.root_step),
            column(rows, |(_, root_seq, ..)| *root_seq),
            column(rows, |(_, _, frame_key, _)| *frame_key),
            column(rows, |(.., row)| kept(&row.frame)),
            column(rows, |(.., row)| row.source),
            column(rows, |(.., row)| kept(&row.run_id)),
            column(rows, |(.., row)| kept(&row.at)),
            column(rows, |(.., row)| row.fields.as_str()),
            column(rows, |(.., row)| row.schedule.as_str()),
        ]
    }

    pub(super) fn write_columns(&'a self) -> Columns<'a> {
        let rows = &self.writes;
        vec![
            column(rows, |row| row.field),
            column(rows, |row| row.seq),
            column(rows, |row| row.part),
            column(rows, |row| row.kind),
            column(rows, |row| row.value),
        ]
    }

    pub(super) fn effect_columns(&'a self) -> Columns<'a> {
        let rows = &self.effects;
        vec![
            column(rows, |(thread, ..)| *thread),
            column(rows, |(.., row)| row.root_step),
            column(rows, |(_, behind, ..)| *behind),
            column(rows, |(_, _, key, _)| *key),
            column(rows, |(.., row)| kept(&row.task)),
            column(rows, |(.., row)| kept(&row.id)),
            column(rows, |(.., row)| kept(&row.kind)),
            column(rows, |(.., row)| kept(&row.subject)),
            column(rows, |(.., row)| row.outcome.as_str()),
        ]
    }

    pub(super) fn forgotten_columns(&'a self) -> Columns<'a> {
        let rows = &self.forgotten;
        vec![
            column(rows, |row| row.0),
            column(rows, |row| row.1),
            column(rows, |row| row.2),
        ]
    }

    pub(super) fn count_columns(&'a self) -> Columns<'a> {
        let rows = || self.counts.iter();
        vec![
            Box::new(rows().map(|((thread, _), _)| *thread).collect::<Vec<i64>>()),
            Box::new(rows().map(|((_, key), _)| *key).collect::<Vec<Uuid>>()),
            Box::new(
                rows()
                    .map(|(_, row)| row.kind.as_ref())
                    .collect::<Vec<&str>>(),
            ),
            Box::new(
                rows()
                    .map(|(_, row)| row.subject.as_ref())
                    .collect::<Vec<&str>>(),
            ),
            Box::new(rows().map(|(_, row)| row.more).collect::<Vec<i64>>()),
        ]
    }
}
