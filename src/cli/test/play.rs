//! Plays the scenarios of all files side by side.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::Semaphore;

use crate::cli::{Context, Failure, STACK_BYTES};
use crate::ir::Flow;
use crate::scenario::coverage::{Missing, Row};
use crate::scenario::crash::Launcher;
use crate::scenario::group::{self, Bench, Group};
use crate::scenario::{Coverage, Verdict, groups};

use super::load::File;

/// What came of one file.
pub struct Report {
    /// The file.
    pub file: File,
    /// A verdict for each scenario asked for, in the order of the file.
    pub verdicts: Vec<Verdict>,
}

/// What the scenarios have taken of one flow.
pub struct Covered {
    /// The flow's file.
    pub flow: PathBuf,
    /// By graph.
    pub rows: Vec<Row>,
    /// What is missing.
    pub missing: Vec<Missing>,
}

/// Plays all scenarios of the files whose name is wanted, `jobs` at a time.
pub fn all(
    files: &[File],
    wanted: impl Fn(&str) -> bool,
    jobs: Option<NonZeroUsize>,
    context: &Context,
) -> Result<Vec<Report>, Failure> {
    let jobs = jobs
        .or_else(|| std::thread::available_parallelism().ok())
        .map_or(1, NonZeroUsize::get);
    let failed = |error: std::io::Error| Failure::unusable(format!("could not start: {error}"));
    let launcher = launcher(context).map_err(failed)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(jobs)
        .thread_stack_size(STACK_BYTES)
        .enable_all()
        .build()
        .map_err(failed)?;
    runtime.block_on(async {
        let turns = Arc::new(Semaphore::new(jobs));
        let mut playing = Vec::new();
        for file in files {
            let bench = Bench {
                suite: Arc::clone(&file.suite),
                file: file.path.clone(),
                plan: Arc::clone(&file.plan),
                bindings: file.bindings.clone(),
                launcher: launcher.clone(),
            };
            let groups = groups(&file.suite, &wanted).into_iter();
            let (real, played): (Vec<Group>, Vec<Group>) =
                groups.partition(|group| group.calls_for_real(&file.suite));
            // What is really called may remember: one after another, in the order of the file.
            let played = played.into_iter().map(|group| vec![group]);
            let tasks = played.chain([real]).map(|groups| {
                let (bench, turns) = (bench.clone(), Arc::clone(&turns));
                tokio::spawn(async move {
                    let mut verdicts = Vec::new();
                    for group in &groups {
                        // The semaphore is never closed.
                        let _turn = turns.acquire().await.ok();
                        verdicts.extend(group::run(&bench, group).await);
                    }
                    verdicts
                })
            });
            playing.push((file.clone(), tasks.collect::<Vec<_>>()));
        }
        let mut reports = Vec::new();
        for (file, tasks) in playing {
            let mut verdicts = Vec::new();
            for task in tasks {
                let done = task.await.map_err(|error| {
                    Failure::unusable(format!("a scenario of `{}` broke off: {error}", file.name))
                })?;
                verdicts.extend(done);
            }
            verdicts.sort_by_key(|verdict| verdict.index);
            reports.push(Report { file, verdicts });
        }
        Ok(reports)
    })
}

/// This very program, with the settings that it was given.
fn launcher(context: &Context) -> std::io::Result<Launcher> {
    let mut args: Vec<OsString> = Vec::new();
    if let Some(config) = &context.config {
        args.extend(["--config".into(), config.into()]);
    }
    if let Some(profile) = &context.profile {
        args.extend(["--profile".into(), profile.into()]);
    }
    args.push("play-scenario".into());
    Ok(Launcher {
        program: std::env::current_exe()?,
        args,
    })
}

/// What was taken of each flow, put together over all of its files.
pub fn coverage(reports: &[Report]) -> Vec<Covered> {
    let mut flows: Vec<(&PathBuf, Arc<Flow>, Coverage)> = Vec::new();
    for report in reports {
        let flow = &report.file.plan.flow;
        let mut taken = Coverage::default();
        for (graph, told) in report.verdicts.iter().filter_map(|v| v.seen.as_ref()) {
            told.iter().for_each(|told| taken.note(flow, *graph, told));
        }
        match flows
            .iter_mut()
            .find(|(path, ..)| **path == report.file.flow)
        {
            Some((_, _, all)) => all.add(taken),
            None => flows.push((&report.file.flow, Arc::clone(flow), taken)),
        }
    }
    let flows = flows.into_iter();
    flows
        .map(|(path, flow, taken)| Covered {
            flow: path.clone(),
            rows: taken.rows(&flow),
            missing: taken.missing(&flow),
        })
        .collect()
}
