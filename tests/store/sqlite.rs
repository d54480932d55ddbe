//! What only a file has: size, cost of reading, locks beside it.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use graphc::run::memory::{NewItem, Search};
use graphc::run::store::{Change, Effects, Keep, Lease, Record, Store};
use graphc::store::{Options, SqliteStore, Sync};
use graphc::value::Value;
use serde_json::json;

use super::records::*;
use super::remembered::{self, found, items, new, search, space};

fn open(folder: &Path) -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(folder.join("threads.db")).unwrap())
}

/// Bytes of the database and its log.
fn size(folder: &Path) -> u64 {
    let files = std::fs::read_dir(folder).unwrap();
    files.map(|f| f.unwrap().metadata().unwrap().len()).sum()
}

fn lock_files(folder: &Path) -> usize {
    std::fs::read_dir(folder.join("threads.db.locks")).map_or(0, |files| files.count())
}

/// Appends steps `from..=to`, a message each; the whole list anew once more was added than it held.
async fn talk(store: &Arc<dyn Store>, lease: &Lease, from: u64, to: u64, message: &str) {
    let mut whole = 0;
    for step in from..=to {
        let held = step - from;
        let change = match held > 2 * whole {
            true => {
                whole = held;
                let all = (0..=held).map(|_| Value::from(message));
                Change::Put(Value::List(all.collect()))
            }
            false => append(&[message]),
        };
        let task = format!("{step}/llm");
        let records = [
            root(step, step, vec![("messages", change)]),
            effect(step, &task, "0"),
        ];
        store.append(lease, &records).await.unwrap();
    }
}

#[tokio::test]
async fn bytes_grow_with_what_was_said() {
    let folder = super::folder();
    let store = open(&folder);
    let lease = begin(&store, "t").await;
    let message = "m".repeat(1024);
    for seq in 2..=501 {
        let step = root(seq, seq, vec![("messages", append(&[&message]))]);
        store.append(&lease, &[step]).await.unwrap();
    }
    drop(store);
    let (bytes, payload) = (size(&folder), 500 * 1024);
    assert!(bytes < 3 * payload, "{bytes} bytes for {payload}");
}

#[tokio::test]
async fn load_is_flat() {
    let folder = super::folder();
    let store = open(&folder);
    for (thread, steps) in [("short", 20), ("long", 3000)] {
        let lease = begin(&store, thread).await;
        for step in 2..=steps {
            let mut llm = effect_record(step, &format!("{step}/llm"), "0");
            llm.subject = "llm".into();
            let records = [
                root(step, step, vec![("n", put(step as i64))]),
                Record::Effect(llm),
            ];
            store.append(&lease, &records).await.unwrap();
        }
        // A call that has taken many steps of its own.
        for seq in steps + 1..2 * steps {
            let call = nested(seq, "x/call", seq, steps, vec![("n", put(1))]);
            store.append(&lease, &[call]).await.unwrap();
        }
        let image = load(&store, thread).await;
        assert_eq!((image.frames.len(), image.effects.len()), (2, 1));
    }
    let mut quickest = [Duration::MAX; 2];
    for _ in 0..30 {
        for (thread, quickest) in ["short", "long"].into_iter().zip(&mut quickest) {
            let start = Instant::now();
            load(&store, thread).await;
            store.history(thread, None, 10).await.unwrap();
            *quickest = start.elapsed().min(*quickest);
        }
    }
    let [short, long] = quickest;
    assert!(long < 4 * short, "{long:?} instead of {short:?}");
}

#[tokio::test]
async fn whole_lists_now_and_then_keep_reading_linear() {
    let folder = super::folder();
    let store = open(&folder);
    let lease = begin(&store, "t").await;
    talk(&store, &lease, 2, 400, "hello").await;
    let image = load(&store, "t").await;
    let messages = &image.frames[0].fields["messages"];
    assert_eq!(messages.value.as_list().unwrap().len(), 399);
    assert!(messages.changes < 300);
    let older = store.state("t", "", 100).await.unwrap();
    assert_eq!(older["messages"].as_list().unwrap().len(), 99);
}

#[tokio::test]
async fn a_file_keeps_its_threads() {
    for sync in [Sync::Normal, Sync::Full] {
        let path = super::folder().join("threads.db");
        let options = Options {
            sync,
            ..Options::default()
        };
        let open =
            || -> Arc<dyn Store> { Arc::new(SqliteStore::open_with(&path, options).unwrap()) };
        let store = open();
        let lease = begin(&store, "t").await;
        talk(&store, &lease, 2, 30, "hello").await;
        let image = load(&store, "t").await;
        drop(store);
        let store = open();
        assert_eq!(load(&store, "t").await, image);
        // The lease went with its store.
        assert!(is_fenced(
            store.append(&lease, &[root(31, 31, vec![])]).await
        ));
        assert!(store.acquire("t").await.unwrap().token > lease.token);
    }
}

