//! Plays the scenarios of all files side by side.

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::sync::Semaphore;

use crate::backend::group;
use crate::cli::running::run::signals;
use crate::cli::{Context, Exit, Failure, STACK_BYTES};
use crate::ir::Flow;
use crate::project::scenario::Scenario;
use crate::scenario::coverage::{Missing, Row};
use crate::scenario::crash::Launcher;
use crate::scenario::{Coverage, Verdict, groups};

use super::load::{Broken, File};
use super::session::TestSession;

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
    /// Scenarios that expect nothing beyond a status, and so count for nothing: the file of each, and its name.
    pub idle: Vec<(String, String)>,
}

/// How long what was under way may take to end, once the process is asked to.
const GRACE: Duration = Duration::from_secs(2);

/// Plays all scenarios of the files that are wanted, `jobs` at a time, and records those on cassettes anew where `record` says so. Those of files whose services are not there are not
/// played; it has been said.
pub fn all(
    files: &[File],
    wanted: impl Fn(&Scenario) -> bool,
    (jobs, record): (Option<NonZeroUsize>, bool),
    context: &Context,
) -> Result<(Vec<Report>, Vec<Broken>), Failure> {
    let jobs = jobs
        .or_else(|| std::thread::available_parallelism().ok())
        .map_or(1, NonZeroUsize::get);
    let failed = |error: std::io::Error| Failure::unusable(format!("could not start: {error}"));
    let session = TestSession {
        turns: Arc::new(Semaphore::new(jobs)),
        places: Semaphore::new(jobs),
        launcher: launcher(context).map_err(failed)?,
        record,
        context,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(jobs)
        .thread_stack_size(STACK_BYTES)
        .enable_all()
        .build()
        .map_err(failed)?;
    let played = runtime.block_on(async {
        let playing = files
            .iter()
            .map(|file| session.play(file, groups(&file.suite, &wanted)));
        tokio::select! {
            biased;
            _ = signals::wait() => None,
            played = join_all(playing) => Some(played),
        }
    });
    let Some(played) = played else {
        // Scenarios that were under way are dropped, with their services and the programs of their tools.
        runtime.shutdown_timeout(GRACE);
        group::end_all();
        return Err(Failure::silent(Exit::Cancelled));
    };
    let (mut reports, mut broken) = (Vec::new(), Vec::new());
    for file in played {
        match file? {
            Ok(report) => reports.push(report),
            Err(one) => broken.push(*one),
        }
    }
    Ok((reports, broken))
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
        env: Vec::new(),
    })
}

/// One flow, as its files are gone through.
struct Counted<'r> {
    path: &'r PathBuf,
    flow: &'r Flow,
    taken: Coverage,
    idle: Vec<(String, String)>,
}

/// What was taken of each flow, put together over all of its files. A scenario that expects nothing shows nothing, whatever it takes.
pub fn coverage(reports: &[Report]) -> Vec<Covered> {
    let mut flows: Vec<Counted<'_>> = Vec::new();
    for report in reports {
        let flow = &*report.file.plan.flow;
        let path = &report.file.flow;
        let known = flows.iter().position(|counted| counted.path == path);
        let at = known.unwrap_or(flows.len());
        if known.is_none() {
            flows.push(Counted {
                path,
                flow,
                taken: Coverage::default(),
                idle: Vec::new(),
            });
        }
        let Some(counted) = flows.get_mut(at) else {
            continue;
        };
        for verdict in &report.verdicts {
            let scenario = report.file.suite.scenarios.get(verdict.index);
            if scenario.is_some_and(|scenario| scenario.expect.is_bare()) {
                let name = (report.file.name.clone(), verdict.name.clone());
                counted.idle.push(name);
            } else if let Some((graph, told)) = &verdict.seen {
                told.iter()
                    .for_each(|told| counted.taken.note(flow, *graph, told));
            }
        }
    }
    let covered = flows.into_iter().map(|counted| Covered {
        flow: counted.path.clone(),
        rows: counted.taken.rows(counted.flow),
        missing: counted.taken.missing(counted.flow),
        idle: counted.idle,
    });
    covered.collect()
}
