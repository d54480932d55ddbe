//! Runs across processes: killed, told to stop, left by whoever read their output.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Two tools, one after the other: the second waits until there is a file `go`. Each writes a line to
/// the file `calls`, which is how a call is counted outside of the process.
const FLOW: &str = "\
tool quick(n: int) -> string @effect(write)
tool slow(n: int) -> string @effect(write)
graph Two {
  state { out a: string = \"\", out b: string = \"\" }
  start -> first -> second -> end
  node first: call quick(n: 1) { set { a: result } }
  node second: call slow(n: 2) { set { b: result } }
}
";

const SETTINGS: &str = "\
tools:
  quick: { command: [sh, -c, \"echo quick >> calls; echo '\\\"q\\\"'\"] }
  slow:
    command: [sh, -c, \"echo slow >> calls; for i in $(seq 200); do test -e go && break; sleep 0.1; done; echo '\\\"s\\\"'\"]
";

fn project(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("processes-{name}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("two.graph"), FLOW).unwrap();
    std::fs::write(folder.join("graphc.yaml"), SETTINGS).unwrap();
    folder
}

fn graphc(folder: &Path, args: &[&str]) -> Command {
    let program = env!("CARGO_BIN_EXE_graphc");
    // Whoever starts the tests may ignore signals, as a shell does for what is in its background.
    let words: &[&str] = match cfg!(target_os = "linux") {
        true => &["env", "--default-signal=INT,QUIT,HUP,TERM", program],
        false => &[program],
    };
    let mut command = Command::new(words[0]);
    command
        .args(&words[1..])
        .current_dir(folder)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn calls(folder: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join("calls")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

/// A run that is in the middle of the second tool.
fn half_way(folder: &Path, args: &[&str]) -> Child {
    let child = graphc(folder, args).spawn().unwrap();
    until_half_way(folder);
    child
}

fn until_half_way(folder: &Path) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while calls(folder).len() < 2 {
        assert!(
            Instant::now() < deadline,
            "the second tool was never called"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn json(output: &Output) -> serde_json::Value {
    let text = String::from_utf8_lossy(&output.stdout);
    let last = text.lines().last();
    serde_json::from_str(last.unwrap_or_default()).unwrap_or_else(|_| panic!("{}", said(output)))
}

/// After `kill -9` in the middle of a tool call, a resume makes that call again and no finished one.
#[test]
fn a_killed_run_goes_on_in_another_process() {
    let folder = project("killed");
    let mut child = half_way(&folder, &["run", "two.graph", "--thread", "t"]);
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::write(folder.join("go"), "").unwrap();
    let output = graphc(&folder, &["resume", "two.graph", "--thread", "t"])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(
        json(&output)["output"],
        serde_json::json!({ "a": "q", "b": "s" })
    );
    assert_eq!(calls(&folder), ["quick", "slow", "slow"]);
    std::fs::remove_dir_all(folder).unwrap();
}

/// A tool that has begun when its process is killed has all of its arguments, however long they are.
#[test]
#[cfg(target_os = "linux")]
fn a_tool_that_outlives_its_run_has_all_arguments() {
    let folder = project("arguments");
    let flow = "tool take(text: string) -> string\ngraph Take {\n  state { in text: string, out seen: string = \"\" }\n  \
        start -> take\n  node take: call take(text: state.text) -> end { set { seen: result } }\n}\n";
    std::fs::write(folder.join("take.graph"), flow).unwrap();
    let settings = "tools:\n  take: { command: [sh, -c, \"echo a >> calls; echo b >> calls; sleep 1; wc -c > part; mv part seen\"] }\n";
    std::fs::write(folder.join("graphc.yaml"), settings).unwrap();
    let input = serde_json::json!({ "text": "x".repeat(300_000) });
    std::fs::write(folder.join("in.json"), input.to_string()).unwrap();
    let args = ["run", "take.graph", "--thread", "t", "--input", "@in.json"];
    let mut child = half_way(&folder, &args);
    child.kill().unwrap();
    child.wait().unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while !folder.join("seen").exists() {
        assert!(Instant::now() < deadline, "the tool never ended");
        std::thread::sleep(Duration::from_millis(20));
    }
    let seen = std::fs::read_to_string(folder.join("seen")).unwrap();
    assert_eq!(seen.trim().parse(), Ok(input.to_string().len()));
    std::fs::remove_dir_all(folder).unwrap();
}

/// While one process runs a thread, another can neither run, resume nor delete it.
#[test]
fn a_thread_has_one_process() {
    let folder = project("held");
    let mut child = half_way(&folder, &["run", "two.graph", "--thread", "t"]);
    for args in [
        &["run", "two.graph", "--thread", "t"][..],
        &["resume", "two.graph", "--thread", "t"],
        &["threads", "delete", "t"],
    ] {
        let output = graphc(&folder, args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(said(&output).contains("in use by"), "{}", said(&output));
    }
    std::fs::write(folder.join("go"), "").unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(calls(&folder), ["quick", "slow"]);
    std::fs::remove_dir_all(folder).unwrap();
}

fn signal(child: &Child, name: &str) {
    let pid = child.id().to_string();
    let sent = Command::new("kill").args([name, &pid]).status().unwrap();
    assert!(sent.success());
}

/// One signal stops the run in good order, with status 130 and the way to go on.
#[test]
fn a_signal_cancels_and_the_thread_can_be_resumed() {
    {
        let folder = project("cancelled");
        let child = half_way(&folder, &["run", "two.graph", "--thread", "t"]);
        signal(&child, "-INT");
        std::thread::sleep(Duration::from_millis(300));
        std::fs::write(folder.join("go"), "").unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{}", said(&output));
        assert_eq!(json(&output)["status"], "cancelled");
        // How to go on is said once, and what is said of the call under way is so.
        let goes_on = "graphc resume two.graph --thread t";
        assert_eq!(said(&output).matches(goes_on).count(), 1);
        assert!(said(&output).contains("calls of tools that write are finished first"));
        let output = graphc(&folder, &["resume", "two.graph", "--thread", "t"])
            .output()
            .unwrap();
        assert_eq!(json(&output)["status"], "done", "{}", said(&output));
        assert_eq!(calls(&folder)[0], "quick");
        assert!(!calls(&folder)[1..].contains(&"quick".to_owned()));
        std::fs::remove_dir_all(folder).unwrap();
    }
}

/// SIGTERM drains the run, and so do a closed terminal and SIGQUIT: the super-step under way is finished and committed,
/// and the next one is made by a resume.
#[test]
fn a_run_that_is_told_to_terminate_finishes_its_step() {
    for told in ["-TERM", "-HUP", "-QUIT"] {
        finishes_its_step(told);
    }
}

fn finishes_its_step(told: &str) {
    let folder = project(&format!("drained{told}"));
    let flow = FLOW
        .replace("second -> end", "second -> third -> end")
        .replace(
            "{ set { b: result } }\n",
            "{ set { b: result } }\n  node third: call quick(n: 3) { set { a: result } }\n",
        );
    std::fs::write(folder.join("two.graph"), flow).unwrap();
    let child = half_way(&folder, &["run", "two.graph", "--thread", "t"]);
    signal(&child, told);
    if told == "-HUP" {
        // The shell sends it and the system does too: that is one closed terminal.
        signal(&child, told);
    }
    std::thread::sleep(Duration::from_millis(300));
    std::fs::write(folder.join("go"), "").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{told} {}", said(&output));
    let result = json(&output);
    assert_eq!(result["status"], "cancelled");
    // Committed, and not only journaled.
    assert_eq!(result["output"]["b"], "s");
    assert!(said(&output).contains("the super-step under way is finished first"));
    let goes_on = "graphc resume two.graph --thread t";
    assert_eq!(said(&output).matches(goes_on).count(), 1);
    assert_eq!(calls(&folder), ["quick", "slow"]);
    let output = graphc(&folder, &["resume", "two.graph", "--thread", "t"])
        .output()
        .unwrap();
    assert_eq!(json(&output)["status"], "done", "{}", said(&output));
    assert_eq!(calls(&folder), ["quick", "slow", "quick"]);
    std::fs::remove_dir_all(folder).unwrap();
}

/// A run that is told to terminate in its last step is done with it.
#[test]
fn a_run_that_is_told_to_terminate_in_its_last_step_is_done() {
    let folder = project("drained-last");
    let child = half_way(&folder, &["run", "two.graph", "--thread", "t"]);
    signal(&child, "-TERM");
    std::thread::sleep(Duration::from_millis(300));
    std::fs::write(folder.join("go"), "").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(json(&output)["status"], "done");
    assert!(!said(&output).contains("graphc resume"));
    std::fs::remove_dir_all(folder).unwrap();
}

/// Two signals end the process at once, and with it what its tools have started.
#[test]
fn a_second_signal_ends_at_once() {
    for (first, second) in [
        ("-INT", "-INT"),
        ("-TERM", "-INT"),
        ("-HUP", "-TERM"),
        ("-QUIT", "-QUIT"),
    ] {
        let folder = project(&format!("twice{first}"));
        // In the background of a shell, as a tool might start a server.
        let settings = SETTINGS.replace(
            "echo slow >> calls;",
            "sleep 60 & echo $! > pid; echo slow >> calls;",
        );
        std::fs::write(folder.join("graphc.yaml"), settings).unwrap();
        let child = half_way(&folder, &["run", "two.graph", "--thread", "t"]);
        let started = std::fs::read_to_string(folder.join("pid")).unwrap();
        let lives = || {
            let state = std::fs::read_to_string(format!("/proc/{}/stat", started.trim()));
            state.is_ok_and(|state| !state.contains(") Z "))
        };
        assert!(lives());
        signal(&child, first);
        std::thread::sleep(Duration::from_millis(200));
        signal(&child, second);
        let since = Instant::now();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{}", said(&output));
        assert_eq!(said(&output).matches("graphc resume").count(), 1);
        assert!(since.elapsed() < Duration::from_secs(5));
        while lives() {
            assert!(since.elapsed() < Duration::from_secs(5), "left behind");
            std::thread::sleep(Duration::from_millis(20));
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}

/// Where nothing outlives the process, no command is named that would go on.
#[test]
fn a_second_signal_leaves_nothing_of_what_is_in_memory() {
    let folder = project("twice-in-memory");
    let child = half_way(&folder, &["run", "two.graph", "--store", "memory"]);
    signal(&child, "-INT");
    std::thread::sleep(Duration::from_millis(200));
    signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", said(&output));
    assert!(said(&output).contains("stopped at once; the thread was kept in memory only"));
    assert!(!said(&output).contains("graphc resume"));
    std::fs::remove_dir_all(folder).unwrap();
}

/// Under `nohup` a closed terminal is nothing to a run.
#[test]
#[cfg(target_os = "linux")]
fn a_signal_that_is_ignored_stays_so() {
    let folder = project("nohup");
    let shell = "trap '' HUP; exec \"$0\" run two.graph --thread t";
    let mut command = Command::new("sh");
    command
        .current_dir(&folder)
        .args(["-c", shell, env!("CARGO_BIN_EXE_graphc")])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    until_half_way(&folder);
    signal(&child, "-HUP");
    std::thread::sleep(Duration::from_millis(100));
    std::fs::write(folder.join("go"), "").unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(said(&output), "");
    std::fs::remove_dir_all(folder).unwrap();
}

/// A new input on a thread whose process died in a call that must not be made twice lets go of that call, and names it.
#[test]
fn a_new_input_names_the_call_that_it_leaves_in_doubt() {
    let folder = project("left-in-doubt");
    let flow = FLOW.replace(
        "slow(n: int) -> string",
        "slow(n: int) -> string @idempotent(false)",
    );
    std::fs::write(folder.join("two.graph"), flow).unwrap();
    let run = ["run", "two.graph", "--thread", "t"];
    let mut child = half_way(&folder, &run);
    child.kill().unwrap();
    child.wait().unwrap();
    std::fs::write(folder.join("go"), "").unwrap();
    let output = graphc(&folder, &run).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(json(&output)["in_doubt"], serde_json::json!(["slow"]));
    let named = "warning: a call of `slow` had begun, and nobody asks any more whether it happened";
    assert!(said(&output).contains(named), "{}", said(&output));
    // Known once: the next input finds nothing in doubt.
    let output = graphc(&folder, &run).output().unwrap();
    assert_eq!(json(&output).get("in_doubt"), None);
    assert_eq!(said(&output), "");
    std::fs::remove_dir_all(folder).unwrap();
}

/// A thread that is compacted while it is exported is exported with a hole in it: that is an error, and not silence.
#[test]
fn an_export_that_a_compaction_has_come_into_fails() {
    let folder = project("export");
    let flow = "\
graph Loop {
  state { out n: int via add = 0 }
  start -> step
  node step: update { set { n: 1 } goto { when state.n >= 1200 -> end else -> step } }
}
";
    std::fs::write(folder.join("loop.graph"), flow).unwrap();
    let run = [
        "run",
        "loop.graph",
        "--thread",
        "t",
        "--recursion-limit",
        "2000",
    ];
    assert!(graphc(&folder, &run).output().unwrap().status.success());
    let export = ["threads", "export", "t"];
    let whole = graphc(&folder, &export).output().unwrap();
    assert!(whole.status.success() && whole.stdout.len() > 200_000);
    // It has more to say than its pipe takes, which nobody reads so far.
    let mut child = graphc(&folder, &export).spawn().unwrap();
    let mut first = [0];
    child
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut first)
        .unwrap();
    let compacted = graphc(&folder, &["threads", "compact", "t", "--keep", "5"])
        .output()
        .unwrap();
    assert!(compacted.status.success(), "{}", said(&compacted));
    let output = child.wait_with_output().unwrap();
    assert!(output.stdout.len() < whole.stdout.len());
    assert_eq!(output.status.code(), Some(2), "{}", said(&output));
    assert!(
        said(&output).contains("compacted while it was exported"),
        "{}",
        said(&output)
    );
    let output = graphc(&folder, &export).output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    std::fs::remove_dir_all(folder).unwrap();
}

/// A reader that goes away decides nothing: the run goes on to its end, and the status is the run's.
#[test]
fn a_run_that_nobody_reads_goes_on() {
    let folder = project("unread");
    std::fs::write(folder.join("go"), "").unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut child = graphc(
        &folder,
        &["run", "two.graph", "--thread", "t", "--stream", "debug"],
    )
    .stdout(writer)
    .spawn()
    .unwrap();
    let mut errors = String::new();
    let mut stderr = child.stderr.take().unwrap();
    stderr.read_to_string(&mut errors).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "{errors}");
    assert_eq!(errors, "");
    assert_eq!(calls(&folder), ["quick", "slow"]);
    let output = graphc(&folder, &["threads", "--format", "json"])
        .output()
        .unwrap();
    assert_eq!(json(&output)["thread_id"], "t");
    assert_eq!(json(&output)["status"], "done");
    std::fs::remove_dir_all(folder).unwrap();
}

/// A reader that keeps stdout open and does not read holds the process, which has its lines to write, and not the run, which waits
/// for it once.
#[test]
fn a_run_whose_reader_does_not_read_goes_on() {
    let folder = project("not-read");
    let flow = "\
graph Loop {
  state { out n: int via add = 0 }
  start -> step
  node step: update { set { n: 1 } goto { when state.n >= 230 -> end else -> step } }
}
";
    std::fs::write(folder.join("loop.graph"), flow).unwrap();
    // More than a pipe takes.
    let args = ["run", "loop.graph", "--thread", "t", "--stream", "debug"];
    let mut child = graphc(&folder, &args)
        .env("TOKIO_WORKER_THREADS", "1")
        .spawn()
        .unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let list = graphc(&folder, &["threads", "--format", "json"]);
        let list = { list }.output().unwrap();
        let text = String::from_utf8_lossy(&list.stdout).into_owned();
        if text.contains("\"done\"") {
            break;
        }
        assert!(Instant::now() < deadline, "the run waits for its reader");
        std::thread::sleep(Duration::from_millis(50));
    }
    assert!(child.try_wait().unwrap().is_none(), "all was written");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output));
    assert_eq!(json(&output)["output"]["n"], 230);
    assert!(output.stdout.len() > 80_000, "{}", output.stdout.len());
    std::fs::remove_dir_all(folder).unwrap();
}

/// A reader that goes on in another process leaves out what it knows.
#[test]
fn a_reader_goes_on_behind_what_it_has_seen() {
    let folder = project("after");
    let args = ["run", "two.graph", "--thread", "t", "--stream", "tasks"];
    let mut child = half_way(&folder, &args);
    child.kill().unwrap();
    let output = child.wait_with_output().unwrap();
    let last = json(&output);
    assert_eq!(
        (&last["id"], &last["node"]),
        (&"1:second".into(), &"second".into())
    );
    std::fs::write(folder.join("go"), "").unwrap();
    let args = ["resume", "two.graph", "--thread", "t", "--stream", "tasks"];
    let output = graphc(&folder, &args)
        .args(["--after", "1:second"])
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let ids: Vec<_> = lines.iter().map(|line| line["id"].as_str()).collect();
    assert_eq!(ids, [Some("1:second#end"), None]);
    assert_eq!(
        (&lines[0]["seq"], &lines[1]["type"]),
        (&1.into(), &"result".into())
    );
    std::fs::remove_dir_all(folder).unwrap();
}

/// What a run tells before it is killed and what its resume tells is all of it, whenever it is killed, and however far ahead of its
/// reader it is.
#[test]
fn a_killed_run_has_told_what_its_resume_does_not() {
    let flow = "event told { what: string }\ngraph Main {\n  state { i: int via add = 0, out sum: int via add = 0 }\n  start -> in\n  \
        node in: subgraph Sub -> w\n  node w: update { set { i: 1, sum: state.i } emit told { what: \"w\" + string(state.i) } \
        goto { when state.i < 30 -> in else -> end } }\n}\n\
        graph Sub {\n  state { i: int via add = 0, out sum: int via add = 0 }\n  start -> x\n  \
        node x: update { set { i: 1, sum: 1 } emit told { what: \"x\" + string(state.i) } goto { when state.i < 3 -> x else -> end } }\n}\n";
    let folder = project("told");
    std::fs::write(folder.join("told.graph"), flow).unwrap();
    let stream = ["told.graph", "--stream", "debug", "--thread"];
    let ids = |text: &str| -> BTreeSet<String> {
        let lines = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        let named = lines.filter(|line: &serde_json::Value| line["type"] != "result");
        named
            .map(|line| format!("{} {}", line["type"], line["id"]))
            .collect()
    };
    let text = |output: &Output| String::from_utf8_lossy(&output.stdout).into_owned();
    let all = graphc(&folder, &["run"]).args(stream).arg("all").output();
    let all = ids(&text(&all.unwrap()));
    assert!(all.len() > 300, "{}", all.len());
    for lines in [0, 1, 2, 3, 4, 5, 8, 40, 77, 120, 200, 301] {
        for durability in ["sync", "async"] {
            let thread = format!("t{lines}{durability}");
            let mut child = graphc(&folder, &["run"])
                .args(stream)
                .args([&thread, "--durability", durability])
                .spawn()
                .unwrap();
            let mut told = BufReader::new(child.stdout.take().unwrap());
            let mut before = String::new();
            for _ in 0..lines {
                told.read_line(&mut before).unwrap();
            }
            child.kill().unwrap();
            child.wait().unwrap();
            told.read_to_string(&mut before).unwrap();
            let mut known = ids(&before);
            let goes_on = graphc(&folder, &["resume"])
                .args(stream)
                .arg(&thread)
                .output();
            let goes_on = goes_on.unwrap();
            // It may have been done by then, or not begun.
            let begun = !said(&goes_on).contains("there is no thread");
            known.extend(ids(&text(&goes_on)));
            let missing: Vec<_> = all.difference(&known).collect();
            assert!(
                !begun || missing.is_empty(),
                "{lines} {durability}: {missing:?}"
            );
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}

/// A thread whose process was killed is not shown as running.
#[test]
fn a_killed_run_is_shown_as_cut_off() {
    let folder = project("cut-off");
    let mut child = half_way(&folder, &["run", "two.graph", "--thread", "t"]);
    let threads = |args: &[&str]| graphc(&folder, args).output().unwrap();
    let list = threads(&["threads", "--format", "json"]);
    assert_eq!(json(&list)["status"], "running");
    assert_eq!(json(&list)["held"], true);
    // Nobody else can go on with it meanwhile.
    let shown = threads(&["threads", "show", "t"]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("status      running"), "{shown}");
    assert!(!shown.contains("graphc resume"), "{shown}");
    child.kill().unwrap();
    child.wait().unwrap();
    let list = threads(&["threads", "--format", "json"]);
    assert_eq!(json(&list)["status"], "running");
    assert_eq!(json(&list)["held"], false);
    let shown = threads(&["threads", "show", "t"]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("status      cut off"), "{shown}");
    assert!(
        shown.contains("graphc resume two.graph --thread t"),
        "{shown}"
    );
    std::fs::write(folder.join("go"), "").unwrap();
    std::fs::remove_dir_all(folder).unwrap();
}
