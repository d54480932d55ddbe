//! What the runtime has to cost, row by row, and what it costs here.
//!
//! `cargo bench --bench cost`; with the names of rows behind `--`, those only. Rows of processor time don't hang much on what
//! else the machine does; the others are held against a bare transaction, measured in turns with them. The middle of several turns counts.
//! How to read it: docs/benchmarks.md.
#![allow(clippy::unwrap_used, clippy::print_stdout, missing_docs)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use graphc::compile::compile;
use graphc::embed::{Engine, EngineBuilder, RunOptions, RunState, SqliteStore};
use rusqlite::Connection;
use serde_json::{Value as Json, json};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

/// Turns of which the middle one counts.
const TURNS: usize = 7;

/// One trivial node that comes back to itself.
const LOOP: &str = "graph Main {
  state { in out n: int, in limit: int }
  start -> again
  node again: update {
    set { n: state.n + 1 }
    goto { when state.n < state.limit -> again  else -> end }
  }
}
";

/// Sends, gathered at a join of theirs.
const FAN_OUT: &str = "graph Main {
  state { in items: list<int>, out doubled: list<int> via append, out sum: int = 0 }
  start -> [each x in state.items -> worker with { x: x }]
  node worker: update -> gather { input { x: int } set { doubled: [input.x * 2] } }
  node gather: update -> end { defer set { sum: state.doubled.sum() } }
}
";

/// A node that takes long enough to be looked at.
const START: &str = "tool wait(seconds: float) -> json @timeout(5s) @effect(read)
graph Main {
  state { out n: int = 0 }
  start -> first
  node first: update -> rest { set { n: 1 } }
  node rest: call wait(seconds: 0.2) -> end { set { n: 2 } }
}
";

