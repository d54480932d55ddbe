//! What only a database server has: several stores of one schema, sessions that end, other users, locked tables.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use graphc::run::store::{Change, Record, RunState, Store, StoreError};
use graphc::store::{Options, PostgresStore};
use graphc::value::Value;
use serde_json::json;
use tokio_postgres::{Client, NoTls};

use super::records::*;
use super::remembered;
use crate::cluster::shared;

/// A connection of its own to the server, with a schema as its search path.
pub async fn admin(url: &str) -> Client {
    let (server, schema) = url.split_once("?schema=").unwrap();
    let (client, connection) = tokio_postgres::connect(server, NoTls).await.unwrap();
    tokio::spawn(connection);
    let path = format!("SET search_path = {schema}");
    client.batch_execute(&path).await.unwrap();
    client
}

fn open(url: &str) -> Arc<dyn Store> {
    super::postgres_at(url)
}

fn quick() -> Options {
    Options {
        busy_timeout: Duration::from_millis(100),
        ..Options::default()
    }
}

fn try_open(url: &str) -> Result<PostgresStore, StoreError> {
    PostgresStore::open_with(url, Path::new("."), quick())
}

/// The address of a store for a user of its own.
pub async fn user(admin: &Client, url: &str, name: &str) -> String {
    let make = format!("CREATE ROLE {name} SUPERUSER LOGIN");
    admin.batch_execute(&make).await.unwrap();
    url.replace("//postgres@", &format!("//{name}@"))
}

/// Ends the session that has the locks of a user's store, and lets none follow.
pub async fn shut_out(admin: &Client, name: &str) {
    let shut = format!("ALTER ROLE {name} NOLOGIN");
    admin.batch_execute(&shut).await.unwrap();
    let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = $1 \
        AND pid IN (SELECT pid FROM pg_locks WHERE locktype = 'advisory')";
    let ended = admin.query(end, &[&name]).await.unwrap();
    assert_eq!(ended.len(), 1);
}

#[tokio::test]
async fn two_stores_of_a_schema_share_its_threads() {
    let url = shared().url();
    let (one, two) = (open(&url), open(&url));
    let lease = begin(&one, "t").await;
    let refusal = message(two.acquire("t").await);
    let process = format!(
        "thread `t` is in use by another run of this process (process {}",
        std::process::id()
    );
    assert!(refusal.starts_with(&process), "{refusal}");
    assert!(is_busy(two.delete("t").await));
    assert!(two.is_held("t").await.unwrap());
    assert!(!two.is_held("u").await.unwrap());
    assert_eq!(load(&two, "t").await, load(&one, "t").await);
    one.release(lease).await.unwrap();
    assert!(!two.is_held("t").await.unwrap());
    let lease = two.acquire("t").await.unwrap();
    two.append(&lease, &[root(2, 2, vec![])]).await.unwrap();
    assert_eq!(load(&one, "t").await.last_seq, 2);
    assert!(is_busy(one.acquire("t").await));
    drop(two);
    one.acquire("t").await.unwrap();
}

#[tokio::test]
async fn a_database_keeps_its_threads() {
    for sync in [graphc::store::Sync::Normal, graphc::store::Sync::Full] {
        let url = shared().url();
        let options = Options {
            sync,
            ..Options::default()
        };
        let open = || -> Arc<dyn Store> {
            Arc::new(PostgresStore::open_with(&url, Path::new("."), options).unwrap())
        };
        let store = open();
        let lease = begin(&store, "t").await;
        let records = [root(2, 2, vec![("n", put(1))]), effect(2, "2/a", "0")];
        store.append(&lease, &records).await.unwrap();
        let image = load(&store, "t").await;
        drop(store);
        let store = open();
        assert_eq!(load(&store, "t").await, image);
        // The lease went with its store.
        assert!(is_fenced(store.append(&lease, &[root(3, 3, vec![])]).await));
        assert!(store.acquire("t").await.unwrap().token > lease.token);
    }
}

