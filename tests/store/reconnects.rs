//! Connections that are lost: what was asked over them goes on over others, once.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use graphc::run::store::{Lease, Record, Store};
use graphc::value::Value;
use tokio_postgres::Client;

use super::postgres::{admin, shut_out, user};
use super::postgres_at;
use super::records::*;
use crate::cluster::shared;

/// Ends all sessions of a store, which its name tells from others; how many there were.
pub(super) async fn end_sessions(admin: &Client, name: &str) -> usize {
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1";
    admin.query(end, &[&name]).await.unwrap().len()
}

fn step(seq: u64) -> [Record; 2] {
    let writes = vec![("log", append(&["x"])), ("n", put(seq as i64))];
    [root(seq, seq, writes), effect(seq, "a", "0")]
}

/// Whether a thread has its steps up to `seq`, each once.
async fn check_steps(store: &Arc<dyn Store>, thread: &str, seq: u64) {
    let image = load(store, thread).await;
    assert_eq!(image.last_seq, seq, "{thread}");
    let fields = fields(&image, "");
    assert_eq!(fields["n"], Value::Int(seq as i64));
    assert_eq!(fields["log"].as_list().unwrap().len() as u64, seq - 1);
    assert_eq!(image.counts.values().sum::<u64>(), seq - 1);
}

