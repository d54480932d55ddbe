//! A server that stops, is full, damaged or slow. Most tests have a server of their own.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use graphc::run::store::StoreError;
use graphc::store::{Options, PostgresStore};
use graphc::value::Value;

use crate::cluster::Cluster;
use crate::records::*;

fn try_open(url: &str) -> Result<PostgresStore, StoreError> {
    PostgresStore::open_with(url, Path::new("."), Options::default())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_was_stopped_goes_on() {
    let cluster = Cluster::start(&[]);
    let url = cluster.url();
    let store = crate::postgres_at(&url);
    let lease = begin(&store, "t").await;
    for crash in [false, true] {
        let before = load(&store, "t").await;
        let lease = match crash {
            false => lease.clone(),
            true => store.acquire("t").await.unwrap(),
        };
        match crash {
            false => cluster.stop(),
            true => cluster.crash(),
        }
        let seq = before.last_seq + 1;
        let step = [root(seq, seq, vec![("n", put(1))])];
        let refusal = message(store.append(&lease, &step).await);
        let lost = "can't be written: the connection to the server was lost; nothing was written; \
                    resume when it is back";
        assert!(refusal.contains(lost), "{refusal}");
        let gone = "no connection to the server can be made: ";
        for refusal in [
            message(store.load("t").await),
            message(store.threads().await),
            message(store.acquire("t").await),
            message(store.delete("t").await),
            message(store.kept("k", 0).await),
            message(try_open(&url)),
        ] {
            assert!(refusal.contains(gone), "{refusal}");
            assert!(refusal.contains("/postgres?host="), "{refusal}");
        }
        let _ = store.release(lease.clone()).await;

        cluster.start_again();
        assert_eq!(load(&store, "t").await, before);
        // The lease went with the connection.
        assert!(!store.is_held("t").await.unwrap());
        let new = store.acquire("t").await.unwrap();
        assert!(new.token > lease.token);
        assert!(store.append(&lease, &step).await.is_err());
        store.append(&new, &step).await.unwrap();
        store.release(new).await.unwrap();
        assert_eq!(load(&store, "t").await.last_seq, seq);
    }
}

/// Whatever was acknowledged is there when the server is back, and nothing is there in part.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_crashes_in_the_middle_of_appends_tears_nothing() {
    let cluster = Cluster::start(&[]);
    let store = crate::postgres_at(&cluster.url());
    let mut lease = begin(&store, "t").await;
    for _ in 0..3 {
        let first = load(&store, "t").await.last_seq + 1;
        let writer = tokio::spawn({
            let (store, lease) = (store.clone(), lease.clone());
            async move {
                for step in first.. {
                    let writes = vec![("log", append(&["x"])), ("n", put(step as i64))];
                    let records = [root(step, step, writes), effect(step, "a", "0")];
                    if let Err(error) = store.append(&lease, &records).await {
                        return (step, error.to_string());
                    }
                }
                unreachable!()
            }
        });
        tokio::time::sleep(Duration::from_millis(100)).await;
        cluster.crash();
        let (failed, error) = writer.await.unwrap();
        // Between two appends it is the next connection that can't be made.
        let gone = [
            "the connection to the server was lost",
            "no connection to the server can be made",
        ];
        assert!(gone.iter().any(|gone| error.contains(gone)), "{error}");
        cluster.start_again();
        let image = load(&store, "t").await;
        // All that was acknowledged; of the last one it isn't known.
        assert!(
            (failed - 1..=failed).contains(&image.last_seq),
            "{failed}: {image:?}"
        );
        let state = fields(&image, "");
        assert_eq!(state["n"], Value::Int(image.last_seq as i64));
        assert_eq!(
            state["log"].as_list().unwrap().len() as u64,
            image.last_seq - 1
        );
        assert_eq!(image.counts.values().sum::<u64>(), image.last_seq - 1);
        lease = store.acquire("t").await.unwrap();
    }
}

/// Files of the server may not grow above 20 MiB: writes fail as on a full disk.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_without_room_tears_nothing() {
    let cluster = Cluster::start(&[]);
    let url = cluster.url();
    drop(try_open(&url).unwrap());
    cluster.stop();
    cluster.start_limited("40960");
    let store = crate::postgres_at(&url);
    let lease = begin(&store, "t").await;
    let small = begin(&store, "small").await;
    // What doesn't compress.
    let mut seed = 1_u64;
    let noise: String = std::iter::repeat_with(|| {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        char::from(b'!' + (seed >> 33) as u8 % 90)
    })
    .take(1 << 20)
    .collect();
    let mut kept = 1;
    let refusal = loop {
        let step = kept + 1;
        let records = [root(step, step, vec![("log", append(&[&noise]))])];
        match store.append(&lease, &records).await {
            Ok(()) => kept = step,
            Err(error) => break error.to_string(),
        }
        assert!(kept < 40, "the disk was never full");
    };
    let expected = "can't be written: could not extend file";
    assert!(refusal.contains(expected), "{refusal}");
    assert!(kept > 5, "{kept}");
    let image = load(&store, "t").await;
    assert_eq!(image.last_seq, kept);
    assert_eq!(
        fields(&image, "")["log"].as_list().unwrap().len() as u64,
        kept - 1
    );
    // Others go on as long as there is room for them.
    store
        .append(&small, &[root(2, 2, vec![("n", put(1))])])
        .await
        .unwrap();

    cluster.stop();
    cluster.start_again();
    let lease = store.acquire("t").await.unwrap();
    let records = [root(kept + 1, kept + 1, vec![("log", append(&[&noise]))])];
    store.append(&lease, &records).await.unwrap();
    assert_eq!(load(&store, "t").await.last_seq, kept + 1);
}

