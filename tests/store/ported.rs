//! What LangGraph's conformance suite of checkpointers asserts, under its names, as far as it has a meaning here.
//!
//! A checkpoint's parent is the one before it; a namespace is a frame; a channel is a field; pending writes of a task are its
//! effects; a copy of a thread is a fork, pruning is compaction; a delta channel is a field that is appended to.

use std::sync::Arc;

use graphc::run::store::{Change, Effects, Keep, Lease, RunState, Store};
use graphc::value::Value;

use super::past::forked;
use super::records::*;

type Any = Arc<dyn Store>;

async fn seqs(store: &Any, thread: &str, before: Option<u64>, limit: usize) -> Vec<u64> {
    let page = store.history(thread, before, limit).await.unwrap();
    page.iter().map(|info| info.seq).collect()
}

/// A thread with a message at each of the steps up to `last`, and an effect of each.
async fn talk(store: &Any, thread: &str, last: u64) -> Lease {
    let lease = begin(store, thread).await;
    for step in 2..=last {
        let said = format!("m{step}");
        let writes = vec![("log", append(&[&said])), ("n", put(step as i64))];
        let records = [
            root(step, step, writes),
            effect(step, &format!("{step}/a"), "0"),
        ];
        store.append(&lease, &records).await.unwrap();
    }
    lease
}

fn said(steps: std::ops::RangeInclusive<u64>) -> Value {
    let texts: Vec<Value> = steps.map(|step| Value::from(format!("m{step}"))).collect();
    texts.into()
}

pub async fn put_returns_what_get_tuple_finds(store: Any) {
    let lease = begin(&store, "t").await;
    let writes = vec![("n", put(7))];
    store.append(&lease, &[root(2, 2, writes)]).await.unwrap();
    let image = load(&store, "t").await;
    assert_eq!((image.last_seq, image.frames[0].seq), (2, 2));
    assert_eq!(image.frames[0].run_id, "run");
    assert_eq!(
        image.frames[0].schedule,
        serde_json::json!({ "tasks": [2] })
    );
    assert_eq!(fields(&image, ""), values(&[("n", Value::Int(7))]));
}

pub async fn put_links_to_its_parent(store: Any) {
    talk(&store, "t", 5).await;
    // Each checkpoint's parent is the next of the list.
    assert_eq!(seqs(&store, "t", None, 9).await, [5, 4, 3, 2, 1]);
    assert_eq!(seqs(&store, "t", Some(4), 1).await, [3]);
}

pub async fn put_isolates_threads(store: Any) {
    talk(&store, "one", 3).await;
    talk(&store, "two", 4).await;
    assert_eq!(store.state("one", "", 9).await.unwrap()["log"], said(2..=3));
    assert_eq!(store.state("two", "", 9).await.unwrap()["log"], said(2..=4));
    assert_eq!(seqs(&store, "one", None, 9).await, [3, 2, 1]);
}

pub async fn put_isolates_child_namespaces(store: Any) {
    let lease = talk(&store, "t", 2).await;
    let child = nested(3, "2/child", 1, 2, vec![("n", put(9))]);
    store.append(&lease, &[child]).await.unwrap();
    assert_eq!(store.state("t", "", 3).await.unwrap()["n"], Value::Int(2));
    assert_eq!(
        store.state("t", "2/child", 3).await.unwrap()["n"],
        Value::Int(9)
    );
    assert_eq!(store.state("t", "2/other", 3).await.unwrap(), values(&[]));
}

pub async fn put_incremental_unchanged_channel_is_read_from_an_older_version(store: Any) {
    let lease = begin(&store, "t").await;
    let both = vec![("a", put(1)), ("b", put(1))];
    let steps = [
        root(2, 2, both),
        root(3, 3, vec![("b", put(2))]),
        root(4, 4, vec![("b", put(3))]),
    ];
    store.append(&lease, &steps).await.unwrap();
    let expected = values(&[("a", Value::Int(1)), ("b", Value::Int(3))]);
    assert_eq!(fields(&load(&store, "t").await, ""), expected);
    let history = store.history("t", None, 1).await.unwrap();
    assert_eq!(history[0].fields, ["b"]);
}

