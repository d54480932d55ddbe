//! What it costs to keep a thread.

#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../tests/cluster/mod.rs"]
mod cluster;
#[path = "../tests/install/mod.rs"]
mod install;

use std::path::PathBuf;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use cluster::Cluster;
use divan::Bencher;
use graphc::run::memory;
use graphc::run::store::{
    Change, Checkpoint, EffectRecord, FieldWrite, Lease, Record, RunState, Source, Store,
    ThreadStatus,
};
use graphc::store::{MemoryStore, Options, PostgresStore, SqliteStore, Sync};
use graphc::value::Value;
use serde_json::{Value as Json, json};
use tokio::runtime::Runtime;

fn main() {
    let _ = std::fs::remove_dir_all(FOLDER);
    divan::main();
}

const FOLDER: &str = concat!(env!("CARGO_TARGET_TMPDIR"), "/bench-store");
const AT: &str = "2026-01-09T12:00:00Z";

fn runtime() -> Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap()
}

fn file() -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = PathBuf::from(FOLDER).join(count.to_string());
    std::fs::create_dir_all(&folder).unwrap();
    folder.join("threads.db")
}

fn sqlite(sync: Sync) -> SqliteStore {
    let options = Options {
        sync,
        ..Options::default()
    };
    SqliteStore::open_with(file(), options).unwrap()
}

/// A server of its own, by a socket of this machine, that waits for the disk as servers do.
static CLUSTER: LazyLock<Cluster> =
    LazyLock::new(|| Cluster::start(&["fsync=on", "full_page_writes=on"]));

fn postgres() -> PostgresStore {
    PostgresStore::open_with(&CLUSTER.url(), "".as_ref(), Options::default()).unwrap()
}

fn status() -> Record {
    Record::Status(ThreadStatus {
        state: RunState::Running,
        graph: "main".into(),
        version: "v1".into(),
        run_id: "run".into(),
        interrupts: Vec::new(),
        error: None,
        interrupt_before: Vec::new(),
        recursion_limit: None,
        served_by: Default::default(),
        context: Json::Null,
        usage: Json::Null,
        named_from: Some(0),
        life: None,
        forked_from: None,
        at: AT.into(),
    })
}

/// A step that appends 256 bytes.
fn step(seq: u64) -> Record {
    Record::Checkpoint(Checkpoint {
        seq,
        frame: String::new(),
        step: seq,
        root_step: seq,
        run_id: "run".into(),
        source: Source::Step,
        writes: vec![FieldWrite {
            field: "messages".into(),
            change: match seq % 1000 {
                1 => Change::Put(Value::from(Vec::new())),
                _ => Change::Append(vec![Value::from("m".repeat(256))]),
            },
        }],
        schedule: json!({ "tasks": ["next"] }),
        at: AT.into(),
    })
}

fn effect(step: u64) -> Record {
    Record::Effect(EffectRecord {
        task: format!("{step}/llm"),
        id: "0".into(),
        root_step: step,
        kind: "model".into(),
        subject: "llm".into(),
        outcome: json!({ "text": "m".repeat(256) }),
    })
}

fn acquire(runtime: &Runtime, store: &impl Store, thread: &str) -> Lease {
    runtime.block_on(store.acquire(thread)).unwrap()
}

fn append_steps(bencher: Bencher, store: impl Store) {
    let runtime = runtime();
    let lease = acquire(&runtime, &store, "t");
    let mut seq = 0;
    bencher.bench_local(|| {
        seq += 1;
        let records = [step(seq), status()];
        runtime.block_on(store.append(&lease, &records)).unwrap();
    });
}

#[divan::bench]
fn append_memory(bencher: Bencher) {
    append_steps(bencher, MemoryStore::new());
}

#[divan::bench(args = [Sync::Normal, Sync::Full])]
fn append_sqlite(bencher: Bencher, sync: Sync) {
    append_steps(bencher, sqlite(sync));
}

#[divan::bench]
fn append_postgres(bencher: Bencher) {
    append_steps(bencher, postgres());
}

/// What the append above is measured against: one row of as many bytes, one transaction.
#[divan::bench]
fn bare_transaction_postgres(bencher: Bencher) {
    let runtime = runtime();
    let url = CLUSTER.url();
    let (server, _) = url.split_once('?').unwrap();
    let connecting = tokio_postgres::connect(server, tokio_postgres::NoTls);
    let (client, connection) = runtime.block_on(connecting).unwrap();
    runtime.spawn(connection);
    let table = "DROP TABLE IF EXISTS bare; CREATE TABLE bare (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, value text)";
    runtime.block_on(client.batch_execute(table)).unwrap();
    let insert = "INSERT INTO bare (value) VALUES ($1)";
    let insert = runtime.block_on(client.prepare(insert)).unwrap();
    let value = "m".repeat(256 + 300);
    bencher.bench_local(|| {
        runtime
            .block_on(client.execute(&insert, &[&value]))
            .unwrap()
    });
}

/// What the append to a file is measured against: one row of as many bytes, one transaction.
#[divan::bench(args = ["NORMAL", "FULL"])]
fn bare_transaction(bencher: Bencher, synchronous: &str) {
    let db = rusqlite::Connection::open(file()).unwrap();
    db.pragma_update(None, "journal_mode", "WAL").unwrap();
    db.pragma_update(None, "synchronous", synchronous).unwrap();
    db.execute_batch("CREATE TABLE log (id INTEGER PRIMARY KEY, value TEXT) STRICT")
        .unwrap();
    let value = "m".repeat(256 + 300);
    bencher.bench_local(|| {
        db.prepare_cached("INSERT INTO log (value) VALUES (?1)")
            .unwrap()
            .execute([&value])
            .unwrap();
    });
}

