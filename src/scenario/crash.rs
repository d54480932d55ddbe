//! Processes that play a scenario and are killed on the way.
//!
//! The parent starts a child that plays the scenario on a store on disk and tells what it sees on its
//! stdout. When it says that its end has come, the parent kills it; a second child goes on from what
//! the store holds.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::Command;

use crate::backend::scenario::{Script, Start};
use crate::project::scenario::Suite;

use super::answers::Used;
use super::doom::Doom;
use super::play::{How, Stage, play};
use super::sighting::{Log, Sighting};

/// How a child that plays a scenario is started: this command with a [`Job`] as its last argument.
#[derive(Debug, Clone)]
pub struct Launcher {
    /// The program.
    pub program: PathBuf,
    /// Its arguments before the job.
    pub args: Vec<OsString>,
    /// Variables that it has beside those of this process.
    pub env: Vec<(String, String)>,
}

/// What a child is to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Job {
    /// The scenario's file.
    pub file: PathBuf,
    /// Position of the scenario.
    pub scenario: usize,
    /// The file of the store.
    pub store: PathBuf,
    /// The thread.
    pub thread: String,
    /// For a child that goes on: how many answers were used, by node.
    pub resume: Option<Vec<(Option<String>, usize)>>,
}

/// Plays a scenario in processes, the first of which is killed. Gives what each has told.
///
/// # Errors
/// Where a child can't be started or ends otherwise than it should, in words.
pub async fn play_apart(launcher: &Launcher, job: Job) -> Result<Vec<Vec<Sighting>>, String> {
    let first = child(launcher, &job).await?;
    if first.last() != Some(&Sighting::Dying) {
        return Ok(vec![first]);
    }
    let mut used = Used::new();
    for sighting in &first {
        if let Sighting::Answered { node } = sighting {
            *used.entry(node.clone()).or_default() += 1;
        }
    }
    let next = Job {
        resume: Some(used.into_iter().collect()),
        ..job
    };
    let second = child(launcher, &next).await?;
    Ok(vec![first, second])
}

async fn child(launcher: &Launcher, job: &Job) -> Result<Vec<Sighting>, String> {
    let failed = |error: std::io::Error| format!("the scenario's process: {error}");
    let text = serde_json::to_string(job).map_err(|error| error.to_string())?;
    let mut child = Command::new(&launcher.program)
        .args(&launcher.args)
        .arg(text)
        .envs(launcher.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    // It lives for as long as its stdin is open, and ends its own programs where that is closed early.
    let _alive = child.stdin.take();
    let (Some(stdout), Some(mut stderr)) = (child.stdout.take(), child.stderr.take()) else {
        return Err("the scenario's process has no streams".to_owned());
    };
    let said = tokio::spawn(async move {
        let mut said = String::new();
        // What can't be read says nothing.
        let _ = stderr.read_to_string(&mut said).await;
        said
    });
    let mut lines = BufReader::new(stdout).lines();
    let mut told = Vec::new();
    while let Some(line) = lines.next_line().await.map_err(failed)? {
        let sighting = serde_json::from_str(&line)
            .map_err(|error| format!("the scenario's process said `{line}`: {error}"))?;
        told.push(sighting);
        if told.last() == Some(&Sighting::Dying) {
            child.kill().await.map_err(failed)?;
            return Ok(told);
        }
    }
    let status = child.wait().await.map_err(failed)?;
    match status.success() {
        true => Ok(told),
        false => {
            let said = said.await.unwrap_or_default();
            Err(format!(
                "the scenario's process ended with {status}\n{said}"
            ))
        }
    }
}

/// What a child does: plays the scenario and tells on stdout what it sees.
///
/// # Errors
/// Where it can't be played, in words.
pub async fn play_here(suite: &Suite, stage: &Stage, job: &Job) -> Result<(), String> {
    let start = match job.resume {
        None => Start::Run,
        Some(_) => Start::Resume,
    };
    let script = Script::new(suite, job.scenario, start);
    let script = script.ok_or("there is no such scenario")?;
    if script.scenario().recorded {
        script.play_from_file(&job.file)?;
    }
    let crash = script.scenario().crash.clone();
    let log = Arc::new(Log::echoing(|sighting| {
        // A parent that has gone away needs to be told nothing.
        if let Ok(line) = serde_json::to_string(sighting) {
            let mut out = std::io::stdout().lock();
            let _ = writeln!(out, "{line}").and_then(|()| out.flush());
        }
    }));
    let how = How {
        doom: match job.resume {
            None => crash.map(|crash| Arc::new(Doom::new(crash))),
            Some(_) => None,
        },
        resume: job
            .resume
            .as_ref()
            .map(|used| used.iter().cloned().collect()),
        ..How::default()
    };
    play(stage, &script, how, &log).await
}

/// A folder that goes when this is dropped.
#[derive(Debug)]
pub struct TempFolder(PathBuf);

impl TempFolder {
    /// A new folder below the system's folder for such.
    ///
    /// # Errors
    /// Where it can't be made.
    pub fn new() -> std::io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!(
            "graphc-{}-{number}-{}",
            std::process::id(),
            uuid::Uuid::new_v4()
        );
        let folder = std::env::temp_dir().join(name);
        crate::store::private::make_folder(&folder)?;
        Ok(Self(folder))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for TempFolder {
    fn drop(&mut self) {
        // What can't be removed stays for the system to clear away.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