pub async fn put_incremental_removed_channel_is_absent(store: Any) {
    let lease = begin(&store, "t").await;
    let both = vec![("a", put(1)), ("b", put(1))];
    let steps = [root(2, 2, both), root(3, 3, vec![("a", Change::Clear)])];
    store.append(&lease, &steps).await.unwrap();
    assert_eq!(
        store.state("t", "", 3).await.unwrap(),
        values(&[("b", Value::Int(1))])
    );
    assert!(store.state("t", "", 2).await.unwrap().contains_key("a"));
}

pub async fn put_writes_of_several_tasks_keep_their_order_and_task_path(store: Any) {
    let lease = begin(&store, "t").await;
    let tasks = [("1/z", "1"), ("1/a", "1"), ("1/a/2/b", "0"), ("1/z", "0")];
    for (task, id) in tasks {
        store.append(&lease, &[effect(1, task, id)]).await.unwrap();
    }
    let image = load(&store, "t").await;
    let found = image
        .effects
        .iter()
        .map(|e| (e.task.as_str(), e.id.as_str()));
    assert_eq!(found.collect::<Vec<_>>(), tasks);
}

pub async fn put_writes_is_made_once_per_task_and_index(store: Any) {
    let lease = begin(&store, "t").await;
    store
        .append(&lease, &[effect(1, "1/a", "0")])
        .await
        .unwrap();
    let mut again = effect_record(1, "1/a", "0");
    again.outcome = serde_json::json!("another");
    let again = [graphc::run::store::Record::Effect(again)];
    assert!(store.append(&lease, &again).await.is_err());
    assert_eq!(
        load(&store, "t").await.effects,
        [effect_record(1, "1/a", "0")]
    );
    // Of another task, of another index, of another step it is another.
    let others = [
        effect(1, "1/b", "0"),
        effect(1, "1/a", "1"),
        effect(2, "1/a", "0"),
    ];
    store.append(&lease, &others).await.unwrap();
}

pub async fn put_writes_are_not_visible_on_the_next_checkpoint(store: Any) {
    let lease = begin(&store, "t").await;
    store
        .append(&lease, &[effect(1, "1/a", "0")])
        .await
        .unwrap();
    assert_eq!(load(&store, "t").await.effects.len(), 1);
    store.append(&lease, &[root(2, 2, vec![])]).await.unwrap();
    assert!(load(&store, "t").await.effects.is_empty());
    let old = store.image_at("t", 1, Effects::All).await.unwrap();
    assert_eq!(old.effects.len(), 1);
}

pub async fn get_tuple_by_id_is_what_was_then(store: Any) {
    talk(&store, "t", 6).await;
    for seq in 2..=6 {
        let image = store.image_at("t", seq, Effects::Before).await.unwrap();
        assert_eq!(image.last_seq, seq);
        assert_eq!(fields(&image, "")["log"], said(2..=seq));
        assert_eq!(store.state("t", "", seq).await.unwrap(), fields(&image, ""));
    }
}

pub async fn get_tuple_of_what_is_not_there(store: Any) {
    assert_eq!(store.load("t").await.unwrap(), None);
    assert!(store.image_at("t", 1, Effects::All).await.is_err());
    talk(&store, "t", 3).await;
    assert!(store.image_at("t", 4, Effects::All).await.is_err());
    assert!(store.image_at("t", 0, Effects::All).await.is_err());
}

pub async fn list_is_newest_first_before_is_exclusive_and_limit_comes_last(store: Any) {
    talk(&store, "t", 6).await;
    assert_eq!(seqs(&store, "t", None, 2).await, [6, 5]);
    assert_eq!(seqs(&store, "t", Some(5), 2).await, [4, 3]);
    assert_eq!(seqs(&store, "t", Some(2), 2).await, [1]);
    assert!(seqs(&store, "t", None, 0).await.is_empty());
    assert!(seqs(&store, "unknown", None, 5).await.is_empty());
}