async fn once_held(store: &Arc<dyn Store>, thread: &str) {
    let deadline = Instant::now() + Duration::from_secs(20);
    while !store.is_held(thread).await.unwrap() {
        assert!(Instant::now() < deadline);
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Also of a store that is told not to wait for a server that is gone: this one is there.
#[tokio::test]
async fn the_locks_of_a_lost_connection_are_taken_again() {
    let url = shared().url();
    let named = format!("{url}&application_name=again&reconnect_timeout=0");
    let (one, two) = (postgres_at(&named), postgres_at(&url));
    let admin = admin(&url).await;
    let lease = begin(&one, "t").await;
    let other = begin(&one, "u").await;
    for seq in 2..6 {
        assert!(end_sessions(&admin, "again").await >= 2);
        // The run that holds it has not ended: no other one begins beside it, however many others do.
        assert!(is_busy(one.acquire("t").await));
        let third = one.acquire("v").await.unwrap();
        assert!(is_busy(one.acquire("t").await));
        one.release(third).await.unwrap();
        for lease in [&lease, &other] {
            one.append(lease, &step(seq)).await.unwrap();
        }
        for thread in ["t", "u"] {
            once_held(&two, thread).await;
            assert!(is_busy(two.acquire(thread).await));
            check_steps(&two, thread, seq).await;
        }
    }
    one.release(lease).await.unwrap();
    let new = two.acquire("t").await.unwrap();
    two.append(&new, &step(6)).await.unwrap();
    assert!(is_busy(two.acquire("u").await));
}

#[tokio::test]
async fn a_writer_whose_thread_was_taken_over_writes_nothing() {
    let url = shared().url();
    let two = postgres_at(&url);
    let admin = admin(&url).await;
    let one = postgres_at(&user(&admin, &url, "late").await);
    let old = begin(&one, "t").await;
    shut_out(&admin, "late").await;
    let deadline = Instant::now() + Duration::from_secs(10);
    let new = loop {
        match two.acquire("t").await {
            Ok(lease) => break lease,
            Err(error) => assert!(Instant::now() < deadline, "{error}"),
        }
    };
    let back = "ALTER ROLE late LOGIN";
    admin.batch_execute(back).await.unwrap();
    let taken_over = "another process has taken over thread `t`; nothing was written";
    assert_eq!(message(one.append(&old, &step(2)).await), taken_over);
    two.append(&new, &step(2)).await.unwrap();
    // Also where the other one has given it back.
    two.release(new).await.unwrap();
    assert_eq!(message(one.append(&old, &step(3)).await), taken_over);
    // What the old writer gives back isn't the new one's.
    let new = two.acquire("t").await.unwrap();
    assert!(is_busy(one.acquire("t").await));
    one.release(old).await.unwrap();
    assert!(is_busy(one.acquire("t").await));
    two.append(&new, &step(3)).await.unwrap();
    two.release(new).await.unwrap();
    let lease = one.acquire("t").await.unwrap();
    one.append(&lease, &step(4)).await.unwrap();
    check_steps(&two, "t", 4).await;
}

/// Sessions are ended again and again while several threads are written, read and looked up.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_goes_on_over_other_connections() {
    const STEPS: u64 = 50;
    let url = shared().url();
    let store = postgres_at(&format!("{url}&application_name=shaken"));
    let admin = admin(&url).await;
    let threads = ["a", "b", "c"];
    let mut writers = Vec::new();
    for thread in threads {
        let lease = begin(&store, thread).await;
        let store = store.clone();
        writers.push(tokio::spawn(async move {
            for seq in 2..=STEPS {
                store.append(&lease, &step(seq)).await.unwrap();
                store.cache(thread, &seq.into(), 1).await.unwrap();
                assert_eq!(store.cached(thread, 0).await.unwrap(), Some(seq.into()));
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            store.release(lease).await.unwrap();
        }));
    }
    let mut ended = 0;
    while writers.iter().any(|writer| !writer.is_finished()) {
        ended += end_sessions(&admin, "shaken").await;
        tokio::time::sleep(Duration::from_millis(150)).await;
    }
    for writer in writers {
        writer.await.unwrap();
    }
    assert!(ended > 3, "{ended}");
    for thread in threads {
        check_steps(&store, thread, STEPS).await;
    }
}

/// What becomes of the next commit.
#[derive(Clone, Copy)]
enum Cut {
    /// It never reaches the server.
    Request = 1,
    /// It is made, and its answer is lost.
    Answer = 2,
}

/// A way to the server that breaks where it is told to.
struct Way {
    url: String,
    cut: Arc<AtomicU8>,
}

impl Way {
    fn open(url: &str) -> Way {
        let socket = shared().folder().join(".s.PGSQL.5432");
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let cut = Arc::new(AtomicU8::new(0));
        let own = cut.clone();
        std::thread::spawn(move || {
            for client in listener.incoming() {
                carry(client.unwrap(), &socket, &own);
            }
        });
        let (_, rest) = url.split_once("/postgres?").unwrap();
        let url = format!("postgres://postgres@127.0.0.1:{port}/postgres?sslmode=disable&{rest}");
        Way { url, cut }
    }

    fn cut(&self, cut: Cut) {
        self.cut.store(cut as u8, Ordering::SeqCst);
    }

    /// Whether that has happened.
    fn was_cut(&self) -> bool {
        self.cut.load(Ordering::SeqCst) == 0
    }
}

fn carry(client: TcpStream, socket: &PathBuf, cut: &Arc<AtomicU8>) {
    let server = UnixStream::connect(socket).unwrap();
    let (mut from_client, mut to_server) =
        (client.try_clone().unwrap(), server.try_clone().unwrap());
    let (mut from_server, mut to_client) = (server, client);
    let swallows = Arc::new(AtomicU8::new(0));
    let (own_cut, own_swallows) = (cut.clone(), swallows.clone());
    let has_commit = |bytes: &[u8]| bytes.windows(7).any(|word| word == b"COMMIT\0");
    std::thread::spawn(move || {
        let mut buffer = vec![0; 1 << 20];
        while let Ok(read @ 1..) = from_client.read(&mut buffer) {
            if has_commit(&buffer[..read]) {
                match own_cut.swap(0, Ordering::SeqCst) {
                    1 => break,
                    cut => own_swallows.store(cut, Ordering::SeqCst),
                }
            }
            if to_server.write_all(&buffer[..read]).is_err() {
                break;
            }
        }
        let _ = from_client.shutdown(Shutdown::Both);
        let _ = to_server.shutdown(Shutdown::Both);
    });
    std::thread::spawn(move || {
        let mut buffer = vec![0; 1 << 20];
        while let Ok(read @ 1..) = from_server.read(&mut buffer) {
            match swallows.load(Ordering::SeqCst) {
                // The tag of the statement, so that it has been made.
                2 if has_commit(&buffer[..read]) => break,
                2 => {}
                _ if to_client.write_all(&buffer[..read]).is_err() => break,
                _ => {}
            }
        }
        let _ = from_server.shutdown(Shutdown::Both);
        let _ = to_client.shutdown(Shutdown::Both);
    });
}

/// Whichever way a commit was lost, what is appended is there once; also of several threads in one transaction.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_without_an_answer_is_made_once() {
    let url = shared().url();
    let way = Way::open(&url);
    let (store, direct) = (postgres_at(&way.url), postgres_at(&url));
    let mut leases = Vec::new();
    for thread in ["a", "b", "c", "d"] {
        leases.push(begin(&store, thread).await);
    }
    for seq in 2..40 {
        way.cut(match seq % 2 {
            0 => Cut::Request,
            _ => Cut::Answer,
        });
        let appends = leases.iter().map(|lease: &Lease| {
            let (store, lease) = (store.clone(), lease.clone());
            tokio::spawn(async move { store.append(&lease, &step(seq)).await })
        });
        for append in appends.collect::<Vec<_>>() {
            append.await.unwrap().unwrap();
        }
        assert!(way.was_cut());
        for lease in &leases {
            check_steps(&direct, &lease.thread_id, seq).await;
        }
    }
    // What was there before is refused as ever.
    let refusal = message(store.append(&leases[0], &step(39)).await);
    assert!(
        refusal.contains("checkpoint 39 doesn't come after"),
        "{refusal}"
    );
}
