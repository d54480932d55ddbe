//! What is appended comes back, whole or not at all.

use std::sync::Arc;

use graphc::run::store::{Change, RunState, Store};
use graphc::value::{Key, List, Map, Value};

use super::records::*;

type Any = Arc<dyn Store>;

fn every_kind() -> Vec<Value> {
    let text_map: Map = [("b", Value::Int(2)), ("a", Value::Null)]
        .into_iter()
        .collect();
    let tagged: Map = [("$uint", Value::Int(2)), ("$x", Value::Null)]
        .into_iter()
        .collect();
    let mut mixed = Map::new();
    mixed.insert(Key::Bool(true), Value::from("t"));
    mixed.insert(Key::Int(-1), Value::from("i"));
    mixed.insert(Key::Uint(u64::MAX), Value::from("u"));
    mixed.insert("1", Value::from("s"));
    vec![
        Value::Null,
        Value::Bool(true),
        Value::Int(i64::MIN),
        Value::Int(i64::MAX),
        Value::Uint(u64::MAX),
        Value::Float(0.1 + 0.2),
        Value::Float(1e300),
        Value::Float(5e-324),
        Value::Float(2.0),
        Value::Float(f64::INFINITY),
        Value::from(""),
        Value::from("a\0b \u{10FFFF} \"'; DROP TABLE threads; --"),
        Value::Bytes(vec![0, 255].into()),
        Value::Timestamp("2026-01-09T12:00:00.123456789Z".parse().unwrap()),
        Value::Duration(jiff::SignedDuration::new(-1, -500_000_001)),
        Value::List(List::new()),
        Value::Map(Map::new()),
        Value::Map(text_map),
        Value::Map(tagged),
        Value::Map(mixed),
        Value::Optional(None),
        Value::Optional(Some(Arc::new(Value::Optional(None)))),
        Value::Type("int".into()),
        Value::List((0..100).map(Value::Int).collect()),
    ]
}

pub async fn every_kind_of_value_comes_back(store: Any) {
    let lease = begin(&store, "t").await;
    let kinds = every_kind();
    let names: Vec<String> = (0..kinds.len()).map(|i| format!("f{i:02}")).collect();
    let puts = names.iter().zip(&kinds);
    let puts = puts.map(|(name, value)| (name.as_str(), Change::Put(value.clone())));
    let keyed = kinds.iter().enumerate();
    let keyed = keyed.map(|(i, value)| (format!("$k{i:02}"), value.clone()));
    let keyed: Vec<(String, Value)> = keyed.collect();
    let mut writes: Vec<_> = puts.collect();
    writes.push(("appended", Change::Append(kinds.clone())));
    writes.push(("merged", Change::Merge(keyed.clone())));
    writes.push(("nan", put(Value::Float(f64::NAN))));
    store.append(&lease, &[root(2, 2, writes)]).await.unwrap();

    let fields = fields(&load(&store, "t").await, "");
    for (name, value) in names.iter().zip(&kinds) {
        assert_same(&fields[name], value);
    }
    assert_same(&fields["appended"], &kinds.into());
    assert_same(&fields["merged"], &keyed_map(keyed));
    assert!(matches!(fields["nan"], Value::Float(f) if f.is_nan()));
}

fn keyed_map(entries: Vec<(String, Value)>) -> Value {
    let keyed = entries.into_iter().map(|(k, v)| (Key::from(k.as_str()), v));
    Value::Map(keyed.collect())
}

/// Equal and of the same kind: `1`, `1.0` and `1u` are equal to the language.
fn assert_same(left: &Value, right: &Value) {
    assert_eq!(left.to_stored(), right.to_stored());
}