pub async fn list_spans_namespaces(store: Any) {
    let lease = talk(&store, "t", 2).await;
    let child = nested(3, "2/child", 4, 2, vec![]);
    store.append(&lease, &[child]).await.unwrap();
    let all = store.history("t", None, 9).await.unwrap();
    let frames: Vec<_> = all
        .iter()
        .map(|info| (info.frame.as_str(), info.step))
        .collect();
    assert_eq!(frames, [("2/child", 4), ("", 2), ("", 1)]);
}

pub async fn delete_thread_spans_namespaces_and_leaves_others(store: Any) {
    let lease = talk(&store, "t", 3).await;
    let other = talk(&store, "other", 3).await;
    let child = [
        nested(4, "3/child", 1, 3, vec![("n", put(1))]),
        effect(3, "3/child", "0"),
    ];
    store.append(&lease, &child).await.unwrap();
    store.release(lease).await.unwrap();
    let before = load(&store, "other").await;
    assert!(store.delete("t").await.unwrap());
    assert_eq!(store.load("t").await.unwrap(), None);
    assert_eq!(store.state("t", "3/child", 4).await.unwrap(), values(&[]));
    assert!(store.effects("t", None, 9).await.unwrap().is_empty());
    assert!(!store.delete("t").await.unwrap());
    assert_eq!(load(&store, "other").await, before);
    store.append(&other, &[root(4, 4, vec![])]).await.unwrap();
}

pub async fn copy_thread_keeps_order_and_leaves_the_source_untouched(store: Any) {
    let source = talk(&store, "t", 5).await;
    let before = (
        load(&store, "t").await,
        store.checkpoints("t", None, 99).await.unwrap(),
    );
    let to = store.acquire("copy").await.unwrap();
    let status = forked(5);
    store
        .fork("t", 5, Effects::All, &to, &status)
        .await
        .unwrap();
    assert_eq!(store.checkpoints("copy", None, 99).await.unwrap(), before.1);
    let order = async |thread: &str| {
        let effects = store.effects(thread, None, 99).await.unwrap();
        effects.into_iter().map(|e| e.effect).collect::<Vec<_>>()
    };
    assert_eq!(order("copy").await, order("t").await);
    // Each goes its own way.
    let one = root(6, 6, vec![("log", append(&["copy"]))]);
    store.append(&to, &[one]).await.unwrap();
    assert_eq!(
        (
            load(&store, "t").await,
            store.checkpoints("t", None, 99).await.unwrap()
        ),
        before
    );
    store
        .append(&source, &[root(6, 6, vec![("n", put(0))])])
        .await
        .unwrap();
    assert_eq!(
        store.state("copy", "", 6).await.unwrap()["n"],
        Value::Int(5)
    );
    store.release(source).await.unwrap();
    assert!(store.delete("t").await.unwrap());
    assert_eq!(
        store.state("copy", "", 5).await.unwrap()["log"],
        said(2..=5)
    );
}

pub async fn prune_keep_latest_keeps_it_in_each_namespace(store: Any) {
    let lease = talk(&store, "t", 5).await;
    let children = [
        nested(6, "5/a", 1, 5, vec![("n", put(1))]),
        nested(7, "5/a", 2, 5, vec![("log", append(&["x"]))]),
        nested(8, "5/b", 1, 5, vec![("n", put(2))]),
    ];
    store.append(&lease, &children).await.unwrap();
    let before = load(&store, "t").await;
    store.compact(&lease, Keep::Newest(1)).await.unwrap();
    let after = load(&store, "t").await;
    for frame in ["", "5/a", "5/b"] {
        assert_eq!(fields(&after, frame), fields(&before, frame));
    }
    assert_eq!(after.effects, before.effects);
    assert_eq!(seqs(&store, "t", None, 9).await, [8, 7, 6, 5]);
    // It goes on as if nothing had been let go.
    store
        .append(&lease, &[root(9, 6, vec![("log", append(&["m6"]))])])
        .await
        .unwrap();
    assert_eq!(store.state("t", "", 9).await.unwrap()["log"], said(2..=6));
}

