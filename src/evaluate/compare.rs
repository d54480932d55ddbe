//! An evaluation beside an earlier one of the same rows.

use std::collections::BTreeMap;

use serde::Serialize;

use super::sheet::{RowSheet, Sheet, Tally};

/// What has changed since.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Changes {
    /// By scorer that both have, over the rows that both have.
    pub scorers: BTreeMap<String, Change>,
    /// Rows whose score is another, by scorer.
    pub rows: Vec<RowChange>,
    /// Rows that only this one has.
    pub new_rows: Vec<String>,
    /// Rows that only the earlier one has.
    pub gone_rows: Vec<String>,
    /// Scorers that only the earlier one has.
    pub gone_scorers: Vec<String>,
}

/// A score then and now.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Change {
    /// The mean of the earlier one.
    pub before: f64,
    /// The mean of this one.
    pub now: f64,
    /// Whether it is lower by more than is tolerated.
    pub worse: bool,
}

/// A row whose score is another.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RowChange {
    /// The row.
    pub id: String,
    /// The scorer.
    pub scorer: String,
    /// Its mean in the earlier one.
    pub before: f64,
    /// Its mean in this one.
    pub now: f64,
}

/// Means of the same runs may differ in their last digits.
const SAME: f64 = 1e-9;

/// Holds an evaluation against an earlier one.
pub fn compare(now: &Sheet, before: &Sheet, tolerance: f64) -> Changes {
    let known: BTreeMap<&str, &RowSheet> = before
        .rows
        .iter()
        .map(|row| (row.id.as_str(), row))
        .collect();
    let mut changes = Changes::default();
    let mut both: BTreeMap<&str, Vec<(Tally, Tally)>> = BTreeMap::new();
    for row in &now.rows {
        let Some(old) = known.get(row.id.as_str()) else {
            changes.new_rows.push(row.id.clone());
            continue;
        };
        for (scorer, tally) in &row.scores {
            let Some(was) = old.scores.get(scorer) else {
                continue;
            };
            both.entry(scorer).or_default().push((*was, *tally));
            if (tally.mean - was.mean).abs() > SAME {
                changes.rows.push(RowChange {
                    id: row.id.clone(),
                    scorer: scorer.clone(),
                    before: was.mean,
                    now: tally.mean,
                });
            }
        }
    }
    for (scorer, pairs) in both {
        let mean =
            |of: fn(&(Tally, Tally)) -> f64| pairs.iter().map(of).sum::<f64>() / pairs.len() as f64;
        let (before, now) = (mean(|pair| pair.0.mean), mean(|pair| pair.1.mean));
        let worse = before - now > tolerance + SAME;
        let change = Change { before, now, worse };
        changes.scorers.insert(scorer.to_owned(), change);
    }
    let here = |id: &str| now.rows.iter().any(|row| row.id == id);
    let gone = before.rows.iter().filter(|row| !here(&row.id));
    changes.gone_rows = gone.map(|row| row.id.clone()).collect();
    let old = before.summary.scorers.keys();
    let gone = old.filter(|name| !now.summary.scorers.contains_key(*name));
    changes.gone_scorers = gone.cloned().collect();
    changes
}

impl Changes {
    /// Whether some score is lower by more than is tolerated.
    pub fn are_worse(&self) -> bool {
        self.scorers.values().any(|change| change.worse)
    }
}