#[tokio::test]
async fn two_stores_of_a_file_share_its_threads() {
    let folder = super::folder();
    let (one, two) = (open(&folder), open(&folder));
    let lease = begin(&one, "t").await;
    assert!(is_busy(two.acquire("t").await));
    assert!(is_busy(two.delete("t").await));
    assert_eq!(load(&two, "t").await, load(&one, "t").await);
    one.release(lease).await.unwrap();
    let lease = two.acquire("t").await.unwrap();
    two.append(&lease, &[root(2, 2, vec![])]).await.unwrap();
    assert_eq!(load(&one, "t").await.last_seq, 2);
    assert!(is_busy(one.acquire("t").await));
    drop(two);
    one.acquire("t").await.unwrap();
}

#[tokio::test]
async fn lock_files_go_with_their_leases() {
    let folder = super::folder();
    let store = open(&folder);
    let lease = store.acquire("t").await.unwrap();
    store.acquire("u").await.unwrap();
    assert_eq!(lock_files(&folder), 2);
    store.release(lease).await.unwrap();
    assert_eq!(lock_files(&folder), 1);
    store.delete("t").await.unwrap();
    drop(store);
    assert_eq!(lock_files(&folder), 0);
}

#[cfg(unix)]
#[tokio::test]
async fn a_writer_that_lost_its_lock_writes_nothing() {
    let folder = super::folder();
    let (one, two) = (open(&folder), open(&folder));
    let old = begin(&one, "t").await;
    std::fs::remove_dir_all(folder.join("threads.db.locks")).unwrap();
    let new = two.acquire("t").await.unwrap();
    let step = [root(2, 2, vec![])];
    assert!(is_fenced(one.append(&old, &step).await));
    // What the old writer gives back isn't the new one's.
    one.release(old).await.unwrap();
    assert!(is_busy(one.acquire("t").await));
    two.append(&new, &step).await.unwrap();
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_to_a_file_is_the_file() {
    let folder = super::folder();
    let one = open(&folder);
    let link = super::folder().join("threads.db");
    std::os::unix::fs::symlink(folder.join("threads.db"), &link).unwrap();
    let two = SqliteStore::open(&link).unwrap();
    let _lease = begin(&one, "t").await;
    assert!(is_busy(two.acquire("t").await));
}

#[tokio::test]
async fn who_stops_waiting_holds_nothing() {
    let folder = super::folder();
    let store = open(&folder);
    for _ in 0..50 {
        let acquire = store.acquire("t");
        // Polled once, then dropped: the writer may or may not have come to it.
        if let Ok(Ok(lease)) = tokio::time::timeout(Duration::ZERO, acquire).await {
            store.release(lease).await.unwrap();
        }
    }
    let deadline = Instant::now() + Duration::from_secs(10);
    while let Err(error) = store.acquire("t").await {
        assert!(Instant::now() < deadline, "{error}");
    }
}

/// An earlier version kept results that had no end.
#[tokio::test]
async fn results_without_an_end_go() {
    let folder = super::folder();
    let store = open(&folder);
    store.cache("a", &json!(1), 100).await.unwrap();
    drop(store);
    let file = folder.join("threads.db");
    let db = rusqlite::Connection::open(&file).unwrap();
    let earlier = "INSERT INTO kept (key, result) VALUES ('b', '1'); PRAGMA user_version = 4";
    db.execute_batch(earlier).unwrap();
    drop(open(&folder));
    let mut select = db.prepare("SELECT key FROM kept").unwrap();
    let keys = select.query_map([], |row| row.get::<_, String>(0)).unwrap();
    assert_eq!(keys.map(Result::unwrap).collect::<Vec<_>>(), ["a"]);
}

#[tokio::test]
async fn compaction_takes_what_it_frees_off_the_file() {
    let folder = super::folder();
    let store = open(&folder);
    let lease = begin(&store, "t").await;
    let message = "m".repeat(1024);
    for step in 2..=501 {
        let task = format!("{step}/llm");
        let number = put(message.as_str());
        let records = [
            root(step, step, vec![("last", number), ("log", append(&["x"]))]),
            effect(step, &task, "0"),
        ];
        store.append(&lease, &records).await.unwrap();
    }
    // The thread's own writer stands in the way as well.
    store.compact(&lease, Keep::Newest(2)).await.unwrap();
    assert!(store.reclaim().await.is_err());
    store.release(lease).await.unwrap();
    let before = size(&folder);
    let freed = store.reclaim().await.unwrap();
    let after = size(&folder);
    assert!(freed > 400 * 1024 && after < 200 * 1024, "{before} {after}");
    let state = store.state("t", "", 501).await.unwrap();
    assert_eq!(state["log"].as_list().unwrap().len(), 500);
    let lease = store.acquire("t").await.unwrap();
    store
        .append(&lease, &[root(502, 502, vec![])])
        .await
        .unwrap();
}

/// An earlier version did not keep behind which checkpoint an effect was appended.
#[tokio::test]
async fn effects_of_an_earlier_schema_count_as_later_in_their_step() {
    let folder = super::folder();
    let store = open(&folder);
    let lease = begin(&store, "t").await;
    let records = [
        effect(1, "1:a", "0"),
        root(2, 2, vec![]),
        effect(2, "2:call", "0"),
        nested(3, "2:call/", 0, 2, vec![]),
        effect(2, "2:call/0:x", "0"),
    ];
    store.append(&lease, &records).await.unwrap();
    drop(store);
    let file = folder.join("threads.db");
    let db = rusqlite::Connection::open(&file).unwrap();
    db.execute_batch(
        "ALTER TABLE effects DROP COLUMN behind; PRAGMA user_version = 2;
         DROP TABLE memory_items; DROP TABLE memory_values; DROP TABLE memory_vectors; DROP TABLE memory_writes;",
    )
    .unwrap();
    drop(db);
    let store = open(&folder);
    let image = store.image_at("t", 3, Effects::Before).await.unwrap();
    assert_eq!((image.effects.len(), image.counts.len()), (0, 1));
    assert_eq!(load(&store, "t").await.effects.len(), 2);
    let listed = store.effects("t", None, 9).await.unwrap();
    assert!(listed.iter().all(|effect| effect.behind.is_none()));
    let lease = store.acquire("t").await.unwrap();
    store
        .append(&lease, &[effect(2, "2:call/0:y", "0")])
        .await
        .unwrap();
    let listed = store.effects("t", listed.last().map(|l| l.position), 9);
    assert_eq!(listed.await.unwrap()[0].behind, Some(3));
}

/// Whoever looks whether a thread is held does not hold it: neither its next writer nor another that looks is told so.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn looking_at_a_thread_holds_nothing() {
    let folder = super::folder();
    let (one, two, three) = (open(&folder), open(&folder), open(&folder));
    let lease = begin(&one, "t").await;
    assert!(two.is_held("t").await.unwrap());
    one.release(lease).await.unwrap();
    let looks = |store: Arc<dyn Store>| {
        tokio::spawn(async move {
            for _ in 0..200 {
                assert!(!store.is_held("t").await.unwrap());
            }
        })
    };
    let (first, second) = (looks(two.clone()), looks(three.clone()));
    first.await.unwrap();
    second.await.unwrap();
    let looking = tokio::spawn(async move {
        loop {
            two.is_held("t").await.unwrap();
        }
    });
    for _ in 0..200 {
        let lease = one.acquire("t").await.unwrap();
        one.release(lease).await.unwrap();
    }
    looking.abort();
}