pub async fn changes_add_up(store: Any) {
    let lease = begin(&store, "t").await;
    let first = vec![
        ("log", put(texts(&["a"]))),
        ("n", put(1)),
        ("by_name", merge(&[("x", 1), ("y", 1)])),
    ];
    let steps = [
        root(2, 2, first),
        root(3, 3, vec![("log", append(&["b", "c"])), ("n", put(2))]),
        root(4, 4, vec![("by_name", merge(&[("y", 2), ("z", 3)]))]),
        root(5, 5, vec![("log", append(&["d"]))]),
    ];
    for step in steps {
        store.append(&lease, &[step]).await.unwrap();
    }
    let image = load(&store, "t").await;
    let by_name: Map = [
        ("x", Value::Int(1)),
        ("y", Value::Int(2)),
        ("z", Value::Int(3)),
    ]
    .into_iter()
    .collect();
    let expected = [
        ("log", texts(&["a", "b", "c", "d"])),
        ("n", Value::Int(2)),
        ("by_name", by_name.into()),
    ];
    assert_eq!(fields(&image, ""), values(&expected));
    let changes = |name: &str| image.frames[0].fields[name].changes;
    assert_eq!(
        (changes("log"), changes("n"), changes("by_name")),
        (3, 0, 4)
    );

    let rewritten = vec![("log", put(texts(&["z"]))), ("n", Change::Clear)];
    store
        .append(&lease, &[root(6, 6, rewritten)])
        .await
        .unwrap();
    let more = root(7, 7, vec![("log", append(&["y"]))]);
    store.append(&lease, &[more]).await.unwrap();
    let image = load(&store, "t").await;
    assert_eq!(fields(&image, "")["log"], texts(&["z", "y"]));
    assert_eq!(image.frames[0].fields["log"].changes, 1);
    assert!(!image.frames[0].fields.contains_key("n"));
    assert_eq!(
        (image.last_seq, image.frames[0].seq, image.frames[0].step),
        (7, 7, 7)
    );
    assert_eq!(
        image.frames[0].schedule,
        serde_json::json!({ "tasks": [7] })
    );
}

pub async fn additions_to_nothing_make_a_list_and_a_map(store: Any) {
    let lease = begin(&store, "t").await;
    let nothing = vec![("list", append(&[])), ("map", merge(&[])), ("gone", put(1))];
    let cleared = vec![("gone", Change::Clear)];
    let again = vec![("gone", append(&["a"]))];
    let steps = [root(2, 2, nothing), root(3, 3, cleared), root(4, 4, again)];
    store.append(&lease, &steps).await.unwrap();
    let expected = [
        ("list", texts(&[])),
        ("map", Map::new().into()),
        ("gone", texts(&["a"])),
    ];
    assert_eq!(fields(&load(&store, "t").await, ""), values(&expected));
}

pub async fn one_field_may_change_twice_in_a_step(store: Any) {
    let lease = begin(&store, "t").await;
    let twice = vec![
        ("log", put(1)),
        ("log", put(texts(&["a"]))),
        ("log", append(&["b"])),
    ];
    store.append(&lease, &[root(2, 2, twice)]).await.unwrap();
    let image = load(&store, "t").await;
    assert_eq!(fields(&image, ""), values(&[("log", texts(&["a", "b"]))]));
}

pub async fn status_is_replaced(store: Any) {
    let lease = begin(&store, "t").await;
    for state in [RunState::Interrupted, RunState::Done] {
        store.append(&lease, &[status(state)]).await.unwrap();
        assert_eq!(load(&store, "t").await.status.state, state);
    }
    let info = store.thread("t").await.unwrap().unwrap();
    assert_eq!(
        status(RunState::Done),
        graphc::run::store::Record::Status(info.status)
    );
}

pub async fn an_append_is_kept_whole_or_not_at_all(store: Any) {
    let lease = begin(&store, "t").await;
    let before = load(&store, "t").await;
    let good = [
        root(2, 2, vec![("n", put(1))]),
        effect(2, "2/a", "0"),
        status(RunState::Failed),
    ];
    for bad in [
        root(2, 3, vec![]),
        effect(2, "2/a", "0"),
        root(3, 3, vec![("n", append(&["x"]))]),
    ] {
        let mut records = good.to_vec();
        records.push(bad);
        let refusal = message(store.append(&lease, &records).await);
        assert!(refusal.ends_with("nothing was written"), "{refusal}");
        assert_eq!(load(&store, "t").await, before);
        assert_eq!(store.history("t", None, 9).await.unwrap().len(), 1);
    }
    store.append(&lease, &good).await.unwrap();
    assert_eq!(load(&store, "t").await.effects.len(), 1);
}