/// 64 threads append a step each at the same time.
#[divan::bench(args = [Sync::Normal, Sync::Full])]
fn append_64_threads(bencher: Bencher, sync: Sync) {
    append_many(bencher, sqlite(sync));
}

#[divan::bench]
fn append_64_threads_postgres(bencher: Bencher) {
    append_many(bencher, postgres());
}

fn append_many(bencher: Bencher, store: impl Store) {
    let runtime = runtime();
    let leases: Vec<Lease> = (0..64)
        .map(|thread| acquire(&runtime, &store, &format!("t{thread}")))
        .collect();
    let mut seq = 0;
    bencher.counter(64_u64).bench_local(|| {
        seq += 1;
        let records = [step(seq), status()];
        let appends = leases.iter().map(|lease| store.append(lease, &records));
        for done in runtime.block_on(futures_util::future::join_all(appends)) {
            done.unwrap();
        }
    });
}

/// A thread of 5,000 checkpoints, each with an effect.
fn lengthen<S: Store>(runtime: &Runtime, store: S) -> S {
    let lease = acquire(runtime, &store, "t");
    for seq in 1..=5000 {
        let records = [step(seq), effect(seq), status()];
        runtime.block_on(store.append(&lease, &records)).unwrap();
    }
    store
}

#[divan::bench]
fn load_5000_checkpoints(bencher: Bencher) {
    let runtime = runtime();
    let store = lengthen(&runtime, sqlite(Sync::Normal));
    bencher.bench_local(|| runtime.block_on(store.load("t")).unwrap());
}

#[divan::bench]
fn load_5000_checkpoints_postgres(bencher: Bencher) {
    let runtime = runtime();
    let store = lengthen(&runtime, postgres());
    bencher.bench_local(|| runtime.block_on(store.load("t")).unwrap());
}

/// 10,000 items with a value of 256 bytes and, where asked for, a vector of 512 numbers; as many in another namespace.
fn remember<S: Store>(runtime: &Runtime, store: S, vectors: bool) -> S {
    let memory = store.memory().unwrap();
    let put = |space: &str, n: u32| {
        let item = memory::NewItem {
            space: memory::Space::new(vec!["users".into(), space.into()]).unwrap(),
            key: format!("k{n}"),
            value: json!({ "text": "m".repeat(256), "n": n }),
            ttl: None,
            vectors: vectors.then(|| vector(n)).into_iter().collect(),
            embedder: "model".into(),
        };
        let mut known = memory::WriteKey::default();
        known[..4].copy_from_slice(&n.to_be_bytes());
        known[4] = u8::from(space == "a");
        let put = memory::Write::Put(item);
        runtime
            .block_on(memory.write(known, &put, i64::from(n)))
            .unwrap();
    };
    for n in 0..10_000 {
        put("a", n);
        put("b", n);
    }
    store
}

fn vector(seed: u32) -> Vec<f32> {
    let numbers = (0..512_u32).map(|n| ((n * 31 + seed * 17) % 101) as f32 - 50.0);
    memory::vector::unit(numbers.collect()).unwrap()
}

fn find(bencher: Bencher, store: impl Store, near: bool) {
    let runtime = runtime();
    let store = remember(&runtime, store, near);
    let search = memory::Search {
        prefix: memory::Space::new(vec!["users".into(), "a".into()]).unwrap(),
        filter: memory::Filter::default(),
        near: near.then(|| memory::Near {
            embedder: "model".into(),
            vector: vector(77),
        }),
        limit: 10,
        offset: 0,
        refresh: false,
        most_bytes: usize::MAX,
    };
    bencher.bench_local(|| {
        let memory = store.memory().unwrap();
        let found = runtime.block_on(memory.search(&search, 20_000)).unwrap();
        assert_eq!(found.len(), 10);
    });
}

fn get(bencher: Bencher, store: impl Store) {
    let runtime = runtime();
    let store = remember(&runtime, store, false);
    let space = memory::Space::new(vec!["users".into(), "a".into()]).unwrap();
    let mut n = 0;
    bencher.bench_local(|| {
        n = (n + 7919) % 10_000;
        let memory = store.memory().unwrap();
        let key = format!("k{n}");
        let found = runtime.block_on(memory.item(&space, &key, 20_000, false));
        assert!(found.unwrap().is_some());
    });
}

#[divan::bench(args = [false, true])]
fn find_10_of_10000_memory(bencher: Bencher, near: bool) {
    find(bencher, MemoryStore::new(), near);
}

#[divan::bench(args = [false, true])]
fn find_10_of_10000_sqlite(bencher: Bencher, near: bool) {
    find(bencher, sqlite(Sync::Normal), near);
}

#[divan::bench(args = [false, true])]
fn find_10_of_10000_postgres(bencher: Bencher, near: bool) {
    find(bencher, postgres(), near);
}

#[divan::bench]
fn get_of_10000_sqlite(bencher: Bencher) {
    get(bencher, sqlite(Sync::Normal));
}

#[divan::bench]
fn get_of_10000_postgres(bencher: Bencher) {
    get(bencher, postgres());
}

#[divan::bench]
fn history_page(bencher: Bencher) {
    let runtime = runtime();
    let store = lengthen(&runtime, sqlite(Sync::Normal));
    bencher.bench_local(|| {
        let page = store.history("t", Some(2500), 50);
        runtime.block_on(page).unwrap()
    });
}
