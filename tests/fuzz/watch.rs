//! Watching over the process that reads.

use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use super::child::PANICS;
use super::entry::{self, Entry};

/// How long one input may take. A debug build on a machine with much else to do takes a second for what a release
/// build does in ten milliseconds.
const PATIENCE: Duration = Duration::from_secs(30);

/// How much memory the process may have, in KiB.
const MEMORY: u64 = 3 << 20;

/// What came of a run.
pub struct Outcome {
    /// How many inputs were read.
    pub inputs: u64,
    /// What was found.
    pub findings: Vec<Finding>,
}

/// An input that has no answer.
pub struct Finding {
    /// The number of the input.
    pub number: u64,
    /// What read it.
    pub entry: &'static Entry,
    /// What happened.
    pub why: String,
    /// The input.
    pub text: String,
}

#[derive(Debug)]
enum End {
    Exit(ExitStatus),
    Killed(&'static str),
}

/// Reads changed texts for a while.
pub fn run(folder: &Path, seed: u64, time: Duration) -> Outcome {
    let begin = Instant::now();
    let mut outcome = Outcome {
        inputs: 0,
        findings: Vec::new(),
    };
    let mut from = 0;
    while begin.elapsed() < time {
        let left = time.saturating_sub(begin.elapsed()).as_millis();
        let mut child = start(folder, |command| {
            command
                .env("GRAPHC_FUZZ_SEED", seed.to_string())
                .env("GRAPHC_FUZZ_FROM", from.to_string())
                .env("GRAPHC_FUZZ_TIME", left.to_string());
        });
        let end = watch(&mut child, folder, PATIENCE);
        if let Ok(done) = std::fs::read_to_string(folder.join("done")) {
            outcome.inputs = done.parse().unwrap();
            break;
        }
        let Some((entry, number, text)) = current(folder) else {
            panic!("the child did not begin to read: {end:?}");
        };
        let why = match end {
            End::Killed(why) => why.to_owned(),
            End::Exit(status) => format!("the process ended: {status}"),
        };
        let findings = &mut outcome.findings;
        findings.push(Finding {
            number,
            entry,
            why,
            text,
        });
        outcome.inputs = number + 1;
        from = number + 1;
        if findings.len() > 5 {
            break;
        }
    }
    panics(folder, &mut outcome.findings);
    outcome
}

/// The input that was being read.
fn current(folder: &Path) -> Option<(&'static Entry, u64, String)> {
    let text = std::fs::read(folder.join("current")).ok()?;
    let text = String::from_utf8_lossy(&text).into_owned();
    let (head, text) = text.split_once('\n')?;
    let (entry, number) = head.split_once(' ')?;
    Some((entry::named(entry)?, number.parse().ok()?, text.to_owned()))
}

/// What the child itself could report.
fn panics(folder: &Path, findings: &mut Vec<Finding>) {
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        let Some(number) = name.strip_prefix("panic-") else {
            continue;
        };
        let text = std::fs::read_to_string(&path).unwrap();
        let (head, text) = text.split_once("\n\0").unwrap();
        let (entry, why) = head.split_once(' ').unwrap();
        findings.push(Finding {
            number: number.parse().unwrap(),
            entry: entry::named(entry).unwrap(),
            why: why.to_owned(),
            text: text.to_owned(),
        });
    }
}

/// Reads one input in a process of its own.
///
/// # Errors
/// What happened.
pub fn replay(folder: &Path, entry: &Entry, text: &str, patience: Duration) -> Result<(), String> {
    std::fs::write(folder.join("replay"), text).unwrap();
    let mut child = start(folder, |command| {
        command.env("GRAPHC_FUZZ_REPLAY", entry.name);
    });
    match watch(&mut child, folder, patience) {
        End::Exit(status) if status.success() => Ok(()),
        End::Exit(status) if status.code() == Some(PANICS) => {
            Err(std::fs::read_to_string(folder.join("why")).unwrap_or_default())
        }
        End::Exit(status) => Err(format!("the process ended: {status}")),
        End::Killed(why) => Err(why.to_owned()),
    }
}

fn start(folder: &Path, settings: impl FnOnce(&mut Command)) -> Child {
    let _ = std::fs::remove_file(folder.join("done"));
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([
            "--exact",
            "fuzz::child_process",
            "--nocapture",
            "--test-threads=1",
        ])
        .env("GRAPHC_FUZZ_FOLDER", folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    settings(&mut command);
    command.spawn().unwrap()
}

fn watch(child: &mut Child, folder: &Path, patience: Duration) -> End {
    let seen = || {
        let at = folder.join("current").metadata();
        at.and_then(|at| at.modified()).ok()
    };
    let (mut last, mut since) = (seen(), Instant::now());
    let mut pause = Duration::from_millis(5);
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return End::Exit(status);
        }
        let now = seen();
        if now != last {
            (last, since) = (now, Instant::now());
        }
        let why = match () {
            () if since.elapsed() > patience => Some("it does not end"),
            () if memory(child) > MEMORY => Some("its memory grows without bound"),
            () => None,
        };
        if let Some(why) = why {
            child.kill().unwrap();
            child.wait().unwrap();
            return End::Killed(why);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(200));
    }
}

/// Memory of the process in KiB; 0 where the system doesn't say.
fn memory(child: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()));
    let status = status.unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
    number.unwrap_or(0)
}
