//! Files that can't be opened, read or written.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use graphc::run::store::{RunState, Store, StoreError};
use graphc::store::{Options, SqliteStore};
use rusqlite::Connection;

use super::records::*;

/// An error's message, with the path taken out.
fn reason<T>(result: Result<T, StoreError>, path: &Path) -> String {
    let message = message(result);
    let named = path.display().to_string();
    assert!(message.contains(&named), "{message} doesn't name {named}");
    message.replace(&named, "PATH")
}

fn quick() -> Options {
    Options {
        busy_timeout: Duration::from_millis(50),
        ..Options::default()
    }
}

/// A store with a thread `t`, and its file.
async fn with_thread() -> (Arc<dyn Store>, PathBuf) {
    let path = super::folder().join("threads.db");
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open_with(&path, quick()).unwrap());
    let lease = begin(&store, "t").await;
    let records = [
        root(2, 2, vec![("log", append(&["a"])), ("n", put(1))]),
        effect(2, "2/a", "0"),
    ];
    store.append(&lease, &records).await.unwrap();
    store.release(lease).await.unwrap();
    (store, path)
}

#[test]
fn what_is_no_database_is_left_alone() {
    let path = super::folder().join("notes.txt");
    let text = "not a database\n".repeat(500);
    std::fs::write(&path, &text).unwrap();
    assert_eq!(
        reason(SqliteStore::open(&path), &path),
        "`PATH` is no SQLite database: choose another file for the store"
    );
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn a_database_of_another_program_is_left_alone() {
    let path = super::folder().join("other.db");
    let other = Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE threads (x)").unwrap();
    drop(other);
    let before = std::fs::read(&path).unwrap();
    assert_eq!(
        reason(SqliteStore::open(&path), &path),
        "`PATH` is the database of another program: choose another file for the store"
    );
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn a_newer_schema_is_refused() {
    let (store, path) = with_thread().await;
    drop(store);
    let newer = Connection::open(&path).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    drop(newer);
    let refusal = reason(SqliteStore::open(&path), &path);
    let expected =
        "the store `PATH` was written by a newer version of this program (its schema is 99";
    assert!(refusal.starts_with(expected), "{refusal}");
}

#[test]
fn paths_that_are_no_files_are_refused() {
    let folder = super::folder();
    let refusal = reason(SqliteStore::open(&folder), &folder);
    let expected = "the store `PATH` can't be opened: check that it is a file";
    assert!(refusal.starts_with(expected), "{refusal}");

    let file = folder.join("file");
    std::fs::write(&file, "").unwrap();
    let refusal = reason(SqliteStore::open(file.join("deeper/threads.db")), &file);
    let expected = "the folder `PATH/deeper` of the store can't be created";
    assert!(refusal.starts_with(expected), "{refusal}");
}

#[tokio::test]
async fn a_locked_file_is_reported_after_the_timeout() {
    let (store, path) = with_thread().await;
    let lease = store.acquire("t").await.unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let step = [root(3, 3, vec![])];
    assert_eq!(
        reason(store.append(&lease, &step).await, &path),
        "the store `PATH` can't be written: another program keeps it locked; wait until it is \
         done, or close it"
    );
    // Reading goes on, and so does opening.
    assert_eq!(load(&store, "t").await.last_seq, 2);
    SqliteStore::open_with(&path, quick()).unwrap();
    drop(other);
    store.append(&lease, &step).await.unwrap();
    assert_eq!(load(&store, "t").await.last_seq, 3);
}

/// The file is free again as soon as the first append is refused: those that were queued with it are refused too, and wait no
/// more.
#[tokio::test]
async fn appends_wait_for_a_locked_file_once() {
    let (store, path) = with_thread().await;
    let lease = store.acquire("t").await.unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    // While this one waits for the file, the appends queue up behind it.
    let ahead = tokio::spawn({
        let store = Arc::clone(&store);
        async move { store.acquire("u").await }
    });
    let appends = (0..8).map(|_| {
        let (store, lease) = (Arc::clone(&store), lease.clone());
        tokio::spawn(async move { store.append(&lease, &[root(3, 3, vec![])]).await })
    });
    let mut appends: FuturesUnordered<_> = appends.collect();
    let first = appends.next().await.unwrap().unwrap();
    drop(other);
    assert!(ahead.await.unwrap().is_err());
    let others: Vec<_> = appends.collect().await;
    let refused = others.into_iter().filter(|append| {
        let append = append.as_ref().unwrap();
        append
            .as_ref()
            .is_err_and(|error| error.to_string().contains("keeps it locked"))
    });
    assert!(first.is_err());
    assert_eq!(refused.count(), 7);
}

#[tokio::test]
async fn content_that_was_tampered_with_is_reported() {
    let cases = [
        ("UPDATE threads SET status = '{'", "the status"),
        ("UPDATE threads SET status = '{}'", "the status"),
        (
            "UPDATE writes SET value = 'x' WHERE field = 'n'",
            "field `n`",
        ),
        (
            "UPDATE writes SET value = '1' WHERE field = 'log'",
            "field `log`",
        ),
        ("UPDATE writes SET kind = 9 WHERE field = 'n'", "field `n`"),
        (
            "UPDATE writes SET value = '{\"$what\":1}' WHERE field = 'n'",
            "field `n`",
        ),
        (
            "UPDATE writes SET value = CAST(x'ff' AS TEXT) WHERE field = 'n'",
            "holds what",
        ),
        ("UPDATE effects SET outcome = ''", "an effect"),
        (
            "UPDATE checkpoints SET schedule = '[' WHERE seq = 2",
            "the schedule",
        ),
        ("UPDATE checkpoints SET root_seq = 7", ""),
        ("DELETE FROM checkpoints", ""),
        ("DROP TABLE effects", "can't be read"),
    ];
    for (sql, expected) in cases {
        let (store, path) = with_thread().await;
        Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        match store.load("t").await {
            Err(error) => {
                let message = error.to_string();
                assert!(message.contains(expected), "{sql}: {message}");
                assert!(message.contains(&path.display().to_string()), "{message}");
            }
            Ok(image) => assert_eq!((expected, image.unwrap().frames.len()), ("", 0), "{sql}"),
        }
        let _ = store.history("t", None, 10).await;
        let _ = store.threads().await;
    }
}

#[tokio::test]
async fn deep_values_are_refused_while_they_can_be() {
    let (store, _) = with_thread().await;
    let lease = store.acquire("t").await.unwrap();
    let mut deep = serde_json::json!(1);
    let mut allowed = true;
    for depth in 1..200 {
        deep = serde_json::json!([deep]);
        let mut record = effect_record(2, "2/b", &depth.to_string());
        record.outcome = deep.clone();
        let record = graphc::run::store::Record::Effect(record);
        let kept = store.append(&lease, &[record]).await.is_ok();
        assert!(allowed || !kept);
        allowed = kept;
        load(&store, "t").await;
    }
    assert!(!allowed);
    assert_eq!(load(&store, "t").await.effects.len(), 1 + 127);
}

#[tokio::test]
async fn a_damaged_file_is_reported() {
    let (store, path) = with_thread().await;
    drop(store);
    let mut bytes = std::fs::read(&path).unwrap();
    for byte in bytes.iter_mut().skip(4096) {
        *byte = 0x5A;
    }
    std::fs::write(&path, bytes).unwrap();
    let store = match SqliteStore::open_with(&path, quick()) {
        Ok(store) => store,
        Err(error) => return assert!(matches!(error, StoreError::Corrupt { .. }), "{error}"),
    };
    let refusal = reason(store.load("t").await, &path);
    assert!(
        refusal.starts_with("the store `PATH` is damaged"),
        "{refusal}"
    );
    assert!(store.acquire("t").await.is_err());
    let lease = graphc::run::store::Lease {
        thread_id: "t".into(),
        token: 1,
    };
    let status = [status(RunState::Done)];
    assert!(store.append(&lease, &status).await.is_err());
}

/// A file that may be read but not written, by a user whom that binds.
#[cfg(unix)]
#[tokio::test]
async fn a_read_only_file_is_reported() {
    use std::os::unix::fs::PermissionsExt;
    let allow = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    // Where another user can reach it.
    let folder = std::env::temp_dir().join(format!("graphc-read-only-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let program = folder.join("graphc");
    std::fs::copy(env!("CARGO_BIN_EXE_graphc"), &program).unwrap();
    let file = folder.join("threads.db");
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(&file).unwrap());
    let lease = begin(&store, "t").await;
    store.release(lease).await.unwrap();
    drop(store);
    // What this user has made is not in the other one's way.
    std::fs::remove_dir_all(folder.join("threads.db.locks")).unwrap();
    let url = format!("sqlite:{}", file.display());
    let run = |args: &[&str]| {
        let mut command = crate::cluster::unprivileged(&folder, &program);
        command
            .args(args)
            .args(["--store", &url])
            .current_dir(&folder);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.success(), said)
    };
    allow(&file, 0o444);
    let (done, said) = run(&["threads", "delete", "t"]);
    let expected = "can't be written: it is read-only; allow writing to the file, to those beside it (`-wal`, `-shm`) \
                    and to its folder, or choose another store";
    assert!(!done && said.contains(expected), "{said}");
    let (done, said) = run(&["threads", "history", "t"]);
    assert!(done, "{said}");
    allow(&folder, 0o555);
    let (done, said) = run(&["threads", "delete", "t"]);
    assert!(!done && said.contains("threads.db` can't be "), "{said}");

    allow(&folder, 0o755);
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() && path != program {
            allow(&path, 0o666);
        }
    }
    let (done, said) = run(&["threads", "delete", "t"]);
    assert!(done, "{said}");
    std::fs::remove_dir_all(&folder).unwrap();
}
