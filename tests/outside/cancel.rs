//! What Ctrl-C ends, what it waits for, and what is asked about afterwards.

use std::path::{Path, PathBuf};
use std::process::{Child, Output};
use std::time::{Duration, Instant};

use serde_json::Value as Json;

use super::process::{folder, graphc, text};

/// Far longer than anything here takes that is not waited for.
const BOUND: Duration = Duration::from_secs(20);

fn lines(folder: &Path, file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join(file)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// A run whose tools have written a first line to `log`.
fn under_way(folder: &Path) -> Child {
    let child = graphc(folder, &["run", "f.graph", "--thread", "t"])
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while lines(folder, "log").is_empty() {
        assert!(begun.elapsed() < BOUND, "no call was made");
        std::thread::sleep(Duration::from_millis(10));
    }
    // The others wait by then.
    std::thread::sleep(Duration::from_millis(300));
    child
}

fn signal(child: Child, name: &str) -> Output {
    let id = child.id().to_string();
    let sent = std::process::Command::new("kill")
        .args([name, &id])
        .status();
    assert!(sent.unwrap().success());
    let since = Instant::now();
    let output = child.wait_with_output().unwrap();
    assert!(since.elapsed() < BOUND, "{}", text(&output.stderr));
    output
}

fn resumed(folder: &Path) -> (Option<i32>, Json) {
    let args = ["resume", "f.graph", "--thread", "t"];
    let output = graphc(folder, &args).output().unwrap();
    let result = serde_json::from_slice(&output.stdout);
    (
        output.status.code(),
        result.unwrap_or_else(|_| panic!("{}", text(&output.stderr))),
    )
}

/// Three calls of a tool that takes one at a time and must not be made twice.
fn one_at_a_time(name: &str) -> PathBuf {
    const FLOW: &str = "tool pay(n: int) -> int @effect(write) @idempotent(false)
graph Main {
  state { out paid: list<int> via append }
  start -> each n in [1, 2, 3] -> one with { n: n }
  node one: call pay(n: input.n) -> end { input { n: int } set { paid: [result] } }
}
";
    const SETTINGS: &str = "tools:
  pay: { command: [sh, -c, 'echo begin >> log; sleep 2; echo end >> log; echo 1'], max_concurrency: 1 }
";
    folder(name, &[("f.graph", FLOW), ("graphc.yaml", SETTINGS)])
}

#[test]
fn a_call_that_waits_for_its_place_is_neither_made_nor_asked_about_behind_a_cancel() {
    let folder = one_at_a_time("places-int");
    let output = signal(under_way(&folder), "-INT");
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert_eq!(lines(&folder, "log"), ["begin", "end"]);
    let (code, result) = resumed(&folder);
    assert_eq!(code, Some(0), "{result}");
    assert_eq!(lines(&folder, "log").len(), 6, "{result}");
}

#[test]
fn a_call_that_waits_for_its_place_is_not_asked_about_behind_a_kill() {
    let folder = one_at_a_time("places-kill");
    signal(under_way(&folder), "-KILL");
    let (code, result) = resumed(&folder);
    assert_eq!(code, Some(3), "{result}");
    // One had begun; the others are made.
    assert_eq!(result["interrupts"].as_array().map(Vec::len), Some(1));
}

/// A run of one call of a tool with that effect, whose program takes a minute.
fn takes_long(name: &str, effect: &str, settings: &str) -> PathBuf {
    let flow = format!(
        "tool look(n: int) -> int {effect}
graph Main {{
  state {{ out seen: int = 0 }}
  start -> one
  node one: call look(n: 1) -> end {{ set {{ seen: result }} }}
}}
"
    );
    folder(name, &[("f.graph", &flow), ("graphc.yaml", settings)])
}

#[test]
fn a_call_that_only_reads_is_ended_by_a_cancel() {
    let settings = "tools:\n  look: { command: [sh, -c, 'echo begin >> log; sleep 60; echo 1'] }\n";
    for effect in ["@effect(read)", ""] {
        let folder = takes_long("reads", effect, settings);
        let output = signal(under_way(&folder), "-INT");
        assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
        let result: Json = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(result["error"]["message"], "the run was cancelled");
    }
}

#[test]
fn a_call_that_writes_is_finished_first() {
    let settings = "tools:\n  look: { command: [sh, -c, 'echo begin >> log; sleep 2; echo end >> log; echo 7'] }\n";
    let folder = takes_long("writes", "@effect(write)", settings);
    let output = signal(under_way(&folder), "-INT");
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    let (code, result) = resumed(&folder);
    assert_eq!((code, &result["output"]["seen"]), (Some(0), &7.into()));
    assert_eq!(lines(&folder, "log"), ["begin", "end"]);
}

/// The run of a `graph` tool has a journal of its own: it stops before its next call, and goes on later.
#[test]
fn a_graph_that_must_not_be_called_twice_is_stopped_with_its_caller() {
    const INNER: &str = "tool step(n: int) -> int @effect(write)
graph Steps {
  state { in n: int, out seen: int = 0 }
  start -> first -> second -> end
  node first: call step(n: 1) { set { seen: result } }
  node second: call step(n: 2) { set { seen: state.seen + result } }
}
";
    const SETTINGS: &str = "tools:
  look: { graph: { file: inner.graph } }
  step: { command: [sh, -c, 'echo begin >> log; sleep 2; echo end >> log; echo 4'] }
";
    let folder = takes_long("graph", "@effect(write) @idempotent(false)", SETTINGS);
    std::fs::write(folder.join("inner.graph"), INNER).unwrap();
    let output = signal(under_way(&folder), "-INT");
    assert_eq!(output.status.code(), Some(130), "{}", text(&output.stderr));
    assert_eq!(lines(&folder, "log"), ["begin", "end"]);
    let (code, result) = resumed(&folder);
    assert_eq!((code, &result["output"]["seen"]), (Some(0), &8.into()));
    assert_eq!(lines(&folder, "log").len(), 4);
}