pub async fn wrong_records_are_refused(store: Any) {
    let lease = begin(&store, "t").await;
    let fields = vec![("map", merge(&[("a", 1)])), ("list", append(&["a"]))];
    let first = [root(5, 2, fields), effect(2, "2/a", "0")];
    store.append(&lease, &first).await.unwrap();
    let wrong = [
        (
            root(5, 3, vec![]),
            "checkpoint 5 doesn't come after checkpoint 5",
        ),
        (
            nested(4, "f", 3, 3, vec![]),
            "checkpoint 4 doesn't come after checkpoint 5",
        ),
        (
            effect(2, "2/a", "0"),
            "effect `0` of task `2/a` is there already",
        ),
        (
            root(6, 3, vec![("map", append(&["b"]))]),
            "field `map` holds",
        ),
        (
            root(6, 3, vec![("list", merge(&[("b", 1)]))]),
            "field `list` holds",
        ),
        (
            root(u64::MAX, 3, vec![]),
            "the number 18446744073709551615 is above",
        ),
        (
            effect(u64::MAX, "x", "0"),
            "the number 18446744073709551615 is above",
        ),
    ];
    for (record, reason) in wrong {
        let refusal = message(store.append(&lease, &[record]).await);
        assert!(refusal.contains(reason), "{refusal}");
        assert!(refusal.contains("thread `t`"), "{refusal}");
    }
    // Another attempt at the same effect is another effect.
    store
        .append(&lease, &[effect(2, "2/a", "0!1")])
        .await
        .unwrap();
}

pub async fn first_records_hold_a_status(store: Any) {
    let lease = store.acquire("t").await.unwrap();
    let refusal = message(store.append(&lease, &[root(1, 1, vec![])]).await);
    assert!(refusal.contains("hold no status"), "{refusal}");
    assert_eq!(store.load("t").await.unwrap(), None);
    store
        .append(&lease, &[status(RunState::Running)])
        .await
        .unwrap();
    let image = load(&store, "t").await;
    assert_eq!((image.last_seq, image.frames.len()), (0, 0));
}

pub async fn an_empty_append_changes_nothing(store: Any) {
    let lease = store.acquire("t").await.unwrap();
    store.append(&lease, &[]).await.unwrap();
    assert_eq!(store.thread("t").await.unwrap(), None);
    store.release(lease.clone()).await.unwrap();
    assert!(is_fenced(store.append(&lease, &[]).await));
}

pub async fn many_tasks_append_at_once(store: Any) {
    let mut tasks = Vec::new();
    for thread in 0..20 {
        let store = store.clone();
        tasks.push(tokio::spawn(async move {
            let lease = begin(&store, &format!("t{thread}")).await;
            for step in 2..=25_u64 {
                let writes = vec![("log", append(&["x"])), ("n", put(step as i64))];
                let task = format!("{step}/a");
                let records = [root(step, step, writes), effect(step, &task, "0")];
                // Every fifth has a bad neighbour in the writer's queue.
                let bad = [root(0, 0, vec![])];
                let refused = store.append(&lease, &bad);
                let (kept, refused) = tokio::join!(store.append(&lease, &records), refused);
                kept.unwrap();
                assert!(refused.is_err());
            }
            store.release(lease).await.unwrap();
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    for thread in 0..20 {
        let image = load(&store, &format!("t{thread}")).await;
        let log = Value::List((0..24).map(|_| Value::from("x")).collect());
        assert_eq!(
            fields(&image, ""),
            values(&[("log", log), ("n", Value::Int(25))])
        );
        assert_eq!(image.counts.values().sum::<u64>(), 24);
        assert_eq!(image.effects, [effect_record(25, "25/a", "0")]);
    }
}
