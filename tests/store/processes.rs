//! Several processes on one file or database, and processes that die.
//!
//! A process is this test program again, told by its environment to run only [`child`].

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use graphc::run::store::{Effects, Keep, Lease, RunState, Store, StoreError};
use graphc::value::Value;

use super::postgres::admin;
use super::reconnects::end_sessions;
use super::records::*;
use crate::cluster;

const WORK: &str = "GRAPHC_STORE_CHILD_WORK";
const URL: &str = "GRAPHC_STORE_CHILD_URL";

fn open(url: &str) -> Arc<dyn Store> {
    graphc::store::open(url, Path::new("")).unwrap()
}

fn sqlite() -> String {
    format!("sqlite:{}", super::folder().join("threads.db").display())
}

fn start(work: &str, url: &str) -> Child {
    start_with(Command::new(std::env::current_exe().unwrap()), work, url)
}

fn start_with(mut command: Command, work: &str, url: &str) -> Child {
    command
        .args(["--exact", "store::processes::child", "--nocapture"])
        .env(WORK, work)
        .env(URL, url)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Waits for the `count`th line of a child that says `line`. The child can write for as long as
/// what is given back lives.
fn wait_for(
    child: &mut Child,
    line: &str,
    count: usize,
) -> impl Iterator<Item = std::io::Result<String>> + use<> {
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let said = lines
        .by_ref()
        .map(Result::unwrap)
        .filter(|said| said == line);
    assert_eq!(said.take(count).count(), count);
    lines
}

/// Does the work named by the environment; none in the suite's own process.
#[tokio::test]
async fn child() {
    let (Ok(work), Ok(url)) = (std::env::var(WORK), std::env::var(URL)) else {
        return;
    };
    let store = open(&url);
    match work.as_str() {
        "append until the end" => {
            let lease = begin(&store, "t").await;
            let error = append_steps(&store, &lease, 2..).await;
            println!("\n{error}");
        }
        "take turns" => {
            for _ in 0..20 {
                let lease = loop {
                    match store.acquire("shared").await {
                        Ok(lease) => break lease,
                        Err(StoreError::Busy { .. }) => {}
                        Err(error) => panic!("{error}"),
                    }
                    tokio::time::sleep(std::time::Duration::from_millis(1)).await;
                };
                let image = store.load("shared").await.unwrap();
                let seq = image.map_or(0, |image| image.last_seq) + 1;
                let step = root(seq, seq, vec![("log", append(&["x"]))]);
                let records = [step, status(RunState::Running)];
                store.append(&lease, &records).await.unwrap();
                store.release(lease).await.unwrap();
            }
            let own = begin(&store, &format!("own-{}", std::process::id())).await;
            assert!(append_steps(&store, &own, 2..12).await.is_empty());
            println!("\ndone");
        }
        "log a lost connection" => {
            tracing_subscriber::fmt().with_ansi(false).init();
            let lease = begin(&store, "t").await;
            println!("\nready");
            std::io::stdin().read_line(&mut String::new()).unwrap();
            let records = [root(2, 2, vec![]), status(RunState::Running)];
            store.append(&lease, &records).await.unwrap();
        }
        "race" => {
            println!("\nready");
            let mut line = String::new();
            std::io::stdin().read_line(&mut line).unwrap();
            let won = match store.acquire("t").await {
                Ok(lease) => {
                    let records = [status(RunState::Running), root(1, 1, vec![])];
                    store.append(&lease, &records).await.unwrap();
                    "won".to_owned()
                }
                Err(error) => error.to_string(),
            };
            println!("\n{won}");
            std::io::stdin().read_line(&mut line).unwrap();
        }
        "fork until the end" => {
            let at = store.thread("t").await.unwrap().unwrap().checkpoint;
            for n in 0.. {
                let to = store.acquire(&format!("f{n}")).await.unwrap();
                let forked = super::past::forked(at);
                store
                    .fork("t", at, Effects::All, &to, &forked)
                    .await
                    .unwrap();
                println!("\nforked");
            }
        }
        "compact until the end" => {
            let lease = begin(&store, "t").await;
            for round in 0.. {
                let from = round * 10 + 2;
                append_steps(&store, &lease, from..from + 10).await;
                store.compact(&lease, Keep::Newest(3)).await.unwrap();
                println!("\ncompacted");
            }
        }
        _ => panic!("unknown work `{work}`"),
    }
}

/// Appends a message, an effect and a number at every step; gives back the error that ended it.
async fn append_steps(
    store: &Arc<dyn Store>,
    lease: &Lease,
    steps: impl Iterator<Item = u64>,
) -> String {
    let message = "m".repeat(300);
    for step in steps {
        let writes = vec![("log", append(&[&message])), ("n", put(step as i64))];
        let task = format!("{step}/a");
        let records = [root(step, step, writes), effect(step, &task, "0")];
        if let Err(error) = store.append(lease, &records).await {
            return error.to_string();
        }
        println!("\nappended");
    }
    String::new()
}

/// Checks that a thread of [`append_steps`] is a prefix of its appends; gives back their number.
async fn check_prefix(store: &Arc<dyn Store>, thread: &str) -> u64 {
    let image = load(store, thread).await;
    let step = image.last_seq;
    let fields = fields(&image, "");
    assert_eq!(fields["n"], Value::Int(step as i64));
    assert_eq!(fields["log"].as_list().unwrap().len() as u64, step - 1);
    assert_eq!(
        image.effects,
        [effect_record(step, &format!("{step}/a"), "0")]
    );
    assert_eq!(image.counts.values().sum::<u64>(), step - 1);
    let history = store.history(thread, None, usize::MAX).await.unwrap();
    assert_eq!(history.len() as u64, step);
    step - 1
}

async fn survives_killed_processes(url: &str) {
    for round in 1..=5 {
        let store = open(url);
        store.delete("t").await.unwrap();
        let mut child = start("append until the end", url);
        let _output = wait_for(&mut child, "appended", 20 * round);
        assert!(store.is_held("t").await.unwrap());
        let holder = match store.acquire("t").await {
            Err(StoreError::Busy { holder, .. }) => holder,
            other => panic!("{other:?}"),
        };
        let process = format!("process {}", child.id());
        assert!(holder.starts_with(&process), "{holder}");
        child.kill().unwrap();
        child.wait().unwrap();

        let lease = once_free(&store, "t").await;
        let appends = check_prefix(&store, "t").await;
        assert!(appends >= 20 * round as u64);
        let next = appends + 2;
        store
            .append(&lease, &[root(next, next, vec![])])
            .await
            .unwrap();
        assert_eq!(load(&store, "t").await.last_seq, next);
    }
}

/// Takes a thread whose writer has just died: a server hears of that in a moment.
async fn once_free(store: &Arc<dyn Store>, thread: &str) -> Lease {
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        match store.acquire(thread).await {
            Ok(lease) => return lease,
            Err(StoreError::Busy { .. }) if Instant::now() < deadline => {}
            Err(error) => panic!("{error}"),
        }
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}

#[tokio::test]
async fn a_killed_process_leaves_whole_appends_and_no_lock() {
    let url = sqlite();
    survives_killed_processes(&url).await;
    let locks = format!("{}.locks", url.strip_prefix("sqlite:").unwrap());
    assert_eq!(std::fs::read_dir(locks).unwrap().count(), 0);
}

#[tokio::test]
async fn a_killed_process_leaves_whole_appends_in_a_database() {
    survives_killed_processes(&cluster::shared().url()).await;
}

#[tokio::test]
async fn a_killed_fork_is_whole_or_not_there() {
    kill_forks(&sqlite()).await;
}

#[tokio::test]
async fn a_killed_fork_is_whole_or_not_there_in_a_database() {
    kill_forks(&cluster::shared().url()).await;
}

async fn kill_forks(url: &str) {
    let store = open(url);
    let lease = begin(&store, "t").await;
    // Large enough that a kill may well come while it is copied.
    let message = "m".repeat(20_000);
    for step in 2..=60 {
        let writes = vec![("log", append(&[&message]))];
        let task = format!("{step}/a");
        let records = [root(step, step, writes), effect(step, &task, "0")];
        store.append(&lease, &records).await.unwrap();
    }
    let whole = load(&store, "t").await;
    let mut made = 0;
    for round in 0..4 {
        let mut child = start("fork until the end", url);
        let output = wait_for(&mut child, "forked", 3);
        std::thread::sleep(std::time::Duration::from_millis(3 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        drop(output);
        for info in store.threads().await.unwrap() {
            if info.thread_id == "t" {
                continue;
            }
            let lease = once_free(&store, &info.thread_id).await;
            store.release(lease).await.unwrap();
            let mut fork = load(&store, &info.thread_id).await;
            fork.status = whole.status.clone();
            assert_eq!(fork, whole);
            let effects = store.effects(&info.thread_id, None, 99).await.unwrap();
            assert_eq!(effects.len(), 59);
            let history = store.history(&info.thread_id, None, 99).await.unwrap();
            assert_eq!(history.len(), 60);
            assert!(store.delete(&info.thread_id).await.unwrap());
            made += 1;
        }
    }
    assert!(made >= 12, "{made}");
}

#[tokio::test]
async fn a_killed_compaction_loses_nothing_that_is_kept() {
    kill_compactions(&sqlite()).await;
}

#[tokio::test]
async fn a_killed_compaction_loses_nothing_that_is_kept_in_a_database() {
    kill_compactions(&cluster::shared().url()).await;
}

async fn kill_compactions(url: &str) {
    let store = open(url);
    for round in 0..4 {
        if round > 0 {
            let lease = once_free(&store, "t").await;
            store.release(lease).await.unwrap();
        }
        store.delete("t").await.unwrap();
        let mut child = start("compact until the end", url);
        let output = wait_for(&mut child, "compacted", 2);
        // Who reads meanwhile sees a whole thread.
        for _ in 0..20 * round {
            let image = load(&store, "t").await;
            let log = fields(&image, "")["log"].as_list().unwrap().len() as u64;
            assert_eq!(log, image.last_seq - 1);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        drop(output);
        let image = load(&store, "t").await;
        let step = image.last_seq;
        assert_eq!(fields(&image, "")["n"], Value::Int(step as i64));
        assert_eq!(image.counts.values().sum::<u64>(), step - 1);
        let history = store.history("t", None, 99).await.unwrap();
        assert!((3..=14).contains(&history.len()), "{}", history.len());
        for info in history {
            let state = store.state("t", "", info.seq).await.unwrap();
            let log = state["log"].as_list().unwrap().len() as u64;
            assert_eq!(
                (log, &state["n"]),
                (info.seq - 1, &Value::Int(info.seq as i64))
            );
        }
    }
}

#[tokio::test]
async fn a_file_is_not_shrunk_while_another_process_writes() {
    let folder = super::folder();
    let file = folder.join("threads.db");
    let url = format!("sqlite:{}", file.display());
    let store = open(&url);
    let lease = begin(&store, "old").await;
    assert!(append_steps(&store, &lease, 2..300).await.is_empty());
    let mut child = start("append until the end", &url);
    let output = wait_for(&mut child, "appended", 5);
    store.compact(&lease, Keep::Newest(1)).await.unwrap();
    store.release(lease).await.unwrap();
    store.delete("old").await.unwrap();
    let refusal = message(store.reclaim().await);
    assert!(refusal.contains("a run writes to it now"), "{refusal}");
    child.kill().unwrap();
    child.wait().unwrap();
    drop(output);
    let before = std::fs::metadata(&file).unwrap().len();
    let freed = store.reclaim().await.unwrap();
    assert!(freed > 100_000, "{freed} of {before}");
    assert!(std::fs::metadata(&file).unwrap().len() < before);
    check_prefix(&store, "t").await;
    assert_eq!(store.reclaim().await.unwrap(), 0);
}

async fn take_turns(url: &str) {
    // All of them find no file or schema, and make it at once.
    let children: Vec<Child> = (0..4).map(|_| start("take turns", url)).collect();
    let store = open(url);
    for child in children {
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(
            output.status.success() && said.contains("\ndone\n"),
            "{said}"
        );
    }
    let image = load(&store, "shared").await;
    assert_eq!(image.last_seq, 80);
    assert_eq!(fields(&image, "")["log"].as_list().unwrap().len(), 80);
    let threads = store.threads().await.unwrap();
    let own = threads.iter().filter(|t| t.thread_id.starts_with("own-"));
    let mut count = 0;
    for thread in own {
        assert_eq!(check_prefix(&store, &thread.thread_id).await, 10);
        count += 1;
    }
    assert_eq!(count, 4);
}

#[tokio::test]
async fn processes_take_turns() {
    take_turns(&sqlite()).await;
}

#[tokio::test]
async fn processes_take_turns_in_a_database() {
    take_turns(&cluster::shared().url()).await;
}

/// Processes that all want a thread at once: one has it, the others are told who.
async fn race(url: &str) {
    let store = open(url);
    for round in 0..3 {
        let children: Vec<Child> = (0..4).map(|_| start("race", url)).collect();
        let mut racers: Vec<_> = children
            .into_iter()
            .map(|mut child| {
                let lines = BufReader::new(child.stdout.take().unwrap()).lines();
                (child, lines.map(Result::unwrap))
            })
            .collect();
        for (_, lines) in &mut racers {
            lines.find(|line| line == "ready").unwrap();
        }
        for (child, _) in &mut racers {
            writeln!(child.stdin.as_mut().unwrap(), "go").unwrap();
        }
        let said = racers.iter_mut().map(|(child, lines)| {
            let is_result = |line: &String| line == "won" || line.starts_with("thread `t`");
            (child.id(), lines.find(is_result).unwrap())
        });
        let said: Vec<(u32, String)> = said.collect();
        let winners: Vec<_> = said.iter().filter(|(_, line)| line == "won").collect();
        assert_eq!(winners.len(), 1, "{said:?}");
        let expected = format!("thread `t` is in use by process {} ", winners[0].0);
        // Who comes while the winner has the lock, but has not yet written who it is, is told of the one before or of nobody.
        for (_, line) in said.iter().filter(|(_, line)| line != "won") {
            assert!(line.starts_with("thread `t` is in use by "), "{line}");
        }
        assert!(message(store.acquire("t").await).starts_with(&expected));
        for (mut child, lines) in racers {
            drop(child.stdin.take());
            assert!(child.wait().unwrap().success());
            drop(lines);
        }
        assert_eq!(load(&store, "t").await.last_seq, 1, "round {round}");
        assert!(store.delete("t").await.unwrap());
    }
}

#[tokio::test]
async fn processes_race_for_a_thread() {
    race(&sqlite()).await;
}

#[tokio::test]
async fn processes_race_for_a_thread_in_a_database() {
    race(&cluster::shared().url()).await;
}

/// Files of the child may not grow above 400 KiB: writes fail as on a full disk.
#[cfg(unix)]
#[tokio::test]
async fn a_write_that_fails_tears_nothing() {
    let file = super::folder().join("threads.db");
    let mut shell = Command::new("sh");
    let limit = "ulimit -f 800; trap '' XFSZ; exec \"$0\" \"$@\"";
    shell
        .args(["-c", limit])
        .arg(std::env::current_exe().unwrap());
    let url = format!("sqlite:{}", file.display());
    let child = start_with(shell, "append until the end", &url);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    let expected = format!("\nthe store `{}` can't be written: ", file.display());
    assert!(said.contains(&expected), "{said}");
    let appended = said.matches("\nappended\n").count() as u64;
    assert!(appended > 5, "{said}");
    let store = open(&url);
    assert_eq!(check_prefix(&store, "t").await, appended);
    let lease = store.acquire("t").await.unwrap();
    let next = appended + 2;
    assert!(
        append_steps(&store, &lease, next..next + 50)
            .await
            .is_empty()
    );
    assert_eq!(check_prefix(&store, "t").await, appended + 50);
}

/// In a process of its own: what is logged goes to one place for all of a process.
#[tokio::test]
async fn a_lost_connection_is_logged() {
    let url = cluster::shared().url();
    let named = format!("{url}&application_name=logged");
    let mut child = start("log a lost connection", &named);
    let lines = wait_for(&mut child, "ready", 1);
    assert!(end_sessions(&admin(&url).await, "logged").await >= 1);
    writeln!(child.stdin.take().unwrap()).unwrap();
    let logged: Vec<String> = lines.map(Result::unwrap).collect();
    assert!(child.wait().unwrap().success(), "{logged:?}");
    for wanted in [
        "WARN graphc::store: connection lost store=",
        "INFO graphc::store: connected again store=",
    ] {
        let has_wanted = |line: &String| line.contains(wanted);
        assert!(logged.iter().any(has_wanted), "{wanted} in {logged:?}");
    }
}
