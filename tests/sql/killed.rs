//! A process that is killed while a statement is under way that must not be made twice.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rusqlite::Connection;
use serde_json::Value as Json;

use super::tool::folder;

const FLOW: &str = "\
/// Books a sum.
tool book(sum: int) -> int @effect(write) @idempotent(false)
graph Main {
  state { out booked: int = 0 }
  start -> pay -> end
  node pay: call book(sum: 7) { set { booked: result } }
}
";

const SETTINGS: &str = "\
tools:
  book: { sql: { database: \"sqlite:books.db\", query: \"INSERT INTO booked VALUES (:sum)\", result: changes } }
";

fn graphc(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_graphc"));
    command
        .current_dir(folder)
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn json(output: &Output) -> Json {
    let text = String::from_utf8_lossy(&output.stdout);
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_str(&text).unwrap_or_else(|_| panic!("{said}"))
}

/// Waits until the process has a thread that works on a query.
fn until_it_asks(child: &mut Child) {
    let deadline = Instant::now() + Duration::from_secs(20);
    let tasks = format!("/proc/{}/task", child.id());
    let asks = || {
        let threads = std::fs::read_dir(&tasks).into_iter().flatten().flatten();
        threads
            .filter_map(|thread| std::fs::read_to_string(thread.path().join("comm")).ok())
            .any(|name| name.trim() == "sql")
    };
    while !asks() {
        assert!(child.try_wait().unwrap().is_none(), "it has ended");
        assert!(Instant::now() < deadline, "no query was made");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn what_may_have_been_written_is_asked_about() {
    let folder = folder("killed");
    std::fs::write(folder.join("book.graph"), FLOW).unwrap();
    std::fs::write(folder.join("graphc.yaml"), SETTINGS).unwrap();
    let books = Connection::open(folder.join("books.db")).unwrap();
    books
        .execute_batch("CREATE TABLE booked (sum INTEGER); BEGIN IMMEDIATE")
        .unwrap();
    let mut run = graphc(&folder, &["run", "book.graph", "--thread", "t"])
        .spawn()
        .unwrap();
    until_it_asks(&mut run);
    run.kill().unwrap();
    run.wait().unwrap();
    books.execute_batch("ROLLBACK").unwrap();

    let resume = ["resume", "book.graph", "--thread", "t"];
    let asked = graphc(&folder, &resume).output().unwrap();
    assert_eq!(asked.status.code(), Some(3), "{asked:?}");
    let open = &json(&asked)["interrupts"][0]["ask"];
    assert_eq!(
        (&open["tool"], &open["args"]["sum"]),
        (&"book".into(), &7.into())
    );
    let rows = || -> i64 {
        books
            .query_row("SELECT count(*) FROM booked", [], |row| row.get(0))
            .unwrap()
    };
    assert_eq!(rows(), 0, "it was made again before anybody has said so");

    let answer = [&resume[..], &["--answer", r#"{"happened": false}"#]].concat();
    let done = graphc(&folder, &answer).output().unwrap();
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    assert_eq!(
        (json(&done)["output"]["booked"].as_i64(), rows()),
        (Some(1), 1)
    );
}

/// Ctrl-C ends a query that only reads, and a resume makes it again.
#[test]
fn a_signal_ends_a_query() {
    let folder = folder("signal");
    let flow = FLOW.replace("@effect(write) @idempotent(false)", "@effect(read)");
    let settings = SETTINGS
        .replace(
            "INSERT INTO booked VALUES (:sum)",
            "SELECT :sum + count(*) FROM booked",
        )
        .replace("changes", "value");
    std::fs::write(folder.join("book.graph"), flow).unwrap();
    std::fs::write(folder.join("graphc.yaml"), settings).unwrap();
    let books = Connection::open(folder.join("books.db")).unwrap();
    books
        .execute_batch("CREATE TABLE booked (sum INTEGER); BEGIN EXCLUSIVE")
        .unwrap();
    let mut run = graphc(&folder, &["run", "book.graph", "--thread", "t"])
        .spawn()
        .unwrap();
    until_it_asks(&mut run);
    let signal = Command::new("kill")
        .args(["-INT", &run.id().to_string()])
        .status()
        .unwrap();
    assert!(signal.success());
    let cancelled = run.wait_with_output().unwrap();
    assert_eq!(cancelled.status.code(), Some(130), "{cancelled:?}");
    books.execute_batch("ROLLBACK").unwrap();
    let done = graphc(&folder, &["resume", "book.graph", "--thread", "t"])
        .output()
        .unwrap();
    assert_eq!(done.status.code(), Some(0), "{done:?}");
    assert_eq!(json(&done)["output"]["booked"], 7);
}
