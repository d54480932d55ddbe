//! An evaluation: every row, so often as is asked for, several at a time.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::sync::mpsc::UnboundedSender;
use tokio_util::sync::CancellationToken;

use crate::backend::scenario::{Script, Start};
use crate::diag::Diagnostics;
use crate::ir::Flow;
use crate::project::scenario::Row;
use crate::run::backends::Backends;
use crate::run::plan::Plan;

use super::play::{Outside, Play, Played, with_tools};
use super::scope::Known;
use super::scorer::{Judged, Replies, Scorer};
use super::sheet::{RowSheet, RunSheet};
use super::stage::Stage;

/// All that an evaluation needs.
pub struct Evaluation {
    /// What runs.
    pub stage: Stage,
    /// The rows.
    pub rows: Vec<Row>,
    /// What judges.
    pub scorers: Vec<Scorer>,
    /// What the scorers know.
    pub known: Known,
    /// How often each row runs.
    pub repeats: u32,
    /// Whether models are asked for real, also those that rows have replies for.
    pub live: bool,
    /// Models and tools outside of the rows.
    pub outside: Outside,
    /// Ends it: what runs is given up, what has run is kept.
    pub cancel: CancellationToken,
    /// Serves rows that play no models; `None` where all do.
    reached: Option<Backends>,
    /// The plan of a graph, the same for all rows.
    plan: Option<Arc<Plan>>,
}

impl Evaluation {
    /// Finds what serves the rows.
    ///
    /// # Errors
    /// What the settings lack; then nothing has run.
    pub fn new(
        (stage, rows): (Stage, Vec<Row>),
        (scorers, known): (Vec<Scorer>, Known),
        (repeats, live): (u32, bool),
        outside: Outside,
    ) -> Result<Self, Diagnostics> {
        let scripted = !live && outside.is_scripted(&stage.flow);
        let is_real = |row: &&Row| live || !(scripted || row.is_scripted);
        let real = || rows.iter().filter(is_real);
        let scenarios = real().filter_map(Row::scenario);
        let played = scenarios.flat_map(|scenario| &scenario.tools);
        let played: Vec<&str> = played.map(|(name, _)| name.as_str()).collect();
        let reached = match real().next() {
            Some(_) => Some(outside.reach(&stage.flow, stage.graph, &played)?),
            None => None,
        };
        let plan = match stage.node {
            None => stage.plan_alone().ok(),
            Some(_) => None,
        };
        Ok(Self {
            stage,
            rows,
            scorers,
            known,
            repeats,
            live,
            outside,
            cancel: CancellationToken::new(),
            reached,
            plan,
        })
    }

    fn flow(&self) -> &Flow {
        &self.stage.flow
    }

    /// Whether a row plays all models, so that nothing outside is reached.
    fn is_scripted(&self, row: &Row) -> bool {
        !self.live && (row.is_scripted || self.reached.is_none())
    }

    /// Runs all rows, `jobs` at a time, and tells of each run that has ended. Gives those rows that ran, in order.
    pub async fn run(self: Arc<Self>, jobs: usize, ended: UnboundedSender<bool>) -> Vec<RowSheet> {
        let turns = Arc::new(Semaphore::new(jobs));
        let mut tasks = Vec::new();
        let indices = 0..self.rows.len();
        let all = indices.flat_map(|index| (0..self.repeats).map(move |_| index));
        for index in all {
            // The semaphore is never closed.
            let turn = Arc::clone(&turns).acquire_owned().await.ok();
            if self.cancel.is_cancelled() {
                break;
            }
            let (own, ended) = (Arc::clone(&self), ended.clone());
            let task = tokio::spawn(async move {
                let run = own.one(index).await;
                if let Some(run) = &run {
                    // Who shows progress may have gone.
                    let _ = ended.send(run.error.is_none());
                }
                drop(turn);
                run
            });
            tasks.push((index, task));
        }
        drop(ended);
        let mut runs: BTreeMap<usize, Vec<RunSheet>> = BTreeMap::new();
        for (index, task) in tasks {
            if let Ok(Some(run)) = task.await {
                runs.entry(index).or_default().push(run);
            }
        }
        let sheets = runs.into_iter().filter_map(|(index, runs)| {
            let row = self.rows.get(index)?;
            let input = row.scenario()?.input.clone();
            Some(RowSheet::new(&row.id, input, row.expect.clone(), runs))
        });
        sheets.collect()
    }

    /// One run of a row, judged. `None` where it was cancelled.
    async fn one(&self, index: usize) -> Option<RunSheet> {
        let row = self.rows.get(index)?;
        let played = self.played(row).await?;
        let replies = match (self.live, self.is_scripted(row)) {
            (true, _) => Replies::None,
            (false, true) => Replies::All,
            (false, false) => Replies::Own,
        };
        let of_row = (row, replies);
        let judged = Judged::new(
            &self.known,
            of_row,
            &played,
            &self.outside,
            self.cancel.clone(),
        );
        let mut scores = BTreeMap::new();
        for scorer in &self.scorers {
            scores.insert(scorer.name.clone(), scorer.score(&judged).await);
        }
        if self.cancel.is_cancelled() {
            return None;
        }
        let secrets = &self.flow().secrets;
        Some(RunSheet::new(played, scores, secrets))
    }

    async fn played(&self, row: &Row) -> Option<Played> {
        let script = Script::new(row.suite(), 0, Start::Run)?;
        let backends = match &self.reached {
            Some(reached) if !self.is_scripted(row) => {
                with_tools(reached.clone(), self.flow(), &script)
            }
            _ => self.outside.play(self.flow(), &script).ok()?,
        };
        let plan = match &self.plan {
            Some(plan) => Arc::clone(plan),
            None => self.stage.plan(row).ok()?,
        };
        let script = self.is_scripted(row).then_some(script);
        let observed = self.outside.observed.clone();
        let play = Play {
            stage: &self.stage,
            plan,
            row,
            observed: observed.filter(|_| script.is_none()),
            script,
            backends,
            secrets: Arc::clone(&self.outside.bindings.secrets),
            cancel: self.cancel.clone(),
        };
        play.run().await
    }
}
