//! What `graphc` costs as a process, as a person or CI calls it: seconds from its start to its end, and the most memory that it
//! holds.
//!
//! `cargo bench --bench process`; with the names of rows behind `--`, those only. A row is run several times, and the middle
//! one counts. Memory is the high-water mark of the resident set that the kernel keeps for a process, read every
//! millisecond, so that of a very short process it is somewhat too low; `-` where there is no `/proc`. How to read it:
//! docs/benchmarks.md.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::print_stdout)]

mod shapes;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// What is run: its name, the shape and size of the flow, the arguments before its path.
struct Row {
    name: &'static str,
    shape: &'static str,
    size: usize,
    args: &'static [&'static str],
    times: usize,
}

const fn row(
    name: &'static str,
    (shape, size): (&'static str, usize),
    args: &'static [&'static str],
    times: usize,
) -> Row {
    Row {
        name,
        shape,
        size,
        args,
        times,
    }
}

const ROWS: &[Row] = &[
    row("check-50", ("chain", 50), &["check"], 21),
    row("check-10000", ("chain", 10_000), &["check"], 11),
    row("check-100000", ("chain", 100_000), &["check"], 5),
    row("check-routes-10000", ("routes", 10_000), &["check"], 5),
    row("check-prompts-10000", ("prompts", 10_000), &["check"], 5),
    // About ten megabytes of text.
    row("check-types-90000", ("types", 90_000), &["check"], 3),
    row("fmt-10000", ("chain", 10_000), &["fmt", "--diff"], 5),
    row("build-10000", ("chain", 10_000), &["build"], 5),
    row("eval", ("chain", 1), &["eval", "1 + 1"], 101),
];

fn main() {
    let asked: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with('-'))
        .collect();
    let folder = std::env::temp_dir().join(format!("graphc-bench-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    println!(
        "{:<22} {:>9} {:>11} {:>10}",
        "row", "text", "time", "memory"
    );
    for row in ROWS {
        if asked.is_empty() || asked.iter().any(|name| name == row.name) {
            show(row, &folder);
        }
    }
    fs::remove_dir_all(&folder).unwrap();
}

fn show(row: &Row, folder: &Path) {
    let file = written(row, folder);
    let mut runs: Vec<(Duration, Option<u64>)> = (0..row.times).map(|_| run(row, &file)).collect();
    runs.sort();
    let (time, _) = runs[row.times / 2];
    let most = runs.iter().filter_map(|(_, memory)| *memory).max();
    let memory = most.map_or("-".to_owned(), |kib| {
        format!("{:.1} MiB", kib as f64 / 1024.0)
    });
    let text = fs::metadata(&file).unwrap().len();
    let text = format!("{:.1} kB", text as f64 / 1e3);
    let time = format!("{:.1} ms", time.as_secs_f64() * 1e3);
    println!("{:<22} {text:>9} {time:>11} {memory:>10}", row.name);
}

fn written(row: &Row, folder: &Path) -> PathBuf {
    let file = folder.join(format!("{}-{}.graph", row.shape, row.size));
    if !file.exists() {
        let files = shapes::named(row.shape).files(row.size);
        fs::write(&file, &files[shapes::FILE]).unwrap();
    }
    file
}

/// One process: how long it took, and the most that it held, in KiB.
fn run(row: &Row, file: &Path) -> (Duration, Option<u64>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_graphc"));
    command
        .args(row.args)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    if row.name != "eval" {
        command.arg(file);
    }
    let begun = Instant::now();
    let mut child = command.spawn().unwrap();
    let mut most = None;
    let status = loop {
        most = most.max(high_water(&child));
        match child.try_wait().unwrap() {
            Some(status) => break status,
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    let time = begun.elapsed();
    assert!(status.success(), "{} ended with {status}", row.name);
    (time, most)
}

fn high_water(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}
