//! A server that stops, is full, damaged or slow. Most tests have a server of their own.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use graphc::run::store::StoreError;
use graphc::store::{Options, PostgresStore};
use graphc::value::Value;

use super::records::*;
use crate::cluster::Cluster;

fn try_open(url: &str) -> Result<PostgresStore, StoreError> {
    PostgresStore::open_with(url, Path::new("."), Options::default())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_was_stopped_goes_on() {
    let cluster = Cluster::start(&[]);
    let url = cluster.url() + "&reconnect_timeout=0";
    let store = super::postgres_at(&url);
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
        let gone = "no connection to the server can be made: ";
        for refusal in [
            message(store.append(&lease, &step).await),
            message(store.load("t").await),
            message(store.threads().await),
            message(store.acquire("u").await),
            message(store.delete("t").await),
            message(store.cached("k", 0).await),
            message(try_open(&url)),
        ] {
            assert!(refusal.contains(gone), "{refusal}");
            assert!(refusal.contains("/postgres?host="), "{refusal}");
        }
        store.release(lease.clone()).await.unwrap();

        cluster.start_again();
        assert_eq!(load(&store, "t").await, before);
        // Nobody takes a lock again that was given back.
        assert!(!store.is_held("t").await.unwrap());
        let new = store.acquire("t").await.unwrap();
        assert!(new.token > lease.token);
        assert!(store.append(&lease, &step).await.is_err());
        store.append(&new, &step).await.unwrap();
        store.release(new).await.unwrap();
        assert_eq!(load(&store, "t").await.last_seq, seq);
    }
}

/// Appends wait for a server that comes back, and each is there once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn appends_wait_for_a_server_that_is_started_again() {
    let cluster = Cluster::start(&[]);
    let store = super::postgres_at(&cluster.url());
    let lease = begin(&store, "t").await;
    let written = Arc::new(AtomicU64::new(1));
    let over = Arc::new(AtomicBool::new(false));
    let writer = tokio::spawn({
        let (store, lease) = (store.clone(), lease.clone());
        let (written, over) = (written.clone(), over.clone());
        async move {
            while !over.load(Ordering::Relaxed) {
                let step = written.load(Ordering::Relaxed) + 1;
                let writes = vec![("log", append(&["x"])), ("n", put(step as i64))];
                let records = [root(step, step, writes), effect(step, "a", "0")];
                store.append(&lease, &records).await.unwrap();
                written.store(step, Ordering::Relaxed);
            }
        }
    });
    let once_written = |more: u64| {
        let deadline = Instant::now() + Duration::from_secs(60);
        let wanted = written.load(Ordering::Relaxed) + more;
        while written.load(Ordering::Relaxed) < wanted {
            assert!(Instant::now() < deadline && !writer.is_finished());
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    for crash in [true, false, true] {
        once_written(10);
        match crash {
            false => cluster.stop(),
            true => cluster.crash(),
        }
        std::thread::sleep(Duration::from_millis(300));
        cluster.start_again();
        once_written(10);
        assert!(matches!(
            store.acquire("t").await,
            Err(StoreError::Busy { .. })
        ));
    }
    over.store(true, Ordering::Relaxed);
    writer.await.unwrap();
    let (image, written) = (load(&store, "t").await, written.load(Ordering::Relaxed));
    assert_eq!(image.last_seq, written);
    let state = fields(&image, "");
    assert_eq!(state["log"].as_list().unwrap().len() as u64, written - 1);
    assert_eq!(image.counts.values().sum::<u64>(), written - 1);
}

/// Whatever was acknowledged is there when the server is back, and nothing is there in part.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_crashes_in_the_middle_of_appends_tears_nothing() {
    let cluster = Cluster::start(&[]);
    let store = super::postgres_at(&(cluster.url() + "&reconnect_timeout=0"));
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
        store.release(lease).await.unwrap();
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
    let store = super::postgres_at(&url);
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
    let records = [root(kept + 1, kept + 1, vec![("log", append(&[&noise]))])];
    store.append(&lease, &records).await.unwrap();
    assert_eq!(load(&store, "t").await.last_seq, kept + 1);
}