pub async fn prune_leaves_other_threads(store: Any) {
    let lease = talk(&store, "t", 9).await;
    talk(&store, "other", 9).await;
    let before = store.checkpoints("other", None, 99).await.unwrap();
    let done = store.compact(&lease, Keep::Newest(2)).await.unwrap();
    assert_eq!(done.checkpoints, 7);
    assert_eq!(store.checkpoints("other", None, 99).await.unwrap(), before);
}

pub async fn delta_channel_history_goes_from_the_oldest_to_the_newest(store: Any) {
    talk(&store, "t", 9).await;
    let all = store.checkpoints("t", None, 99).await.unwrap();
    let logs = all
        .iter()
        .flat_map(|c| &c.writes)
        .filter(|w| w.field == "log");
    let logs: Vec<Change> = logs.map(|write| write.change.clone()).collect();
    let expected: Vec<Change> = (2..=9).map(|n| append(&[&format!("m{n}")])).collect();
    assert_eq!(logs, expected);
}

pub async fn delta_channel_history_excludes_the_targets_own_pending_writes(store: Any) {
    let lease = talk(&store, "t", 4).await;
    let before = store.state("t", "", 4).await.unwrap();
    let child = nested(5, "4/a", 1, 4, vec![("log", append(&["pending"]))]);
    store
        .append(&lease, &[child, effect(4, "4/b", "0")])
        .await
        .unwrap();
    assert_eq!(store.state("t", "", 5).await.unwrap(), before);
    let image = store.image_at("t", 4, Effects::Before).await.unwrap();
    assert_eq!(fields(&image, ""), before);
    assert!(image.effects.is_empty());
}

pub async fn delta_channel_history_replays_a_seeds_own_writes(store: Any) {
    let lease = begin(&store, "t").await;
    let seed = vec![("log", put(texts(&["a"]))), ("log", append(&["b"]))];
    let steps = [root(2, 2, seed), root(3, 3, vec![("log", append(&["c"]))])];
    store.append(&lease, &steps).await.unwrap();
    assert_eq!(
        store.state("t", "", 3).await.unwrap()["log"],
        texts(&["a", "b", "c"])
    );
    assert_eq!(
        store.state("t", "", 2).await.unwrap()["log"],
        texts(&["a", "b"])
    );
}

pub async fn delta_channel_history_takes_a_plain_value_as_seed(store: Any) {
    let lease = talk(&store, "t", 4).await;
    let steps = [
        root(5, 5, vec![("log", put(texts(&["whole"])))]),
        root(6, 6, vec![("log", append(&["more"]))]),
    ];
    store.append(&lease, &steps).await.unwrap();
    let image = load(&store, "t").await;
    assert_eq!(fields(&image, "")["log"], texts(&["whole", "more"]));
    // Only what came behind the seed is counted, and read.
    assert_eq!(image.frames[0].fields["log"].changes, 1);
    assert_eq!(store.state("t", "", 4).await.unwrap()["log"], said(2..=4));
}

/// What their suite leaves out: several writers of one thread.
pub async fn concurrent_writers_are_fenced(store: Any) {
    let mut lease = talk(&store, "t", 2).await;
    for round in 0..5 {
        let old = lease.clone();
        store.release(lease).await.unwrap();
        let tries = (0..4).map(|_| {
            let store = store.clone();
            tokio::spawn(async move { store.acquire("t").await })
        });
        let mut won = Vec::new();
        for attempt in tries.collect::<Vec<_>>() {
            won.extend(attempt.await.unwrap().ok());
        }
        assert_eq!(won.len(), 1);
        lease = won.remove(0);
        let seq = 3 + round;
        let step = |text: &str| {
            [
                root(seq, seq, vec![("log", append(&[text]))]),
                status(RunState::Running),
            ]
        };
        let (old_ones, new_ones) = (step("old"), step(&format!("m{seq}")));
        let (stale, kept) = tokio::join!(
            store.append(&old, &old_ones),
            store.append(&lease, &new_ones)
        );
        assert!(is_fenced(stale));
        kept.unwrap();
    }
    assert_eq!(store.state("t", "", 99).await.unwrap()["log"], said(2..=7));
}