#[tokio::test]
async fn schemas_are_apart() {
    let (one, two) = (
        open(&shared().url()),
        open(&shared().url_of("odd \"name\"; --")),
    );
    let lease = begin(&one, "t").await;
    begin(&two, "t").await;
    assert_eq!(one.threads().await.unwrap().len(), 1);
    one.cache("a", &json!(1), 1).await.unwrap();
    assert_eq!(two.cached("a", 0).await.unwrap(), None);
    one.release(lease).await.unwrap();
    assert!(one.delete("t").await.unwrap());
    assert_eq!(two.threads().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_new_writer_waits_for_an_append_under_way() {
    let url = shared().url();
    let two = open(&url);
    let admin = admin(&url).await;
    let one = open(&user(&admin, &url, "slow").await);
    let old = begin(&one, "t").await;
    // The old writer's append stands in the middle of its transaction.
    admin
        .batch_execute("BEGIN; LOCK TABLE checkpoints IN EXCLUSIVE MODE")
        .await
        .unwrap();
    let append = tokio::spawn({
        let one = one.clone();
        async move { one.append(&old, &[root(2, 2, vec![])]).await }
    });
    let deadline = Instant::now() + Duration::from_secs(10);
    let waiting =
        "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = 'checkpoints'::regclass";
    while admin
        .query_one(waiting, &[])
        .await
        .unwrap()
        .get::<_, i64>(0)
        == 0
    {
        assert!(Instant::now() < deadline);
    }
    shut_out(&self::admin(&url).await, "slow").await;
    let taking = tokio::spawn(async move {
        loop {
            match two.acquire("t").await {
                Ok(lease) => break (two, lease),
                Err(StoreError::Busy { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
    });
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert!(!taking.is_finished());
    admin.batch_execute("COMMIT").await.unwrap();
    append.await.unwrap().unwrap();
    let (two, lease) = taking.await.unwrap();
    // What the old one wrote is there; it writes nothing any more.
    assert_eq!(load(&two, "t").await.last_seq, 2);
    two.append(&lease, &[root(3, 3, vec![])]).await.unwrap();
}

#[tokio::test]
async fn who_stops_waiting_holds_nothing() {
    let store = open(&shared().url());
    for _ in 0..50 {
        let acquire = store.acquire("t");
        if let Ok(Ok(lease)) = tokio::time::timeout(Duration::ZERO, acquire).await {
            store.release(lease).await.unwrap();
        }
    }
    let deadline = Instant::now() + Duration::from_secs(10);
    while let Err(error) = store.acquire("t").await {
        assert!(Instant::now() < deadline, "{error}");
    }
}

/// Several times the longest row of an index.
#[tokio::test]
async fn names_may_be_long() {
    let store = open(&shared().url());
    let long = |c: &str| c.repeat(20_000);
    let lease = begin(&store, &long("t")).await;
    let mut call = effect_record(1, &long("a"), &long("i"));
    call.subject = long("s");
    let records = [
        nested(2, &long("f"), 1, 1, vec![(&long("n"), put(1))]),
        Record::Effect(call.clone()),
    ];
    store.append(&lease, &records).await.unwrap();
    let image = load(&store, &long("t")).await;
    assert_eq!(fields(&image, &long("f"))[&long("n")], Value::Int(1));
    assert_eq!(image.effects, [call]);
    assert_eq!(image.counts[&("tool".to_owned(), long("s"))], 1);
    store.cache(&long("k"), &json!(1), 1).await.unwrap();
    assert_eq!(store.cached(&long("k"), 0).await.unwrap(), Some(json!(1)));
}

#[tokio::test]
async fn load_is_flat() {
    let store = open(&shared().url());
    for (thread, steps) in [("short", 20), ("long", 2000)] {
        let lease = begin(&store, thread).await;
        let mut records = Vec::new();
        for step in 2..=steps {
            let mut llm = effect_record(step, &format!("{step}/llm"), "0");
            llm.subject = "llm".into();
            records.push(root(step, step, vec![("n", put(step as i64))]));
            records.push(Record::Effect(llm));
        }
        // A call that has taken many steps of its own.
        for seq in steps + 1..2 * steps {
            records.push(nested(seq, "x/call", seq, steps, vec![("n", put(1))]));
        }
        store.append(&lease, &records).await.unwrap();
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

/// Bytes of the tables and indexes of a schema.
async fn size(admin: &Client) -> i64 {
    let sql = "SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c \
               WHERE c.relnamespace = current_schema()::text::regnamespace AND c.relkind = 'r'";
    admin.query_one(sql, &[]).await.unwrap().get(0)
}

#[tokio::test]
async fn bytes_grow_with_what_was_said() {
    let url = shared().url();
    let store = open(&url);
    let lease = begin(&store, "t").await;
    let message = "m".repeat(1024);
    for seq in 2..=501 {
        let step = root(seq, seq, vec![("messages", append(&[&message]))]);
        store.append(&lease, &[step]).await.unwrap();
    }
    let (bytes, payload) = (size(&admin(&url).await).await, 500 * 1024);
    assert!(bytes < 3 * payload, "{bytes} bytes for {payload}");
}

/// The first version had no long-term memory, and kept results that had no end.
#[tokio::test]
async fn an_earlier_schema_is_brought_up_to_date() {
    let url = shared().url();
    let store = open(&url);
    let lease = begin(&store, "t").await;
    let image = load(&store, "t").await;
    store.release(lease).await.unwrap();
    drop(store);
    let back = "DROP TABLE memory_items, memory_values, memory_vectors, memory_writes; \
        INSERT INTO kept (key, result) VALUES (gen_random_uuid(), '1'); \
        UPDATE graphc_schema SET version = 1";
    let admin = admin(&url).await;
    admin.batch_execute(back).await.unwrap();
    let store = open(&url);
    let results = "SELECT count(*) FROM kept";
    let row = admin.query_one(results, &[]).await.unwrap();
    assert_eq!(row.get::<_, i64>(0), 0);
    assert_eq!(load(&store, "t").await, image);
    let version = "SELECT version::bigint FROM graphc_schema";
    let row = admin.query_one(version, &[]).await.unwrap();
    assert_eq!(row.get::<_, i64>(0), 3);
    let items = "SELECT count(*) FROM memory_items";
    let row = admin.query_one(items, &[]).await.unwrap();
    assert_eq!(row.get::<_, i64>(0), 0);
    let lease = store.acquire("t").await.unwrap();
    let seq = image.last_seq + 1;
    store
        .append(&lease, &[root(seq, seq, vec![])])
        .await
        .unwrap();
    assert_eq!(load(&store, "t").await.last_seq, seq);
}

#[tokio::test]
async fn a_newer_schema_is_refused() {
    let url = shared().url();
    drop(open(&url));
    let admin = admin(&url).await;
    admin
        .batch_execute("UPDATE graphc_schema SET version = 99")
        .await
        .unwrap();
    let refusal = message(try_open(&url));
    let expected = "can't be opened: it was written by a newer version of this program (its schema is 99, this version";
    assert!(refusal.contains(expected), "{refusal}");
}

#[tokio::test]
async fn a_schema_of_another_program_is_left_alone() {
    let url = shared().url();
    let (_, schema) = url.split_once("?schema=").unwrap();
    let admin = admin(&url).await;
    let other = format!("CREATE SCHEMA {schema}; CREATE TABLE {schema}.threads (x int)");
    admin.batch_execute(&other).await.unwrap();
    assert_eq!(
        message(try_open(&url)),
        format!(
            "the schema `{schema}` of the database has tables of another program: name another one for the store \
             (`?schema=`)"
        )
    );
    let tables =
        "SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::text::regnamespace";
    assert_eq!(
        admin.query_one(tables, &[]).await.unwrap().get::<_, i64>(0),
        1
    );
}

#[tokio::test]
async fn what_the_server_refuses_is_told_with_a_way_out() {
    let url = shared().url();
    drop(open(&url));
    let admin = admin(&url).await;
    let make =
        "DO $$ BEGIN CREATE ROLE guest LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$";
    admin.batch_execute(make).await.unwrap();
    let guest = |url: &str| url.replace("postgres://postgres@", "postgres://guest@");
    let cases = [
        (
            url.replace("/postgres?", "/nowhere?"),
            "database \"nowhere\" does not exist; make it (`createdb`), or name another",
        ),
        (
            url.replace("postgres://postgres@", "postgres://nobody_here@"),
            "role \"nobody_here\" does not exist; check the user in the store's address",
        ),
        (
            guest(&shared().url()),
            "permission denied for database postgres; grant the user that right, or name another schema",
        ),
        (guest(&url), "permission denied for schema"),
    ];
    for (url, expected) in cases {
        let refusal = message(try_open(&url));
        assert!(refusal.contains(expected), "{refusal}");
        assert!(refusal.contains(" can't be opened: "), "{refusal}");
    }
}

#[tokio::test]
async fn a_server_that_takes_no_writes_can_be_looked_into() {
    let url = shared().url();
    let writer = open(&url);
    let lease = begin(&writer, "t").await;
    writer.release(lease).await.unwrap();
    let store = open(&format!(
        "{url}&options=-c%20default_transaction_read_only%3Don"
    ));
    assert_eq!(load(&store, "t").await.last_seq, 1);
    assert_eq!(store.threads().await.unwrap().len(), 1);
    let refusal = message(store.acquire("t").await);
    let expected = "it is read-only: name the server that takes writes";
    assert!(refusal.ends_with(expected), "{refusal}");
    // What was not taken is free.
    let lease = writer.acquire("t").await.unwrap();
    writer.append(&lease, &[root(2, 2, vec![])]).await.unwrap();
}

#[tokio::test]
async fn locked_tables_are_reported_after_the_timeout() {
    let url = shared().url();
    let store: Arc<dyn Store> = Arc::new(try_open(&url).unwrap());
    let lease = begin(&store, "t").await;
    let admin = admin(&url).await;
    admin
        .batch_execute("BEGIN; LOCK TABLE writes IN EXCLUSIVE MODE")
        .await
        .unwrap();
    let step = [root(2, 2, vec![("n", put(1))])];
    let refusal = message(store.append(&lease, &step).await);
    let expected = "another program keeps it locked: wait until it is done, or end it";
    assert!(refusal.ends_with(expected), "{refusal}");
    // Reading goes on.
    assert_eq!(load(&store, "t").await.last_seq, 1);
    admin.batch_execute("ROLLBACK").await.unwrap();
    store.append(&lease, &step).await.unwrap();
    assert_eq!(load(&store, "t").await.last_seq, 2);
}

#[tokio::test]
async fn content_that_was_tampered_with_is_reported() {
    let cases = [
        ("UPDATE threads SET status = '{'", "the status"),
        ("UPDATE threads SET status = '{}'", "the status"),
        ("UPDATE writes SET value = 'x' WHERE kind = 1", "field `n`"),
        (
            "UPDATE writes SET value = '1' WHERE kind = 4",
            "field `log`",
        ),
        ("UPDATE writes SET kind = 9 WHERE kind = 1", "field `n`"),
        ("UPDATE fields SET name = '\\'", "a name"),
        ("UPDATE effects SET outcome = ''", "an effect"),
        (
            "UPDATE checkpoints SET schedule = '[' WHERE seq = 2",
            "the schedule",
        ),
        (
            "ALTER TABLE threads ALTER status TYPE bytea USING '\\x00'",
            "holds what this program doesn't write",
        ),
        ("DROP TABLE effects", "the tables were taken away"),
        (
            "DROP SCHEMA \"SCHEMA\" CASCADE",
            "the tables were taken away",
        ),
    ];
    for (sql, expected) in cases {
        let url = shared().url();
        let store = open(&url);
        let lease = begin(&store, "t").await;
        let records = [
            root(2, 2, vec![("log", append(&["a"])), ("n", put(1))]),
            effect(2, "2/a", "0"),
        ];
        store.append(&lease, &records).await.unwrap();
        let (_, schema) = url.split_once("?schema=").unwrap();
        let sql = sql.replace("SCHEMA \"SCHEMA\"", &format!("SCHEMA {schema}"));
        admin(&url).await.batch_execute(&sql).await.unwrap();
        let message = message(store.load("t").await);
        assert!(message.contains(expected), "{sql}: {message}");
        assert!(message.contains("/postgres?host="), "{message}");
        let _ = store.history("t", None, 10).await;
        let _ = store.threads().await;
        let _ = store.append(&lease, &[status(RunState::Done)]).await;
    }
}

/// What one statement would not take goes in several, and is there as a whole or not at all.
#[tokio::test]
async fn an_append_of_many_megabytes_is_one_append() {
    let store = open(&shared().url());
    let lease = begin(&store, "t").await;
    let text = |seq: u64| Value::text(format!("{seq}").repeat(8 << 20));
    let steps = |from: u64| -> Vec<Record> {
        (from..from + 6)
            .map(|seq| root(seq, seq, vec![("text", Change::Put(text(seq % 10)))]))
            .collect()
    };
    store.append(&lease, &steps(2)).await.unwrap();
    let image = load(&store, "t").await;
    assert_eq!(image.last_seq, 7);
    assert_eq!(fields(&image, "")["text"], text(7));
    // One value that is larger than what is sent at once goes alone.
    let large = Value::text("x".repeat(33 << 20));
    let put = |seq, value: &Value| root(seq, seq, vec![("text", Change::Put(value.clone()))]);
    let alone = [put(8, &large), put(9, &Value::text("y")), put(10, &large)];
    store.append(&lease, &alone).await.unwrap();
    assert_eq!(fields(&load(&store, "t").await, "")["text"], large);
    // The last record breaks a rule of the database: nothing of what went ahead is there.
    let mut broken = steps(11);
    broken.push(root(3, 3, vec![]));
    assert!(store.append(&lease, &broken).await.is_err());
    assert_eq!(load(&store, "t").await.last_seq, 10);
}

/// A write to memory that waits for another process keeps no run's records waiting.
#[tokio::test]
async fn records_are_kept_while_memory_is_waited_for() {
    let url = shared().url();
    let store = open(&url);
    let lease = begin(&store, "t").await;
    remembered::put(&store, remembered::new(&["a"], "k", json!(1)), 1).await;
    let admin = admin(&url).await;
    admin
        .batch_execute("BEGIN; SELECT 1 FROM memory_items FOR UPDATE")
        .await
        .unwrap();
    let writing = tokio::spawn({
        let store = store.clone();
        async move { remembered::put(&store, remembered::new(&["a"], "k", json!(2)), 2).await }
    });
    let waits = "SELECT count(*) FROM pg_locks WHERE NOT granted";
    let deadline = Instant::now() + Duration::from_secs(10);
    while admin.query_one(waits, &[]).await.unwrap().get::<_, i64>(0) == 0 {
        assert!(Instant::now() < deadline);
    }
    let step = [root(2, 2, vec![])];
    let append = store.append(&lease, &step);
    let kept = tokio::time::timeout(Duration::from_secs(3), append).await;
    kept.expect("it waits for memory").unwrap();
    assert!(!writing.is_finished());
    admin.batch_execute("ROLLBACK").await.unwrap();
    assert!(!writing.await.unwrap());
}