/// A page of a table is overwritten while the server is away.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_damaged_page_is_reported() {
    let cluster = Cluster::start(&[]);
    let url = cluster.url();
    let store = super::postgres_at(&url);
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
    let store = super::postgres_at(&format!("{url}&statement_timeout=1"));
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

/// A folder with a run under way whose second tool waits for the file `go`.
struct Waiting {
    cluster: Cluster,
    folder: PathBuf,
    url: String,
    run: Option<Child>,
}

impl Waiting {
    fn start(options: &str) -> Waiting {
        let cluster = Cluster::start(&[]);
        let folder = super::folder();
        std::fs::write(folder.join("two.graph"), FLOW).unwrap();
        let url = cluster.url().replace("postgres@", "postgres:hunter2@") + options;
        let settings = "store: \"${THREADS}\"\ntools:\n  quick: { command: [sh, -c, \"echo quick >> calls; echo '\\\"q\\\"'\"] }\n  \
                        slow: { command: [sh, -c, \"echo slow >> calls; for i in $(seq 200); do test -e go && break; sleep 0.05; done; echo '\\\"s\\\"'\"] }\n";
        std::fs::write(folder.join("graphc.yaml"), settings).unwrap();
        let mut run = graphc(&folder, &["run", "two.graph", "--thread", "t"]);
        let run = run.env("THREADS", &url).spawn().unwrap();
        let waiting = Waiting {
            cluster,
            folder,
            url,
            run: Some(run),
        };
        let deadline = Instant::now() + Duration::from_secs(20);
        while !waiting.calls().contains("slow") {
            assert!(
                Instant::now() < deadline,
                "the second tool was never called"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
        waiting
    }

    fn calls(&self) -> String {
        std::fs::read_to_string(self.folder.join("calls")).unwrap_or_default()
    }

    /// Lets the tool end.
    fn go(&self) {
        std::fs::write(self.folder.join("go"), "").unwrap();
    }

    /// Waits for the end of the run.
    fn end(&mut self) -> Output {
        self.run.take().unwrap().wait_with_output().unwrap()
    }

    fn graphc(&self, args: &[&str]) -> Output {
        let mut command = graphc(&self.folder, args);
        command.env("THREADS", &self.url).output().unwrap()
    }
}

/// The server goes while a tool is called, and is back in a while: the run goes on as if nothing had been.
#[test]
fn a_run_waits_for_its_server() {
    let mut waiting = Waiting::start("");
    waiting.cluster.crash();
    waiting.go();
    std::thread::sleep(Duration::from_millis(500));
    waiting.cluster.start_again();
    let done = waiting.end();
    assert!(done.status.success(), "{}", said(&done));
    assert_eq!(waiting.calls(), "quick\nslow\n");
    let show = waiting.graphc(&["threads", "show", "t"]);
    assert!(said(&show).contains("done"), "{}", said(&show));
}

/// The server goes while a tool is called, and is back too late: the run fails, the thread is whole, and a resume makes
/// no call again that was kept.
#[test]
fn a_run_whose_server_went_is_resumed() {
    let mut waiting = Waiting::start("&reconnect_timeout=1");
    waiting.cluster.stop();
    waiting.go();
    let first = waiting.end();
    let text = said(&first);
    assert_eq!(first.status.code(), Some(4), "{text}");
    assert!(text.contains("\"kind\":\"store\""), "{text}");
    let gone = "no connection to the server can be made";
    assert!(text.contains(gone), "{text}");

    // While it is gone, nothing can be done, and that is said.
    let resume = ["resume", "two.graph", "--thread", "t"];
    let refused = waiting.graphc(&resume);
    assert!(!refused.status.success());
    assert!(said(&refused).contains(gone), "{}", said(&refused));

    waiting.cluster.start_again();
    let show = waiting.graphc(&["threads", "show", "t"]);
    assert!(said(&show).contains("cut off"), "{}", said(&show));
    let done = waiting.graphc(&resume);
    assert!(done.status.success(), "{}", said(&done));
    assert_eq!(waiting.calls(), "quick\nslow\nslow\n");
    for output in [&first, &refused, &show, &done] {
        assert!(!said(output).contains("hunter2"), "{}", said(output));
    }
}
