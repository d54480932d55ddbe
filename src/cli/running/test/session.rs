//! Where the scenarios of one file are played, with the services that they need.

use std::sync::Arc;

use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::backend::service::{Fault, Services};
use crate::cli::running::bindings;
use crate::cli::running::services;
use crate::cli::{Context, Failure};
use crate::scenario::crash::Launcher;
use crate::scenario::group::{self, Bench, Group};

use super::load::{self, Broken, File};
use super::play::Report;

/// What all files are played with.
pub struct TestSession<'a> {
    /// Groups that are played at the same time.
    pub turns: Arc<Semaphore>,
    /// Files whose services run at the same time.
    pub places: Semaphore,
    /// How processes of scenarios are started.
    pub launcher: Launcher,
    /// Whether recorded scenarios are recorded anew.
    pub record: bool,
    /// What the command was given.
    pub context: &'a Context,
}

impl TestSession<'_> {
    /// Plays groups of a file. The inner error is of one that can't be played, which has been said.
    pub async fn play(
        &self,
        file: &File,
        groups: Vec<Group>,
    ) -> Result<Result<Report, Box<Broken>>, Failure> {
        let calls = groups
            .iter()
            .any(|group| group.calls_for_real(&file.suite, self.record));
        if file.suite.services.is_empty() || !calls {
            let bench = self.bench(file);
            return Ok(Ok(self.played(file, bench, groups).await?));
        }
        // The semaphore is never closed.
        let _place = self.places.acquire().await.ok();
        let started = Services::start(&file.suite.services, &file.bindings.folder).await;
        let services = match started {
            Ok(services) => services,
            Err(fault) => return Ok(Err(self.broken(file, &fault))),
        };
        let mut bench = self.bench(file);
        bench.launcher.env = services.variables().to_vec();
        let variables = services.variables();
        match bindings::load(&file.project, self.context, variables) {
            Ok(bindings) => bench.bindings = bindings,
            Err(failure) => return Ok(Err(load::broken(&file.path, failure))),
        }
        let report = self.played(file, bench, groups).await?;
        for fault in services.end().await {
            services::failure(&fault, &file.suite, &file.sources, self.context).say();
        }
        Ok(Ok(report))
    }

    fn bench(&self, file: &File) -> Bench {
        Bench {
            suite: Arc::clone(&file.suite),
            file: file.path.clone(),
            plan: Arc::clone(&file.plan),
            bindings: file.bindings.clone(),
            launcher: self.launcher.clone(),
            record: self.record,
        }
    }

    /// Plays groups side by side, but for those with real calls: what is really called may remember, and these go one after another, in
    /// the order of the file.
    async fn played(
        &self,
        file: &File,
        bench: Bench,
        groups: Vec<Group>,
    ) -> Result<Report, Failure> {
        let (real, others): (Vec<Group>, Vec<Group>) = groups
            .into_iter()
            .partition(|group| group.calls_for_real(&file.suite, self.record));
        let mut tasks = JoinSet::new();
        for groups in others.into_iter().map(|group| vec![group]).chain([real]) {
            let (bench, turns) = (bench.clone(), Arc::clone(&self.turns));
            tasks.spawn(async move {
                let mut verdicts = Vec::new();
                for group in &groups {
                    let _turn = turns.acquire().await.ok();
                    verdicts.extend(group::run(&bench, group).await);
                }
                verdicts
            });
        }
        let mut verdicts = Vec::new();
        while let Some(done) = tasks.join_next().await {
            verdicts.extend(done.map_err(|error| {
                Failure::unusable(format!("a scenario of `{}` broke off: {error}", file.name))
            })?);
        }
        verdicts.sort_by_key(|verdict| verdict.index);
        Ok(Report {
            file: file.clone(),
            verdicts,
        })
    }

    /// A file one of whose services isn't there.
    fn broken(&self, file: &File, fault: &Fault) -> Box<Broken> {
        let failure = services::failure(fault, &file.suite, &file.sources, self.context);
        failure.say();
        let at = file.sources.location(file.suite.key_span(&fault.at));
        Box::new(Broken {
            name: file.name.clone(),
            faults: vec![load::Fault {
                message: fault.message.clone(),
                detail: fault.said.clone(),
                at: Some((file.name.clone(), at)),
            }],
            failure,
        })
    }
}
