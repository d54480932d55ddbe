//! What a resume, a list and a history see.

use std::collections::BTreeSet;
use std::sync::Arc;

use graphc::run::store::{RunState, Source, Store};
use graphc::value::Value;

use super::records::*;

type Any = Arc<dyn Store>;

pub async fn an_unknown_thread_is_empty(store: Any) {
    begin(&store, "other").await;
    assert_eq!(store.load("t").await.unwrap(), None);
    assert_eq!(store.thread("t").await.unwrap(), None);
    assert_eq!(store.history("t", None, 10).await.unwrap(), []);
    assert_eq!(store.state("t", "", 1).await.unwrap(), values(&[]));
    assert!(!store.delete("t").await.unwrap());
    // To hold a thread isn't to write it.
    store.acquire("t").await.unwrap();
    assert_eq!(store.load("t").await.unwrap(), None);
    assert_eq!(store.threads().await.unwrap().len(), 1);
}

pub async fn frames_are_apart(store: Any) {
    let lease = begin(&store, "t").await;
    let other = begin(&store, "u").await;
    let records = [
        root(2, 2, vec![("n", put(0)), ("log", append(&["root"]))]),
        nested(3, "2/a", 1, 2, vec![("n", put(1)), ("log", append(&["a"]))]),
        nested(4, "2/b", 1, 2, vec![("n", put(2))]),
        nested(5, "2/a", 2, 2, vec![("log", append(&["a2"]))]),
    ];
    store.append(&lease, &records).await.unwrap();
    let elsewhere = nested(2, "2/a", 1, 1, vec![("n", put(9))]);
    store.append(&other, &[elsewhere]).await.unwrap();

    let image = load(&store, "t").await;
    let seqs = image
        .frames
        .iter()
        .map(|f| (f.frame.as_str(), f.seq, f.step));
    let expected = [("", 2, 2), ("2/b", 4, 1), ("2/a", 5, 2)];
    assert_eq!(seqs.collect::<Vec<_>>(), expected);
    let log = |items: &[&str], n| values(&[("log", texts(items)), ("n", Value::Int(n))]);
    assert_eq!(fields(&image, ""), log(&["root"], 0));
    assert_eq!(fields(&image, "2/a"), log(&["a", "a2"], 1));
    assert_eq!(fields(&image, "2/b"), values(&[("n", Value::Int(2))]));
    assert_eq!(store.state("t", "2/a", 3).await.unwrap(), log(&["a"], 1));
}

pub async fn only_frames_of_the_current_step_are_live(store: Any) {
    let lease = begin(&store, "t").await;
    let records = [
        nested(2, "1/a", 1, 1, vec![("n", put(1))]),
        root(3, 2, vec![]),
        nested(4, "2/a", 1, 2, vec![("n", put(2))]),
        nested(5, "2/a/1/b", 1, 2, vec![]),
    ];
    store.append(&lease, &records).await.unwrap();
    let image = load(&store, "t").await;
    let frames: Vec<_> = image.frames.iter().map(|f| f.frame.as_str()).collect();
    assert_eq!(frames, ["", "2/a", "2/a/1/b"]);
    store.append(&lease, &[root(6, 3, vec![])]).await.unwrap();
    let image = load(&store, "t").await;
    assert_eq!((image.frames.len(), image.frames[0].seq), (1, 6));
    // The frames of old stay to be looked at.
    let old = values(&[("n", Value::Int(2))]);
    assert_eq!(store.state("t", "2/a", 6).await.unwrap(), old);
}

pub async fn frames_stay_live_while_the_root_is_edited(store: Any) {
    let lease = begin(&store, "t").await;
    let records = [
        nested(2, "1/a", 1, 1, vec![]),
        root(3, 1, vec![("n", put(1))]),
    ];
    store.append(&lease, &records).await.unwrap();
    let image = load(&store, "t").await;
    let frames = image.frames.iter().map(|f| (f.frame.as_str(), f.seq));
    assert_eq!(frames.collect::<Vec<_>>(), [("", 3), ("1/a", 2)]);
}

pub async fn effects_are_those_of_the_current_step_in_order(store: Any) {
    let lease = begin(&store, "t").await;
    let step = |step, effects: &[(&str, &str)]| {
        let effects = effects.iter().map(|(task, id)| effect(step, task, id));
        effects.collect::<Vec<_>>()
    };
    let first = step(
        1,
        &[("1/z", "0"), ("1/a", "0"), ("1/a", "10"), ("1/a", "2!1")],
    );
    store.append(&lease, &first).await.unwrap();
    store
        .append(&lease, &step(1, &[("1/a", "1")]))
        .await
        .unwrap();
    let image = load(&store, "t").await;
    let ids = image
        .effects
        .iter()
        .map(|e| (e.task.as_str(), e.id.as_str()));
    let expected = [
        ("1/z", "0"),
        ("1/a", "0"),
        ("1/a", "10"),
        ("1/a", "2!1"),
        ("1/a", "1"),
    ];
    assert_eq!(ids.collect::<Vec<_>>(), expected);

    store.append(&lease, &[root(2, 2, vec![])]).await.unwrap();
    assert_eq!(load(&store, "t").await.effects, []);
    store
        .append(&lease, &step(2, &[("2/a", "0")]))
        .await
        .unwrap();
    assert_eq!(
        load(&store, "t").await.effects,
        [effect_record(2, "2/a", "0")]
    );
}