/// A page of a table is overwritten while the server is away.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_page_is_reported() {
    let cluster = Cluster::start(&[]);
    let url = cluster.url();
    let store = crate::postgres_at(&url);
    let lease = begin(&store, "t").await;
    let writes = vec![("n", put(1))];
    store.append(&lease, &[root(2, 2, writes)]).await.unwrap();
    begin(&store, "other").await;
    let (server, schema) = url.split_once("?schema=").unwrap();
    let connected = tokio_postgres::connect(server, tokio_postgres::NoTls).await;
    let (client, connection) = connected.unwrap();
    tokio::spawn(connection);
    let path = format!("SELECT pg_relation_filepath('{schema}.writes')");
    let path: String = client.query_one(&path, &[]).await.unwrap().get(0);
    cluster.stop();
    let file = cluster.folder().join("data").join(path);
    let mut page = std::fs::read(&file).unwrap();
    page[5000..8192].fill(0x5A);
    std::fs::write(&file, page).unwrap();
    cluster.start_again();
    let error = store.load("t").await.unwrap_err();
    assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
    let said = error.to_string();
    assert!(
        said.contains("is damaged (invalid page in block 0"),
        "{said}"
    );
    // What lies elsewhere is whole.
    assert_eq!(load(&store, "other").await.last_seq, 1);
    assert_eq!(store.history("t", None, 9).await.unwrap().len(), 2);
}

/// A statement that takes too long is given up, and the connection goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_statement_that_takes_too_long_is_given_up() {
    let url = crate::cluster::shared().url();
    let store = crate::postgres_at(&format!("{url}&statement_timeout=1"));
    let lease = begin(&store, "t").await;
    let (server, schema) = url.split_once("?schema=").unwrap();
    let connected = tokio_postgres::connect(server, tokio_postgres::NoTls).await;
    let (client, connection) = connected.unwrap();
    tokio::spawn(connection);
    // Locks are waited for longer than a statement may take.
    let lock = format!("BEGIN; LOCK TABLE {schema}.checkpoints IN ACCESS EXCLUSIVE MODE");
    client.batch_execute(&lock).await.unwrap();
    let refusal = message(store.load("t").await);
    let expected = "can't be read: canceling statement due to statement timeout; see what the server is busy with";
    assert!(refusal.contains(expected), "{refusal}");
    client.batch_execute("COMMIT").await.unwrap();
    assert_eq!(load(&store, "t").await.last_seq, 1);
    store.append(&lease, &[root(2, 2, vec![])]).await.unwrap();
}

const FLOW: &str = "\
tool quick(n: int) -> string
tool slow(n: int) -> string
graph Two {
  state { out a: string = \"\", out b: string = \"\" }
  start -> first -> second -> end
  node first: call quick(n: 1) { set { a: result } }
  node second: call slow(n: 2) { set { b: result } }
}
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

fn said(output: &Output) -> String {
    let out = String::from_utf8_lossy(&output.stdout);
    format!("{out}{}", String::from_utf8_lossy(&output.stderr))
}

/// The server goes while a tool is called, and is back later: the run fails, the thread is whole, and a resume makes
/// no call again that was kept.
#[test]
fn a_run_whose_server_went_is_resumed() {
    let cluster = Cluster::start(&[]);
    let folder = crate::folder();
    std::fs::write(folder.join("two.graph"), FLOW).unwrap();
    let url = cluster.url().replace("postgres@", "postgres:hunter2@");
    let settings = "store: \"${THREADS}\"\ntools:\n  quick: { command: [sh, -c, \"echo quick >> calls; echo '\\\"q\\\"'\"] }\n  \
                    slow: { command: [sh, -c, \"echo slow >> calls; for i in $(seq 200); do test -e go && break; sleep 0.05; done; echo '\\\"s\\\"'\"] }\n";
    std::fs::write(folder.join("graphc.yaml"), settings).unwrap();
    let run = |args: &[&str]| {
        let mut command = graphc(&folder, args);
        command.env("THREADS", &url);
        command
    };
    let calls = || std::fs::read_to_string(folder.join("calls")).unwrap_or_default();
    let first = run(&["run", "two.graph", "--thread", "t"]).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while !calls().contains("slow") {
        assert!(
            Instant::now() < deadline,
            "the second tool was never called"
        );
        std::thread::sleep(Duration::from_millis(10));
    }
    cluster.stop();
    std::fs::write(folder.join("go"), "").unwrap();
    let first = first.wait_with_output().unwrap();
    let text = said(&first);
    assert_eq!(first.status.code(), Some(4), "{text}");
    assert!(text.contains("\"kind\":\"store\""), "{text}");
    assert!(
        text.contains("the connection to the server was lost"),
        "{text}"
    );

    // While it is gone, nothing can be done, and that is said.
    let resume = ["resume", "two.graph", "--thread", "t"];
    let gone = run(&resume).output().unwrap();
    assert!(!gone.status.success());
    assert!(
        said(&gone).contains("no connection to the server can be made"),
        "{}",
        said(&gone)
    );

    cluster.start_again();
    let show = run(&["threads", "show", "t"]).output().unwrap();
    assert!(said(&show).contains("cut off"), "{}", said(&show));
    let done = run(&resume).output().unwrap();
    assert!(done.status.success(), "{}", said(&done));
    assert_eq!(calls(), "quick\nslow\nslow\n");
    for output in [&first, &gone, &show, &done] {
        assert!(!said(output).contains("hunter2"), "{}", said(output));
    }
}
