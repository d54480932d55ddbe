//! Any input gives an answer: no panic, no hang, no stack that runs out, no memory without bound.
//!
//! Texts of the repository are changed at random and handed to what reads texts from outside ([`entry`]
//! names them). It happens in a child process, so that one that is killed by its stack or has to be killed is a
//! finding and not the end of the test. `GRAPHC_FUZZ_SECONDS` says how long (20 where it isn't set),
//! `GRAPHC_FUZZ_SEED` with which changes (they are the same for a seed, and it is printed),
//! `GRAPHC_FUZZ_ENTRY` with which readers alone. A finding is cut down and written below the target folder; from there
//! it becomes a file of `tests/fuzz/corpus/READER`, all of which are read first, each time.

mod chance;
mod child;
mod corpus;
mod entry;
mod mutate;
mod shrink;
mod watch;

use std::path::{Path, PathBuf};
use std::time::Duration;

use watch::{Finding, Outcome};

/// Where findings go.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("fuzz")
        .join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is a number, not `{text}`")),
    )
}

/// What was found once is never found again.
#[test]
fn what_was_found_once() {
    let folder = folder("kept");
    let mut wrong = Vec::new();
    for (entry, name, text) in corpus::kept() {
        if let Err(why) = watch::replay(&folder, entry, &text, Duration::from_secs(60)) {
            wrong.push(format!("{}/{name}: {why}", entry.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Changed texts, for a bounded time.
#[test]
fn changed_texts() {
    let seconds = setting("GRAPHC_FUZZ_SECONDS").unwrap_or(20);
    let seed = setting("GRAPHC_FUZZ_SEED").unwrap_or_else(chance::seed);
    println!("GRAPHC_FUZZ_SEED={seed}");
    let folder = folder("changed");
    let Outcome { inputs, findings } = watch::run(&folder, seed, Duration::from_secs(seconds));
    println!("{inputs} inputs in {seconds} s");
    assert!(inputs > 0 || seconds == 0, "nothing was read");
    let told: Vec<String> = findings
        .iter()
        .map(|finding| told(&folder, finding))
        .collect();
    assert!(told.is_empty(), "seed {seed}:\n{}", told.join("\n"));
}

fn told(folder: &Path, finding: &Finding) -> String {
    let small = shrink::shrink(folder, finding);
    let path = folder.join(format!("small-{}.{}", finding.number, finding.entry.name));
    std::fs::write(&path, &small).unwrap();
    format!(
        "{} ({} bytes, cut down from {}): {}\n  {}",
        finding.entry.name,
        small.len(),
        finding.text.len(),
        finding.why,
        path.display(),
    )
}

/// The child process of the other tests; by itself nothing.
#[test]
fn child_process() {
    child::run();
}