pub async fn effects_are_counted(store: Any) {
    let lease = begin(&store, "t").await;
    for step in 2..=4 {
        let records = [
            root(step, step, vec![]),
            effect(step, "a", "0"),
            effect(step, "a", "1!1"),
            effect(step, "b", "0"),
        ];
        store.append(&lease, &records).await.unwrap();
    }
    let counts = load(&store, "t").await.counts;
    let count = |subject: &str| counts[&("tool".to_string(), subject.to_string())];
    assert_eq!(
        (count("a#search"), count("b#search"), counts.len()),
        (6, 3, 2)
    );
}

pub async fn threads_are_listed_the_latest_used_first(store: Any) {
    let names = ["b", "a", "c"];
    let mut leases = Vec::new();
    for name in names {
        leases.push(begin(&store, name).await);
    }
    let listed = store.threads().await.unwrap();
    let ids: Vec<_> = listed.iter().map(|info| info.thread_id.as_str()).collect();
    assert_eq!(ids, ["c", "a", "b"]);
    assert_eq!(
        (listed[0].checkpoint, listed[0].created_at.as_str()),
        (1, AT)
    );

    let records = [root(2, 2, vec![]), status(RunState::Done)];
    store.append(&leases[0], &records).await.unwrap();
    let listed = store.threads().await.unwrap();
    assert_eq!(
        (listed[0].thread_id.as_str(), listed[0].checkpoint),
        ("b", 2)
    );
    // A step alone isn't a use: the status says where a thread stands, and orders the list.
    store
        .append(&leases[1], &[root(2, 2, vec![])])
        .await
        .unwrap();
    assert_eq!(store.threads().await.unwrap()[0].thread_id, "b");
    let one = store.thread("b").await.unwrap();
    assert_eq!(one.as_ref(), listed.first());
}

pub async fn history_is_paged_from_the_newest(store: Any) {
    let lease = begin(&store, "t").await;
    let mut records = vec![nested(
        2,
        "1/a",
        7,
        1,
        vec![("n", put(1)), ("log", append(&["x"]))],
    )];
    records.extend((3..=10).map(|seq| root(seq * 10, seq, vec![])));
    store.append(&lease, &records).await.unwrap();
    let seqs = async |before, limit| {
        let page = store.history("t", before, limit).await.unwrap();
        page.iter().map(|info| info.seq).collect::<Vec<_>>()
    };
    assert_eq!(seqs(None, 3).await, [100, 90, 80]);
    assert_eq!(seqs(Some(80), 2).await, [70, 60]);
    assert_eq!(seqs(Some(61), 1).await, [60]);
    assert_eq!(seqs(Some(40), 100).await, [30, 2, 1]);
    assert!(seqs(Some(1), 5).await.is_empty());
    assert!(seqs(Some(0), 5).await.is_empty());
    assert!(seqs(None, 0).await.is_empty());
    assert_eq!(seqs(Some(u64::MAX), usize::MAX).await.len(), 10);

    let oldest = store.history("t", Some(3), 2).await.unwrap();
    let (call, input) = (&oldest[0], &oldest[1]);
    assert_eq!(
        (call.frame.as_str(), call.step, call.source),
        ("1/a", 7, Source::Step)
    );
    assert_eq!(call.fields, ["n", "log"]);
    assert_eq!(call.schedule, serde_json::json!({ "tasks": [2] }));
    assert_eq!((call.run_id.as_str(), call.at.as_str()), ("run", AT));
    assert_eq!((input.source, input.fields.len()), (Source::Input, 0));
}

pub async fn state_is_that_of_an_older_checkpoint(store: Any) {
    let lease = begin(&store, "t").await;
    let records = [
        root(2, 2, vec![("log", append(&["a"]))]),
        root(4, 3, vec![("log", append(&["b"])), ("n", put(1))]),
        root(
            6,
            4,
            vec![
                ("log", put(texts(&["c"]))),
                ("n", graphc::run::store::Change::Clear),
            ],
        ),
    ];
    store.append(&lease, &records).await.unwrap();
    let state = async |seq| store.state("t", "", seq).await.unwrap();
    let one = Value::Int(1);
    assert_eq!(state(1).await, values(&[]));
    assert_eq!(state(2).await, values(&[("log", texts(&["a"]))]));
    assert_eq!(
        state(4).await,
        values(&[("log", texts(&["a", "b"])), ("n", one.clone())])
    );
    assert_eq!(state(5).await, state(4).await);
    assert_eq!(state(6).await, values(&[("log", texts(&["c"]))]));
    assert_eq!(state(u64::MAX).await, state(6).await);
    assert_eq!(store.state("t", "nowhere", 6).await.unwrap(), values(&[]));
}

pub async fn names_may_hold_anything(store: Any) {
    let names = [
        "",
        "\0",
        "../../etc/passwd",
        "\\",
        "\\0",
        "\\\\0\0",
        "a/b\\c",
        "x'; DELETE FROM threads; --",
        "ä\0ö\\",
    ];
    for thread in names {
        let lease = begin(&store, thread).await;
        let writes = vec![("", put(1)), ("\"f\" -- '", put(2))];
        let records = [nested(2, "%_", 1, 1, writes), effect(1, "", "")];
        store.append(&lease, &records).await.unwrap();
        let image = load(&store, thread).await;
        let expected = values(&[("", Value::Int(1)), ("\"f\" -- '", Value::Int(2))]);
        assert_eq!(fields(&image, "%_"), expected);
        assert_eq!(image.effects.len(), 1);
    }
    let listed = store.threads().await.unwrap();
    let listed: BTreeSet<&str> = listed.iter().map(|thread| &*thread.thread_id).collect();
    assert_eq!(listed, BTreeSet::from(names));
}
