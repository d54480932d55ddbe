//! What an evaluation came to, for people.

use std::time::Duration;

use crate::evaluate::compare::Changes;
use crate::evaluate::scorer::Scorer;
use crate::evaluate::sheet::{RowSheet, Sheet};

/// Rows that are shown for what they lack, unless all are asked for.
const MOST: usize = 20;

/// A line a scorer, then the rows that did not pass.
pub fn table(sheet: &Sheet, scorers: &[Scorer], all: bool) -> String {
    let mut lines = vec![head(sheet), String::new()];
    let mut scores = vec![["scorer", "kind", "mean", "spread", "passed"].map(str::to_owned)];
    for scorer in scorers {
        let tally = sheet
            .summary
            .scorers
            .get(&scorer.name)
            .copied()
            .unwrap_or_default();
        scores.push([
            scorer.name.clone(),
            scorer.kind.word().to_owned(),
            format!("{:.3}", tally.mean),
            format!("{:.3}", tally.spread),
            format!("{}/{}", tally.passes, tally.runs),
        ]);
    }
    lines.extend(columns(&scores));
    let failing = failing(sheet);
    if !failing.is_empty() {
        let shown = if all { failing.len() } else { MOST };
        let mut rows = vec![["row", "scorer", "score", "why"].map(str::to_owned)];
        let left = failing.len().saturating_sub(shown);
        rows.extend(failing.into_iter().take(shown));
        lines.push(String::new());
        lines.extend(columns(&rows));
        if left > 0 {
            lines.push(format!("  and {left} more: `-v` shows all"));
        }
    }
    lines.join("\n") + "\n"
}

fn head(sheet: &Sheet) -> String {
    let summary = &sheet.summary;
    let plural = |count: u64, one: &str| match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {one}s"),
    };
    let mut parts = vec![plural(summary.rows, "row")];
    if sheet.repeats > 1 {
        parts.push(plural(summary.runs, "run"));
    }
    if summary.errors > 0 {
        parts.push(format!("{} failed", summary.errors));
    }
    let usage = summary.usage;
    if usage.total() > 0 {
        parts.push(format!(
            "{} tokens read, {} written",
            usage.input_tokens, usage.output_tokens
        ));
    }
    let took = Duration::from_millis(summary.took_ms);
    let partial = if sheet.complete {
        ""
    } else {
        ", not all of it"
    };
    format!(
        "{}{partial}: {} ({:.1} s)",
        sheet.stage,
        parts.join(", "),
        took.as_secs_f64()
    )
}

/// Rows with a run that failed or did not pass: row, scorer, mean and why.
fn failing(sheet: &Sheet) -> Vec<[String; 4]> {
    sheet.rows.iter().flat_map(of_row).collect()
}

fn of_row(row: &RowSheet) -> Vec<[String; 4]> {
    if let Some(error) = row.runs.iter().find_map(|run| run.error.as_ref()) {
        let all = row.runs.iter().all(|run| run.error.is_some());
        let mean = row.scores.values().map(|tally| tally.mean);
        let mean = mean.fold(0.0, f64::max);
        let score = if all { 0.0 } else { mean };
        return vec![[
            row.id.clone(),
            "-".to_owned(),
            format!("{score:.3}"),
            format!("failed: {}: {}", error.kind, line(&error.message)),
        ]];
    }
    let short = row
        .scores
        .iter()
        .filter(|(_, tally)| tally.passes < tally.runs);
    short
        .map(|(scorer, tally)| {
            let scores = row.runs.iter().filter_map(|run| run.scores.get(scorer));
            let mut failed = scores.filter(|score| !score.pass);
            let why = failed.find_map(|score| score.error.as_ref().or(score.reason.as_ref()));
            [
                row.id.clone(),
                scorer.clone(),
                format!("{:.3}", tally.mean),
                why.map_or_else(String::new, |why| line(why)),
            ]
        })
        .collect()
}

/// The first line of a text, cut where it is long.
fn line(text: &str) -> String {
    const MOST: usize = 100;
    let first = text.lines().next().unwrap_or_default();
    match first.chars().count() {
        0..=MOST => first.to_owned(),
        _ => first.chars().take(MOST).chain("..".chars()).collect(),
    }
}

/// Cells in columns, two blanks before and between; the last is as long as it is.
fn columns<const N: usize>(rows: &[[String; N]]) -> Vec<String> {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    let lines = rows.iter().map(|row| {
        let cells = row.iter().zip(&widths);
        let line: String = cells
            .map(|(cell, width)| format!("  {cell:width$}"))
            .collect();
        line.trim_end().to_owned()
    });
    lines.collect()
}

/// What has changed since an earlier evaluation.
pub fn changes(changes: &Changes) -> String {
    let mut lines = vec![String::new(), "since the earlier result".to_owned()];
    let mut scorers = vec![["scorer", "before", "now", "change"].map(str::to_owned)];
    for (name, change) in &changes.scorers {
        let worse = if change.worse { ", worse" } else { "" };
        scorers.push([
            name.clone(),
            format!("{:.3}", change.before),
            format!("{:.3}", change.now),
            format!("{:+.3}{worse}", change.now - change.before),
        ]);
    }
    lines.extend(columns(&scorers));
    if !changes.rows.is_empty() {
        let mut rows = vec![["row", "scorer", "before", "now"].map(str::to_owned)];
        rows.extend(changes.rows.iter().map(|row| {
            [
                row.id.clone(),
                row.scorer.clone(),
                format!("{:.3}", row.before),
                format!("{:.3}", row.now),
            ]
        }));
        lines.push(String::new());
        lines.extend(columns(&rows));
    }
    let notes = [
        ("rows only now", &changes.new_rows),
        ("rows only then", &changes.gone_rows),
        ("scorers only then", &changes.gone_scorers),
    ];
    for (what, names) in notes {
        if !names.is_empty() {
            lines.push(format!("  {what}: {}", names.join(", ")));
        }
    }
    lines.join("\n") + "\n"
}

/// Scorers whose mean is under their `min`, as sentences.
pub fn too_low(sheet: &Sheet, scorers: &[Scorer]) -> Vec<String> {
    let low = scorers.iter().filter_map(|scorer| {
        let (min, tally) = (scorer.min?, sheet.summary.scorers.get(&scorer.name)?);
        (tally.mean < min).then(|| {
            let name = &scorer.name;
            format!(
                "`{name}` has a mean of {:.3}, its `min` is {min}",
                tally.mean
            )
        })
    });
    low.collect()
}