fn main() {
    let asked: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| !arg.starts_with('-'))
        .collect();
    let wanted = |name: &str| asked.is_empty() || asked.iter().any(|asked| asked == name);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-cost");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    println!("{:<14} {:<42} {:>22} measured", "row", "what", "to reach");
    if wanted("step") {
        for nodes in [10, 100, 1_000, 10_000] {
            step(nodes);
        }
    }
    if wanted("fan-out") {
        for sends in [1_000, 10_000] {
            fan_out(sends);
        }
    }
    if wanted("durable-step") {
        durable_step(&folder);
    }
    if wanted("threads") {
        threads(&folder);
    }
    if wanted("start") {
        start(&folder);
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

fn show(row: &str, what: &str, target: &str, measured: &str) {
    println!("{row:<14} {what:<42} {target:>22} {measured}");
}

/// Nanoseconds that this thread had a processor for; where the system doesn't tell, nanoseconds.
fn processor(begun: Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let told = told.and_then(|text| text.split(' ').next()?.parse().ok());
    told.unwrap_or_else(|| begun.elapsed().as_nanos() as f64)
}

/// The middle of several turns of each of two works, one after the other.
fn in_turns(mut one: impl FnMut() -> f64, mut other: impl FnMut() -> f64) -> (f64, f64) {
    let (mut ones, mut others): (Vec<f64>, Vec<f64>) = (0..TURNS).map(|_| (one(), other())).unzip();
    (middle(&mut ones), middle(&mut others))
}

fn middle(turns: &mut [f64]) -> f64 {
    turns.sort_by(f64::total_cmp);
    turns.get(turns.len() / 2).copied().unwrap()
}

/// A runtime whose work is this thread's, so that its time can be told.
fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

fn engine(text: &str, store: Option<SqliteStore>) -> Engine {
    let files: BTreeMap<String, String> = [("cost.graph".to_owned(), text.to_owned())].into();
    let compiled = compile("cost.graph", &files);
    let wrong = compiled.diagnostics.iter().map(|d| d.message.clone());
    let wrong: Vec<String> = wrong.take(3).collect();
    let builder = EngineBuilder::new(compiled.flow.unwrap_or_else(|| panic!("{wrong:?}")));
    match store {
        Some(store) => builder.store(store).build().unwrap(),
        None => builder.build().unwrap(),
    }
}

async fn run(engine: &Engine, thread: &str, input: &Json) {
    let options = RunOptions {
        recursion_limit: Some(1_000_000),
        ..RunOptions::default()
    };
    let graph = engine.entry().unwrap();
    let result = engine.start(graph, thread, input, options).await.unwrap();
    assert_eq!(result.state, RunState::Done, "{:?}", result.error);
}

/// Processor time of a run, over `parts`, in microseconds.
fn each(engine: &Engine, input: &Json, parts: usize) -> f64 {
    let runtime = runtime();
    let begun = Instant::now();
    // The system counts in ticks of some milliseconds: a turn is many of them.
    let runs = (200_000 / parts).max(1);
    let mut turns: Vec<f64> = (0..TURNS)
        .map(|_| {
            let before = processor(begun);
            for _ in 0..runs {
                runtime.block_on(run(engine, "t", input));
            }
            (processor(begun) - before) / (parts * runs) as f64 / 1e3
        })
        .collect();
    middle(&mut turns)
}

/// A super-step of one trivial node, in a graph of so many.
fn step(nodes: usize) {
    let mut text = String::from("graph Main {\n  state { in out n: int }\n  start -> n0\n");
    for node in 0..nodes {
        let next = match node + 1 == nodes {
            true => "end".to_owned(),
            false => format!("n{}", node + 1),
        };
        let _ = writeln!(
            text,
            "  node n{node}: update -> {next} {{ set {{ n: state.n + 1 }} }}"
        );
    }
    let engine = engine(&(text + "}\n"), None);
    let each = each(&engine, &json!({ "n": 0 }), nodes);
    let what = format!("a super-step of a graph of {nodes} nodes");
    show("step", &what, "2 µs of processor", &format!("{each:.2} µs"));
}

fn fan_out(sends: usize) {
    let engine = engine(FAN_OUT, None);
    let items: Vec<usize> = (0..sends).collect();
    let each = each(&engine, &json!({ "items": items }), sends);
    let what = format!("one of {sends} sends, gathered");
    let measured = format!("{each:.2} µs");
    show("fan-out", &what, "3 µs of processor", &measured);
}

/// Steps of a thread in a file, and as many bare transactions of as many bytes.
fn durable_step(folder: &Path) {
    const STEPS: usize = 2_000;
    let runtime = runtime();
    let input = json!({ "n": 0, "limit": STEPS });
    let mut count = 0;
    let mut bytes = 0;
    let steps = || {
        count += 1;
        let file = folder.join(format!("steps-{count}.db"));
        let engine = engine(LOOP, Some(SqliteStore::open(&file).unwrap()));
        let begun = Instant::now();
        runtime.block_on(run(&engine, "t", &input));
        let seconds = begun.elapsed().as_secs_f64();
        drop(engine);
        bytes = std::fs::metadata(&file).unwrap().len();
        seconds / STEPS as f64 * 1e6
    };
    let mut bare_count = 0;
    let bare = || {
        bare_count += 1;
        let file = folder.join(format!("bare-{bare_count}.db"));
        // What a step adds to a file, without its share of the indexes.
        transactions(&file, STEPS, 150) * 1e6
    };
    let (step, bare) = in_turns(steps, bare);
    let each = bytes / STEPS as u64;
    let measured = format!(
        "{:.2} times: {step:.1} µs, a transaction {bare:.1} µs ({each} bytes a step)",
        step / bare
    );
    show(
        "durable-step",
        "a super-step in SQLite (`async`)",
        "2 bare transactions",
        &measured,
    );
}

/// Seconds of one of so many transactions of so many bytes, as the store makes them.
fn transactions(file: &PathBuf, count: usize, bytes: usize) -> f64 {
    let connection = Connection::open(file).unwrap();
    let setting = "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
         CREATE TABLE records (id INTEGER PRIMARY KEY, data TEXT);";
    connection.execute_batch(setting).unwrap();
    let data = "x".repeat(bytes);
    let begun = Instant::now();
    for _ in 0..count {
        let mut insert = connection
            .prepare_cached("INSERT INTO records (data) VALUES (?1)")
            .unwrap();
        insert.execute([&data]).unwrap();
    }
    begun.elapsed().as_secs_f64() / count as f64
}

/// Threads at once, each with as many steps, and as many bare transactions.
fn threads(folder: &Path) {
    const THREADS: usize = 1_000;
    const STEPS: usize = 10;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let input = json!({ "n": 0, "limit": STEPS });
    let mut count = 0;
    let all = || {
        count += 1;
        let file = folder.join(format!("threads-{count}.db"));
        let engine = engine(LOOP, Some(SqliteStore::open(&file).unwrap()));
        let begun = Instant::now();
        runtime.block_on(async {
            let mut running = JoinSet::new();
            for thread in 0..THREADS {
                let (engine, input) = (engine.clone(), input.clone());
                running.spawn(async move { run(&engine, &format!("t{thread}"), &input).await });
            }
            while let Some(ended) = running.join_next().await {
                ended.unwrap();
            }
        });
        begun.elapsed().as_secs_f64()
    };
    let mut bare_count = 0;
    let bare = || {
        bare_count += 1;
        let file = folder.join(format!("bare-threads-{bare_count}.db"));
        transactions(&file, THREADS * STEPS, 150) * (THREADS * STEPS) as f64
    };
    let (all, bare) = in_turns(all, bare);
    let measured = format!(
        "{:.2} times: {all:.2} s, {:.1} µs a step; the transactions {bare:.2} s",
        all / bare,
        all / (THREADS * STEPS) as f64 * 1e6
    );
    show(
        "threads",
        "1,000 threads of 10 steps at once (SQLite)",
        "the disk's time",
        &measured,
    );
}

/// From the start of the process to its first node, and the most memory that it has held by then.
fn start(folder: &Path) {
    let file = folder.join("start.graph");
    std::fs::write(&file, START).unwrap();
    let settings = "tools:\n  wait: { command: [sleep, \"0.2\"] }\n";
    std::fs::write(folder.join("graphc.yaml"), settings).unwrap();
    let mut most = 0;
    let mut turns: Vec<f64> = (0..21)
        .map(|_| {
            let begun = Instant::now();
            let mut child = Command::new(env!("CARGO_BIN_EXE_graphc"))
                .args(["run", "--stream", "tasks"])
                .arg(&file)
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let mut line = String::new();
            let mut out = BufReader::new(child.stdout.take().unwrap());
            out.read_line(&mut line).unwrap();
            let ms = begun.elapsed().as_secs_f64() * 1e3;
            assert!(line.contains("first"), "{line}");
            // The tool waits: nothing else happens meanwhile.
            std::thread::sleep(std::time::Duration::from_millis(100));
            most = most.max(high_water(child.id()).unwrap_or(0));
            let _ = out.read_line(&mut line);
            child.wait().unwrap();
            ms
        })
        .collect();
    let ms = middle(&mut turns);
    let memory = match most {
        0 => "-".to_owned(),
        kib => format!("{:.1} MiB", kib as f64 / 1024.0),
    };
    show(
        "start",
        "process start to first node; memory",
        "10 ms; 30 MiB",
        &format!("{ms:.1} ms; {memory}"),
    );
}

/// The most memory that a process has held, in KiB; `None` where there is no `/proc`.
fn high_water(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let mut lines = status.lines();
    let line = lines.find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}