/// Where nothing has a time there is nothing to write: who reads does not wait for who writes.
#[tokio::test]
async fn memory_is_read_while_the_file_is_written() {
    let folder = super::folder();
    let options = Options {
        busy_timeout: Duration::from_millis(50),
        ..Options::default()
    };
    let store: Arc<dyn Store> =
        Arc::new(SqliteStore::open_with(folder.join("threads.db"), options).unwrap());
    remembered::put(&store, new(&["a"], "for good", json!(1)), 1).await;
    let timed = NewItem {
        ttl: Some(100),
        ..new(&["b"], "timed", json!(2))
    };
    remembered::put(&store, timed, 1).await;
    let other = rusqlite::Connection::open(folder.join("threads.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let refresh = |parts: &[&str]| Search {
        refresh: true,
        ..search(parts)
    };
    assert_eq!(found(&store, refresh(&["a"]), 2).await, ["for good"]);
    let memory = items(&store);
    let got = memory.item(&space(&["a"]), "for good", 2, true).await;
    assert!(got.unwrap().is_some());
    assert!(memory.search(&refresh(&["b"]), 2).await.is_err());
    other.execute_batch("ROLLBACK").unwrap();
    assert_eq!(found(&store, refresh(&["b"]), 2).await, ["timed"]);
}
